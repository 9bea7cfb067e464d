"""Hypothesis draws the same examples in every run, so that a pass means the same everywhere.

RANKINITE_EXPLORE=1 draws new ones.
"""

from __future__ import annotations

import os
import signal

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

QUICK = {"combine", "data", "engine", "evaluation", "gradients", "measures", "models", "nets", "sweep", "trees"}
"""Folders whose tests are quick, apart from those named below."""
SLOW = {
    *("test_barriers", "test_bounds", "test_kernel_cache", "test_letor_errors", "test_local_optimum", "test_output_files"),
    *(
        "test_grow",
        "test_importing",
        "test_members",
        "test_overlap",
        "test_parallel",
        "test_peers",
        "test_ratios",
        "test_swaps",
    ),
    *(
        "test_bases",
        "test_curve",
        "test_symmetric",
        "test_values",
        "test_container",
        "test_letor",
        "test_probabilities",
        "test_refusals",
        "test_sweep",
    ),
}


def pytest_collection_modifyitems(items: list) -> None:
    """Mark what ``make quick`` runs."""
    for item in items:
        if item.path.parent.name in QUICK and item.path.stem not in SLOW:
            item.add_marker("quick")
