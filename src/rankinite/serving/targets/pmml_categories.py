"""Categories in PMML: fields of words, and predicates that ask for sets of them; written, and read by the twin.

A word that the field does not list is invalid there, and goes right as missing values do. Words stand between quotes in an
array. Programs do not agree on how a quote or a backslash is written there: words with one of them are asked for one by one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from rankinite.data.categories import Vocabulary
from rankinite.engine.kernel import Reals
from rankinite.serving.categories import Vocabularies, names_of_codes
from rankinite.trees.structure import Trees

AS_MISSING = ' invalidValueTreatment="asMissing"'
"""Of a field in a schema."""
BLANKS = {character: f"&#{ord(character)};" for character in "\t\n\r"}
"""Blanks that XML's parsers may change."""


def data_field(name: str, vocabulary: Vocabulary) -> str:
    """The field of a category, whose name is quoted."""
    values = "".join(f"<Value value={quoteattr(word)}/>" for word in vocabulary.names)
    return f'<DataField name={name} optype="categorical" dataType="string">{values}</DataField>'


def questions(tree: Trees, node: int, field: str, vocabulary: Vocabulary) -> list[tuple[int, str]]:
    """The children of a node with their predicates: the left one asks for the set, the right one takes what is left.

    The right one is the default child too, so that it does not matter whether a program looks for the default child or asks
    the second one when the answer of the first is unknown: PMML4S does the latter.
    """
    asked = _predicate(field, [vocabulary.names[code] for code in tree.set_of(node)])
    return [(int(tree.left[node]), asked), (int(tree.right[node]), "<True/>")]


def _predicate(field: str, words: Sequence[str]) -> str:
    plain = [word for word in words if not set(word) & set('"\\')]
    parts = list[str]()
    if plain:
        texts = " ".join(f'"{escape(word, BLANKS)}"' for word in plain)
        array = f'<Array n="{len(plain)}" type="string">{texts}</Array>'
        parts.append(f'<SimpleSetPredicate field={field} booleanOperator="isIn">{array}</SimpleSetPredicate>')
    parts += [
        f'<SimplePredicate field={field} operator="equal" value={quoteattr(word)}/>' for word in words if word not in plain
    ]
    return parts[0] if len(parts) == 1 else f'<CompoundPredicate booleanOperator="or">{"".join(parts)}</CompoundPredicate>'


# ---- the twin ---------------------------------------------------------------------------------------------------------------


def listed_words(document: Any, tag: str) -> dict[str, Vocabulary]:
    """The words of every categorical field, in the order of the document, in whose codes its sets are read."""
    schemas = document.iter(f"{tag}MiningField")
    treatments = {(entry.get("name"), entry.get("invalidValueTreatment")) for entry in schemas}
    found = dict[str, Vocabulary]()
    for entry in document.iter(f"{tag}DataField"):
        if entry.get("optype") == "categorical":
            name = entry.get("name")
            assert {one for field, one in treatments if field == name} == {"asMissing"}, name
            found[name] = Vocabulary(tuple(value.get("value") for value in entry.findall(f"{tag}Value")))
    return found


def read_as_words(matrix: Reals, names: Sequence[str], given: Vocabularies, own: Mapping[str, Vocabulary]) -> Reals:
    """Rows whose categories come by name, in the codes of the document; NaN for words that it does not list."""
    coded = matrix.astype(np.float64)
    for name, vocabulary in own.items():
        column = names.index(name)
        words = names_of_codes(coded[:, column], given[name])
        coded[:, column] = [np.nan if word is None else vocabulary.places.get(word, np.nan) for word in words]
    return coded


def members_asked(child: Any, tag: str, own: Mapping[str, Vocabulary]) -> tuple[str, list[int]] | None:
    """The field and the codes that a child's predicate asks for; None if it asks no field for words."""
    sets, single = list(child.findall(f"{tag}SimpleSetPredicate")), list(child.findall(f"{tag}SimplePredicate"))
    for group in child.findall(f"{tag}CompoundPredicate"):
        assert group.get("booleanOperator") == "or"
        sets += group.findall(f"{tag}SimpleSetPredicate")
        single += group.findall(f"{tag}SimplePredicate")
    [field] = {predicate.get("field") for predicate in (*sets, *single)}
    if field not in own:
        return None
    assert all(predicate.get("operator") == "equal" for predicate in single)
    words = [predicate.get("value") for predicate in single]
    for predicate in sets:
        assert predicate.get("booleanOperator") == "isIn"
        array = predicate.find(f"{tag}Array")
        inside = re.findall(r'"([^"]*)"', array.text)
        assert len(inside) == int(array.get("n"))
        words += inside
    return field, [own[field].places[word] for word in words]
