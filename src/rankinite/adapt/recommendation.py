"""Recommendation in plain sentences: the decision, one number, how sure it is, on what evidence, then what else to know."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rankinite.adapt.decision import RANKING, Verdict
from rankinite.adapt.gain_prior import PAIRS, prior_for
from rankinite.adapt.methods.catalogue import AVERAGE
from rankinite.adapt.queries_needed import MOST_TIMES, SURE
from rankinite.adapt.serving_costs import lost_engines
from rankinite.evaluation.evaluate import percent
from rankinite.evaluation.meaning import interval_meaning, p_meaning
from rankinite.evaluation.pairs import PairTest
from rankinite.grid import decimals_for, number
from rankinite.measures.base import sign_of

if TYPE_CHECKING:
    from rankinite.adapt.result import Choice

FEW_QUERIES = 30
"""With fewer judged queries than this, small differences between methods cannot be told from chance."""


def advice(choice: Choice) -> tuple[str, ...]:
    """What to deploy; what to expect of it; how sure that is; what the target's queries say; then what to mind."""
    found = [_decision(choice), *_reasons(choice), *_evidence(choice), *_carried(choice), *_more_queries(choice)]
    if choice.verdict.best != choice.name:
        found.append(_near_tie(choice))
    found += [*_caution(choice), *_future(choice), *_serving(choice)]
    for name, seen in (("test", choice.test), ("shifted", choice.shifted)):
        if seen is not None:
            against = _against(seen.pair(choice.name, "background", choice.measure))
            found.append(f"On the {name} data, which decided nothing, the {choice.measure} of {choice.name} {against}.")
    return tuple(found)


def explanation(choice: Choice) -> tuple[str, ...]:
    """What the numbers beside the decision mean, and why they may seem to contradict it."""
    verdict, pair = choice.verdict, choice.unseen.pair(choice.name, "background", choice.measure)
    queries, prior = choice.unseen[choice.name][choice.measure].queries, prior_for(choice.name)
    elsewhere = f"which counts about as much as {prior.queries:.0f} target queries"
    if not verdict.ranks:
        elsewhere = f"of which only the spread counts here, as {choice.name} is not surely better than random orders"
    decides = (
        f"Two numbers decide: the gain over the background that is to be expected of {choice.name} on new queries, which must "
        f"be above 0, and the chance of losing more than {tolerated(verdict)}, which may be at most {percent(verdict.risk)}. "
        f"Both combine the {queries} target queries with what adapting has brought on the {PAIRS} pairs of domains of "
        f"rankinite's benchmark, {elsewhere}. Nothing is recommended that random orders of the "
        f"documents come near (within {RANKING:g} of their standard deviations)."
    )
    agree = (
        "The interval and the p-value look at the target queries alone, as if nothing were known of adapting: where a change "
        "is recommended, the interval may include 0 and the p-value may be large."
    )
    return decides, interval_meaning(choice.unseen, pair), p_meaning(choice.unseen, pair), agree


def decision_note(choice: Choice) -> str:
    """The same in one line, below a table with intervals and p-values."""
    allowed = f"at most {percent(choice.verdict.risk)} chance of losing more than {tolerated(choice.verdict)}"
    return f"Neither decides: a change needs an expected gain, and {allowed}."


def tolerated(verdict: Verdict) -> str:
    """The loss that does not count, with no more digits than it needs."""
    return f"{verdict.tolerate:.10g}"


def _decision(choice: Choice) -> str:
    """The one sentence that leads."""
    deployed = choice.verdict.recommended
    return "Keep the background." if deployed == "background" else f"Deploy {_ranker_of(deployed)}."


def _ranker_of(method: str) -> str:
    """The ranker of a method in words."""
    if method == AVERAGE.name:
        return "the averaged ranker"
    return "the ranker of the target alone" if method.startswith("target") else f"the ranker adapted by {method}"


def _reasons(choice: Choice) -> list[str]:
    """What to expect, in a sentence with one number, and how sure that is."""
    verdict, chosen = choice.verdict, choice.name
    gain = f"about {_about(sign_of(choice.measure) * verdict.expected)} {choice.measure} on new queries"
    loss = f"The chance of losing more than {tolerated(verdict)} is {_chance(verdict)}"
    if verdict.recommended == chosen:
        return [f"Expect {gain}.", f"{loss}."]
    pair = choice.unseen.pair(chosen, "background", choice.measure)
    if pair.wins == pair.losses == 0:
        return [f"The candidate, {chosen}, is neither better nor worse on any target query."]
    if not verdict.ranks:
        return [f"The candidate, {chosen}, is not surely better than random orders of the documents."]
    if verdict.expected <= 0.0:
        return [f"Of the candidate, {chosen}, expect {gain}."]
    uncertain = f"Of the candidate, {chosen}, expect {gain}, but that is too uncertain."
    return [uncertain, f"{loss}, where {percent(verdict.risk)} is allowed."]


