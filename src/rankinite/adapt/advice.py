"""What the evidence means, in plain sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankinite.evaluation.evaluate import percent
from rankinite.evaluation.pairs import PairTest
from rankinite.grid import number

if TYPE_CHECKING:
    from rankinite.adapt.choice import Choice

FEW_QUERIES = 30
"""Below so many judged queries differences between methods are mostly chance."""


def advice(choice: Choice) -> tuple[str, ...]:
    """What to deploy and why, how sure that is, and what to mind."""
    said = [_decision(choice)]
    if choice.verdict.best != choice.name:
        said.append(_near_tie(choice))
    said += [*_caution(choice), *_future(choice)]
    for name, seen in (("test", choice.test), ("shifted", choice.shifted)):
        if seen is not None:
            against = _against(seen.pair(choice.name, "background", choice.measure))
            said.append(f"On the {name} data, which decide nothing, {choice.name} {against}.")
    return tuple(said)


def _decision(choice: Choice) -> str:
    chosen, sure = choice.name, f"({choice.verdict.sure:.1%} sure, {percent(choice.verdict.confidence)} asked for)"
    pair = choice.unseen.pair(chosen, "background", choice.measure)
    found = f"on target queries it has not seen it {_against(pair)}"
    if choice.verdict.recommended == chosen:
        return f"Deploy {chosen}: it beats the background {sure}; {found}."
    return f"Keep the background: the candidate, {chosen}, does not beat it surely enough {sure}; {found}."


def _against(pair: PairTest) -> str:
    """… is 0.0123 above the background (95% interval …)."""
    if pair.better is None:
        return f"is as good as the {pair.second}"
    way = "above" if pair.better == pair.first else "below"
    low, high = (number(end, signed=True) for end in pair.interval)
    return f"is {number(abs(pair.difference))} {way} the {pair.second} (95% interval {low} to {high})"


def _near_tie(choice: Choice) -> str:
    best = choice.unseen[choice.verdict.best][choice.measure].mean
    why = "needs no choice between methods" if choice.name == "average" else "is simpler"
    return f"{choice.verdict.best} has the best mean, {number(best)}, but not clearly, so {choice.name} is taken, which {why}."


def _caution(choice: Choice) -> list[str]:
    queries = choice.unseen[choice.name][choice.measure].queries
    if queries >= FEW_QUERIES:
        return []
    return [f"With {queries} judged queries most differences are chance: judge more before you rely on this."]


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
    way = "above" if gap > 0.0 else "below"
    more = f"{safer} is the more cautious choice; here its mean is {number(abs(gap))} {way} that of {choice.name}."
    return [f"{warning} If those to come differ, {more}"]
