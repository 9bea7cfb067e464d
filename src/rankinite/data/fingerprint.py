"""Fingerprint of data: a hash of all that decides what is learnt from them, by which finished work is recognised."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any

import numpy.typing as npt

from rankinite.data.categories import Vocabulary
from rankinite.data.dataset import Dataset
from rankinite.data.row_keys import row_keys


@singledispatch
def fingerprint(data: Dataset) -> str:
    """A hash of the rows in their order (features, grades or that there are none, qids, positions), the names of features and
    categories, the weights and the preferences.

    Ids of documents and batches are left out: no learner looks at them.
    """
    arrays: dict[str, npt.NDArray[Any]] = {"rows": row_keys(data), "offsets": data.offsets}
    if data.weights is not None:
        arrays["weights"] = data.weights
    if data.positions is not None:
        arrays["positions"] = data.positions
    if data.preferences is not None:
        pairs = data.preferences
        arrays |= {"better": pairs.better, "worse": pairs.worse, "probability": pairs.probability}
    return arrays_key(arrays, named_facts(data.feature_names, data.categories, judged=data.judged))


def named_facts(feature_names: Sequence[str], categories: Mapping[str, Vocabulary], *, judged: bool) -> Any:
    """What a fingerprint hashes besides arrays: names of features and categories, and whether rows have grades."""
    names: list[str] = list(feature_names)
    more: dict[str, Any] = {} if judged else {"judged": False}
    if categories:
        more |= {"categories": {name: [one.numeric, *one.names] for name, one in categories.items()}}
    return {"features": names, **more} if more else names


def arrays_key(arrays: dict[str, npt.NDArray[Any]], facts: Any) -> str:
    """A hash of facts as JSON has them and of named arrays, each with its type and shape, so that none runs into the next."""
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
