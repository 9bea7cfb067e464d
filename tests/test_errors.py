"""Errors: each is written from the data it carries, and every place that raises one gives it what users need."""

from __future__ import annotations

import ast
import copy
import importlib
import pickle
from pathlib import Path

import pytest

import rankinite as rk
from rankinite.cli.error_text import shell_text

SOURCES = sorted((Path(__file__).parents[1] / "src").rglob("*.py"))
KINDS = {"ArgumentError", "DataError", "MeasureError", "GradeError"}
WHOLE = {
    "problem": "must be a whole number from 1 on",
    "place": "train.toml",
    "owner": "LambdaMART",
    "setting": "min_rows",
    "value": 0,
    "rule": "Leaves are not empty",
    "remedy": "Leave out `min_rows`, or give `leaves=20`",
}


def made_errors():
    """Every call that makes an error of ours: where, and which fields it gives."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS:
                fields = {keyword.arg for keyword in node.keywords}
                if None not in fields:  # **fields are made elsewhere
                    yield f"{path.name}:{node.lineno}", fields


def test_every_error_says_where_or_what_and_what_to_do():
    found = list(made_errors())
    assert len(found) > 400
    for place, fields in found:
        assert fields & {"place", "setting", "value"}, place
        assert fields & {"rule", "remedy", "setting"}, place  # after a setting, the problem is the rule


def test_no_code_reads_the_text_of_an_error():
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In):
                assert ast.unparse(node.comparators[0]) not in {"str(error)", "str(problem)"}, f"{path.name}:{node.lineno}"


def test_python_and_the_shell_spell_settings_their_own_way():
    error = rk.ArgumentError(**WHOLE)
    assert str(error) == (
        "LambdaMART: train.toml: min_rows=0 must be a whole number from 1 on. Leaves are not empty. "
        "Leave out min_rows, or give leaves=20."
    )
    assert shell_text(error) == (
        "train.toml: --min-rows 0 must be a whole number from 1 on. Leaves are not empty. "
        "Leave out --min-rows, or give --leaves 20."
    )


def test_a_remedy_of_the_shell_replaces_that_of_python():
    error = rk.DataError("it is odd", place="a.txt", value=1, remedy="Call clean()", shell_remedy="Give --clean")
    assert str(error).endswith("Call clean().")
    assert shell_text(error).endswith("Give --clean.")


@pytest.mark.parametrize("kind", [rk.ArgumentError, rk.DataError, rk.MeasureError])
def test_errors_keep_their_data_when_copied_pickled_or_moved(kind):
    importlib.import_module("distributed")  # which changes how all errors are copied
    error = kind(**WHOLE)
    for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(other) is kind
        assert {name: getattr(other, name) for name in WHOLE} == WHOLE
    moved = error.at("run 7")
    assert moved.place == "run 7: train.toml"
    assert error.place == "train.toml"
    assert moved.value == 0
