"""Hypothesis draws the same examples in every run, so that a pass means the same everywhere.

RANKINITE_EXPLORE=1 draws new ones.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Generator

import pytest
from hypothesis import settings

# Help and tables look the same whatever terminal the tests are started from.
os.environ["COLUMNS"] = "100"
for name in ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS"):
    os.environ.pop(name, None)

# What is started in the background may inherit that Ctrl-C is ignored; tests of Ctrl-C would then wait for nothing.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("same", derandomize=True)
settings.register_profile("explore", print_blob=True)
settings.load_profile("explore" if os.environ.get("RANKINITE_EXPLORE") else "same")


@pytest.fixture(autouse=True)
def registered_measures() -> Generator[None]:
    """What a test registers as a measure is unknown again after it."""
    from rankinite.measures import registry

    tables = (registry._known, registry.OTHER_NAMES, registry.CUT_NAMES)
    before = [dict(table) for table in tables]
    yield
    for table, content in zip(tables, before, strict=True):
        table.clear()
        table.update(content)
