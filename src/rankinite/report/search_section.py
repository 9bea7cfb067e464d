"""SearchSection: the trials of a search of settings, as plain data of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rankinite.frames import finite
from rankinite.measures.base import sign_of
from rankinite.tuning.result import Tuned, setting_text
from rankinite.tuning.space import Choices, Range
from rankinite.tuning.trials import State, Trial

WIDE = 10.0
"""From this ratio of its ends on, a range whose ratios matter has a logarithmic axis."""


@dataclass(frozen=True)
class SearchedSetting:
    """One setting that was searched."""

    name: str
    scale: Literal["linear", "log", "choices"]
    low: float | None
    """The ends of a range; of choices there are none."""
    high: float | None
    choices: tuple[str, ...]
    """The values to choose from, in their order; of a range there are none."""
    importance: float | None
    """Its share in what makes trials good; None where too little was tried to say."""


@dataclass(frozen=True)
class SearchTrial:
    """One trial."""

    number: int
    """From 1 on."""
    state: State
    chosen: bool
    value: float | None
    """The mean over the folds done."""
    best_so_far: float | None
    """The best value of the complete trials up to this one."""
    settings: tuple[float | str, ...]
    """One per setting searched: a number where that is a range, else a text."""
    folds: int
    """Folds judged."""
    rounds: int
    seconds: float
    refusal: str


@dataclass(frozen=True)
class SearchSection:
    """All trials of a search, and the settings that they differ in."""

    measure: str
    higher_is_better: bool
    folds: int
    """Folds that judged; 0: validation data did."""
    settings: tuple[SearchedSetting, ...]
    trials: tuple[SearchTrial, ...]
    """In the order of their numbers."""


def search_section(tuned: Tuned) -> SearchSection:
    """The trials of a search as a report has them."""
    names = list(tuned.chosen.settings)
    best: Trial | None = None
    trials: list[SearchTrial] = []
    for tried in tuned.trials:
        if tried.state == "complete" and (best is None or tried.mean > best.mean):
            best = tried
        trials.append(_trial(tuned, tried, best, names))
    return SearchSection(
        measure=str(tuned.measure),
        higher_is_better=tuned.measure.higher_is_better,
        folds=tuned.folds,
        settings=tuple(_setting(tuned, name) for name in names),
        trials=tuple(trials),
    )


def _trial(tuned: Tuned, tried: Trial, best: Trial | None, names: Sequence[str]) -> SearchTrial:
    sign = sign_of(tuned.measure)
    return SearchTrial(
        number=tried.number + 1,
        state=tried.state,
        chosen=tried is tuned.chosen,
        value=finite(sign * tried.mean),
        best_so_far=None if best is None else finite(sign * best.mean),
        settings=tuple(_value(tuned, name, tried.settings[name]) for name in names),
        folds=sum(not fold.refusal for fold in tried.folds),
        rounds=tried.rounds,
        seconds=tried.seconds,
        refusal=tried.refusal,
    )


def _value(tuned: Tuned, name: str, value: Any) -> float | str:
    return value if isinstance(tuned.space.get(name), Range) else setting_text(value)


def _setting(tuned: Tuned, name: str) -> SearchedSetting:
    searched, importance = tuned.space.get(name), tuned.importances.get(name)
    tried = [one.settings[name] for one in tuned.trials]
    if isinstance(searched, Range):
        low, high = min(searched.low, *tried), max(searched.high, *tried)  # other processes may have searched further
        scale = "log" if searched.log and high >= WIDE * low else "linear"
        return SearchedSetting(name, scale, low, high, (), importance)
    known = searched.values if isinstance(searched, Choices) else ()
    texts = dict.fromkeys(map(setting_text, [*known, *tried]))
    return SearchedSetting(name, "choices", None, None, tuple(texts), importance)