def _about(gain: float) -> str:
    """A gain with two digits that count, and at most four decimals: +0.021, +0.13, -0.0004."""
    if abs(gain) < 5e-5:
        return "0"
    return number(gain, min(4, max(0, 1 - math.floor(math.log10(abs(gain))))), signed=True)


def _chance(verdict: Verdict) -> str:
    """The chance of a loss with as many digits as the one allowed; rounded up where it is above that, as 10.4% is not 10%."""
    digits = len(percent(verdict.risk).partition(".")[2].removesuffix("%"))
    least, found = 10.0**-digits, 100.0 * verdict.loss_chance
    if found < least:
        return f"less than {least:.{digits}f}%"
    if found > 100.0 - least:
        return f"more than {100.0 - least:.{digits}f}%"
    crosses = verdict.loss_chance > verdict.risk and round(found, digits) <= 100.0 * verdict.risk
    return f"{round(found, digits) + least * crosses:.{digits}f}%"


def _evidence(choice: Choice) -> list[str]:
    """What the target's own queries say."""
    chosen, queries = choice.name, choice.unseen[choice.name][choice.measure].queries
    against = _against(choice.unseen.pair(chosen, "background", choice.measure))
    found = [f"On the {queries} target queries that it had not seen, the {choice.measure} of {chosen} {against}."]
    if _none_better(choice):
        found.append("No method was better there.")
    if not choice.verdict.ranks:
        found.append("So other domains tell nothing of this one: are the grades right, and are there enough of them?")
    return found


def _none_better(choice: Choice) -> bool:
    """Whether no method that was tried has a better mean than the background."""
    others = (name for name in choice.unseen.systems if name != "background")
    return all(choice.unseen.pair(name, "background", choice.measure).better != name for name in others)


def _against(pair: PairTest) -> str:
    """… is 0.012 higher than the background's."""
    if pair.better is None:
        return f"equals the {pair.second}'s"
    decimals = _decimals(pair)
    gap = number(abs(pair.difference), decimals)
    side = "higher" if pair.difference > 0.0 else "lower"
    least = number(10.0**-decimals, decimals)
    return f"is {f'less than {least}' if gap == number(0.0, decimals) else gap} {side} than the {pair.second}'s"


def _decimals(pair: PairTest) -> int:
    """The decimals that the interval of a difference deserves."""
    low, high = pair.interval
    return decimals_for((high - low) / 2)


def _more_queries(choice: Choice) -> list[str]:
    """How many more queries would make an expected gain clear, where that can be known."""
    needed = choice.queries_needed
    if needed is None:
        return []
    if needed.more is None:
        return [f"Even {MOST_TIMES * needed.judged} judged queries would hardly make so small a gain clear."]
    sure = f"to be {percent(SURE)} sure that this gain becomes clear, if it is as large as expected"
    return [f"Judge about {_rounded_up(needed.more)} more queries {sure}."]


def _rounded_up(count: int) -> int:
    """A count with two digits that are not 0: 137 is 140."""
    step = 10 ** max(0, len(str(count)) - 2)
    return -(-count // step) * step


def _near_tie(choice: Choice) -> str:
    best = choice.unseen[choice.verdict.best][choice.measure]
    low, high = best.interval
    mean = number(best.mean, decimals_for((high - low) / 2))
    tried = [trial.method.name for trial in choice.trials]
    why = "is simpler" if tried.index(choice.name) < tried.index(choice.verdict.best) else "more engines can serve"
    why = "needs no choice between methods" if choice.name == "average" else why
    clear = f"has the best mean, {mean}, but not clearly"
    return f"Of the candidates {choice.verdict.best} {clear}, so {choice.name} is taken, which {why}."


def _carried(choice: Choice) -> tuple[str, ...]:
    """Which one or two queries carry most of the gain, if any do."""
    found = choice.concentration
    pair = choice.unseen.pair(choice.name, "background", choice.measure)
    return () if found is None else found.sentences(_decimals(pair))


def _caution(choice: Choice) -> list[str]:
    queries = choice.unseen[choice.name][choice.measure].queries
    if queries >= FEW_QUERIES:
        return []
    return [f"With {queries} judged queries small differences cannot be told from chance: judge more before you rely on this."]


def _serving(choice: Choice) -> list[str]:
    """Which engines can serve the background, but not the ranker that is to be deployed in its place."""
    if choice.deployable is not None or choice.verdict.recommended != choice.name or choice.name not in choice.costs:
        return []
    lost = lost_engines(choice.costs, choice.name)
    if not lost:
        return []
    again = "adapt again with deployable set to it, and only methods compete whose ranker it can serve"
    return [f"Engines that can serve the background but not this ranker: {', '.join(lost)}. If you use one, {again}."]


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
    apart = number(abs(gap), _decimals(choice.unseen.pair(choice.name, "background", choice.measure)))
    side = "above" if gap > 0.0 else "below"
    more = f"{safer} is the more cautious choice; here its mean is {apart} {side} that of {choice.name}."
    return [f"{warning} If those to come differ, {more}"]
