"""Names of columns: the usual ones, by which roles are recognised, and what others may mean.

A meaning (the query, the document, another id, a position, what users did) is only suggested by a name: it improves advice and
warnings, and changes nothing in what is read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeAlias

Meaning: TypeAlias = Literal["query", "document", "id", "category", "position", "reaction"]
"""``id``: of a user or a row. ``category``: of anything else, such as a brand, which may well be a feature where they are few.
``reaction``: clicks and the like."""

USUAL_NAMES: Mapping[str, tuple[str, ...]] = {
    "qid": ("qid", "query_id", "query", "queryid", "q_id", "srch_id"),
    "grades": ("grade", "label", "relevance", "rel", "relevance_label", "target", "y"),
    "doc_id": ("doc_id", "docid", "document_id", "docno", "did"),
    "weight": ("weight",),
    "batch": ("batch", "fold"),
    "positions": (),  # a column of that name may be a feature, and was one in older models: it must be named
}
"""Column names by which each role is recognised when the caller names none, in upper or lower case."""
NAMED_LIKE: dict[Meaning, str] = {
    "query": "named like the id of a query",
    "document": "named like the id of a document",
    "id": "named like an id",
    "category": "named like an id, with many values",
    "position": "named like the position at which a document was shown",
    "reaction": "named like what users did with a document",
}
"""What is said of a feature whose name has a meaning."""


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_COUNTS = _set_of("no nr num number")
_IDS = _COUNTS | _set_of("id uuid guid key pk hash code index idx")
_SURE_IDS = _set_of("id uuid guid key pk index idx")
_QUERIES = _set_of("query qid q session search srch request req group topic question slate impression serp")
_PLAIN_QUERIES = _set_of("query qid q search srch")
_QUERY_ALONE = _QUERIES - _set_of("req slate impression serp")
_QUERY_TEXTS = _set_of("text string str term terms keyword keywords phrase")
_CODES = _set_of("url uri asin sku isbn ean upc gtin docno")
"""Names of documents that need no other word."""
_DOCUMENTS = _CODES | _set_of(
    "doc document item product prod page article passage listing offer video book movie song track hotel prop property ad "
    "candidate result recipe news post job"
)
_PEOPLE = _set_of("user visitor customer client member account device person cookie buyer shopper")
_ROWS = _set_of("row line record")
_DISPLAY = _set_of("display displayed shown click clicked serp srp result")
_PLACES = {"rank": _DISPLAY, **dict.fromkeys(("position", "pos", "slot"), _DISPLAY | _DOCUMENTS)}
"""Words for the position of a document in a list, each with those that may go with it: a product's rank may be its sales."""
_REACTIONS = _set_of("click clicks clicked impression impressions purchase purchases purchased bought booked booking")
_REACTION_WORDS = _REACTIONS | _COUNTS | _set_of("is was has n nb count cnt total bool flag")
_GRADES = _set_of("grade grades graded judgement judgment judged label relevance relevancy gold gain")
_GRADE_WORDS = _set_of(
    "human editor editorial expert manual query document doc product search level class final mean is the by of"
)
_STEMS = "|".join(sorted(_QUERIES | _DOCUMENTS | _PEOPLE | _ROWS, key=len, reverse=True))
_RUN_TOGETHER = re.compile(rf"({_STEMS})(id|uuid|guid|key|hash|index|idx|no|num|number)")


def meaning_of(name: str) -> Meaning | None:
    """What a column of this name may hold; None where the name does not tell."""
    ordered = words_of(name)
    words = frozenset(ordered)
    rest = words - _IDS
    named = rest < words and ordered[0] not in _COUNTS  # product number, but not number of products
    if rest and rest <= _QUERIES and (named or words <= _QUERY_ALONE):
        return "query"
    if rest and rest <= _DOCUMENTS and (named or words <= _CODES):
        return "document"
    if any(place in words and words <= {place, *beside} for place, beside in _PLACES.items()):
        return "position"
    if words & _REACTIONS and words <= _REACTION_WORDS:
        return "reaction"
    if (rest <= _PEOPLE | _ROWS and words & _SURE_IDS) or (words & _ROWS and rest <= _ROWS):
        return "id"
    return "category" if words & {"id", "uuid", "guid"} else None


def query_columns(columns: Sequence[str], texts: Collection[str]) -> list[str]:
    """Those that may hold the query, the likeliest first: by its id, by another, or, among columns of ``texts``, as written."""
    ids = [name for name in columns if meaning_of(name) == "query"]
    ids.sort(key=lambda name: _PLAIN_QUERIES.isdisjoint(words_of(name)))
    return ids + [name for name in columns if name in texts and holds_query_text(name)]


def grade_columns(columns: Sequence[str]) -> list[str]:
    """Those that may hold the grade, though they are not called as grades usually are."""
    words = {name: frozenset(words_of(name)) for name in columns}
    alone, parts = frozenset(("rating",)), _GRADES | _GRADE_WORDS
    return [name for name, found in words.items() if (found & _GRADES and found <= parts) or found == alone]


def holds_query_text(name: str) -> bool:
    """Whether a column of this name may hold the text of the query, which tells queries apart where there is nothing better."""
    words = frozenset(words_of(name))
    return bool(words & _QUERIES and words & _QUERY_TEXTS) and words <= _QUERIES | _QUERY_TEXTS


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name: productId, product-id, PRODUCT_ID and productid are all product and id."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()
    words = (word for word in re.split(r"[^a-z0-9]+", spaced) if word)
    return tuple(part for word in words for part in _parted(word))


def _parted(word: str) -> tuple[str, ...]:
    found = _RUN_TOGETHER.fullmatch(word)
    return (word,) if found is None or word in _CODES else (found[1], found[2])
