"""Jobs: small pieces of real work that make Numba compile the kernels of one task.

A job calls what a user's training or scoring calls, on a handful of rows, so that kernels are compiled for the very types of
arguments that they will be given.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

QUERIES, DOCUMENTS, FEATURES = 4, 8, 3


def tiny_data() -> Any:
    """Judged data of a few rows."""
    import numpy as np

    from rankinite.data.dataset import Dataset

    rows = QUERIES * DOCUMENTS
    features = np.random.default_rng(0).random((rows, FEATURES), np.float32)
    offsets = np.arange(0, rows + 1, DOCUMENTS)
    names = tuple(str(feature + 1) for feature in range(FEATURES))
    return Dataset(features, np.arange(rows, dtype=np.float32) % 3, offsets, np.arange(QUERIES).astype(str), names)


def _read() -> None:
    from rankinite.data.io.reading import read
    from rankinite.data.io.writing import write

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.txt"
        write(tiny_data(), path)
        read(path)


def _measure() -> None:
    from rankinite.evaluation.evaluate import evaluate

    data = tiny_data()
    evaluate(data.in_row_order(data.features[:, 0].astype(float)), data, ["ndcg@10"])


def _score() -> None:
    import numpy as np

    from rankinite.models.forest import Forest
    from rankinite.trees.structure import join
    from rankinite.trees.walk import FEW_TREES

    data = tiny_data()
    leaf, last = (-1, 0.0, False, 0, 0, 1.0), (0, 0.2, False, 3, 4, 0.0)
    even = _tree([(0, 0.5, False, 1, 2, 0.0), leaf, leaf])
    uneven = _tree([(0, 0.5, False, 1, 2, 0.0), last, leaf, leaf, leaf])
    for trees in ([uneven], [uneven] * FEW_TREES, [even] * FEW_TREES):  # walked down as they are, packed, level by level
        Forest(trees=join(trees), feature_names=data.feature_names, start=np.zeros(1)).score(data)


def _tree(nodes: list[tuple[int, float, bool, int, int, float]]) -> Any:
    import numpy as np

    from rankinite.trees.structure import Trees

    count = len(nodes)
    columns = [np.asarray(column) for column in zip(*nodes, strict=True)]
    rows, ones = np.ones(count, np.int64), np.ones(count)
    return Trees(*columns, rows=rows, curvature=ones, gain=ones, offsets=np.asarray([0, count]))


def _bin() -> None:
    from rankinite.trees.bins import fit_bins

    features = tiny_data().features
    fit_bins(features).code(features)


def _grow(**settings: Any) -> None:
    import numpy as np

    from rankinite.data.identity import row_keys
    from rankinite.engine.parallel import Team, threads
    from rankinite.trees._state import WIDTH
    from rankinite.trees.bins import Bins, Codes
    from rankinite.trees.growth import Grower, add_tree
    from rankinite.trees.settings import TreeSettings

    rows = QUERIES * DOCUMENTS
    codes = Codes(np.arange(rows * WIDTH, dtype=np.uint8).reshape(1, rows, WIDTH) % 4, FEATURES)
    bins = Bins(np.tile(np.arange(3.0), FEATURES), np.arange(FEATURES + 1) * 3, np.zeros(FEATURES, np.bool_))
    wanted = TreeSettings(min_rows=1, **settings)
    keys = row_keys(tiny_data()) if wanted.draws else None
    with threads(1), Team() as team:
        grower = Grower(wanted, bins, codes, np.zeros(FEATURES, np.int64), team, keys, None)
        scores = np.zeros(rows)
        grown = grower.grow(np.linspace(-1.0, 1.0, rows), np.ones(rows), 0)
        grower.add(grown, grown.values(), scores)
        add_tree(codes.words, grown, grown.values(), scores, team)


def _push() -> None:
    import numpy as np

    from rankinite.gradients.lambdas import Lambdas
    from rankinite.measures.gains import NDCG

    data = tiny_data()
    out = np.zeros((3, 1, data.rows))
    Lambdas(data, NDCG(10), normalise=True).gradients(*out)


def _descend() -> None:
    from rankinite.learners.lambdarank import LambdaRank

    LambdaRank(epochs=1).fit(tiny_data(), tiny_data(), allow_overlap=True)


def _combine() -> None:
    from rankinite.combine.exact_weights import exact
    from rankinite.models.feature import Feature

    exact(Feature(0), Feature(1), data=tiny_data(), measure="ndcg@10")


JOBS: dict[str, Callable[[], None]] = {
    "trees": _grow,
    "gradients": _push,
    "measures": _measure,
    "scoring": _score,
    "bins": _bin,
    "reading": _read,
    "symmetric trees": lambda: _grow(shape="symmetric", row_share=0.7),
    "nets": _descend,
    "combining": _combine,
}
"""The longest first: whoever begins with them is done soonest."""

VERBS: dict[str, tuple[str, ...]] = {
    "train": ("symmetric trees", "gradients", "measures"),
    "evaluate": ("measures", "scoring"),
    "compare": ("measures", "scoring"),
    "score": ("scoring",),
    "tune": ("symmetric trees", "gradients", "measures"),
    "adapt": ("trees", "gradients", "symmetric trees", "combining", "measures"),
    "ensemble": ("trees", "gradients", "measures"),
    "cross_validate": ("symmetric trees", "gradients", "measures"),
}
"""What to compile beside a verb, in this order. The verb itself begins with what comes first in it, such as reading."""

SECONDS = {"train": 13, "evaluate": 5, "compare": 5, "score": 4}
"""About how long compiling takes beside a helper, on two cores."""
