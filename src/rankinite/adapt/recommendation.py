"""Recommendation in plain sentences: the decision, what the target's queries show, what to expect, then what to mind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankinite.adapt.decision import NOISE_AFTER, Verdict
from rankinite.adapt.gain import prior_for
from rankinite.adapt.methods.catalogue import AVERAGE
from rankinite.adapt.queries_needed import MOST_TIMES, SURE
from rankinite.adapt.serving_costs import lost_engines
from rankinite.evaluation.pair_tests import PairTest
from rankinite.evaluation.sentences import decimals_of, finding, interval_meaning, p_meaning
from rankinite.grid import decimals_for, number, percent
from rankinite.measures.base import sign_of
from rankinite.plurals import counted

if TYPE_CHECKING:
    from rankinite.adapt.choice import Choice

DECISION_NOTE = (
    "Intervals and p are of these queries alone. The decision also counts what adapting has brought on other domains."
)
"""Stands below the table of methods."""
FEW_QUERIES = 30
"""With fewer judged queries than this, small differences between methods cannot be told from chance."""


def advice(choice: Choice) -> tuple[str, ...]:
    """What to do; what the target's queries show; what to expect; then what to mind."""
    found = [
        _decision(choice),
        _on_target(choice),
        *_together(choice),
        *_why(choice),
        *_more_queries(choice),
        *_carried(choice),
    ]
    if choice.verdict.best != choice.name:
        found.append(_near_tie(choice))
    found += [*_caution(choice), *_future(choice), *_serving(choice)]
    for name, seen in (("test", choice.test), ("shifted", choice.shifted)):
        if seen is not None:
            pair = seen.pair(choice.name, "background", choice.measure)
            where = f"the {counted(_queries(pair), f'{name} query')}, which decided nothing"
            found.append(finding(seen, pair, where, corrected=False))
    return tuple(found)


def explanation(choice: Choice) -> tuple[str, ...]:
    """What the numbers beside the decision mean, and how the decision follows from them."""
    verdict, pair = choice.verdict, choice.unseen.pair(choice.name, "background", choice.measure)
    known = f"{prior_for(verdict.signs).pairs:,} pairs of domains, nearly all of them generated, half of them without a shift"
    allowed = percent(verdict.risk)
    decides = (
        f"The gain to expect combines the {counted(_queries(pair), 'target query')} with what adapting has brought on {known}. "
        f"{choice.name} is deployed if a gain is expected, the chance of losing more than {tolerated(verdict)} is at most "
        f"{allowed}, and the gain is clear: either the target queries alone show it, or the chance of any loss is at most "
        f"{allowed}. If only the last does not hold, it is worth a try on live traffic. Otherwise the background stays."
    )
    grades = (
        f"The chance that no ranker can predict the grades is {_rounded(verdict.noise_chance, 1)}, judged by how far "
        f"{choice.name} is above random orders of the documents. Above {percent(NOISE_AFTER)} the background stays."
    )
    return decides, interval_meaning(choice.unseen, pair), p_meaning(choice.unseen, pair), grades


def tolerated(verdict: Verdict) -> str:
    """The loss that does not count, with no more digits than it needs."""
    return f"{verdict.tolerate:.10g}"


def _decision(choice: Choice) -> str:
    """The one sentence that leads."""
    ranker = _ranker_of(choice.name)
    return {
        "deploy": f"Deploy {ranker}.",
        "try online": f"Try {ranker} online before you deploy it.",
        "keep": "Keep the background.",
    }[choice.verdict.decision]


def _ranker_of(method: str) -> str:
    """The ranker of a method in words."""
    if method == AVERAGE.name:
        return "the averaged ranker"
    return "the ranker of the target alone" if method.startswith("target") else f"the ranker adapted by {method}"


def _queries(pair: PairTest) -> int:
    """How many queries counted."""
    return pair.wins + pair.ties + pair.losses


def _on_target(choice: Choice) -> str:
    """What the target's own queries show of the method chosen, taken alone."""
    pair = choice.unseen.pair(choice.name, "background", choice.measure)
    kept = f" with {choice.name}" if choice.verdict.decision == "keep" else ""
    return finding(choice.unseen, pair, f"your {counted(_queries(pair), 'query')}{kept}", corrected=False)


