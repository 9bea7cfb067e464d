"""Importance of features: the gain of their splits, the number of these, and what shuffling a feature costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.errors import ArgumentError, DataError, listed
from rankinite.evaluation.inputs import Scorer, as_measures
from rankinite.measures.base import Measure, sign_of
from rankinite.seeds import generator
from rankinite.trees.structure import LEAF, Trees

KINDS = ("gain", "count")


class Drop(NamedTuple):
    """How much a measure loses when a feature is shuffled; positive means that the feature helps."""

    mean: float
    """The mean over the repeats."""
    error: float
    """Its standard error; NaN when there was one repeat only."""


def tree_importance(trees: Trees, names: Sequence[str], kind: str) -> dict[str, float]:
    """The gain or the number of the splits on each feature, the largest first, equals in the order of the features."""
    if kind not in KINDS:
        raise ArgumentError(
            f"is unknown; the kinds are {listed(KINDS)}",
            owner="importance",
            setting="kind",
            value=kind,
            remedy="Give one of these, or call permutation_importance",
        )
    inner = trees.feature != LEAF
    weights = trees.gain[inner] if kind == "gain" else None
    totals = np.bincount(trees.feature[inner], weights, minlength=len(names))
    ranked: list[int] = np.argsort(-totals, kind="stable").tolist()
    return {names[feature]: totals[feature].item() for feature in ranked}


def permutation_importance(
    ranker: Scorer,
    data: Dataset,
    measure: Measure | str,
    *,
    features: Sequence[str] | None = None,
    repeats: int = 5,
    seed: int | np.random.Generator = 0,
) -> dict[str, Drop]:
    """How much worse any ranker gets when the values of one feature are shuffled over all rows; the largest drop first.

    ``features``: the ones to try; all of the data if left out.
    """
    from rankinite.evaluation.evaluate import evaluate  # a service that only scores starts sooner without it

    if repeats < 1:
        raise ArgumentError(
            "must be a whole number from 1 on", owner="permutation_importance", setting="repeats", value=repeats
        )
    if not isinstance(data, Dataset):  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
        kind = type(data).__name__
        raise DataError(f"the data are a {kind}", value=kind, remedy="Give a Dataset, as rankinite.read returns")
    judge = as_measures(measure)[0]
    names = list(data.feature_names if features is None else features)
    whole = evaluate(ranker, data, judge)[judge].mean
    sign = sign_of(judge)
    matrix = data.features.copy()
    shuffled = replace(data, features=matrix)  # shares the matrix, in which one column at a time is shuffled and put back
    drops: dict[str, Drop] = {}
    for name, random in zip(names, generator(seed).spawn(len(names)), strict=True):
        column = data.feature_index(name)
        losses = np.empty(repeats)
        for repeat in range(repeats):
            matrix[:, column] = random.permutation(data.features[:, column])
            losses[repeat] = sign * (whole - evaluate(ranker, shuffled, judge)[judge].mean)
        matrix[:, column] = data.features[:, column]
        error = losses.std(ddof=1) / np.sqrt(repeats) if repeats > 1 else np.nan
        drops[name] = Drop(losses.mean().item(), float(error))
    return dict(sorted(drops.items(), key=lambda entry: -entry[1].mean))
