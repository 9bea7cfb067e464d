"""One table says which suffix means which format and compression, and everything that asks it agrees."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracles.datasets import contents, random_dataset
from rankinite import read, write
from rankinite.data.io.format_detection import format_of
from rankinite.data.io.formats import (
    COMPRESSIONS,
    FORMATS,
    LETOR,
    QRELS,
    TEXT_SUFFIXES,
    compression_of_suffix,
    has_known_suffix,
    written_format,
)

SUFFIXES = {**dict.fromkeys(TEXT_SUFFIXES, LETOR), **{suffix: one for one in FORMATS.values() for suffix in one.suffixes}}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_written_under_a_suffix_is_read_as_its_format(tmp_path: Path, suffix: str) -> None:
    path, data = tmp_path / f"t{suffix.upper()}", random_dataset(1)
    assert written_format(path) == SUFFIXES[suffix]
    assert has_known_suffix(path)
    write(data, path)
    assert format_of([path], None) == SUFFIXES[suffix].name
    assert read(path).doc_ids.tolist() == data.doc_ids.tolist()
    assert (read(path).features == data.features[:, : 0 if SUFFIXES[suffix] == QRELS else None]).all()


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_compressed_text_begins_and_reads_as_its_suffix_says(tmp_path: Path, suffix: str) -> None:
    data = random_dataset(1)
    for path in (tmp_path / f"t.csv{suffix}", tmp_path / f"t.txt{suffix}"):
        write(data, path)
        assert compression_of_suffix(path) == COMPRESSIONS[suffix]
        assert path.read_bytes().startswith(COMPRESSIONS[suffix].magic)
        assert has_known_suffix(path)
    assert contents(read(tmp_path / f"t.csv{suffix}")) == contents(data)
    assert written_format(tmp_path / f"t.txt{suffix}") == LETOR


@pytest.mark.parametrize("name", ["folder", "market.de", "v1.2"])
def test_other_names_are_folders_to_synth(name: str) -> None:
    assert not has_known_suffix(Path(name))
