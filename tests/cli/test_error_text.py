"""How errors of the library read at the command line: settings as options, and the remedies that differ there."""

from __future__ import annotations

import pytest

from rankinite.cli.commands import loaded
from rankinite.cli.error_text import option, shell_text, spelled
from rankinite.errors import ArgumentError, DataError


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("infinite='clip'", "--infinite clip"),
        ("qid='query id'", "--qid 'query id'"),
        ("zero_based=True", "--zero-based"),
        ("train_history=False", "--no-train-history"),
        ("max_depth=None", "--max-depth none"),
        ("rate=0.1", "--rate 0.1"),
        ("every=N", "--every N"),
        ("ignore=['a', 'b c']", "--ignore a --ignore 'b c'"),
        ("ignore=[…]", "--ignore"),
        ("hidden=(20, 10)", "--hidden 20,10"),
        ("hidden=()", "--hidden none"),
        ("doc_id=…", "--doc-id"),
        ("format=…", "--input-format"),
        ("measures='err'", "--measure err"),
        ("row_share", "--row-share"),
        ("Feature(3)", "column:3"),
        ("Feature('3')", "feature:3"),
        ("Feature(N)", "feature:N"),
        ("err:max_grade=4", "err:max_grade=4"),
        ("Dataset.map_grades(…)", "Dataset.map_grades(…)"),
    ],
)
def test_code_between_backticks_is_spelled_as_options(code, text):
    assert spelled(code) == text


def test_settings_that_have_another_name_here():
    assert option("count", 0, "threads") == "--threads 0"
    assert option("path", "x", "Checkpoint") == "--checkpoint x"
    assert option("rate", 0.1, "trada") == "--background-rate 0.1"
    assert option("rate", 0.1, "LambdaMART") == "--rate 0.1"


def test_options_in_errors_are_options_of_the_verb(run, letor, tmp_path):
    wrong = {
        "--folds 5 ": ("tune", letor, "--trials=1", "--out", tmp_path / "tuned"),
        "--folds 4 ": ("cross-validate", letor, "-S", "a=mart", "-S", "b=mcrank", "--folds=4"),
        "--job x ": ("warm-up", "--job", "x"),
    }
    for begun, words in wrong.items():
        done = run(*words)
        assert done.code == 2
        assert begun in done.err, done.err
        assert begun.split()[0] in {text for parameter in loaded(words[0]).params for text in parameter.opts}


def test_a_setting_at_fault_opens_the_message_without_its_owner():
    error = ArgumentError("must be above 0", owner="LambdaMART", setting="min_rows", value=0, remedy="Draw with `row_share`")
    assert str(error) == "LambdaMART: min_rows=0 must be above 0. Draw with row_share."
    assert shell_text(error) == "--min-rows 0 must be above 0. Draw with --row-share."


def test_a_remedy_may_differ_at_the_command_line():
    error = DataError("grades differ", place="a.txt", remedy="Call `map_grades(…)`", shell_remedy="Give --map-grades 0=0,1=1")
    assert str(error) == "a.txt: grades differ. Call map_grades(…)."
    assert shell_text(error) == "a.txt: grades differ. Give --map-grades 0=0,1=1."


def test_names_of_users_are_left_as_they_are():
    assert shell_text(DataError("no feature is named 'row_share'", place="x/my_folds=3")) == (
        "x/my_folds=3: no feature is named 'row_share'."
    )
