"""Decision which method to deploy, given how each does on target queries that it did not see.

Two questions are kept apart. Which of the rankers made for the target is the best bet? Choosing among a dozen by a few queries
is mostly luck, so the average of unlike methods, which needs no choice, is taken unless one is clearly better. And is that bet
better than the background? The change is recommended only if that is so with confidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scipy import special

from rankinite.adapt.held_out import standard_error
from rankinite.engine.kernel import Floats

BASELINES = ("background", "target")
"""What every method is compared with."""
CLEARLY = 0.98
"""The one-sided confidence that a method is better than the average, above which it is taken instead."""


@dataclass(frozen=True)
class Verdict:
    """What was decided."""

    name: str
    """The method chosen: the best bet among those that make a ranker for the target."""
    best: str
    """The one of them with the best mean."""
    recommended: str
    """The method chosen if it beats the background with confidence, else the background."""
    confidence: float
    """The one-sided confidence that is asked for."""
    sure: float
    """The confidence reached that the method chosen is better than the background; corrected if it was picked from several."""
    tries: int = 1
    """How many methods it was picked from by its result, for which the confidence is corrected; 1 if it was not picked."""


def decide(values: Mapping[str, Floats], *, average: str = "average", confidence: float = 0.8) -> Verdict:
    """Choose a method and decide whether to deploy it.

    ``values``: for each method, the simplest first, one value per query, higher being better. Where there is no average, the
    simplest of those within one standard error of the best is chosen. A method picked from several is recommended only if it
    would be at a confidence corrected for their number (Bonferroni).
    """
    names = [name for name in values if name != "background"]
    best = max(names, key=lambda name: float(values[name].mean()))
    if average in values:
        name = best if _surely_above(values[best], values[average], CLEARLY) else average
    else:
        name = next(
            name for name in names if (values[best] - values[name]).mean() <= standard_error(values[best] - values[name])
        )
    tries = 1 if name == average else len(names)  # what was picked as the best of several looks better than it is
    sure = _surely_above(values[name], values["background"], 1.0 - (1.0 - confidence) / tries)
    reached = 1.0 - tries * (1.0 - _confidence(values[name], values["background"]))
    return Verdict(name, best, name if sure else "background", confidence, max(0.0, round(reached, 6)), tries)


def _surely_above(first: Floats, second: Floats, confidence: float) -> bool:
    """Whether the mean difference over queries is above 0 with this confidence, by Student's t."""
    gain = first - second
    return float(gain.mean()) > float(special.stdtrit(len(gain) - 1, confidence)) * standard_error(gain)


def _confidence(first: Floats, second: Floats) -> float:
    """The confidence that the mean difference over queries is above 0, by Student's t."""
    gain, error = first - second, standard_error(first - second)
    return float(special.stdtr(len(gain) - 1, gain.mean() / error)) if error > 0.0 else float(gain.mean() > 0.0)
