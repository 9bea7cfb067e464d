"""What earlier versions left in folders still serves, or is left alone; see tests/kept/README.md."""

from __future__ import annotations

import shutil

import pytest

import rankinite as rk
from kept.make_kept import (
    HERE,
    LEARNER,
    MAKERS,
    adapted,
    bytes_key,
    json_of,
    numbers,
    searched,
    trained_on_bins,
    values_of_choice,
    values_of_search,
)

EXPECTED = json_of(HERE / "expected.json")


def contents(folder):
    """The bytes of all files, by their paths."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_all_that_is_kept_is_here():
    assert set(EXPECTED) == set(MAKERS)


@pytest.mark.parametrize(("name", "version"), [("bins", 1), ("bins-categories", 2)])
def test_folders_of_bins_train_the_same_model(name, version):
    assert json_of(HERE / name / "manifest.json")["version"] == version
    assert bytes_key(trained_on_bins(rk.Binned(HERE / name, verify=True), name)) == EXPECTED[name]


def test_a_training_goes_on_from_a_checkpoint_to_the_same_model(tmp_path):
    path = shutil.copy(HERE / "checkpoint.rankinite", tmp_path)
    rounds = []
    ranker = LEARNER.fit(numbers(), callbacks=[rk.Checkpoint(path), lambda progress: rounds.append(progress.round)])
    assert rounds == [3, 4]
    assert bytes_key(ranker) == EXPECTED["checkpoint.rankinite"]


@pytest.mark.parametrize(
    ("name", "run", "values"), [("tuned", searched, values_of_search), ("trials", adapted, values_of_choice)]
)
def test_fits_of_other_code_are_made_again_beside_those_that_are_there(name, run, values, tmp_path):
    """Neither mixed with them nor deleted, and to the same result, which is kept in turn."""
    folder = tmp_path / name
    shutil.copytree(HERE / name, folder)
    before = contents(folder)
    assert values(run(folder)) == EXPECTED[name]
    after = contents(folder)
    for path, content in before.items():
        assert after[path] == content or (path.name == "journal.log" and after[path].startswith(content))
    fits, made = ({path for path in files if path.suffix in {".result", ".npz"}} for files in (before, after))
    assert len(made) == 2 * len(fits) > 0
    assert values(run(folder)) == EXPECTED[name]
    again = contents(folder)
    assert {path: again[path] for path in made} == {path: after[path] for path in made}
    assert set(again) == set(after)
