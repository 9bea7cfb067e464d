"""A small table of text, laid out for terminals, Markdown, LaTeX, CSV and HTML."""

from __future__ import annotations

import csv
import html
import io
import math
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rankinite.errors import ArgumentError
from rankinite.safe_text import for_terminal

_LATEX = str.maketrans(
    {
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "±": r"$\pm$",
    }
)


def number(value: float, decimals: int = 4, *, signed: bool = False) -> str:
    """A number with fixed decimals, never in scientific notation; an undefined one is a dash."""
    if math.isnan(value):
        return "–"
    text = f"{value:+.{decimals}f}" if signed else f"{value:.{decimals}f}"
    # A rounded −0.00001 is zero: a sign would only puzzle.
    return f"{0.0:.{decimals}f}" if math.isfinite(value) and float(text) == 0.0 else text


DECIMALS = 4
"""Of numbers whose interval is not known."""
MOST_DECIMALS = 6


def decimals_for(half: float) -> int:
    """The decimals of a mean that half its interval deserves: as many as show two digits of that half.

    0.6741 ±0.0598 is 0.674 ±0.060, and with ±0.0033 it is 0.6741 ±0.0033.
    """
    if not math.isfinite(half) or half <= 0.0:
        return DECIMALS
    exponent = int(f"{half:.1e}".partition("e")[2])  # of the rounded half: 0.0996 is 0.10
    return min(max(1 - exponent, 0), MOST_DECIMALS)


