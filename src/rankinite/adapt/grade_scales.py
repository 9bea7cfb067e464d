"""Whether the grades of two domains mean the same.

Grade 1 of 0–4 is not grade 1 of 0–1, so data on different scales cannot be put together, nor can a ranker trained to predict
the grades of one be tuned to the other. But a handful of target queries may miss the top grade of their scale by chance. So
scales are judged by what chance allows: if a share r of the queries of one data set has grades beyond the ends of the other's,
then n queries on the same scale would all be without such grades with chance (1 − r)ⁿ. Below ``CHANCE`` the scales are taken to
differ. Grades that are missing in between say nothing.
"""

from __future__ import annotations

import math

import numpy as np

from rankinite.adapt.background_settings import last_recorded
from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.errors import DataError, listed
from rankinite.models.forest import Forest

CHANCE = 0.01
"""The smallest chance that is still believed."""
ONE_SCALE = "Both must be on one scale"


def check_scales(background: Dataset, target: Dataset, *, same_scale: bool = False) -> None:
    """Refuse data whose grades lie on different scales; ``same_scale``: they are on one, whatever it looks like."""
    check_judged(background)
    check_judged(target)
    if same_scale or not background.rows or not target.rows:
        return
    for wide, narrow in ((background, target), (target, background)):
        beyond = _queries_beyond(wide, float(narrow.grades.min()), float(narrow.grades.max()))
        if (1.0 - beyond / wide.queries) ** narrow.queries < CHANCE:
            raise DataError(
                f"its grades are {_scale(background)}, but those of {target.source} are {_scale(target)}: "
                f"{wide.source} has {beyond} of {wide.queries} queries with grades that none of the {narrow.queries} of "
                f"{narrow.source} has, which is hardly chance",
                place=background.source,
                value=beyond,
                rule=ONE_SCALE,
                remedy="Put one on the other's with `Dataset.map_grades`, as in map_grades({0: 0, 1: 0, 2: 1}), or pass "
                "`same_scale=True` if they are",
                shell_remedy="Put the background's on the target's with `map_grades`, as in --map-grades 0=0,1=0,2=1, or pass "
                "`same_scale=True` if they are",
            )


def check_predicted(forest: Forest, target: Dataset) -> None:
    """Refuse a forest that predicts grades on another scale, if it records the highest grades that it was trained on."""
    known: dict[str, int] = last_recorded(forest, "highest_grades", {})
    if not known or not target.rows:
        return
    top, highest = max(map(float, known)), float(target.grades.max())
    queries, above = sum(known.values()), sum(count for grade, count in known.items() if float(grade) > highest)
    beyond = _queries_beyond(target, -math.inf, top)
    if min((1.0 - beyond / target.queries) ** queries, (1.0 - above / queries) ** target.queries) < CHANCE:
        raise DataError(
            f"it predicts grades up to {top:g}, which it was trained on, but those of {target.source} are {_scale(target)}",
            place=repr(forest),
            value=top,
            rule=ONE_SCALE,
            remedy="Put the target on the forest's with `Dataset.map_grades`, as in map_grades({0: 0, 1: 4}), or pass "
            "`same_scale=True` if they are",
            shell_remedy="Write the target's files with the forest's grades, or pass `same_scale=True` if they are",
        )


def _queries_beyond(data: Dataset, lowest: float, highest: float) -> int:
    """How many queries have a grade below or above these."""
    starts = data.offsets[:-1]
    low, high = np.minimum.reduceat(data.grades, starts), np.maximum.reduceat(data.grades, starts)
    return int(((low < lowest) | (high > highest)).sum())


def _scale(data: Dataset) -> str:
    return listed([f"{grade:g}" for grade in np.unique(data.grades).tolist()], 10)
