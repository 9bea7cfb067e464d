"""FolderWriter: a folder of bins in the making, filled piece by piece; the manifest comes last."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from rankinite.binned.folder import CODES, KINDS, MANIFEST, UNFINISHED, Manifest, bins_key, block_count, hash_of
from rankinite.data.categories import Vocabulary
from rankinite.data.dataset import Dataset
from rankinite.data.identity import arrays_key, contents_of, named_facts, row_keys
from rankinite.data.io.output_files import write_atomically
from rankinite.engine.kernel import INDEX, Floats
from rankinite.engine.memory import spelled_size
from rankinite.errors import DataError
from rankinite.trees._state import WIDTH
from rankinite.trees.bins import Bins

try:
    import fcntl
except ImportError:  # not on every system; two writers of one folder are then not kept apart
    fcntl: Any = None

QIDS = "qid_bytes.part"
OWN_FILES = frozenset({CODES, UNFINISHED, MANIFEST, *(f"{name}.npy" for name in KINDS)})


class FolderWriter:
    """Takes the rows of a folder in their order. How many there will be is known before."""

    def __init__(
        self, folder: Path, bins: Bins, categories: Mapping[str, Vocabulary], rows: int, queries: int,
        *, weighted: bool, base: str | None,
    ) -> None:  # fmt: skip
        self.folder, self._bins, self._rows, self._queries = folder, bins, rows, queries
        self._categories, self._base = categories, base
        self._codes = self._new(CODES, np.uint8, (block_count(bins.features), rows, WIDTH))
        sizes = {"rows": rows, "queries": queries, "queries + 1": queries + 1}
        named = [name for name, (_, length) in KINDS.items() if length in sizes]
        left_out = {*(() if weighted else ("weights",)), *(() if base is not None else ("base",))}
        self._arrays = {
            name: self._new(f"{name}.npy", np.dtype(KINDS[name][0]), (sizes[KINDS[name][1]],))
            for name in named
            if name not in left_out
        }
        self._arrays["offsets"][0] = self._arrays["qid_ends"][0] = 0
        self._qids: IO[bytes] = (folder / QIDS).open("wb")
        self._row, self._query = 0, 0

    def _new(self, name: str, kind: npt.DTypeLike, shape: tuple[int, ...]) -> Any:
        made: Any = np.lib.format.open_memmap(self.folder / name, "w+", np.dtype(kind), shape)
        if hasattr(os, "posix_fallocate"):  # a full disk is an error now; behind a mapping it would end the process
            with (self.folder / name).open("r+b") as handle:
                os.posix_fallocate(handle.fileno(), 0, os.fstat(handle.fileno()).st_size)
        return made

    def add(self, piece: Dataset, recoded: Dataset, base_scores: Floats | None = None) -> None:
        """The next queries; ``recoded``: with the folder's codes of categories, of which it may not have all."""
        row, query = self._row, self._query
        rows, queries, arrays = slice(row, row + piece.rows), slice(query, query + piece.queries), self._arrays
        self._bins.code_into(recoded.features, np.asarray(self._codes), row)
        contents, behind = contents_of(piece), slice(query + 1, query + 1 + piece.queries)
        arrays["grades"][rows], arrays["row_keys"][rows] = piece.grades, row_keys(recoded)
        arrays["query_keys"][queries], arrays["telling"][queries] = contents
        arrays["offsets"][behind] = piece.offsets[1:] + row
        names = [qid.encode() for qid in piece.qids.tolist()]
        arrays["qid_ends"][behind] = arrays["qid_ends"][query] + np.cumsum([len(name) for name in names], dtype=INDEX)
        self._qids.write(b"".join(names))
        if piece.weights is not None:
            arrays["weights"][queries] = piece.weights
        if base_scores is not None:
            arrays["base"][rows] = base_scores
        self._row, self._query = rows.stop, queries.stop

    def finish(self, feature_names: tuple[str, ...], source: str, settings: tuple[int, int, int], *, judged: bool) -> Manifest:
        """Bring all to the disk; the manifest is written by :func:`write_manifest`.

        ``settings``: the bins of a feature at most, the rows of the sample, and those that a category needs.
        """
        if (self._row, self._query) != (self._rows, self._queries):
            raise DataError(
                f"the second pass gave {self._row} rows of {self._query} queries, the first {self._rows} of {self._queries}",
                place=source,
                value=self._row,
                rule="Data are read twice, and must be the same both times",
                remedy="Another program writes to them; wait until that is done, and run this again",
            )
        self._close(feature_names)
        kept = {"rows": self._arrays["row_keys"], "offsets": self._arrays["offsets"]}
        kept |= {"weights": self._arrays["weights"]} if "weights" in self._arrays else {}
        names = sorted(name for name in OWN_FILES - {UNFINISHED, MANIFEST} if (self.folder / name).exists())
        return Manifest(
            folder=self.folder,
            rows=self._rows,
            queries=self._queries,
            feature_names=feature_names,
            missing=tuple(np.flatnonzero(self._bins.has_missing).tolist()),
            bins=bins_key(self._bins),
            most=settings[0],
            sample=settings[1],
            judged=judged,
            source=source,
            fingerprint=arrays_key(kept, named_facts(feature_names, self._categories, judged=judged)),
            base=self._base,
            files={name: ((self.folder / name).stat().st_size, hash_of(self.folder / name)) for name in names},
            categories=tuple((feature_names.index(name), len(one), one.numeric) for name, one in self._categories.items()),
            category_rows=settings[2] if self._categories else None,
        )

    def _close(self, feature_names: tuple[str, ...]) -> None:
        for array in (self._codes, *self._arrays.values()):
            array.flush()
        self._qids.close()
        part = self.folder / QIDS
        arrays = {"edges": self._bins.edges, "starts": self._bins.starts}
        arrays |= {"qid_bytes": np.frombuffer(part.read_bytes(), np.uint8), **self._category_arrays(feature_names)}
        for name, array in arrays.items():
            with write_atomically(self.folder / f"{name}.npy") as handle:
                np.save(handle, np.ascontiguousarray(array, KINDS[name][0]))
        part.unlink()

    def _category_arrays(self, feature_names: tuple[str, ...]) -> dict[str, npt.NDArray[Any]]:
        """The vocabularies, one behind the other, and the code of each category."""
        if not self._categories:
            return {}
        names = [name.encode() for vocabulary in self._categories.values() for name in vocabulary.names]
        codes = [self._bins.categories[feature_names.index(name)] for name in self._categories]
        return {
            "category_codes": np.concatenate(codes),
            "category_ends": np.cumsum([0, *map(len, names)], dtype=INDEX),
            "category_bytes": np.frombuffer(b"".join(names), np.uint8),
        }


