"""The experiment behind paper 001, Tables 5 to 12 and Figure 4 (c to f): three backgrounds adapted to one language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from rankinite.engine.kernel import Floats
from rankinite.models.base import Fitted
from rankinite.reproduce.adaptation import NETS, background_net, interpolated, net, with_valid
from rankinite.reproduce.claims import Claim, Compared
from rankinite.reproduce.experiment import Case, Experiment, Lab
from rankinite.reproduce.item import Item
from rankinite.reproduce.languages import ABOUT, language_cases, languages_of
from rankinite.reproduce.outcome import Outcome, Values
from rankinite.reproduce.paper_001.boosters import (
    AVERAGE,
    BACK,
    BOOST,
    DRAWN,
    LEAVES,
    OWN,
    SETTINGS,
    SHARES,
    SMART,
    boost,
    gains,
    smarts,
    trees,
)
from rankinite.reproduce.paper_001.closed_and_open import Row, Tested, judge, table

TWO, FOUR = "Interp.", "4W-Interp."
NUMBERS = (1, 2, 3)
"""The backgrounds, which are English, Japanese and Chinese in the paper."""
LANGUAGES = "languages"
KINDS = "collections", "artificial worlds"
VARIED = (BOOST, *(trees(leaves, how) for leaves in LEAVES for how in SHARES))
"""What Figure 4 shows, for each background."""

SETTING = f"""Compared by AveNDCG. Backgrounds 1, 2 and 3 stand where the paper has English, Japanese and Chinese. {ABOUT}
The tables of open tests also give both apart. Nets have two layers: those of backgrounds 15 hidden units, the in-domain one
10. {NETS} {SETTINGS}"""
OPEN_BECAUSE = """Collections have a few dozen queries to train on and differ widely, so that intervals are wide; or real and
artificial data disagree: with so few queries trees of 20 leaves at rate 0.5 overfit, with 750 artificial ones they do not.
Languages with thousands of judged queries would decide."""
AS_TABLE_5 = "The settings are those of Table 5."


def claim_on(test: str) -> partial[Compared]:
    """A claim about two systems on this test, by AveNDCG."""
    return partial(Compared, measure=AVERAGE, test=test)


def language_item(
    name: str, title: str, test: str, claims: Sequence[Claim], paper: Mapping[str, Row], setting: str = AS_TABLE_5
) -> Item:
    """A table of languages: what it claims of this test, and the paper's numbers."""
    return Item(
        "001", name, title, claims, (EXPERIMENT,), partial(table, test=test, paper=paper, kinds=KINDS), setting, OPEN_BECAUSE
    )


def of(system: str, background: int) -> str:
    """What a system is called that starts from one of the backgrounds."""
    return f"{system} ({background})"


def cases(lab: Lab) -> Sequence[Case]:
    """Every group of languages."""
    return [replace(case, settings={**case.settings, "shown": LANGUAGES}) for case in language_cases(lab, 7.0, 70.0)]


def run(case: Case, lab: Lab) -> Outcome:
    """The target's own ranker, each background, its interpolation and its adaptations, and all four interpolated."""
    data, draw = languages_of(case, lab), case.settings.get("draw", 0)
    train, valid = with_valid(data.pool, draw)
    own, bases = net(10, draw, lab).fit(train, valid), [background_net(one, draw, lab) for one in data.backgrounds]
    shown: dict[str, Fitted] = {OWN: own, FOUR: interpolated([own, *bases], valid)}
    varied: dict[str, Fitted] = {}
    for number, base in zip(NUMBERS, bases, strict=True):
        boosted = smarts(base, train, valid, draw, lab)
        varied |= {of(name, number): ranker for name, ranker in boosted.items()}
        shown |= {
            of(BACK, number): base,
            of(TWO, number): interpolated([base, own], valid),
            of(BOOST, number): boost(base, train, valid, lab),
            of(SMART, number): boosted[trees(LEAVES[-1], DRAWN)],
        }
    outcome = judge(shown, varied, Tested(data.closed, data.opens))
    return Outcome({name: {**values, **_averaged(values)} for name, values in outcome.tests.items()}, facts=outcome.facts)


def _averaged(values: Values) -> Mapping[str, Mapping[str, Floats]]:
    """What Figure 4 shows, averaged over the three backgrounds."""
    means = {name: {AVERAGE: np.mean([values[of(name, n)][AVERAGE] for n in NUMBERS], axis=0)} for name in VARIED}
    return {**means, **gains(means)}


EXPERIMENT = Experiment("001-languages", cases, run)
