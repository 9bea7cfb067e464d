"""Categories of an exported ranker: one vocabulary per feature, in whose codes all its forests ask, and its companion file.

Rows are in these codes wherever they are compared. The programs that serve a model are given codes too, or names. A category
that is not in the vocabulary is in no set; a missing one goes where a node says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from rankinite.data.categories import Vocabulary, union
from rankinite.engine.kernel import Reals
from rankinite.errors import ArgumentError, quoted
from rankinite.evaluation.scorers import Scorer
from rankinite.models.base import Fitted, names_of
from rankinite.models.forest import Forest, with_vocabularies

FILE = "categories.json"
UNKNOWN = "unknown"
Vocabularies: TypeAlias = Mapping[str, Vocabulary]
CategoryForm: TypeAlias = Literal["codes", "names"]
"""How a program is given categories."""


def with_shared_codes(ranker: Scorer) -> tuple[Scorer, Vocabularies]:
    """The ranker with all its forests in the codes of one vocabulary for each feature, and these vocabularies.

    Plain numbers are codes to the new forests, also where categories are whole numbers. Refuses a ranker with a part that
    takes for a number what is a category to another.
    """
    leaves = list(_leaves(ranker))
    own = [leaf.categories if isinstance(leaf, Forest) else {} for leaf in leaves]
    shared = {name: union(one[name] for one in own if name in one) for name in dict.fromkeys(chain.from_iterable(own))}
    if not shared:
        return ranker, {}
    for leaf, vocabularies in zip(leaves, own, strict=True):
        for name in names_of(leaf):
            if name in shared and name not in vocabularies:
                raise two_meanings(name)
    return _recoded(ranker, shared), shared


def _leaves(ranker: Scorer) -> Iterator[Scorer]:
    parts = ranker.inside() if isinstance(ranker, Fitted) else ()
    if not parts:
        yield ranker
    for part in parts:
        yield from _leaves(part.ranker)


def _recoded(ranker: Scorer, shared: Vocabularies) -> Scorer:
    if isinstance(ranker, Forest):
        codes = {name: replace(shared[name], numeric=False) for name in ranker.categories}
        return with_vocabularies(ranker, codes) if codes != ranker.categories else ranker
    if isinstance(ranker, Fitted) and (parts := ranker.inside()):
        return ranker.with_inside([_recoded(part.ranker, shared) for part in parts])
    return ranker


def two_meanings(name: str) -> ArgumentError:
    """The refusal of a ranker to whose parts a feature means different things."""
    return ArgumentError(
        f"the feature {quoted(name)} is a category in one part and a number in another",
        value=name,
        rule="A column of the exported model is one or the other",
        remedy="Rename it in one part with renamed([…])",
    )


def known_codes(values: Reals, vocabulary: Vocabulary) -> Reals:
    """Numbers as the codes that they are, by their whole part; the code behind all others for what is none; NaN stays."""
    whole = np.trunc(values)
    known = (whole >= 0) & (whole < len(vocabulary))
    return np.where(known | np.isnan(values), whole, values.dtype.type(len(vocabulary)))


def names_of_codes(values: Reals, vocabulary: Vocabulary) -> list[str | None]:
    """The category of each code; None for a missing value, a name that the vocabulary does not have for a code that is none."""
    names = [*vocabulary.names, unknown_name(vocabulary)]
    return [None if np.isnan(code) else names[int(code)] for code in known_codes(values, vocabulary).tolist()]


def unknown_name(vocabulary: Vocabulary) -> str:
    """A name that no category has."""
    name = UNKNOWN
    while name in vocabulary.places:
        name += "?"
    return name


def bit_words(codes: Sequence[int], size: int = 0) -> npt.NDArray[np.uint32]:
    """A set with one bit per code, 32 in a word, as many words as its codes, or this many bits, need."""
    most = max(size, max(codes, default=0) + 1)
    words = np.zeros((most + 31) // 32, np.uint32)
    members = np.asarray(codes, np.int64)
    np.bitwise_or.at(words, members // 32, np.uint32(1) << (members % 32).astype(np.uint32))
    return words


def members_of(words: npt.NDArray[np.uint32]) -> list[int]:
    """The codes of a set of bits."""
    return np.flatnonzero(np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")).tolist()


def companion(vocabularies: Vocabularies, form: CategoryForm) -> bytes:
    """The vocabularies as JSON, and how a program that serves the model is given categories."""
    facts = {
        "given_as": {
            "codes": "the code of a category is its place in the list below, counted from 0",
            "names": "the names of categories, as listed below",
        }[form],
        "missing": {"codes": "NaN", "names": "null, or nothing"}[form],
        "unknown": {"codes": "-1, for a category that is not listed", "names": "a name that is not listed"}[form],
        "categories": {name: list(vocabulary.names) for name, vocabulary in vocabularies.items()},
    }
    return json.dumps(facts, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def note(vocabularies: Vocabularies, form: CategoryForm) -> str:
    """How the program is given categories, in words."""
    count = f"{len(vocabularies)} features are categories" if len(vocabularies) > 1 else "one feature is a category"
    given = f"given by code, its place in the list of {FILE}" if form == "codes" else f"given by name, as in {FILE}"
    return f"{count}, {given}; what is not listed there is in no set"
