"""Words of categories that a program can hold."""

from __future__ import annotations

import re

from rankinite.errors import ArgumentError, quoted
from rankinite.serving.categories import Vocabularies


def check_words(categories: Vocabularies, program: str, pattern: str, rule: str) -> None:
    """Refuse categories whose names are not as a whole of this pattern."""
    for feature, vocabulary in categories.items():
        for word in vocabulary.names:
            if not re.fullmatch(pattern, word):
                raise ArgumentError(
                    f"{program} cannot hold the category {quoted(word)} of {quoted(feature)}",
                    value=word,
                    rule=rule,
                    remedy="Train on data where this category has another name",
                )
