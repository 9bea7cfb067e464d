"""kNN augmentation by its definition, row by row in plain Python."""

from __future__ import annotations

import math

from rankinite.data.dataset import Dataset


def seeds(target: Dataset, share: float, seed_rows: int) -> list[int]:
    """The queries of lowest entropy among those with several grades, ties by qid, while their rows fit."""
    ranked = []
    for query in range(target.queries):
        grades = target.grades[target.offsets[query] : target.offsets[query + 1]].tolist()
        if len(set(grades)) > 1:
            shares = sorted(grades.count(grade) / len(grades) for grade in set(grades))
            ranked.append((-math.fsum(s * math.log2(s) for s in shares), str(target.qids[query]), len(grades), query))
    ranked.sort(key=lambda entry: (round(entry[0], 12), entry[1]))
    chosen, rows = [], 0
    for _, _, length, query in ranked[: max(1, round(share * len(ranked)))]:
        rows += length
        if chosen and rows > seed_rows:
            break
        chosen.append(query)
    return sorted(chosen)


def directions(features: list[list[float]], like: list[list[float]], *, scaled: bool) -> list[list[float]]:
    """Rows scaled to length 1; NaN counts as the mean of the column in ``like``."""
    means, scales = [], []
    for column in zip(*like, strict=True):
        known = [value for value in column if not math.isnan(value)]
        mean = math.fsum(known) / max(1, len(known))
        square = math.fsum((value - mean) ** 2 for value in known)
        means.append(mean)
        scales.append(math.sqrt(len(known) / square) if len(set(known)) > 1 else 0.0)
    rows = []
    for row in features:
        filled = [mean if math.isnan(value) else value for value, mean in zip(row, means, strict=True)]
        if scaled:
            filled = [(value - mean) * scale for value, mean, scale in zip(filled, means, scales, strict=True)]
        length = math.sqrt(math.fsum(value * value for value in filled))
        rows.append([value / length if length else 0.0 for value in filled])
    return rows


def distances(
    background: Dataset, target: Dataset, *, share: float, seed_rows: int, nearest: int, scaled: bool
) -> list[tuple[float, bool]]:
    """For every background row: 1 − cosine to the k-th nearest seed, and whether a seed at least as near has its grade."""
    rows = [
        row
        for query in seeds(target, share, seed_rows)
        for row in range(int(target.offsets[query]), int(target.offsets[query + 1]))
    ]
    like = target.features.tolist()
    known = directions([like[row] for row in rows], like, scaled=scaled)
    grades = [float(target.grades[row]) for row in rows]
    found = []
    for own, grade in zip(
        directions(background.features.tolist(), like, scaled=scaled), background.grades.tolist(), strict=True
    ):
        around = [1.0 - math.fsum(a * b for a, b in zip(own, other, strict=True)) for other in known]
        limit = sorted(around)[min(nearest, len(around)) - 1]
        found.append((limit, any(d <= limit + 1e-12 and g == grade for d, g in zip(around, grades, strict=True))))
    return found