def write_manifest(manifest: Manifest) -> None:
    """Say that a folder is finished."""
    with write_atomically(manifest.folder / MANIFEST) as handle:
        handle.write(manifest.text().encode())


@contextmanager
def new_folder(folder: Path) -> Generator[Path]:
    """A folder to write to: a new one, or one that was begun and not finished, whose files are removed. Locked meanwhile."""
    _check_free(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / UNFINISHED, os.O_CREAT | os.O_RDWR, 0o666)
    except OSError as problem:
        raise DataError(f"it cannot be written ({problem})", place=folder, remedy="Give another path") from problem
    try:
        _take_lock(lock, folder)
        for path in [one for one in folder.iterdir() if one.name != UNFINISHED and _is_own(one.name)]:
            path.unlink()
        yield folder
        (folder / UNFINISHED).unlink(missing_ok=True)
    except OSError as problem:  # a full disk, above all
        raise DataError(
            f"it cannot be written ({problem})",
            place=folder,
            rule="Without a manifest it counts as unfinished",
            remedy="Make room, or write elsewhere, and run this again",
        ) from problem
    finally:
        os.close(lock)


def _take_lock(descriptor: int, folder: Path) -> None:
    if fcntl is None:
        return
    busy = DataError(
        "another process is writing this folder", place=folder, value=str(folder), remedy="Wait for it, or write elsewhere"
    )
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(descriptor), (folder / UNFINISHED).stat()):
            raise busy  # the other has just finished, and taken its lock away
    except OSError as problem:
        raise busy from problem


def _is_own(name: str) -> bool:
    """Whether such a file is written here, or a part of one that was not completed."""
    return name in OWN_FILES or name == QIDS or (name.startswith(".rankinite-") and name.endswith(".part"))


def _check_free(folder: Path) -> None:
    """Refuse to write over anything but an unfinished folder."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise DataError("this is a file", place=folder, rule="Bins are written to a folder", remedy="Give another path")
    names = {entry.name for entry in folder.iterdir()}
    if MANIFEST in names and UNFINISHED not in names:
        raise DataError("these bins are there already", place=folder, remedy="Remove the folder, or give another path")
    foreign = sorted(name for name in names if not _is_own(name))
    if foreign or (names and UNFINISHED not in names):
        raise DataError(
            f"this folder has other files in it, such as {(foreign or sorted(names))[0]}",
            place=folder,
            value=(foreign or sorted(names))[0],
            remedy="Give the path of a folder that does not exist yet",
        )


def check_disk(folder: Path, needed: int) -> None:
    """Refuse to begin what the disk has no room for."""
    existing = next(path for path in (folder, *folder.resolve().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if needed > free:
        raise DataError(
            f"the codes take {spelled_size(needed)}, but the disk has {spelled_size(free)} left",
            place=folder,
            value=needed,
            remedy="Make room, or write elsewhere",
        )


def folder_bytes(rows: int, queries: int, features: int) -> int:
    """About what a folder takes on disk."""
    return rows * (block_count(features) * WIDTH + 20) + 60 * queries
