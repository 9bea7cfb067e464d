"""Tables keep their shape and every name in them, whatever characters it holds."""

from __future__ import annotations

import csv
import html.parser
import io
import math
import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankinite.errors import ArgumentError
from rankinite.grid import Grid, decimals_for, number, p_value, shared_decimals, spread
from refusals import refused

HOSTILE = ("<script>alert('x')</script>", "a|b", "50%_x", r"back\slash", "~^{}$#&", "two\nlines", "*bold*", "`code`", "検索")

# A carriage return is left out: before Python 3.13 the csv module writes it without quotes.
any_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=8)
tables = st.integers(1, 4).flatmap(
    lambda columns: st.lists(st.tuples(*[any_text] * columns), min_size=2, max_size=5).map(
        lambda rows: Grid(header=rows[0], rows=tuple(rows[1:]))
    )
)


def hostile_grid() -> Grid:
    return Grid(
        header=("name", "value"),
        rows=tuple((name, "1.0000") for name in HOSTILE),
        title="100% of <them>",
        notes=("a & b",),
        strong=frozenset({(1, 1)}),
    )


def test_text_lines_up() -> None:
    grid = Grid(("system", "ndcg@10"), (("bm25", "0.5"), ("a longer one", "10.25")), title="T", notes=("n",))
    assert grid.text().splitlines() == [
        "T",
        "system        ndcg@10",
        "────────────  ───────",
        "bm25              0.5",
        "a longer one    10.25",
        "n",
    ]


def test_wide_characters_take_two_columns() -> None:
    lines = Grid(("n", "v"), (("検索", "1"), ("abcd", "2"))).text().splitlines()
    assert lines[2] == "検索  1"
    assert lines[3] == "abcd  2"


@settings(max_examples=100, deadline=None)
@given(tables)
def test_text_has_one_line_a_row(grid: Grid) -> None:
    text = grid.text()
    assert len(text.split("\n")) == len(grid.rows) + 2
    assert not [mark for mark in text if unicodedata.category(mark) == "Cc" and mark != "\n"]


@settings(max_examples=100, deadline=None)
@given(tables)
def test_csv_round_trip(grid: Grid) -> None:
    lines = list(csv.reader(io.StringIO(grid.csv(), newline="")))
    written = [list(row) for row in (grid.header, *grid.rows)]
    assert lines == written


@settings(max_examples=100, deadline=None)
@given(tables)
def test_markdown_rows_have_as_many_cells_as_the_header(grid: Grid) -> None:
    for line in grid.markdown().split("\n"):
        # GitHub's rule: a backslash takes the mark after it along, and the pipes left are borders.
        assert len(re.findall(r"\\.|(\|)", line)) - len(re.findall(r"\\.", line)) == len(grid.header) + 1


def test_markdown_escapes() -> None:
    text = hostile_grid().markdown()
    assert r"| a\|b | **1.0000** |" in text
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert r"50%\_x" in text
    assert r"| back\\slash |" in text
    assert "| two lines |" in text
    assert text.splitlines()[2:4] == ["| name | value |", "| :-- | --: |"]


def test_latex_escapes() -> None:
    text = hostile_grid().latex()
    assert r"50\%\_x & 1.0000 \\" in text
    assert r"back\textbackslash{}slash" in text
    assert r"\textasciitilde{}\textasciicircum{}\{\}\$\#\&" in text
    assert r"\caption{100\% of \textless{}them\textgreater{}}" in text
    assert r"\textbf{1.0000}" in text
    assert text.index(r"\toprule") < text.index(r"\midrule") < text.index(r"\bottomrule")
    assert r"\begin{tabular}{lr}" in text
    for name in HOSTILE[1:]:  # no bare special mark is left once every escape is taken out
        line = Grid(("h",), ((name,),)).latex().splitlines()[6]
        bare = re.sub(r"\\text[a-z]+\{\}|\\[&%$#_{}]|\\\\$|^\{\}", "", line)
        assert not re.search(r"[&%$#_{}~^\\]", bare), line


