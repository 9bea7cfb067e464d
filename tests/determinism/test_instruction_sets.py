"""The same bytes with AVX2, FMA and the compiler as with none; ``make determinism`` also compiles for an old processor."""

from __future__ import annotations

import pytest

from determinism.processors import PLAIN_PYTHON, results_with

pytestmark = [pytest.mark.slow, pytest.mark.tools("a processor of the x86-64 family")]


def test_plain_python_on_an_old_processor_gives_the_same_bytes():
    here = results_with({})
    assert len(here) > 20
    assert results_with(PLAIN_PYTHON) == here