def _together(choice: Choice) -> list[str]:
    """What to expect on new queries, with an interval and the chance of a loss; nothing where no query differs."""
    verdict, pair = choice.verdict, choice.unseen.pair(choice.name, "background", choice.measure)
    if pair.wins == pair.losses == 0 or not verdict.ranks:
        return []
    expected, low, high = expected_texts(choice)
    loss = f"chance of losing more than {tolerated(verdict)}: {_chance(verdict)}"
    pairs = prior_for(verdict.signs).pairs
    elsewhere = f"Together with what adapting brought on {pairs:,} other pairs of domains, nearly all generated"
    return [f"{elsewhere}: {expected} ({low} to {high}); {loss}."]


def expected_texts(choice: Choice) -> tuple[str, str, str]:
    """The change to expect on new queries and the ends of its interval, with the decimals that this deserves."""
    sign, gain = sign_of(choice.measure), choice.verdict.gain
    low, high = sorted(sign * end for end in gain.interval())
    decimals = decimals_for((high - low) / 2)
    expected, *ends = (number(value, decimals, signed=True) for value in (sign * gain.expected, low, high))
    return expected, ends[0], ends[1]


def _why(choice: Choice) -> list[str]:
    """Why this is the decision, where the numbers do not say it by themselves."""
    verdict, pair = choice.verdict, choice.unseen.pair(choice.name, "background", choice.measure)
    if verdict.decision == "deploy":
        chance = _rounded(1.0 - verdict.gain.chance_below(0.0))
        return [] if verdict.clear else [f"Your queries alone do not show a gain; with other domains its chance is {chance}."]
    if verdict.decision == "try online":
        return ["A gain is expected, but your queries cannot show it: compare both rankers on a part of the traffic."]
    if pair.wins == pair.losses == 0:
        return []
    if not verdict.ranks:
        hardly = f"{choice.name} ranks your queries hardly better than random orders"
        return [f"{hardly}, so evidence from other domains does not apply. Check the grades, or judge more queries."]
    if verdict.expected <= 0.0:
        return ["No gain is expected."]
    return [f"That is too uncertain: a chance of {percent(verdict.risk)} is allowed."]


def _chance(verdict: Verdict) -> str:
    """The chance of a loss with as many digits as the one allowed; rounded up where it is above that, as 10.4% is not 10%."""
    digits = len(percent(verdict.risk).partition(".")[2].removesuffix("%"))
    crosses = verdict.loss_chance > verdict.risk and round(100.0 * verdict.loss_chance, digits) <= 100.0 * verdict.risk
    return _rounded(verdict.loss_chance + crosses * 0.01 * 10.0**-digits, digits)


def _rounded(chance: float, digits: int = 0) -> str:
    """A chance as a percentage that is never 0% or 100%."""
    least, found = 10.0**-digits, 100.0 * chance
    if found < least:
        return f"less than {least:.{digits}f}%"
    if found > 100.0 - least:
        return f"more than {100.0 - least:.{digits}f}%"
    return f"{found:.{digits}f}%"


def _more_queries(choice: Choice) -> list[str]:
    """How many more queries would make an expected gain clear, where that can be known."""
    needed = choice.queries_needed
    if needed is None:
        return []
    if needed.more is None:
        return [f"Even {MOST_TIMES * needed.judged} judged queries would hardly make so small a gain clear."]
    chance = f"with a probability of {percent(SURE)}, if it is as large as expected"
    return [f"About {_rounded_up(needed.more)} more judged queries would make it clear {chance}."]


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
    return f"{choice.verdict.best} has the best mean, {mean}, but not clearly, so {choice.name} is taken, which {why}."


def _carried(choice: Choice) -> tuple[str, ...]:
    """Which one or two queries carry most of the gain, if any do."""
    found = choice.concentration
    pair = choice.unseen.pair(choice.name, "background", choice.measure)
    return () if found is None else found.sentences(decimals_of(pair))


def _caution(choice: Choice) -> list[str]:
    queries = choice.unseen[choice.name][choice.measure].queries
    if queries >= FEW_QUERIES or choice.verdict.clear:
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
    warning = "Trees adapted to the target are at their best on queries like these."
    safer = next((name for name, kind in kinds.items() if kind == "interpolation"), None)
    if safer is None or choice.unseen.pair(safer, "background", choice.measure).better != safer:
        return [warning]
    gap = choice.unseen[safer][choice.measure].mean - choice.unseen[choice.name][choice.measure].mean
    apart = number(abs(gap), decimals_of(choice.unseen.pair(choice.name, "background", choice.measure)))
    side = "above" if gap > 0.0 else "below"
    more = f"{safer} is the more cautious choice; its mean here is {apart} {side} that of {choice.name}"
    return [f"{warning} If later queries differ, {more}."]