class CellReader(html.parser.HTMLParser):
    """Collects the text of every cell and the tags met."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.tags: set[str] = set()
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag in {"td", "th"}:
            self.cells.append("")
            self.inside = True

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.cells[-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self.inside = False


def test_html_shows_every_name_and_runs_none() -> None:
    grid = hostile_grid()
    reader = CellReader()
    reader.feed(grid.html())
    assert reader.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td", "strong", "p"}
    assert reader.cells == ["name", "value", *(cell for name in HOSTILE for cell in (name, "1.0000"))]
    assert grid._repr_html_() == grid.html()


def test_strong_cells_are_starred_in_text() -> None:
    grid = Grid(("a",), (("x",), ("y",)), strong=frozenset({(1, 0)}))
    assert grid.text().splitlines()[2:] == ["x", "y *"]
    assert "*" not in grid.csv()


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.5, "0.5000"), (-0.00001, "0.0000"), (1e-9, "0.0000"), (123456789.0, "123456789.0000"), (float("nan"), "–")],
)
def test_numbers(value: float, shown: str) -> None:
    assert number(value) == shown


def test_signed_numbers() -> None:
    assert number(0.25, 2, signed=True) == "+0.25"
    assert number(-0.25, 2, signed=True) == "-0.25"
    assert number(0.0, 2, signed=True) == "0.00"
    assert number(float("-inf")) == "-inf"


def test_p_values() -> None:
    assert p_value(0.0312) == "0.0312"
    assert p_value(0.00009) == "< 0.0001"
    assert p_value(0.0) == "< 0.0001"
    assert p_value(1.0) == "1.0000"


@pytest.mark.parametrize(
    ("p", "floor", "shown"),
    [
        (24 / 10001, 24 / 10001, "< 0.0024"),
        (25 / 10001, 24 / 10001, "0.0025"),
        (1 / 10001, 1 / 10001, "< 0.0001"),
        (1 / 10000, 1 / 10000, "< 0.0001"),
        (1 / 9000, 1 / 9000, "< 0.0002"),  # rounded up, as it is an upper bound
        (1.0, 1.0, "1.0000"),  # with so few resamples nothing is known
        (0.0, 0.0, "< 0.0001"),
    ],
)
def test_a_p_value_at_its_floor_is_only_known_to_be_smaller(p: float, floor: float, shown: str) -> None:
    assert p_value(p, floor) == shown


@pytest.mark.parametrize(
    ("mean", "interval", "shown"),
    [
        (0.81, (0.78, 0.84), "±0.0300"),
        (0.81, (0.78000001, 0.84), "±0.0300"),  # uneven by less than is printed
        (0.97, (0.92, 1.0), "(0.9200 to 1.0000)"),
        (2.0, (0.0, math.inf), "(0.0000 to inf)"),
        (2.0, (-math.inf, math.inf), "±inf"),
    ],
)
def test_a_spread_is_half_the_interval_unless_it_was_cut(mean: float, interval: tuple[float, float], shown: str) -> None:
    assert spread(mean, interval) == shown


def test_bad_shapes_are_refused() -> None:
    with refused(ArgumentError, owner="Grid", place="row 1", value=1):
        Grid(("a", "b"), (("1", "2"), ("1",)))
    with refused(ArgumentError, owner="Grid", setting="align", value="lx"):
        Grid(("a", "b"), (), align="lx")


@settings(max_examples=200, deadline=None)
@given(st.floats(1e-5, 40.0))
def test_the_decimals_of_a_mean_show_two_digits_of_half_its_interval(half: float) -> None:
    decimals = decimals_for(half)
    digits = number(half, decimals).replace(".", "").lstrip("0")
    assert len(digits) == 2
    assert decimals == 0 or abs(float(number(half, decimals)) - half) <= 0.05 * half + 1e-12


@pytest.mark.parametrize(
    ("half", "decimals"), [(0.0598, 3), (0.0996, 2), (0.0033, 4), (1e-9, 6), (250.0, 0), (0.0, 4), (math.nan, 4)]
)
def test_decimals_by_half_an_interval(half: float, decimals: int) -> None:
    assert decimals_for(half) == decimals


def test_a_column_has_the_decimals_of_its_median_interval() -> None:
    assert shared_decimals([(0.5, 0.5), (0.4, 0.6), (0.40, 0.42), (0.1, 0.12), (math.nan, math.nan)]) == 3
    assert shared_decimals([(0.5, 0.5)]) == 4
    assert spread(0.5, (0.44, 0.56), 2) == "±0.06"
    assert spread(0.9512, (0.9012, 1.0), 2) == "±0.05"
    assert spread(0.9512, (0.8712, 1.0), 2) == "(0.87 to 1.00)"
