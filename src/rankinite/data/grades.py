"""GradeMap: which grade stands for each word, or each number, of a grade column."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import GRADE, SCORE, Floats, Grades
from rankinite.errors import ArgumentError, DataError, listed, quoted

MISSING_GRADE = float(np.finfo(GRADE).min)
"""Stands for a grade that a row does not have, until the rule for unjudged rows is applied: as negative as a float can be."""
NO_WORDS = frozenset(("", "-", "#N/A", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "<NA>"))
"""What files write where there is no grade."""
MOST_WORDS = 20
"""Words of a grade column that a message lists."""


def look_up_grades(values: npt.NDArray[Any], known: Mapping[float, float]) -> tuple[Floats, list[float]]:
    """The new grade of each value, and the values that have none, which stay as they are."""
    exact = {float(GRADE(grade)): value for grade, value in known.items()}  # 0.1 means the float32 nearest to it
    present, codes = np.unique(values.astype(GRADE), return_inverse=True)
    missing = [grade for grade in present.tolist() if grade not in exact]
    return np.asarray([exact.get(grade, grade) for grade in present.tolist()], SCORE)[codes], missing


@dataclass(frozen=True)
class GradeMap:
    """New grades of words and numbers. Empty cells, and negative numbers that are not mentioned, stay what they are."""

    grades: Mapping[str, float]
    """The new grade of each word or number, as it is written."""

    @property
    def has_words(self) -> bool:
        """Whether it maps anything that is no number."""
        return any(number_in(word) is None for word in self.grades)

    def of_numbers(self, values: npt.NDArray[Any], place: Callable[[int], str]) -> Floats:
        """New grades of numbers; ``place`` names the place of a value."""
        known = {number: new for word, new in self.grades.items() if (number := number_in(word)) is not None}
        mapped, missing = look_up_grades(values, known)
        unknown = [grade for grade in missing if grade >= 0]
        if unknown:
            row = int(np.flatnonzero(np.isin(values.astype(GRADE), np.asarray(unknown, GRADE)))[0])
            others = [f"{grade:g}" for grade in unknown if grade != values[row]]
            raise self._not_in_it(f"{values[row]:g}", float(values[row]), others, place(row))
        return mapped

    def of_words(self, words: Sequence[Any], codes: npt.NDArray[Any], place: Callable[[int], str]) -> Floats:
        """New grades of words: ``codes`` says which of the ``words`` each row has."""
        new = [self._of_word(word) for word in words]
        unknown = np.asarray([grade is None for grade in new], np.bool_)
        wrong = np.flatnonzero(unknown[codes]) if unknown.any() else []
        if len(wrong):
            word = words[int(codes[wrong[0]])]
            others = [quoted(one) for one, lacks in zip(words, unknown.tolist(), strict=True) if lacks and one != word]
            raise self._not_in_it(quoted(word), word, others, place(int(wrong[0])))
        return np.asarray([np.nan if grade is None else grade for grade in new], SCORE)[codes]

    def of_values(self, values: npt.NDArray[Any], place: Callable[[int], str]) -> Floats:
        """New grades of an array of numbers or words."""
        if values.dtype.kind in "fiu" or (values.dtype.kind == "b" and not self.has_words):
            return self.of_numbers(values.astype(SCORE), place)
        texts = ["" if is_absent(value) else str(value) for value in values.tolist()]
        words = list(dict.fromkeys(texts))
        code = {word: number for number, word in enumerate(words)}
        return self.of_words(words, np.asarray([code[text] for text in texts], np.int64), place)

    def _of_word(self, word: Any) -> float | None:
        """The new grade; NaN for no word, None for one that is not in the map."""
        text = "" if word is None else str(word).strip()
        if text in self.grades:
            return self.grades[text]
        if text in NO_WORDS:
            return math.nan
        number = number_in(text)
        same = [new for known, new in self.grades.items() if number is not None and number_in(known) == number]
        return same[0] if same else number if number is not None and number < 0 else None

    def _not_in_it(self, shown: str, value: Any, others: Sequence[str], place: str) -> DataError:
        nor = f", nor {', '.join(others[:MOST_WORDS])}" if others else ""
        return DataError(
            f"the grade is {shown}, and the grade map does not contain it{nor}",
            place=place,
            value=value,
            rule=f"It contains {listed(self.grades)}",
            remedy="Give every grade of the data its new one with `map_grades=…`; −1 marks a document that nobody judged",
        )


def words_without_map(words: Sequence[str], place: str) -> DataError:
    """The error for an array of grades that holds words, the first of them at ``place``, where nothing maps them."""
    problem, rule, remedy, shell_remedy = texts_on_words(words, "the array of grades")
    return DataError(problem, place=place, value=words[0], rule=rule, remedy=remedy, shell_remedy=shell_remedy)


def grade_map_of(mapping: Mapping[Any, float] | None) -> GradeMap | None:
    """The map that a caller gives; refuses new grades that are no numbers."""
    if mapping is None:
        return None
    found: dict[str, float] = {}
    for old, new in cast("Mapping[Any, Any]", mapping).items():
        if isinstance(new, bool) or not isinstance(new, int | float | np.number) or not math.isfinite(new):
            raise ArgumentError(
                f"gives {quoted(old)} the grade {quoted(new)}",
                owner="read",
                setting="map_grades",
                value=dict(mapping),
                rule="New grades are finite numbers; larger is better",
            )
        found[str(old).strip()] = float(new)
    if not found:
        raise ArgumentError(
            "maps nothing", owner="read", setting="map_grades", value={}, remedy="Name every grade, or leave it out"
        )
    return GradeMap(found)


def texts_on_words(words: Iterable[str], column: str) -> tuple[str, str, str, str]:
    """The problem, the rule and the remedies, in Python and in the shell, where a column of grades holds words."""
    every = sorted({word.strip() for word in words if word.strip() not in NO_WORDS})
    shown, more = every[:MOST_WORDS], "" if len(every) <= MOST_WORDS else ", …"
    problem = f"{column} holds words, not numbers: {listed(every, MOST_WORDS)}"
    rule = "A grade is a number, and larger is better"
    if len(every) > MOST_WORDS:
        return problem, rule, "Name another column with `grades=…`", ""
    in_python = ", ".join(f"{word!r}: …" for word in shown) + more
    in_shell = ",".join(f"{word}=N" for word in shown) + more
    give = "Give each word its grade with"
    return problem, rule, f"{give} `map_grades={{{in_python}}}`", f"{give} --map-grades {quote(in_shell)}"


def is_absent(value: object) -> bool:
    """Whether a value of an array of objects is a missing one: None, NaN, or what pandas and NumPy have for it."""
    return value is None or (not isinstance(value, str) and str(value) in ("nan", "<NA>", "NaT"))


def is_no_grade(value: object) -> bool:
    """Whether a value of an array of objects stands for no grade."""
    return is_absent(value) or (isinstance(value, str) and value.strip() in NO_WORDS)


def with_missing_marked(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Grades whose missing ones are marked until the rule for unjudged rows is applied."""
    missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(0, np.bool_)
    return np.where(missing, MISSING_GRADE, values) if missing.any() else values


def is_missing_grade(grades: Grades) -> npt.NDArray[np.bool_]:
    """Which grades stand for none."""
    return grades == GRADE(MISSING_GRADE)


def number_in(text: str) -> float | None:
    """The finite number that a text is; None if it is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
