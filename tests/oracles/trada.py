"""Trada by the book: one tree as nested dictionaries, rows sent down one by one (paper 003 §4)."""

from __future__ import annotations

import itertools

import numpy as np


def nested(trees, node: int = 0) -> dict:
    """One tree of a forest."""
    own = {
        "value": float(trees.value[node]),
        "source": float(trees.rows[node]),
        "feature": int(trees.feature[node]),
        "threshold": float(trees.threshold[node]),
        "missing_left": bool(trees.missing_left[node]),
    }
    if own["feature"] >= 0:
        own["left"], own["right"] = nested(trees, int(trees.left[node])), nested(trees, int(trees.right[node]))
    return own


def goes_left(node: dict, row) -> bool:
    value = row[node["feature"]]
    return node["missing_left"] if np.isnan(value) else value <= node["threshold"]


def best_cut(values, push, curvature) -> float | None:
    """The best threshold for these rows alone, by trying all."""
    known = ~np.isnan(values)
    values, push, curvature = values[known], push[known], curvature[known]
    distinct = np.unique(values)
    if not curvature.sum() > 0:
        return None
    found, best = None, push.sum() ** 2 / curvature.sum() * (1 + 1e-12)
    for low, high in itertools.pairwise(distinct):
        cut = 0.5 * (low + high)
        left = values <= cut
        if not (curvature[left].sum() > 0 and curvature[~left].sum() > 0):
            continue
        gain = sum(push[side].sum() ** 2 / curvature[side].sum() for side in (left, ~left))
        if gain > best:
            found, best = cut, gain
    return found


def tune(node: dict, rows, push, curvature, how, rate, parent=None) -> None:
    """Change a tree in place; ``parent``: the parent's old value, own response and what was added so far."""
    count = len(rows)
    weight = how["beta"] * count
    share = weight / (node["source"] + weight) if node["source"] + weight > 0 else 0.0
    pushed = curvature.sum() > 0
    own = rate * push.sum() / curvature.sum() if pushed else 0.0
    before = node["value"]
    old_parent, own_parent, added = parent or (0.0, 0.0, 0.0)
    if pushed:
        added += share * ((own - own_parent) - (before - old_parent))
    node["value"] = before + (added if how["responses"] == "layers" else (share * (own - before) if pushed else 0.0))
    if node["feature"] < 0:
        return
    if count == 0 and how["trim"]:
        node["feature"] = -1
        return
    if how["splits"] and count:
        cut = best_cut(rows[:, node["feature"]].astype(float), push, curvature)
        if cut is not None:
            node["threshold"] += share * (cut - node["threshold"])
    left = np.asarray([goes_left(node, row) for row in rows], bool)
    for side, chosen in (("left", left), ("right", ~left)):
        tune(node[side], rows[chosen], push[chosen], curvature[chosen], how, rate, (before, own, added))


def score(node: dict, row) -> float:
    while node["feature"] >= 0:
        node = node["left"] if goes_left(node, row) else node["right"]
    return node["value"]
