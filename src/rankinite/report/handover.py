"""Handover: what it takes to serve a ranker, and what to do next, in plain sentences for those who decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rankinite.adapt.choice import Choice, size_of
from rankinite.evaluation.compare import Comparison
from rankinite.measures.base import Measure
from rankinite.models.base import Fitted
from rankinite.report.serving_section import serving_sentence
from rankinite.report.verdicts import description_of, verdict_of

TRY_IT = "Try it on a part of the traffic first: judges do not always want what users want."
COMPARE_ONLINE = "Compare both on a part of the traffic, or judge more queries: those judged cannot tell them apart."
EXPORT = "Write it for the search engine with `rankinite export`, and compare what is served with `rankinite check`."


@dataclass(frozen=True)
class Handover:
    """What follows from a report, in sentences for its summary."""

    serving: tuple[str, ...]
    """What it takes to serve the ranker; empty where there is none."""
    next_steps: tuple[str, ...]
    """What to do next."""
    number: str = ""
    """The sentence of the verdict with the one number that counts; without one, that is the mean of the system chosen."""


def after_choice(choice: Choice) -> Handover:
    """What to do with the ranker that adapting has made, or without it."""
    more = "Judge more queries of the new domain, and run the same command again."
    steps = {
        "deploy": [EXPORT, TRY_IT],
        "try online": [EXPORT, COMPARE_ONLINE],
        "keep": ["Leave the ranker in use as it is.", more],
    }[choice.verdict.decision]
    if choice.test is None:
        steps.append("Judge some further queries as test data: those used here have chosen the ranker.")
    kept = choice.verdict.decision == "keep"
    serving = ("Nothing changes.",) if kept else (*_size("It", choice.ranker), *serving_sentence(choice))
    return Handover(serving, tuple(steps), choice.recommendation()[1])


def after_comparison(comparison: Comparison, old: str, new: str, measure: Measure, ranker: Any) -> Handover:
    """Which of two systems to take; ``ranker``: the new one, where it is known."""
    pair = comparison.pair(new, old, measure)
    if pair.better is None:
        steps = (f"Keep {old}.",)
    elif pair.p(comparison.test).holm > comparison.alpha:
        steps = (COMPARE_ONLINE,) if pair.better == new else (f"Keep {old}.",)
    else:
        steps = (f"Deploy {new}.", TRY_IT) if pair.better == new else (f"Keep {old}.",)
    return Handover(_size(new, ranker), steps, verdict_of(comparison, old, new, measure)[1])


def after_cross_validation(comparison: Comparison, old: str, new: str, measure: Measure) -> Handover:
    """Which learner to train on all queries."""
    pair = comparison.pair(new, old, measure)
    if pair.p(comparison.test).holm > comparison.alpha:
        first = f"Take {old} or {new}, whichever is simpler: the difference may be chance."
    else:
        first = f"Take {pair.better}."
    return Handover((), (first, "Train it on all queries with `rankinite train`: rankers of folds are only for judging."))


def after_training(ranker: Any, *, judged: bool, flattered: bool) -> Handover:
    """What is still to know about a ranker that was trained: ``flattered`` by the validation data that chose it."""
    if not judged or flattered:
        step = "Judge it by test data, which took no part in its training."
    else:
        step = "Compare it with the ranker in use by `rankinite compare`."
    return Handover(description_of(ranker), (step,))


def after_ensemble(size: str) -> Handover:
    """How to serve an ensemble; ``size``: a sentence on how large it is."""
    small = "If it takes too long to serve, make one small ranker of it with `rankinite distil`."
    return Handover((size,), (small, EXPORT))


def _size(name: str, ranker: Any) -> tuple[str, ...]:
    """The size of a ranker; nothing of scores, which nobody serves."""
    return (f"{name} consists of {size_of(ranker)}.",) if isinstance(ranker, Fitted) else ()
