"""Short names: sources of data as titles of tables and pictures show them. Messages and JSON keep the whole path."""

from __future__ import annotations

import re

LONGEST = 36
"""Letters of a source that fit a title, beside what else it says."""
_LEAD = re.compile(r"(?:\d+ folds of |clicks on )*")
_MORE = re.compile(r" and (\d+) more$")
_ABSOLUTE = re.compile(r"[/\\~.]|[A-Za-z]:[/\\]")


def short_source(source: str, most: int = LONGEST) -> str:
    """The source of data without folders, shortened: ``/data/train.txt + /data/more.txt`` is ``train.txt + more.txt``.

    Of many files the first is named and the others are counted.
    """
    lead = _LEAD.match(source)
    more = _MORE.search(source)
    start = lead.end() if lead else 0
    files = [base_name(path) for path in source[start : more.start() if more else None].split(" + ")]
    others = len(files) - 1 + (int(more[1]) if more else 0)
    whole = " + ".join(files) + (more[0] if more else "")
    if len(whole) > most:
        behind = f" and {others} more" if others else ""
        whole = middle_cut(files[0], most - len(behind)) + behind
    return source[:start] + whole


def base_name(path: str) -> str:
    """A path without its folders; a text that is no path stays as it is."""
    name = re.split(r"[/\\]", path.rstrip("/\\"))[-1]
    return name if name and ("." in name or _ABSOLUTE.match(path)) else path


def middle_cut(text: str, most: int) -> str:
    """A text cut in its middle: names of files often differ at both ends."""
    if len(text) <= most:
        return text
    behind = most // 2
    return f"{text[: most - behind - 1]}…{text[-behind:]}"
