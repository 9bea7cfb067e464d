"""Binned: folders of bins as a data set that trees are grown from. It has no features, only the codes made from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from rankinite.binned.folder import Manifest, block_count, read_manifest
from rankinite.data._kernels import Keys
from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_queries
from rankinite.data.grouping import TEXT
from rankinite.data.identity import Contents, arrays_key, contents_of, fingerprint, row_keys
from rankinite.engine.kernel import INDEX, Floats, Grades, Indices, Strings, frozen
from rankinite.engine.reducer import Members
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.trees._state import WIDTH
from rankinite.trees.bins import Bins, Codes

AnyFolder = str | PathLike[str]


class Binned(Dataset):
    """Coded data on disk, made by :func:`rankinite.bin`: one folder, or several (shards) that are one data set in this order.

    >>> LambdaMART().fit(Binned("train.bins"), Binned("valid.bins"))                            # doctest: +SKIP

    Learners of trees train on it to the same bytes as on the data it was made from. The codes of a single folder stay on disk
    and are mapped into memory; those of several are put together in memory. ``verify`` compares every file with its hash, which
    reads all of it once.
    """

    manifests: tuple[Manifest, ...]
    """What each folder holds."""
    mine: tuple[int, ...]
    """The numbers of the folders whose rows these are: all, but where members have some each."""

    def __init__(self, folders: AnyFolder | Iterable[AnyFolder], *, verify: bool = False) -> None:  # pyright: ignore[reportMissingSuperCall]
        paths = [folders] if isinstance(folders, str | PathLike) else list(folders)
        if not paths:
            raise ArgumentError("contains no folder", owner="Binned", setting="folders", value=[], remedy="Give at least one")
        manifests = tuple(read_manifest(Path(path)) for path in paths)
        _check_alike(manifests)
        for manifest in manifests if verify else ():
            manifest.verify()
        self._settle(manifests, tuple(range(len(manifests))), None)

    @classmethod
    def known(cls, manifests: tuple[Manifest, ...]) -> Binned:
        """Folders that another process has looked at; this one need not be able to read all of them."""
        found = cls.__new__(cls)
        found._settle(manifests, tuple(range(len(manifests))), None)  # noqa: SLF001 - one of its own kind
        return found

    def _settle(self, manifests: tuple[Manifest, ...], mine: tuple[int, ...], members: Members | None) -> None:
        first = manifests[0]
        source = str(first.folder) + (f" and {len(manifests) - 1} more" if len(manifests) > 1 else "")
        settled = {
            "manifests": manifests,
            "mine": mine,
            "members": members,
            "feature_names": first.feature_names,
            "source": source,
            "judged": first.judged,
            "input_rows": sum(manifests[number].rows for number in mine),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        if not first.has("weights"):
            object.__setattr__(self, "weights", None)

    def __getattribute__(self, name: str) -> Any:
        """Weights are read when they are first asked for, although the class has None for data without any."""
        if name == "weights" and "weights" not in object.__getattribute__(self, "__dict__"):
            object.__setattr__(self, name, frozen(self.array("weights")))
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> Any:
        """Arrays are read when they are first asked for."""
        if name not in _LOADERS:
            raise AttributeError(name)
        value = _LOADERS[name](self)
        object.__setattr__(self, name, value)
        return value

    def pickled_fields(self) -> dict[str, Any]:
        """The folders: what is in them stays there."""
        return {"folders": tuple(str(manifest.folder.resolve()) for manifest in self.manifests)}

    @property
    def rows(self) -> int:
        """The number of documents."""
        return self.input_rows

    @property
    def queries(self) -> int:
        """The number of queries."""
        return sum(self.manifests[number].queries for number in self.mine)

    def __repr__(self) -> str:
        return super().__repr__().replace("<Dataset", "<Binned", 1)

    @property
    def bins(self) -> Bins:
        """The bins of all folders; a feature is missing somewhere if it is in one of them."""
        missing, own = np.logical_or.reduce([manifest.has_missing for manifest in self.manifests]), self._own[0]
        return Bins(own.array("edges"), own.array("starts"), has_missing=missing, categories=own.category_codes())

    def codes(self) -> Codes:
        """The codes of the rows: mapped where there is one folder, else put together in memory."""
        features, parts = len(self.feature_names), [manifest.codes() for manifest in self._own]
        if len(parts) == 1:
            return Codes(parts[0], features)
        nothing = np.empty((block_count(features), 0, WIDTH), np.uint8)  # a member may have no rows of the validation data
        return Codes(np.concatenate([nothing, *parts], axis=1), features)

    def base_scores(self, key: str) -> Floats | None:
        """The scores of a ranker, one per row, if the folders were made with it; ``key`` is its hash."""
        if any(manifest.base != key for manifest in self._own):
            return None
        return np.concatenate([np.empty(0), *(manifest.array("base") for manifest in self._own)])

    def part(self, members: Members, number: int, owners: Sequence[int]) -> Binned:
        """The folders of one member; ``owners`` gives the number of the member that has each folder."""
        found = type(self).__new__(type(self))
        mine = tuple(place for place, owner in enumerate(owners) if owner == number)
        found._settle(self.manifests, mine, members)  # noqa: SLF001 - one of its own kind
        return found

    @property
    def _own(self) -> list[Manifest]:
        return [self.manifests[number] for number in self.mine]

    def array(self, name: str) -> Any:
        """An array of the folders, one after the other; see ``folder.KINDS``."""
        parts = [manifest.array(name) for manifest in self._own]
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.empty(0)

    def read_offsets(self) -> Indices:
        """Where each query starts."""
        starts = np.cumsum([0, *(manifest.rows for manifest in self._own)])
        arrays = [manifest.array("offsets")[1:] + start for manifest, start in zip(self._own, starts.tolist(), strict=False)]
        return frozen(np.concatenate([np.zeros(1, INDEX), *arrays]))

    def read_grades(self) -> Grades:
        """One per row."""
        return frozen(np.asarray(self.array("grades"), np.float32))

    def read_qids(self) -> Strings:
        """One per query."""
        found: list[str] = []
        for manifest in self._own:
            content, ends = manifest.array("qid_bytes").tobytes(), manifest.array("qid_ends").tolist()
            found += [content[start:end].decode() for start, end in pairwise(ends)]
        return frozen(np.asarray(found, TEXT))

    def check(self) -> None:
        """Refuse folders that do not fit together, or were damaged so that kernels would go astray."""
        if self.rows:
            check_queries(self)


def _features(data: Binned) -> Any:
    raise DataError(
        "coded data have no features, only codes, from which trees can be grown",
        place=data.source,
        value="features",
        remedy="Train on them with lambdamart, mart or ranknet-trees; for all else give the data that they were made from",
    )


_LOADERS: dict[str, Callable[[Binned], Any]] = {
    "features": _features,
    "grades": lambda data: data.read_grades(),
    "offsets": lambda data: data.read_offsets(),
    "qids": lambda data: data.read_qids(),
    "categories": lambda data: data.manifests[data.mine[0] if data.mine else 0].vocabularies(),
}


@row_keys.register
def _(data: Binned) -> Keys:
    return np.asarray(data.array("row_keys"), np.uint64)


@contents_of.register
def _(data: Binned, features: Sequence[str] | None = None) -> Contents:
    if features is not None and tuple(features) != data.feature_names:
        raise DataError(
            "these coded data have other features, so that their queries cannot be compared",
            place=data.source,
            value=list(features)[:5],
            remedy="Compare with data of the same features",
        )
    keys, telling = data.array("query_keys"), data.array("telling")
    return Contents(np.asarray(keys, np.uint64), np.asarray(telling, np.bool_))


@fingerprint.register
def _(data: Binned) -> str:
    prints = [manifest.fingerprint for manifest in data.manifests]
    return prints[0] if len(prints) == 1 else arrays_key({}, prints)


def _words_of(manifest: Manifest) -> Any:
    """What tells the vocabularies of two folders apart, without reading them."""
    return manifest.categories, [manifest.files.get(f"category_{part}.npy") for part in ("bytes", "ends")]


def _check_alike(manifests: Sequence[Manifest]) -> None:
    """Refuse folders that are not of one data set."""
    first = manifests[0]
    for manifest in manifests[1:]:
        differing = {
            "features": (manifest.feature_names, first.feature_names),
            "categories": (_words_of(manifest), _words_of(first)),
            "edges": (manifest.bins, first.bins),
            "grades, or none,": (manifest.judged, first.judged),
            "weights, or none,": (manifest.has("weights"), first.has("weights")),
        }
        for what, (found, wanted) in differing.items():
            if found != wanted:
                raise DataError(
                    f"it has other {what} than {first.folder}",
                    place=manifest.folder,
                    value=str(found)[:80],
                    rule="Folders that are one data set were coded alike",
                    remedy="Make it with the edges of the other, with `like=…`",
                )
    repeated = [quoted(str(manifest.folder)) for manifest in manifests]
    if len({manifest.folder.resolve() for manifest in manifests}) < len(manifests):
        raise DataError("a folder is given twice", place=first.folder, value=repeated, remedy="Give each once")
