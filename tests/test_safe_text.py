"""Names from data and files are shown, not obeyed: by terminals, by Markdown and HTML, by spreadsheets."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankinite as rk
from rankinite import cli
from rankinite.cli.messages import say
from rankinite.cli.output import echo, echo_json
from rankinite.cli.verbs.adapt_texts import evidence_markdown, gains_csv
from rankinite.grid import Grid, markdown_text
from rankinite.safe_text import for_spreadsheet, for_terminal
from rankinite.short_names import short_source

ESCAPE, TITLE, OVERRIDE, C1 = "\x1b[31m", "\x1b]0;owned\x07", "\u202eexe.txt", "\x9b2J"
HOSTILE = [ESCAPE, TITLE, OVERRIDE, C1, "\u2066x\u2069", "\u200fx", "\x7f", "\x00", "\ud800", "back\rover"]


def unseen(text: str) -> list[str]:
    """Characters that a terminal would not show as they are."""
    turning = {"RLO", "LRO", "RLE", "LRE", "PDF", "RLI", "LRI", "FSI", "PDI"}
    return [
        mark
        for mark in text
        if unicodedata.category(mark) in {"Cc", "Cs", "Zl", "Zp"}
        or unicodedata.bidirectional(mark) in turning
        or mark in "\u061c\u200e\u200f"
    ]


@given(st.text(st.characters(exclude_categories=())))
def test_nothing_unseen_is_left_and_all_else_stays(text: str) -> None:
    shown = for_terminal(text, keep="")
    assert not unseen(shown)
    if not unseen(text) and "\ufeff" not in text:
        assert shown == text


@given(st.text(st.characters(exclude_categories=())))
def test_json_means_the_same(text: str) -> None:
    assert json.loads(for_terminal(json.dumps([text], ensure_ascii=False))) == [text]


def test_line_breaks_and_letters_stay() -> None:
    assert for_terminal("two\nlines\tand 検索, é, שלום") == "two\nlines\tand 検索, é, שלום"
    assert for_terminal(ESCAPE + OVERRIDE) == r"\u001b[31m\u202eexe.txt"


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_whatever_is_printed_is_safe(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    echo(f"query {name}")
    echo_json({"qid": name})
    say(f"read {name}")
    with pytest.raises(SystemExit) as stopped:
        cli._refuse(f"{name}: no such file.")
    assert stopped.value.code == 2
    grid = Grid(("qid", "value"), ((name, "1"),), title=name, notes=(name,))
    assert not unseen(grid.text().replace("\n", ""))
    assert not unseen(grid.markdown().replace("\n", ""))
    printed = capsys.readouterr()
    assert not unseen((printed.out + printed.err).replace("\n", ""))


def test_names_of_features_and_files_do_nothing_to_the_terminal(tmp_path, monkeypatch, capsys) -> None:
    path = tmp_path / f"a{ESCAPE}{OVERRIDE}.parquet"
    data = rk.read(np.ones((2, 1)), grades=[0, 1], qid=[ESCAPE, OVERRIDE])
    rk.write(data.rename_features([f"id{C1}{OVERRIDE}"]), path)
    for arguments, code in (("describe", path), 0), (("describe", path, "--json"), 0), (("describe", f"{path}x"), 2):
        monkeypatch.setattr("sys.argv", ["rankinite", *map(str, arguments)])
        done = 0
        try:
            cli.main()
        except SystemExit as stop:
            done = stop.code or 0
        printed = capsys.readouterr()
        assert done == code
        assert not unseen((printed.out + printed.err).replace("\n", ""))
        assert r"\u202e" in printed.out + printed.err


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", '=HYPERLINK("x")']


@pytest.mark.parametrize("cell", FORMULAS)
def test_formulas_are_text_to_spreadsheets(cell: str) -> None:
    assert for_spreadsheet(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["7", "-7", "+0.5", "-1e-9", "a=b", "query-1", "'quoted", "", "user@host"])
def test_numbers_and_other_texts_stay(cell: str) -> None:
    assert for_spreadsheet(cell) == cell


def test_the_evidence_shows_names_as_they_are() -> None:
    qids = ["<img src=x onerror=alert(1)>", "=1+1", "-7", "[a](javascript:b)", f"x{OVERRIDE}", "two\n# lines"]
    choice = stub([(qid, 0.5, 0.75 - number / 10) for number, qid in enumerate(qids)], source="data/<b>*bold*</b>.txt")
    lines = list(csv.reader(io.StringIO(gains_csv(choice), newline="")))
    assert [line[1] for line in lines[1:]] == [qids[0], "'=1+1", "-7", *qids[3:]]
    assert all(repr(float(cell)) == cell for line in lines[1:] for cell in line[2:])
    about = ("command", "inputs", "sha256", "settings", "background", "background_forest", "versions", "seconds")
    text = evidence_markdown(choice, dict.fromkeys(about, f"```\n<b>{OVERRIDE}"))
    prose, code = text.split("```json")
    assert "<" not in prose
    assert f"# tuned, adapted to {markdown_text(short_source(choice.source))}\n" in prose
    assert "&lt;img src=x onerror=alert(1)&gt;" in prose
    assert "\n# lines" not in prose
    assert not unseen(text.replace("\n", ""))
    assert [line for line in code.splitlines() if line.startswith("```")] == ["```"]


def stub(gains: list[tuple[str, float, float]], source: str) -> SimpleNamespace:
    """As much of a choice as the evidence asks for."""
    return SimpleNamespace(
        name="tuned",
        source=source,
        unseen={"tuned": SimpleNamespace(source=source)},
        test=None,
        shifted=None,
        curve=None,
        costs={},
        trials=(),
        measure=rk.NDCG(10),
        gains=lambda seen: gains,
        grid=lambda seen, title: Grid(("system", "value"), (("a", "1"),), title=title),
        recommendation=lambda: (f"Deploy it: {source} gains.", "p < 0.05."),
        explanation=lambda: ("Smaller than (<) 0.05.",),
    )
