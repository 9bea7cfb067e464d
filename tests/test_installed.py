"""The key of our code, by which finished work is recognised: it follows from what the code computes, and from nothing else."""

from __future__ import annotations

import pytest

from rankinite.installed import code_key, key_of

CODE = b'''"""A module."""

RATE = 0.1
"""Shrinkage of each tree."""


class Step:
    """One step."""

    def size(self) -> float:
        """How long it is."""
        return RATE * 2  # both ways
'''


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"# both ways", b"# there and back"),
        (b"A module", b"Another"),
        (b"Shrinkage of each tree", b"How far each tree is trusted"),
        (b'    """One step."""\n\n', b""),
        (b"How long it is", b"Its length"),
        (b"\n\n\nclass", b"\n\n\n\n\nclass"),
    ],
)
def test_comments_docstrings_and_layout_do_not_count(before, after):
    assert CODE.replace(before, after) != CODE
    assert key_of([CODE.replace(before, after)]) == key_of([CODE])


@pytest.mark.parametrize(
    ("before", "after"), [(b"0.1", b"0.2"), (b"* 2", b"* 3"), (b"RATE * 2", b"2 * RATE"), (b"-> float", b"-> object")]
)
def test_code_counts(before, after):
    assert key_of([CODE.replace(before, after)]) != key_of([CODE])


def test_a_text_that_is_computed_with_counts():
    assert key_of([b'def name():\n    """Doc."""\n    return "a"']) != key_of([b'def name():\n    """Doc."""\n    return "b"'])


def test_the_key_that_was_kept_is_the_one_that_is_computed(tmp_path, monkeypatch):
    """With the file, without it, and where nothing can be kept."""
    monkeypatch.setattr("rankinite.installed.cache_folder", lambda: tmp_path)
    found = code_key.__wrapped__()
    [kept] = tmp_path.iterdir()
    assert found == code_key.__wrapped__() == kept.read_text()
    monkeypatch.setattr("rankinite.installed.cache_folder", lambda: None)
    assert code_key.__wrapped__() == found
