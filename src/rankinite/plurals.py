"""Plurals: numbers with what they count, as in "1 query has" and "1,200 queries have"."""

from __future__ import annotations

IRREGULAR = {
    "epoch": "epochs",
    "leaf": "leaves",
    "it": "them",
    "has": "have",
    "is": "are",
    "was": "were",
    "repeats": "repeat",
    "comes": "come",
    "counts": "count",
    "differs": "differ",
    "gains": "gain",
    "loses": "lose",
}
"""One → several, where no ending tells."""


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "query"), counted(1200, "query"), counted(0, "held-out part"), counted(2, "leaf"), counted(3, "epoch")
    ('1 query', '1,200 queries', '0 held-out parts', '2 leaves', '3 epochs')
    """
    return f"{number:,} {agreeing(number, noun)}"


def agreeing(number: int, word: str) -> str:
    """A noun, or a verb such as "has", as it goes with a number.

    >>> agreeing(1, "has"), agreeing(2, "has"), agreeing(3, "category"), agreeing(2, "batch")
    ('has', 'have', 'categories', 'batches')
    """
    if number == 1:
        return word
    before, _, last = word.rpartition(" ")
    lead = f"{before} " if before else ""
    if last in IRREGULAR:
        return lead + IRREGULAR[last]
    if last.endswith("y") and last[-2] not in "aeiou":
        return f"{lead}{last[:-1]}ies"
    return f"{word}es" if last.endswith(("s", "x", "ch", "sh")) else f"{word}s"


def data_size(queries: int, rows: int, features: int) -> str:
    """How large data are.

    >>> data_size(1, 20, 136)
    '1 query, 20 rows, 136 features'
    """
    return ", ".join((counted(queries, "query"), counted(rows, "row"), counted(features, "feature")))
