"""Hypothesis draws the same examples in every run, so that a pass means the same everywhere.

RANKINITE_EXPLORE=1 draws new ones.
"""

from __future__ import annotations

import os

from hypothesis import settings

# Help and tables look the same whatever terminal the tests are started from.
os.environ["COLUMNS"] = "100"
for name in ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS"):
    os.environ.pop(name, None)

settings.register_profile("same", derandomize=True)
settings.register_profile("explore", print_blob=True)
settings.load_profile("explore" if os.environ.get("RANKINITE_EXPLORE") else "same")
