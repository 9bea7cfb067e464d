"""Errors, notes and help speak the shell's language: no setting is spelled as Python has it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from rankinite.cli.error_text import in_shell

SOURCE = Path(__file__).parents[2] / "src" / "rankinite"
KINDS = {"ArgumentError", "DataError", "MeasureError", "GradeError"}
PYTHON = re.compile(r"\b\w+=[\[('\"{…]|\blike=|\brk\.|\bDataset\.|\w\(…?\)|\w\(\[|\bin Python\b")
"""What no text may hold outside of backticks that the shell shows: ``ignore=[``, ``rk.read``, ``concat()``."""
READ_BY_THE_SHELL = ("data", "binned", "cli", "models/files")


def shown(node: ast.AST) -> str:
    """The literal parts of an expression, without what is between backticks, which the shell spells."""
    parts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))
    return re.sub(r"`[^`]*`", "", "".join(parts))


def texts():
    """Every text of an error that the shell shows: its place in the code, and the text."""
    for folder in READ_BY_THE_SHELL:
        for path in sorted((SOURCE / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS):
                    continue
                fields = {keyword.arg: keyword.value for keyword in node.keywords}
                remedy = "shell_remedy" if "shell_remedy" in fields else "remedy"
                every = [*node.args[:1], *(fields[name] for name in ("rule", remedy) if name in fields)]
                yield from ((f"{path.relative_to(SOURCE)}:{node.lineno}", shown(one)) for one in every)


def test_no_error_of_reading_speaks_python_in_the_shell():
    found = list(texts())
    assert len(found) > 400
    assert not [(place, text) for place, text in found if PYTHON.search(text)]


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("Pass `ignore=['a', 'b c']`, or `features=…`", "Pass --ignore a --ignore 'b c', or --features"),
        ("`map_grades={'Good': 2, 'Bad': 0}`", "--map-grades Good=2,Bad=0"),
        ("`map_grades={'Good': …}`", "--map-grades"),
        ("`delimiter='semicolon'`", "--delimiter semicolon"),
        ("`rename={'Unnamed: 0': 'row'}`", "--rename 'Unnamed: 0=row'"),
        ("`positions=…`", "--position"),
    ],
)
def test_settings_of_reading_are_spelled_as_options(text, spelled):
    assert in_shell(text) == spelled


@pytest.mark.parametrize("text", ["ignore=['a']", "call concat() first", "rk.read(…)", "with like=train", "x, in Python y"])
def test_the_law_would_notice(text):
    assert PYTHON.search(text)
