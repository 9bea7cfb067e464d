"""Trials of adaptation with methods that are quick and show what they were fitted to."""

from __future__ import annotations

import threading

from rankinite.adapt.methods.catalogue import AdaptationMethod
from rankinite.adapt.shared_fits import SharedFits
from rankinite.models.linear import Linear


def mean_of_grades(work: SharedFits) -> Linear:
    """A ranker that shows what it was fitted to: the features, weighted by their products with the grades."""
    data = work.task.target
    return Linear(data.feature_names, data.grades @ data.features / data.rows)


def by_name(name, kind="linear", fit=mean_of_grades):
    return AdaptationMethod(name, "for a test", kind, fit, 1.0)


class Counted:
    """A fit that counts how often it is made, and may fail."""

    def __init__(self, fit=mean_of_grades, trouble=None):
        self.fit, self.trouble, self.lock, self.fits = fit, trouble, threading.Lock(), 0

    def __call__(self, work):
        with self.lock:
            self.fits += 1
        if self.trouble is not None:
            raise self.trouble
        return self.fit(work)
