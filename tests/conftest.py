"""Hypothesis draws the same examples in every run, so that a pass means the same everywhere.

RANKINITE_EXPLORE=1 draws new ones.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True)
settings.register_profile("explore", print_blob=True)
settings.load_profile("explore" if os.environ.get("RANKINITE_EXPLORE") else "same")
