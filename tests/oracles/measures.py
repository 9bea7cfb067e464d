"""Measures written the slow, obvious way: one query, one order at a time, straight from the definitions."""

from __future__ import annotations

from itertools import permutations, product
from math import log2

import rankinite as rk


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


def success(grades, cutoff=10, relevant=1, judged=None):
    if not any(g >= relevant for g in (grades if judged is None else judged)):
        return None
    return float(any(g >= relevant for g in grades[:cutoff]))


def r_precision(grades, relevant=1, judged=None):
    all_relevant = sum(g >= relevant for g in (grades if judged is None else judged))
    return sum(g >= relevant for g in grades[:all_relevant]) / all_relevant if all_relevant else None


def f1(grades, cutoff=None, relevant=1, judged=None):
    r = recall(grades, cutoff, relevant, judged)
    if r is None or not r:
        return r
    p = precision(grades, cutoff, relevant)
    return 2 * p * r / (p + r)


def rbp(grades, cutoff=None, relevant=1, p=0.8):
    return sum((1 - p) * p**k for k, g in enumerate(grades[:cutoff]) if g >= relevant)


def bpref(grades, relevant=1, judged=None):
    """A negative grade is that of a document that nobody judged."""
    everything = grades if judged is None else judged
    all_relevant = sum(g >= relevant for g in everything)
    others = sum(0 <= g < relevant for g in everything)
    if not all_relevant:
        return None
    total = 0.0
    for place, grade in enumerate(grades):
        if grade >= relevant:
            above = min(sum(0 <= g < relevant for g in grades[:place]), all_relevant)
            total += 1 - above / min(others, all_relevant) if above else 1
    return total / all_relevant


def auc(grades, relevant=1, judged=None):
    """Documents that are not returned, which ``judged`` has in addition, tie at the end."""
    missing = list(grades if judged is None else judged)
    for grade in grades:
        missing.remove(grade)
    found = [(1, place, g) for place, g in enumerate(reversed(grades))] + [(0, 0, g) for g in missing]
    above = [document[:2] for document in found if document[2] >= relevant]
    below = [document[:2] for document in found if 0 <= document[2] < relevant]
    if not above or not below:
        return None
    return sum((a > b) + (a == b) / 2 for a in above for b in below) / (len(above) * len(below))


def judged_share(grades, cutoff=None):
    return sum(g >= 0 for g in grades[:cutoff]) / len(grades[:cutoff]) if grades else 0.0


def q_measure(grades, cutoff=None, gain=float, beta=1.0, judged=None):
    gains = [gain(g) for g in grades]
    ideal = sorted((gain(g) for g in (grades if judged is None else judged)), reverse=True)
    all_relevant = sum(g > 0 for g in ideal)
    if not all_relevant:
        return None
    total = 0.0
    for rank in range(1, len(gains) + 1 if cutoff is None else min(cutoff, len(gains)) + 1):
        if gains[rank - 1] > 0:
            count = sum(g > 0 for g in gains[:rank])
            total += (count + beta * sum(gains[:rank])) / (rank + beta * sum(ideal[:rank]))
    return total / min(all_relevant, cutoff or all_relevant)


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


DEFINITIONS = [
    (rk.NDCG(), ndcg),
    (rk.NDCG(3), lambda g: ndcg(g, 3)),
    (rk.NDCG(2, gains="linear"), lambda g: ndcg(g, 2, gain=float)),
    (rk.NDCG(4, discount="letor"), lambda g: ndcg(g, 4, discount=lambda r: 1 / log2(max(r, 2)))),
    (rk.DCG(3, gains=(0, 1, 3, 7, 10)), lambda g: dcg(g, 3, gain=lambda x: (0, 1, 3, 7, 10)[int(x)])),
    (rk.ERR(), err),
    (rk.ERR(3, max_grade=5), lambda g: err(g, 3, 5)),
    (rk.AP(), ap),
    (rk.AP(2, relevant=2), lambda g: ap(g, 2, 2)),
    (rk.RR(), rr),
    (rk.RR(2), lambda g: rr(g, 2)),
    (rk.Precision(3), lambda g: precision(g, 3)),
    (rk.Precision(), precision),
    (rk.Precision(4, of="returned"), lambda g: sum(x >= 1 for x in g[:4]) / min(len(g), 4)),
    (rk.Recall(2), lambda g: recall(g, 2)),
    (rk.AveNDCG(3), lambda g: None if ndcg(g) is None else sum(ndcg(g, k) for k in (1, 2, 3)) / 3),
    (rk.PairwiseErrors(), pairwise_errors),
    (rk.Success(2), lambda g: success(g, 2)),
    (rk.Success(3, relevant=2), lambda g: success(g, 3, 2)),
    (rk.Rprec(), r_precision),
    (rk.Rprec(relevant=2), lambda g: r_precision(g, 2)),
    (rk.F1(3), lambda g: f1(g, 3)),
    (rk.F1(), f1),
    (rk.RBP(), rbp),
    (rk.RBP(4, relevant=2, p=0.5), lambda g: rbp(g, 4, 2, 0.5)),
    (rk.QMeasure(), q_measure),
    (rk.QMeasure(3, gains=(0, 0, 1, 3, 7), beta=2), lambda g: q_measure(g, 3, lambda x: (0, 0, 1, 3, 7)[int(x)], 2)),
    (rk.QMeasure(gains=(-2, -1, 1, 1, 3)), lambda g: q_measure(g, gain=lambda x: max((-2, -1, 1, 1, 3)[int(x)], 0))),
    (rk.Bpref(), bpref),
    (rk.Bpref(relevant=2), lambda g: bpref(g, 2)),
    (rk.AUC(), auc),
    (rk.AUC(relevant=2), lambda g: auc(g, 2)),
    (rk.Judged(2), lambda g: judged_share(g, 2)),
]
"""Measures, each with its definition over the grades of a query in rank order; None where it is undefined."""
