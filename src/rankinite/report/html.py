"""HTML file of a report: its data inside as JSON, and the style and the program that lay them out.

Whatever qids, document ids, feature names or file names contain stays text. The JSON has no ``<``, ``>`` or ``&``, so nothing
in it can end the element around it; the program puts texts on the page as text only; and the page's security policy lets no
other program run, nor anything be loaded.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path

from rankinite.data.io.output_files import write_atomically
from rankinite.data.io.text_files import AnyPath
from rankinite.errors import ArgumentError
from rankinite.report.document import Report
from rankinite.short_names import short_source

PROGRAM = ("elements.js", "charts.js", "queries.js", "ensemble.js", "tuning.js", "folds.js", "explanation.js", "report.js")
"""The parts of the program, which are put into one."""
ENDINGS = (".html", ".htm")
OURS = b'{"title":'
"""How the data of a report begin: another file of that name is not overwritten."""
_ESCAPES = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


def check_report(report: object, owner: str) -> None:
    """Refuse what is no report, such as the result that a report is to be made of."""
    if not isinstance(report, Report):
        kind = type(report).__name__
        raise ArgumentError(
            f"a {kind} is not a report",
            owner=owner,
            value=kind,
            remedy="Make one first, as in rk.report.write(rk.report.of_choice(choice, target), 'report.html'); of_comparison, "
            "of_training, of_ensemble, of_tuning, of_cross_validation and of_explanation make reports of other results",
        )


def page(report: Report) -> bytes:
    """The HTML file."""
    check_report(report, "page")
    program = "".join(page_part(name) for name in PROGRAM)
    style = page_part("report.css")
    filled = {
        "policy": f"default-src 'none'; style-src '{policy_hash(style)}'; script-src '{policy_hash(program)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        "title": escape(tab_title(report)),
        "style": style,
        "data": report.to_json().translate(_ESCAPES),
        "program": program,
    }
    # One pass: texts that are filled in are not searched again, so data cannot contain placeholders.
    text = re.sub(r"\{\{(\w+)\}\}", lambda found: filled[found[1]], page_part("report.html"))
    return utf8(text)


def tab_title(report: Report) -> str:
    """What tells a tab of a browser from others: the system chosen and the data, then what was done."""
    if report.explained is not None:
        return f"{report.explained.subject} · {report.title}"
    table = report.tables[0] if report.tables else None
    chosen = [system.name for system in table.systems if system.chosen] if table is not None and len(table.systems) > 1 else []
    data = [] if table is None else [short_source(table.source)]
    return " · ".join([*chosen, *data, report.title])


def write(report: Report, path: AnyPath | None = None) -> Path:
    """Write a report to ``path``, which ends in .html, and its data beside it, in a file that ends in .json."""
    check_report(report, "write")
    if path is None:
        raise ArgumentError("is missing", owner="write", setting="path", value=None, remedy="Name a file, as in 'report.html'")
    target = check_path(path)
    content, data = page(report), utf8(report.to_json() + "\n")
    with write_atomically(target.with_suffix(".json")) as handle:
        handle.write(data)
    with write_atomically(target) as handle:
        handle.write(content)
    return target


def check_path(path: AnyPath) -> Path:
    """The path of a report; refuses a name that browsers would not open as a page."""
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise ArgumentError(
            "the name of a report must end in .html",
            place=path,
            value=target.suffix,
            rule="Its data go beside it, in a file that ends in .json",
        )
    data = target.with_suffix(".json")
    if data.is_file() and not data.read_bytes()[: len(OURS)] == OURS:
        raise ArgumentError(
            "the report's data would go there, but the file holds something else, a model perhaps",
            place=data,
            value=str(data),
            remedy="Give the report another name",
        )
    return target


def utf8(text: str) -> bytes:
    """UTF-8; halves of surrogate pairs, which are no letters, as JSON writes them."""
    return text.encode("utf-8", "backslashreplace")


def page_part(name: str) -> str:
    """A file that pages are made of."""
    return (files("rankinite.report") / "page" / name).read_text(encoding="utf-8")


def policy_hash(text: str) -> str:
    """By what a policy allows a style or a program."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
