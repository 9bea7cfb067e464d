"""Signals at random moments of some verbs; ``make crash`` is the long run."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.tools("Linux")]

QUICK = ("synth", "convert to zst", "score")


def test_whatever_is_left_is_whole_and_a_rerun_ends_the_same(tmp_path: Path) -> None:
    from crash.campaign import JOBS, Campaign  # names signals that are absent on Windows

    campaign = Campaign(tmp_path, tuple(job for job in JOBS if job.name in QUICK))
    tally = campaign.run(seed=1, until=time.monotonic() + 600, signals=6)
    assert not tally.problems
    assert sum(tally.sent.values()) + tally.late.total() >= 6
