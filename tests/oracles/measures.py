"""Measures written the slow, obvious way: one query, one order at a time, straight from the definitions."""

from __future__ import annotations

from itertools import permutations, product
from math import log2


def exponential(grade):
    return 2.0**grade - 1.0


def dcg(grades, cutoff=None, gain=exponential, discount=lambda rank: 1 / log2(1 + rank)):
    return sum(gain(g) * discount(rank) for rank, g in enumerate(grades[:cutoff], start=1))


def ndcg(grades, cutoff=None, gain=exponential, judged=None, discount=lambda rank: 1 / log2(1 + rank)):
    ideal = dcg(sorted(grades if judged is None else judged, reverse=True), cutoff, gain, discount)
    return dcg(grades, cutoff, gain, discount) / ideal if ideal > 0 else None


def err(grades, cutoff=None, max_grade=4):
    total, reached = 0.0, 1.0
    for rank, grade in enumerate(grades[:cutoff], start=1):
        stop = exponential(grade) / 2**max_grade
        total += reached * stop / rank
        reached *= 1 - stop
    return total


def ap(grades, cutoff=None, relevant=1, judged=None):
    hits = [g >= relevant for g in grades]
    all_relevant = sum(g >= relevant for g in (grades if judged is None else judged))
    if not all_relevant:
        return None
    depth = len(hits) if cutoff is None else min(cutoff, len(hits))
    return sum(sum(hits[: k + 1]) / (k + 1) for k in range(depth) if hits[k]) / all_relevant


def rr(grades, cutoff=None, relevant=1, judged=None):
    if not any(g >= relevant for g in (grades if judged is None else judged)):
        return None
    for rank, grade in enumerate(grades[:cutoff], start=1):
        if grade >= relevant:
            return 1 / rank
    return 0.0


def precision(grades, cutoff=None, relevant=1):
    return sum(g >= relevant for g in grades[:cutoff]) / (len(grades) if cutoff is None else cutoff)


def recall(grades, cutoff=None, relevant=1, judged=None):
    all_relevant = sum(g >= relevant for g in (grades if judged is None else judged))
    return sum(g >= relevant for g in grades[:cutoff]) / all_relevant if all_relevant else None


def pairwise_errors(grades):
    return sum(grades[i] < grades[j] for i in range(len(grades)) for j in range(i + 1, len(grades)))


def orders(scores, grades):
    """Every order of the grades that sorting by falling score allows."""
    blocks = [[g for s, g in zip(scores, grades, strict=True) if s == score] for score in sorted(set(scores), reverse=True)]
    for choice in product(*(permutations(block) for block in blocks)):
        yield [grade for block in choice for grade in block]


def over_orders(measure, scores, grades):
    """The value of the measure for every order."""
    return [measure(order) for order in orders(scores, grades)]
