"""Choices between made-up methods, whose measures are known by hand."""

from __future__ import annotations

import numpy as np

import rankinite as rk
from rankinite.adapt.decision import BASELINES, RISK, TOLERATE, decide
from rankinite.adapt.methods.catalogue import AVERAGE, METHODS
from rankinite.adapt.random_orders import random_orders
from rankinite.adapt.result import Choice
from rankinite.adapt.trial import Trial

NDCG = rk.NDCG(10)
KNOWN = {method.name: method for method in (*METHODS, AVERAGE)}


def two_documents(queries):
    """Queries of two documents, of which the first is relevant: ndcg is 1 where it comes first, and 1 / log2(3) elsewhere."""
    return rk.read(np.zeros((2 * queries, 1)), grades=[1, 0] * queries, group=[2] * queries)


def right_in(data, queries):
    """Scores that rank the documents of these queries right, and those of the others wrong."""
    first = np.where(np.isin(np.arange(data.queries), list(queries)), 1.0, -1.0)
    return np.column_stack((first, -first)).ravel()


def choice_of(scores, data, *, risk=RISK, tolerate=TOLERATE, measures=(NDCG,), **others):
    """The choice between methods with these scores, by name; ``others``: data and scores to report, as test=(data, scores)."""
    unseen = rk.compare(scores, data, measures, against=BASELINES)
    sign = 1.0 if measures[0].higher_is_better else -1.0
    values = {name: sign * unseen[name][measures[0]].per_query for name in scores}
    by_chance = random_orders(data, measures[0], 0)
    verdict = decide(values, random_orders=by_chance, risk=risk, tolerate=tolerate)
    trials = tuple(
        Trial(KNOWN[name], rk.Feature(place), array, np.ones(6), 1.0) for place, (name, array) in enumerate(scores.items())
    )
    compared = {name: rk.compare(more, seen, measures, against=BASELINES) for name, (seen, more) in others.items()}
    return Choice(verdict, trials[list(scores).index(verdict.name)].ranker, measures[0], trials, {}, unseen, **compared)


def choice_by_hand(right, *, queries=40, **more):
    """The choice between methods that rank the documents of these queries right."""
    data = two_documents(queries)
    return choice_of({name: right_in(data, range(*span)) for name, span in right.items()}, data, **more)


def noisy(noises, data, seed=0):
    """Scores that are the grades and this much noise, by method."""
    generators = [np.random.default_rng(seed + place) for place in range(len(noises))]
    return {
        name: data.grades + noise * random.normal(size=data.rows)
        for (name, noise), random in zip(noises.items(), generators, strict=True)
    }
