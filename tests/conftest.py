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

TOOLS = {
    "cli/test_train_bad_input": "/proc of Linux",
    "crash/test_crash": "Linux",
    "data/test_output_files": "Linux and a C compiler called cc",
    "data/test_streams": "/dev and /proc of Linux",
    "determinism/test_instruction_sets": "a processor of the x86-64 family",
    "engine/test_kernel_cache": "limits on the size of files",
    "engine/test_memory": "/proc and /sys of Linux",
    "fuzz/test_fuzz": "limits on memory",
    "joint/test_faults": "mpiexec",
    "joint/test_joint": "mpiexec",
    "models/test_hostile_models": "/proc of Linux",
    "report/test_browser": "chromium and chromedriver",
    "serving/test_c": "a C compiler called cc",
    "serving/test_category_programs": "a C compiler called cc",
    "serving/test_pmml": "a Java runtime",
}
"""Files of tests that need Linux or programs beside Python, and which; a portable run leaves them out with -m "not tools"."""
POSIX = {
    *("adapt/test_adapt_results", "cli/test_config", "cli/test_files", "cli/test_help", "cli/test_interruptions"),
    *("data/test_pieces", "data/test_reading", "engine/test_barriers", "engine/test_parallel", "learners/test_checkpoint"),
    *("models/test_scorer", "serving/test_ranklib", "tests/test_project", "workers/test_cluster"),
}
"""Files of tests that need signals, pipes, terminals, locks or forks; Windows leaves them out with -m "not posix"."""
collect_ignore_glob = [f"**/{name}.py" for name in (*TOOLS, *POSIX)] if os.name == "nt" else []
"""Some of these cannot even be imported there."""


@pytest.fixture(autouse=True)
def registered_measures() -> Generator[None]:
    """What a test registers as a measure is unknown again after it."""
    from rankinite.measures import spelling

    known = dict(spelling._known)
    yield
    spelling._known.clear()
    spelling._known.update(known)


def pytest_collection_modifyitems(items: list) -> None:
    """Mark what ``make quick`` runs, and what needs more than Python."""
    for item in items:
        name = f"{item.path.parent.name}/{item.path.stem}"
        if name in TOOLS:
            item.add_marker("tools")
        if name in POSIX:
            item.add_marker("posix")
        if item.path.parent.name in QUICK and item.path.stem not in SLOW:
            item.add_marker("quick")
