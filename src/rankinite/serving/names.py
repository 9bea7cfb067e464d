"""Names of features and models that a program can hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import count

from rankinite.errors import ArgumentError
from rankinite.evaluation.scorers import Scorer
from rankinite.models.base import Fitted
from rankinite.models.feature import Feature
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net

FILE = "names.json"
LONGEST = 200
"""Characters of a name that is made here. Every program takes as many."""


def safe_names(
    names: tuple[str, ...], pattern: str, same: Callable[[str], str] = str, taken: Iterable[str] = ()
) -> dict[str, str]:
    """For each name that a program cannot hold one like it that it can: others are kept, and no two are the same.

    ``pattern``: the names that it can hold. ``same``: what it compares names by. ``taken``: names that no feature may have.

    >>> safe_names(("title", "body bm25", "body_bm25"), "[^ ]+")
    {'body bm25': 'body_bm25_2'}
    """
    fits, used = re.compile(pattern), set(map(same, taken))
    unfit = list[str]()
    for name in names:
        if fits.fullmatch(name) and same(name) not in used:
            used.add(same(name))
        else:
            unfit.append(name)
    found = dict[str, str]()
    for name in unfit:
        plain = "".join(letter if fits.fullmatch(letter) else "_" for letter in name) or "feature"
        endings = ("" if number == 1 else f"_{number}" for number in count(1))
        found[name] = next(new for ending in endings if same(new := plain[: LONGEST - len(ending)] + ending) not in used)
        used.add(same(found[name]))
    return found


def renamed(ranker: Scorer, names: Mapping[str, str]) -> Scorer:
    """The ranker with other names for some features, in all its parts."""
    if not names:
        return ranker
    if isinstance(ranker, Forest):
        return ranker.renamed([names.get(name, name) for name in ranker.feature_names])
    if isinstance(ranker, Linear | Net):
        return replace(ranker, feature_names=tuple(names.get(name, name) for name in ranker.feature_names), sketch=None)
    if isinstance(ranker, Feature) and isinstance(ranker.feature, str):
        return replace(ranker, feature=names.get(ranker.feature, ranker.feature))
    if isinstance(ranker, Fitted) and (parts := ranker.inside()):
        return ranker.with_inside([renamed(part.ranker, names) for part in parts])
    return ranker


def check_model_name(name: str, pattern: str, rule: str) -> None:
    """Refuse a name of the model that is not as a whole of this pattern."""
    if not re.fullmatch(pattern, name):
        raise ArgumentError(
            "cannot be the name of a model there", setting="name", value=name, rule=rule, remedy="Give another with `name`"
        )
