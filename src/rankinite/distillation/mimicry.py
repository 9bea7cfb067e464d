"""Mimicry: students that learn to follow the teacher's scores by least squares, as a forest or as a net.

They learn from judged, unjudged and made rows, which have the teacher's scores in place of grades.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.grouping import as_text
from rankinite.data.identity import QuerySketch, unite_sketches
from rankinite.data.joining import concat
from rankinite.distillation.teacher import centred_scores, on_scale_of
from rankinite.engine.kernel import FEATURE, GRADE
from rankinite.gradients.base import Objective
from rankinite.gradients.pointwise import Differences
from rankinite.learners.descent import Descent
from rankinite.learners.mart import MART
from rankinite.models.base import Fitted
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.seeds import generator


def relabel_with_teacher(
    teacher: Fitted, data: Sequence[Dataset], *, made: int = 0, seed: int = 0
) -> tuple[Dataset, QuerySketch | None]:
    """All rows, graded by the teacher, and the queries that it was trained on and they come from; None where not all are known.

    The grades of the data are not looked at, if they have any. In their place are the teacher's scores, less their mean within
    each query and with a spread of 1. ``made``: copies of all rows with mixed features, which the teacher scores too (see
    :func:`mix_features`).
    """
    bare = [part.without_grades() for part in data]
    plain = [replace(part, weights=None, preferences=None, doc_ids=None, batches=None, positions=None) for part in bare]
    whole = plain[0] if len(plain) == 1 else concat(plain, prefixes=[f"{number}:" for number in range(len(plain))])
    copies = [mix_features(whole, teacher, seed=[seed, copy]) for copy in range(made)]
    rows = concat([whole, *copies]) if copies else whole
    scores = centred_scores(teacher, rows)
    spread = float(np.sort(scores).std()) or 1.0
    graded = replace(rows, grades=(scores / spread).astype(GRADE), judged=True)
    return graded, reduce(unite_sketches, (*teacher.trained_on, QuerySketch.of(whole)))


def mix_features(data: Dataset, teacher: Fitted, *, seed: int | Sequence[int] = 0) -> Dataset:
    """Queries of as many made documents: each feature comes from a document or from the one ranked next to it.

    Documents that the teacher ranks side by side are alike in its eyes, so that what is made of both stays near documents
    that exist, as the nearest neighbours of MUNGE (Bucila and others 2006) do.
    """
    scores = centred_scores(teacher, data)
    order = np.lexsort((-scores, data.query_of_row()))  # query by query, the best first
    following = np.empty(data.rows, np.int64)
    following[order] = np.concatenate((order[1:], order[-1:]))
    last = order[data.offsets[1:] - 1]
    following[last] = order[np.maximum(data.offsets[1:] - 2, data.offsets[:-1])]  # the last one mixes with the one before it
    random = np.random.default_rng(seed) if isinstance(seed, Sequence) else generator(seed)
    is_first = random.random(data.features.shape, dtype=FEATURE) < 0.5
    features = np.where(is_first, data.features, data.features[following])
    number = seed[-1] if isinstance(seed, Sequence) else seed
    return replace(data, features=features, qids=np.strings.add(data.qids, as_text([f"~made {number}"])))


NET_RATE = 0.003
"""Where scores are followed, steps may be larger than where pairs are judged."""


def grow(teacher: Fitted, data: Sequence[Dataset], trees: int, *, leaves: int = 31, made: int = 0, seed: int = 0) -> Forest:
    """A forest of ``trees`` new trees that follow the teacher's scores, less their mean within each query.

    ``data``: the rows to learn from; their grades are not looked at. ``made``: copies of them with mixed features, which the
    teacher scores too. The fewer trees, the larger their steps.
    """
    rows, sketch = relabel_with_teacher(teacher, data, made=made, seed=seed)
    learner = MART(trees=trees, leaves=leaves, rate=min(0.3, 15.0 / trees), min_rows=5, seed=seed, train_history=False)
    forest = learner.fit(rows)
    assert isinstance(forest, Forest)  # there is no base
    facts = {"learner": "distil", "method": "grow", "trees": trees, "leaves": leaves, "made": made, "seed": seed}
    return on_scale_of(teacher, replace(forest, settings=facts, history=None, sketch=sketch), data)


@dataclass(frozen=True, kw_only=True)
class ScoreNet(Descent):
    """A net whose scores follow the grades of the training data, which are another ranker's scores, within each query."""

    def objective(self, train: Dataset) -> Objective:
        """Squared loss of differences."""
        return Differences(train)


def train_net(
    teacher: Fitted, data: Sequence[Dataset], hidden: tuple[int, ...], *, made: int = 0, seed: int = 0
) -> Net | Linear:
    """A net that follows the teacher's scores, a linear ranker without ``hidden`` units; data and ``made`` as for :func:`grow`.

    The epoch is kept in which the fewest pairs of documents are ranked against the teacher.
    """
    rows, sketch = relabel_with_teacher(teacher, data, made=made, seed=seed)
    net = ScoreNet(hidden=hidden, rate=NET_RATE, nan="mean", watch="pairwise-errors", seed=seed).fit(rows)
    assert isinstance(net, Net | Linear)  # there is no base
    facts = {"learner": "distil", "method": "net", "hidden": list(hidden), "made": made, "seed": seed}
    return on_scale_of(teacher, replace(net, settings=facts, history=None, sketch=sketch), data)