def shared_decimals(intervals: Iterable[tuple[float, float]]) -> int:
    """The decimals of a column of means, so that they can be compared: those of the median interval."""
    halves = sorted(half for low, high in intervals if math.isfinite(half := (high - low) / 2) and half > 0.0)
    return decimals_for(halves[len(halves) // 2] if halves else math.nan)


def at_floor(p: float, floor: float) -> bool:
    """Whether a p-value is as small as its resamples let it be, and so only known to be smaller; a floor of 0 is none."""
    return 0.0 < floor < 1.0 and p <= floor


def p_value(p: float, floor: float = 0.0) -> str:
    """A p-value with four decimals, or ``< 0.0001``.

    ``floor``: the least that its resamples can give, which it lies below where it seems to have that value.
    """
    if at_floor(p, floor):
        return f"< {number(math.ceil(floor * 10_000.0 - 1e-9) / 10_000.0)}"  # rounded up: it lies below that too
    return "< 0.0001" if p < 0.0001 else number(p)


def spread(mean: float, interval: tuple[float, float], decimals: int = DECIMALS) -> str:
    """What is printed behind a mean: ``±0.0284``, half its interval, or both ends where they are not equally far from it.

    That is so where the range of a measure cuts the interval: 0.97 ±0.05 would claim more than 1, 0.97 ±0.04 too little below.
    """
    low, high = interval
    uneven = abs((high - mean) - (mean - low))
    if uneven > 0.5 * 10.0**-decimals:
        return f"({number(low, decimals)} to {number(high, decimals)})"
    return f"±{number((high - low) / 2, decimals)}"


def half_note(interval: str, spreads: Iterable[str]) -> str:
    """What ``±`` means, for the note of a table of means, and what replaces it where an interval was cut."""
    cut_off = any(not text.startswith("±") for text in spreads)
    return f"±: half the {interval}" + (", or both its ends where the measure's range cuts it" if cut_off else "")


def percent(share: float) -> str:
    """A share as a percentage with no more digits than it needs: 95%, 99.9%."""
    return f"{100 * share:.10g}%"


def few(texts: Iterable[str], most: int = 8) -> str:
    """The first of some texts, and how many more there are."""
    known = list(texts)
    hidden = len(known) - most
    return ", ".join(known[:most]) + (f" and {hidden:,} more" if hidden > 0 else "")


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of text cells with a title and notes; names in it may hold any characters."""

    header: tuple[str, ...]
    """One heading per column."""
    rows: tuple[tuple[str, ...], ...]
    """The cells, row by row."""
    align: str = ""
    """One letter per column, ``l`` (left) or ``r`` (right); empty: the first column left, the others right."""
    title: str = ""
    """What the table shows; may be empty."""
    notes: tuple[str, ...] = ()
    """Lines below the table."""
    strong: frozenset[tuple[int, int]] = frozenset()
    """Cells (row, column) that stand out: bold where there is bold, starred in plain text, as they are in CSV."""

    def __post_init__(self) -> None:
        columns = len(self.header)
        align = self.align or "l" + "r" * (columns - 1)
        if len(align) != columns or set(align) - {"l", "r"}:
            raise ArgumentError(
                "does not fit the header",
                owner="Grid",
                setting="align",
                value=self.align,
                remedy=f"Give {columns} letters, one per column, each 'l' or 'r'",
            )
        for place, row in enumerate(self.rows):
            if len(row) != columns:
                raise ArgumentError(
                    f"has {len(row)} cells but the header has {columns}",
                    owner="Grid",
                    place=f"row {place}",
                    value=len(row),
                    remedy="Give one cell per column",
                )
        object.__setattr__(self, "align", align)

    def text(self) -> str:
        """Aligned plain text for a terminal."""
        header, rows = self._cells(_one_line, lambda cell: f"{cell} *")
        widths = [max(_width(row[c]) for row in (header, *rows)) for c in range(len(header))]
        lines = [_padded(row, widths, self.align) for row in (header, *rows)]
        rule = "  ".join("─" * width for width in widths)
        title = [_one_line(self.title)] if self.title else []
        return "\n".join([*title, lines[0], rule, *lines[1:], *map(_one_line, self.notes)])

    def markdown(self) -> str:
        """A GitHub-flavoured Markdown table."""
        header, rows = self._cells(markdown_text, lambda cell: f"**{cell}**")
        rule = [":--" if side == "l" else "--:" for side in self.align]
        table = "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))
        title = [f"**{markdown_text(self.title)}**"] if self.title else []
        # Two spaces end a line without ending the paragraph.
        notes = ["  \n".join(markdown_text(note) for note in self.notes)] if self.notes else []
        return "\n\n".join([*title, table, *notes])

    def latex(self, caption: str | None = None, label: str | None = None) -> str:
        """A LaTeX table; it needs the package booktabs.

        ``caption``: in place of the title, as it is, so that it may hold LaTeX; "" is none. ``label``: by which the text
        refers to the table.
        """
        header, rows = self._cells(_latex, lambda cell: rf"\textbf{{{cell}}}")
        lines = [r"\begin{table}", r"\centering"]
        above = _latex(self.title) if caption is None else caption
        if above:
            lines.append(rf"\caption{{{above}}}")
        if label:  # after the caption, whose number it stands for
            lines.append(rf"\label{{{label}}}")
        lines += [rf"\begin{{tabular}}{{{self.align}}}", r"\toprule", _latex_row(header), r"\midrule"]
        lines += [_latex_row(row) for row in rows]
        lines += [r"\bottomrule", r"\end{tabular}"]
        lines += [rf"\par\smallskip{{\footnotesize {_latex(note)}}}" for note in self.notes]
        return "\n".join([*lines, r"\end{table}"])

    def csv(self) -> str:
        """Header and cells as comma-separated values; title and notes are left out."""
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator="\n").writerows((self.header, *self.rows))
        return out.getvalue()

    def html(self) -> str:
        """An HTML table with its notes below."""
        header, rows = self._cells(html.escape, lambda cell: f"<strong>{cell}</strong>")
        sides = ["left" if side == "l" else "right" for side in self.align]

        def line(row: Sequence[str], tag: str) -> str:
            cells = (f'<{tag} style="text-align: {side}">{cell}</{tag}>' for cell, side in zip(row, sides, strict=True))
            return f"<tr>{''.join(cells)}</tr>"

        caption = f"<caption>{html.escape(self.title)}</caption>\n" if self.title else ""
        body = "\n".join(line(row, "td") for row in rows)
        notes = "".join(f"\n<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<table>\n{caption}<thead>{line(header, 'th')}</thead>\n<tbody>\n{body}\n</tbody>\n</table>{notes}"

    def _repr_html_(self) -> str:
        return self.html()

    def __str__(self) -> str:
        return self.text()

    def _cells(
        self, escape: Callable[[str], str], emphasise: Callable[[str], str]
    ) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Header and rows with every cell escaped and the strong ones emphasised."""
        rows = [
            tuple(emphasise(escape(cell)) if (r, c) in self.strong else escape(cell) for c, cell in enumerate(row))
            for r, row in enumerate(self.rows)
        ]
        return tuple(map(escape, self.header)), rows


class GridResult(ABC):
    """A result that one table shows."""

    __slots__ = ()

    @abstractmethod
    def grid(self) -> Grid:
        """The table that is printed."""

    def to_markdown(self) -> str:
        """The table in Markdown."""
        return self.grid().markdown()

    def to_latex(self, *, caption: str | None = None, label: str | None = None) -> str:
        """The table in LaTeX, which needs the package booktabs; ``caption``, itself LaTeX, in place of the title."""
        return self.grid().latex(caption, label)

    def __str__(self) -> str:
        return self.grid().text()

    def _repr_html_(self) -> str:
        return self.grid().html()


def _one_line(text: str) -> str:
    """The text without line breaks and other control characters, which would spoil a terminal or a table."""
    return for_terminal(re.sub("[\t\n\v\f\r\x85\u2028\u2029]", " ", text), keep="")


def markdown_text(text: str) -> str:
    """One line of Markdown that shows the text as it is: nothing in it is markup, HTML or a command to the terminal."""
    return re.sub(r"([\\`*_\[\]|~])", r"\\\1", html.escape(_one_line(text), quote=False))


def _latex(text: str) -> str:
    return _one_line(text).translate(_LATEX)


def _latex_row(row: Sequence[str]) -> str:
    # Braces keep a first cell that starts with "[" or "*" from being read as an option of the line break before it.
    return f"{{}}{' & '.join(row)} \\\\"


def _width(text: str) -> int:
    """Terminal columns: wide East Asian marks take two, combining marks none."""
    wide = sum(unicodedata.east_asian_width(mark) in {"W", "F"} for mark in text)
    return len(text) + wide - sum(unicodedata.category(mark) in {"Mn", "Me", "Cf"} for mark in text)


def _padded(row: Sequence[str], widths: Sequence[int], align: str) -> str:
    cells: list[str] = []
    for cell, width, side in zip(row, widths, align, strict=True):
        room = " " * (width - _width(cell))
        cells.append(cell + room if side == "l" else room + cell)
    return "  ".join(cells).rstrip()
