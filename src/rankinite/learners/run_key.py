"""The key of what a run trains on: a hash of data and starting scores, the same whoever has which part of them."""

from __future__ import annotations

import json

import numpy as np

from rankinite.binned.data import Binned
from rankinite.data.dataset import Dataset
from rankinite.data.fingerprint import arrays_key, fingerprint
from rankinite.engine.kernel import Floats


def run_key(data: Dataset, start: Floats) -> str:
    """A hash of the data and of the scores, shape (outputs, rows), that training starts from.

    Folders of bins are hashed one by one, so that members who have some each get the key of all.
    """
    if not isinstance(data, Binned):
        return arrays_key({"start": start}, fingerprint(data))
    ends = np.cumsum([0, *(data.manifests[number].rows for number in data.mine)])
    own: dict[int, str] = {}
    for place, number in enumerate(data.mine):
        scores = np.ascontiguousarray(start[:, ends[place] : ends[place + 1]])
        own[number] = arrays_key({"start": scores}, data.manifests[number].fingerprint)
    parts = [json.dumps(own).encode()] if data.members is None else data.members.gather(json.dumps(own).encode())
    keys = {int(number): key for part in parts for number, key in json.loads(part).items()}
    return keys[0] if len(keys) == 1 else arrays_key({}, [keys[number] for number in sorted(keys)])
