"""Outcomes by data set: each real one by itself, all artificial worlds together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankinite.reproduce.experiment import Outcomes
from rankinite.reproduce.outcome import Points
from rankinite.reproduce.paper_004.challenge_data import WEB

ARTIFICIAL = "worlds"


def groups_of(results: Outcomes) -> dict[str, Outcomes]:
    """The results of every data set that there are some of."""
    groups = {name: results.where(unit=name) for name in WEB} | {ARTIFICIAL: results.where(real=False)}
    return {name: own for name, own in groups.items() if own}


def mean_curve(results: Outcomes, drawn: str, line: str) -> Points:
    """A line of a drawing, the mean over cases."""
    return mean_points([outcome.curves[drawn][line] for _, outcome in results])


def mean_points(lines: Sequence[Points]) -> Points:
    """The mean of lines over the same places."""
    return lines[0][0], np.mean([values for _, values in lines], axis=0).tolist()


def agreed(verdicts: Sequence[bool]) -> bool | None:
    """Whether something is so on all data sets; None where they disagree."""
    return verdicts[0] if len(set(verdicts)) == 1 else None
