"""Rows to follow a teacher on: judged, unjudged and made ones, with its scores in place of grades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.grouping import as_text
from rankinite.data.joining import concat
from rankinite.data.sketch import QuerySketch, united
from rankinite.distillation.teacher import centred_scores
from rankinite.engine.kernel import FEATURE, GRADE
from rankinite.models.base import Fitted
from rankinite.seeds import generator


def followed(teacher: Fitted, data: Sequence[Dataset], *, made: int = 0, seed: int = 0) -> tuple[Dataset, QuerySketch | None]:
    """All rows, graded by the teacher, and the queries that it was trained on and they come from; None where not all are known.

    The grades of the data are not looked at, if they have any. In their place are the teacher's scores, less their mean within
    each query and with a spread of 1. ``made``: copies of all rows with mixed features, which the teacher scores too (see
    :func:`mixed`).
    """
    bare = [part.without_grades() for part in data]
    plain = [replace(part, weights=None, preferences=None, doc_ids=None, batches=None, positions=None) for part in bare]
    whole = plain[0] if len(plain) == 1 else concat(plain, prefixes=[f"{number}:" for number in range(len(plain))])
    copies = [mixed(whole, teacher, seed=[seed, copy]) for copy in range(made)]
    rows = concat([whole, *copies]) if copies else whole
    scores = centred_scores(teacher, rows)
    spread = float(np.sort(scores).std()) or 1.0
    graded = replace(rows, grades=(scores / spread).astype(GRADE), judged=True)
    return graded, reduce(united, (*teacher.trained_on, QuerySketch.of(whole)))


def mixed(data: Dataset, teacher: Fitted, *, seed: int | Sequence[int] = 0) -> Dataset:
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
