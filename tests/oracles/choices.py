"""Choices between made-up methods, whose measures are known by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import stats

import rankinite as rk
from rankinite.adapt.choice import Choice
from rankinite.adapt.decision import BASELINES, NOISE_AFTER, RISK, TOLERATE, Verdict, decide, decision_of, random_orders
from rankinite.adapt.gain import GainPosterior, Signs
from rankinite.adapt.methods.catalogue import AVERAGE, METHODS
from rankinite.adapt.trials import MethodTrial

NDCG = rk.NDCG(10)
KNOWN = {method.name: method for method in (*METHODS, AVERAGE)}


def two_documents(queries):
    """Queries of two documents, of which the first is relevant: ndcg is 1 where it comes first, and 1 / log2(3) elsewhere."""
    return rk.read(np.zeros((2 * queries, 1)), grades=[1, 0] * queries, group=[2] * queries)


def right_in(data, queries):
    """Scores that rank the documents of these queries right, and those of the others wrong."""
    first = np.where(np.isin(np.arange(data.queries), list(queries)), 1.0, -1.0)
    return np.column_stack((first, -first)).ravel()


def normal_gain(expected, loss_chance, tolerate=TOLERATE):
    """A gain that is known up to a normal error, by its mean and the chance of losing more than ``tolerate``."""
    return GainPosterior((1.0,), (expected,), ((-tolerate - expected) / stats.norm.ppf(loss_chance),))


def verdict_for(name, expected=0.02, loss_chance=0.03, **facts):
    """A verdict on a method whose gain is known so far."""
    gain, signs = normal_gain(expected, loss_chance), Signs(0.5, 0.0, None)
    return Verdict(name, name, decision_of(gain, RISK, TOLERATE, clear=True), gain, signs, **{"clear": True, **facts})


def redecided(choice, **facts):
    """The choice with another verdict: what follows from the facts given, where they do not say it themselves."""
    verdict = replace(choice.verdict, **facts)
    if "decision" not in facts:
        noisy = verdict.noise_chance > NOISE_AFTER
        decided = decision_of(verdict.gain, verdict.risk, verdict.tolerate, clear=verdict.clear)
        verdict = replace(verdict, decision="keep" if noisy else decided)
    return replace(choice, verdict=verdict, ranker=choice.models[verdict.recommended])


def choice_of(scores, data, *, risk=RISK, tolerate=TOLERATE, shift=None, measures=(NDCG,), **others):
    """The choice between methods with these scores, by name; ``others``: data and scores to report, as test=(data, scores)."""
    unseen = rk.compare(scores, data, measures, against=BASELINES)
    sign = 1.0 if measures[0].higher_is_better else -1.0
    values = {name: sign * unseen[name][measures[0]].per_query for name in scores}
    by_chance = random_orders(data, measures[0], 0)
    verdict = decide(values, random_orders=by_chance, shift=shift, risk=risk, tolerate=tolerate)
    trials = tuple(
        MethodTrial(KNOWN[name], rk.Feature(place), array, np.ones(6), 1.0)
        for place, (name, array) in enumerate(scores.items())
    )
    compared = {name: rk.compare(more, seen, measures, against=BASELINES) for name, (seen, more) in others.items()}
    ranker = trials[list(scores).index(verdict.recommended)].ranker
    return Choice(verdict, ranker, measures[0], trials, {}, unseen, **compared)


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
