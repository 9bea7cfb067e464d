"""Summary: half a page of a report for those who decide.

It has the verdict, one number, how sure that is, what the ranker costs to serve, and what to do next. It is made of the
report's own data and sentences, so that both say the same; it has no table and no drawing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

from rankinite.data.io.output_files import write_atomically
from rankinite.data.io.text_files import AnyPath
from rankinite.errors import ArgumentError
from rankinite.grid import markdown_text, number
from rankinite.report.document import Report, ResultTable, System
from rankinite.report.handover import Handover
from rankinite.report.html import ENDINGS, check_report, page_part, policy_hash, tab_title, utf8
from rankinite.short_names import short_source

MARKDOWN = (".md", ".markdown")
SURE, COST, NEXT = "How sure is that?", "What does it cost to serve?", "What to do next"
"""The headings."""
_COMMAND = re.compile("(`rankinite [a-z-]+`)")
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="rankinite">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main class="summary">
{content}
</main>
</body>
</html>
"""


@dataclass(frozen=True)
class Summary:
    """What a report comes down to, in plain sentences."""

    title: str
    """What was done, and with what."""
    verdict: str
    """The verdict."""
    number: str
    """The sentence with the one number that counts; empty where the verdict has it."""
    sure: tuple[str, ...]
    """How sure that is, and on what evidence."""
    cost: tuple[str, ...]
    """What it takes to serve the ranker; empty where there is none to serve."""
    next_steps: tuple[str, ...]
    """What to do next."""

    def to_markdown(self) -> str:
        """The summary as Markdown, in which names stay text."""
        parts = [f"# {_marked(self.verdict)}", _marked(self.title)]
        parts += [f"**{_marked(self.number)}**"] if self.number else []
        for heading, sentences in self._lists():
            parts += [f"## {heading}", "\n".join(f"- {_marked(sentence)}" for sentence in sentences)]
        return "\n\n".join(parts) + "\n"

    def to_html(self) -> str:
        """The summary as one HTML file in the style of the report; it needs no network, and holds no program."""
        parts = [f"<p class='kind'>{_escaped(self.title)}</p>", f"<h1>{_escaped(self.verdict)}</h1>"]
        parts += [f"<p class='number'>{_escaped(self.number)}</p>"] if self.number else []
        for heading, sentences in self._lists():
            entries = "".join(f"<li>{_escaped(sentence)}</li>" for sentence in sentences)
            parts += [f"<h2>{heading}</h2>", f"<ul>{entries}</ul>"]
        style = page_part("report.css")
        policy = f"default-src 'none'; style-src '{policy_hash(style)}'; img-src data:; base-uri 'none'; form-action 'none'"
        return _PAGE.format(policy=policy, title=escape(self.title), style=style, content="\n".join(parts))

    def _lists(self) -> list[tuple[str, tuple[str, ...]]]:
        """The headings that have sentences below them."""
        every = ((SURE, self.sure), (COST, self.cost), (NEXT, self.next_steps))
        return [(heading, sentences) for heading, sentences in every if sentences]


def summary(report: Report) -> Summary:
    """Half a page for those who decide, from the same data as the report.

    >>> print(summary(of_comparison(comparison, test, systems)).to_markdown())                 # doctest: +SKIP
    """
    check_report(report, "summary")
    verdict, *others = report.verdict or (report.title,)
    handover = report.handover or Handover((), ())
    told = handover.number or _mean(report)
    evidence = _evidence(report, with_interval=not handover.number)  # which the number has already
    return Summary(
        title=tab_title(report),
        verdict=verdict,
        number=told,
        sure=(*(one for one in others if one not in {told, *handover.serving}), *evidence),
        cost=handover.serving,
        next_steps=(*handover.next_steps, *_worst_query(report)),
    )


def write_summary(report: Report, path: AnyPath) -> Path:
    """Write the summary of a report to ``path``, which ends in .md or .html."""
    target = check_summary_path(path)
    made = summary(report)
    content = made.to_html() if target.suffix.lower() in ENDINGS else made.to_markdown()
    with write_atomically(target) as handle:
        handle.write(utf8(content))
    return target


def check_summary_path(path: AnyPath) -> Path:
    """The path of a summary; refuses a name that does not say how to write it."""
    target = Path(path)
    if target.suffix.lower() not in (*ENDINGS, *MARKDOWN):
        raise ArgumentError(
            "the name of a summary does not tell how to write it",
            place=path,
            value=target.suffix,
            remedy="Give a name that ends in .md or .html",
        )
    return target


def _judged(report: Report) -> tuple[ResultTable, System] | None:
    """The table that the verdict is about, and the system chosen; where none is better than the baseline, its rival."""
    if not report.tables:
        return None
    table = report.tables[0]
    rival = None if report.queries is None else report.queries.after_name
    chosen = [system for system in table.systems if system.chosen]
    return table, (chosen or [system for system in table.systems if system.name == rival] or [table.systems[0]])[0]


def _mean(report: Report) -> str:
    """The mean of the system chosen, beside that of the baseline."""
    found = _judged(report)
    if found is None or (mean := found[1].results[0].mean) is None:
        return ""
    table, system = found
    base = next((one.results[0].mean for one in table.systems if one.name in table.baselines[:1] and one is not system), None)
    whose = f" with {system.name}" if len(table.systems) > 1 else ""
    against = "" if base is None else f" instead of {number(base, 3)} with {table.baselines[0]}"
    return f"{table.measures[0]} is {number(mean, 3)}{whose}{against} on {short_source(table.source)}."


def _evidence(report: Report, *, with_interval: bool) -> tuple[str, ...]:
    """How many queries get better by the system chosen, and within which limits its gain may be."""
    found = _judged(report)
    gain = found[1].gains[0] if found is not None and found[1].gains else None
    if found is None or gain is None:
        return ()
    table, queries = found[0], gain.wins + gain.ties + gain.losses
    better = f"{gain.wins} of {queries} queries {'gets' if gain.wins == 1 else 'get'} better than with {table.baselines[0]}"
    counted = [f"{better}, {gain.losses} {'gets' if gain.losses == 1 else 'get'} worse."]
    if any(f"Of {queries} queries" in sentence for sentence in report.verdict):  # which counts them already
        counted.clear()
    if not with_interval or gain.low is None or gain.high is None:
        return tuple(counted)
    low, high = (number(end, 3, signed=True) for end in (gain.low, gain.high))
    return *counted, f"On other queries like these the mean change of {table.measures[0]} could be from {low} to {high}."


def _worst_query(report: Report) -> tuple[str, ...]:
    """Which query to look at, where one gets worse."""
    queries = report.queries
    if queries is None or queries.before is None:
        return ()
    sign = 1.0 if queries.higher_is_better else -1.0
    changes = [sign * (after - before) for before, after in zip(queries.before, queries.after, strict=True)]
    if not changes or min(changes) > -0.0005:
        return ()
    worst = queries.qids[changes.index(min(changes))]
    return (f"Look at the queries that get worse, first of all '{worst}': the report shows their documents.",)


def _marked(text: str) -> str:
    """Text as Markdown; commands of ours between backquotes stay commands."""
    return "".join(part if _COMMAND.fullmatch(part) else markdown_text(part) for part in _COMMAND.split(text))


def _escaped(text: str) -> str:
    """Text as HTML, likewise."""
    return "".join(f"<code>{part[1:-1]}</code>" if _COMMAND.fullmatch(part) else escape(part) for part in _COMMAND.split(text))
