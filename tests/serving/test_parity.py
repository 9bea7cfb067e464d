"""No bit differs between a ranker's decisions, the twin of a written file, and the program that serves it."""

from __future__ import annotations

import pytest

from rankinite.serving.target import TARGETS
from serving.parity import differing, random_case

pytestmark = [pytest.mark.slow, pytest.mark.tools("a Java runtime and a C compiler called cc")]

FORESTS = 200


@pytest.mark.parametrize("to", list(TARGETS))
def test_random_forests_score_alike_in_writer_twin_and_consumer(to):
    cases = [random_case(to, seed) for seed in range(FORESTS)]
    assert len(cases) == FORESTS
    assert differing(cases, to) == []
