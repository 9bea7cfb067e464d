"""Recommendation in plain sentences: the decision with the one number that made it, then what else to know."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rankinite.adapt.decision import Verdict
from rankinite.evaluation.evaluate import percent
from rankinite.evaluation.meaning import interval_meaning, p_meaning
from rankinite.evaluation.pairs import PairTest
from rankinite.grid import number

if TYPE_CHECKING:
    from rankinite.adapt.result import Choice

FEW_QUERIES = 30
"""With fewer judged queries than this, small differences between methods cannot be told from chance."""


def advice(choice: Choice) -> tuple[str, ...]:
    """What to deploy and why; then what to mind."""
    found = [_decision(choice)]
    if choice.verdict.best != choice.name:
        found.append(_near_tie(choice))
    found += [*_carried(choice), *_caution(choice), *_future(choice)]
    for name, seen in (("test", choice.test), ("shifted", choice.shifted)):
        if seen is not None:
            against = _against(seen.pair(choice.name, "background", choice.measure))
            found.append(f"On the {name} data, which decided nothing, the {choice.measure} of {choice.name} {against}.")
    return tuple(found)


def explanation(choice: Choice) -> tuple[str, ...]:
    """What the numbers beside the decision mean, and why they may seem to contradict it."""
    verdict, pair = choice.verdict, choice.unseen.pair(choice.name, "background", choice.measure)
    queries = choice.unseen[choice.name][choice.measure].queries
    corrected = f"not corrected, as {choice.name} was not picked from several methods by its result"
    if verdict.tries > 1:
        corrected = f"corrected for the {verdict.tries} methods that {choice.name} was picked from (Bonferroni)"
    decides = (
        f"One number decides: the confidence that {choice.name} is better than the background, by Student's t over the "
        f"{queries} target queries. It is one-sided and {corrected}; {percent(verdict.confidence)} is asked for."
    )
    agree = "The interval and the p-value answer other questions than the decision, and need not agree with it."
    if _asks_less(choice):
        agree = (
            "The interval and the p-value ask for more than the decision does: where a change is recommended, the interval may "
            "include 0 and the p-value may be large."
        )
    return decides, interval_meaning(choice.unseen, pair), p_meaning(choice.unseen, pair), agree


def decision_note(choice: Choice) -> str:
    """The same in one line, below a table with intervals and p-values."""
    less = ", which is less than ± and p ask for" if _asks_less(choice) else ""
    asked = percent(choice.verdict.confidence)
    return f"Neither decides: a change needs {asked} one-sided confidence in one comparison{less}."


def _asks_less(choice: Choice) -> bool:
    """Whether the confidence asked for is less than that at either end of the two-sided intervals."""
    return choice.verdict.confidence < 0.5 + choice.unseen[choice.name].confidence / 2


def _decision(choice: Choice) -> str:
    """The one sentence that leads."""
    chosen, pair = choice.name, choice.unseen.pair(choice.name, "background", choice.measure)
    better, queries = pair.better == chosen, choice.unseen[chosen][choice.measure].queries
    reached = f"{_reached(choice.verdict)}, where {percent(choice.verdict.confidence)} is asked for"
    if choice.verdict.recommended == chosen:
        found = f"on the {queries} target queries it had not seen, its {choice.measure} {_against(pair)}"
        if better:
            return f"Deploy {chosen}: {found}; the confidence that it is better is {reached}."
        return f"Deploy {chosen}, as you ask for so little confidence: {found}."  # below one half
    found = f"on the {queries} unseen target queries the {choice.measure} of the candidate, {chosen}, {_against(pair)}"
    if better:
        return f"Keep the background: {found}, but the confidence that it is better is {reached}."
    return f"Keep the background: {'no method was better; ' if _none_better(choice) else ''}{found}."


def _reached(verdict: Verdict) -> str:
    """The confidence reached, with as many digits as the one asked for; rounded down, as 79.6% is not 80%.

    Below one half it adds nothing to the difference. A correction may bring it there though the mean is higher, and then
    "14%" would read like "worse".
    """
    if verdict.sure < 0.5 <= verdict.confidence:
        return "below 50%"
    digits = len(percent(verdict.confidence).partition(".")[2].removesuffix("%"))
    reached, highest = 100.0 * verdict.sure, 100.0 - 10.0**-digits
    if reached > highest:
        return f"more than {highest:.{digits}f}%"
    return f"{math.floor(reached * 10**digits + 1e-6) / 10**digits:.{digits}f}%"


def _none_better(choice: Choice) -> bool:
    """Whether no method that was tried has a better mean than the background."""
    others = (name for name in choice.unseen.systems if name != "background")
    return all(choice.unseen.pair(name, "background", choice.measure).better != name for name in others)


def _against(pair: PairTest) -> str:
    """… is 0.0123 higher than the background's."""
    if pair.better is None:
        return f"equals the {pair.second}'s"
    gap = number(abs(pair.difference))
    side = "higher" if pair.difference > 0.0 else "lower"
    return f"is {'less than 0.0001' if gap == number(0.0) else gap} {side} than the {pair.second}'s"


def _near_tie(choice: Choice) -> str:
    best = choice.unseen[choice.verdict.best][choice.measure].mean
    why = "needs no choice between methods" if choice.name == "average" else "is simpler"
    clear = f"has the best mean, {number(best)}, but not clearly"
    return f"Of the candidates {choice.verdict.best} {clear}, so {choice.name} is taken, which {why}."


def _carried(choice: Choice) -> list[str]:
    """Which one or two queries carry most of the gain, if any do."""
    found = choice.concentration
    if found is None or number(found.gain) == number(0.0):
        return []
    alone = len(found.queries) == 1
    named = " and ".join(f"'{qid}'" for qid in found.queries)
    who = f"Query {named} alone carries" if alone else f"Queries {named} carry"
    much = f"{math.floor(100.0 * found.share)}%" if found.share < 1.0 else "all"
    gain, rest = number(found.gain), number(found.rest)
    left = f"of {gain} becomes a loss of {rest[1:]}" if rest.startswith("-") else f"falls from {gain} to {rest}"
    return [f"{who} {much} of the gain: without {'it' if alone else 'them'} the mean gain {left}."]


def _caution(choice: Choice) -> list[str]:
    queries = choice.unseen[choice.name][choice.measure].queries
    if queries >= FEW_QUERIES:
        return []
    return [f"With {queries} judged queries small differences cannot be told from chance: judge more before you rely on this."]


def _future(choice: Choice) -> list[str]:
    """The papers' warning: boosted trees shine on data like the training data (001 §5.2)."""
    kinds = {trial.method.name: trial.method.kind for trial in choice.trials}
    if choice.verdict.recommended != choice.name or kinds[choice.name] not in {"tuned trees", "added trees", "average"}:
        return []
    warning = "Trees adapted to the target shine on queries like these."
    safer = next((name for name, kind in kinds.items() if kind == "interpolation"), None)
    if safer is None:
        return [warning]
    gap = choice.unseen[safer][choice.measure].mean - choice.unseen[choice.name][choice.measure].mean
    side = "above" if gap > 0.0 else "below"
    more = f"{safer} is the more cautious choice; here its mean is {number(abs(gap))} {side} that of {choice.name}."
    return [f"{warning} If those to come differ, {more}"]
