"""Market: generated documents and queries, and judgements of what its users want, which nothing else knows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TOPICS, WORDS_OF_TOPIC, COMMON_WORDS = 30, 25, 200
NEW = 60
"""Days within which nobody has counted a document's visits yet."""


@dataclass(frozen=True)
class Document:
    """A page that can be found."""

    number: int
    topic: int
    title: list[str]
    body: list[str]
    age: float
    """Days since it was published."""
    visits: float
    """Per day."""


@dataclass(frozen=True)
class Query:
    """What somebody types."""

    name: str
    topic: int
    words: list[str]


@dataclass(frozen=True)
class Taste:
    """How much a market's users care for what."""

    topic: float = 2.0
    title: float = 1.5
    fresh: float = 0.3
    popular: float = 0.8
    noise: float = 0.5


class Market:
    """Documents and queries of one market; the same seed gives the same ones."""

    def __init__(self, name: str, taste: Taste, documents: int, seed: int) -> None:
        self.name, self._taste = name, taste
        self._random = np.random.default_rng([seed, *name.encode()])
        language = np.random.default_rng([seed, TOPICS])  # both markets speak one language
        self._common = _words(language, COMMON_WORDS)
        self._words = np.stack([_words(language, WORDS_OF_TOPIC) for _ in range(TOPICS)])
        self.documents = [self._document(number) for number in range(1, documents + 1)]
        self._asked: set[str] = set()

    def _document(self, number: int) -> Document:
        random = self._random
        topic, age, visits = int(random.integers(TOPICS)), random.exponential(300.0), random.lognormal(2.0, 1.5)
        title, body = self._text(topic, int(random.integers(3, 9))), self._text(topic, int(random.integers(30, 150)))
        return Document(number, topic, title, body, round(age, 1), round(visits, 2))

    def _text(self, topic: int, length: int) -> list[str]:
        """Words of the topic, of other topics and of none."""
        random = self._random
        kind = random.random(length)
        topics = np.where(kind < 0.35, topic, random.integers(TOPICS, size=length))
        of_topics, of_none = (
            self._words[topics, random.integers(WORDS_OF_TOPIC, size=length)],
            random.choice(self._common, length),
        )
        return np.where(kind < 0.6, of_topics, of_none).tolist()

    def ask(self, count: int) -> list[Query]:
        """Queries that nobody has asked before."""
        found = list[Query]()
        while len(found) < count:
            topic = int(self._random.integers(TOPICS))
            words = self._random.choice(self._words[topic], int(self._random.integers(2, 4)), replace=False).tolist()
            name = f"{self.name}: {' '.join(sorted(words))}"
            if name not in self._asked:
                self._asked.add(name)
                found.append(Query(name, topic, words))
        return found

    def judge(self, query: Query, numbers: list[int]) -> list[int]:
        """A grade from 0 to 4 for each document, as a judge gives it who is not always sure."""
        taste, grades = self._taste, list[int]()
        for number in numbers:
            document = self.documents[number - 1]
            in_title = sum(word in document.title for word in query.words) / len(query.words)
            liking = (
                taste.topic * (document.topic == query.topic)
                + taste.title * in_title
                + taste.fresh * 2.0 ** (-document.age / 150.0)
                + taste.popular * np.log10(1.0 + document.visits)
                + taste.noise * self._random.normal()
            )
            grades.append(int(np.clip(np.floor(liking - 0.5), 0, 4)))
        return grades


def _words(random: np.random.Generator, count: int) -> np.ndarray:
    """Words that can be pronounced."""
    syllables = [f"{consonant}{vowel}" for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    return np.asarray(["".join(random.choice(syllables, int(random.integers(2, 5)))) for _ in range(count)])
