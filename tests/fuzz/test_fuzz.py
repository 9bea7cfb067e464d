"""A few seeded inputs for every reader; ``make fuzz`` is the long run.

Checkpoints are left to it: with bounds checks the kernels that train take a minute to compile.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import campaign
from fuzz.campaign import DIED, FAULT, READ, REFUSED, Results, run_batch

pytestmark = [pytest.mark.slow, pytest.mark.tools("limits on memory")]

INPUTS = 60
QUICK = [name for name in campaign.targets() if name != "checkpoints"]


@pytest.fixture(scope="module")
def results() -> Results:
    """Of all targets, in one process: starting one takes longer than its inputs."""
    found = Results()
    run_batch([(name, seed) for name in QUICK for seed in range(INPUTS)], found)
    return found


@pytest.mark.parametrize("name", QUICK)
def test_every_input_is_read_or_refused(results: Results, name: str) -> None:
    assert not [one for one in results.bad if one.startswith(f"{name}, ")]
    assert results.counts[name].total() == INPUTS
    if name != "settings files":  # they name data that are not there
        assert results.counts[name][READ] >= 3, "hardly any input is valid: the generator looks at the first check alone"
    assert results.counts[name][REFUSED] >= 3


FOUND = sorted((Path(__file__).parent / "found").glob("letor-*.txt"))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_what_was_found_once_is_read_as_the_slow_reader_does(path: Path) -> None:
    campaign.targets()["letor"].run(path)


def test_a_death_is_noticed_and_the_rest_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def lines(child: campaign.Child):
        for _, seed in child.jobs:
            if seed == 3:
                return  # as a child that is killed at this input
            yield FAULT if seed == 4 else READ, ""

    monkeypatch.setattr(campaign.Child, "lines", lines)
    results = Results()
    run_batch([("letor", seed) for seed in range(6)], results)
    assert results.counts["letor"] == {READ: 4, DIED: 1, FAULT: 1}
    assert results.bad == ["letor, seed 3: died", "letor, seed 4: fault"]
