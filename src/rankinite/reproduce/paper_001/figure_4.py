"""Paper 001, Figure 4 (§5.3): AveNDCG of LambdaSMART against the number of leaves, with and without randomisation."""

from __future__ import annotations

from functools import partial

from rankinite.reproduce.claims import BETTER, MARGIN, SURE, Compared, Measured
from rankinite.reproduce.differences import difference, mean_of
from rankinite.reproduce.experiment import Outcomes
from rankinite.reproduce.figure import Panel, PaperFigure
from rankinite.reproduce.item import Item
from rankinite.reproduce.paper_001 import language_runs, names
from rankinite.reproduce.paper_001.boosters import AVERAGE, BOOST, DRAWN, LEAVES, PLAIN, SHARES, gain, trees
from rankinite.reproduce.paper_001.closed_and_open import CLOSED, OPEN
from rankinite.reproduce.paper_001.language_runs import FOUR, LANGUAGES, NUMBERS, of
from rankinite.reproduce.paper_001.names import NAMES, THREE

FEW, MANY = LEAVES[0], LEAVES[-1]
LABELS = ("1", *map(str, LEAVES))


SCARCE = """The likeliest reason is that a node which does not draw the feature it needs splits by a worse one, while with 750
artificial queries there is little overfitting to be saved from. Thousands of real judged queries would decide."""


def asked(shown: str, test: str, text: str, first: str, second: str, why: str = "") -> Compared:
    """A claim that one is better, asked of the names or of the languages."""
    text = f"{shown.capitalize()}, {test} test: {text}"
    return Compared(text, first, second, BETTER, AVERAGE, test, {"shown": shown}, why)


def no_gain(results: Outcomes, shown: str) -> tuple[str, bool | None]:
    """Whether more leaves without randomisation are no better on the open test, by half a point at least."""
    told: list[str] = []
    for kind, real in (("real", True), ("artificial", False)):
        own = results.where(real=real, shown=shown)
        seen = difference(own, trees(MANY, PLAIN), trees(FEW, PLAIN), AVERAGE, OPEN)
        if seen is None:
            continue
        told.append(f"{kind} {seen}")
        if seen.p_below(MARGIN) <= SURE or seen.p_above() <= SURE / 2:
            return "; ".join(told), seen.p_below(MARGIN) <= SURE
    return "; ".join(told) or "not run", None


def claims(shown: str, interpolated: str) -> list[Compared | Measured]:
    """What §5.3 says, of names and again of languages."""
    more = f"{MANY} leaves are better than {FEW}"
    return [
        asked(shown, CLOSED, f"{more} without randomisation", trees(MANY, PLAIN), trees(FEW, PLAIN)),
        Measured(f"{shown.capitalize()}, open test: {more} no longer", partial(no_gain, shown=shown)),
        asked(shown, CLOSED, f"{more} with randomisation", trees(MANY, DRAWN), trees(FEW, DRAWN)),
        asked(shown, OPEN, f"{more} with randomisation", trees(MANY, DRAWN), trees(FEW, DRAWN)),
        asked(shown, OPEN, f"randomisation helps, {MANY} leaves", trees(MANY, DRAWN), trees(MANY, PLAIN), SCARCE),
        asked(shown, OPEN, f"randomisation helps {MANY} leaves more than {FEW}", gain(MANY), gain(FEW), SCARCE),
        asked(shown, OPEN, "interpolation is still better", interpolated, trees(MANY, DRAWN)),
    ]


def _panel(results: Outcomes, title: str, test: str, background: int | None = None) -> Panel:
    """Bars for each number of leaves; the first pair is LambdaBoost, which draws nothing."""

    def height(system: str) -> float:
        found = mean_of(results, system if background is None else of(system, background), AVERAGE, test)
        return float("nan") if found is None else found.mean

    lines = {how: (range(len(LABELS)), [height(BOOST), *(height(trees(leaves, how)) for leaves in LEAVES)]) for how in SHARES}
    return Panel(title, "L", "AveNDCG", lines, "bars", LABELS)


def layout(results: Outcomes) -> list[PaperFigure]:
    """Panels a to f, of real and of artificial data."""
    figures: list[PaperFigure] = []
    for kind, real in (("real", True), ("artificial", False)):
        queries, languages = (results.where(real=real, shown=shown) for shown in (NAMES, LANGUAGES))
        if queries:
            panels = [_panel(queries, "(a) names, closed test", CLOSED), _panel(queries, "(b) names, open test", OPEN)]
            figures.append(PaperFigure(f"001-figure-4-names-{kind}", f"Leaves and randomisation: names, {kind} data", panels))
        if languages:
            panels = [_panel(languages, "(c) languages, closed test", CLOSED)]
            panels += [
                _panel(languages, f"({letter}) open test, background {number}", OPEN, number)
                for letter, number in zip("def", NUMBERS, strict=True)
            ]
            title = f"Leaves and randomisation: languages, {kind} data"
            figures.append(PaperFigure(f"001-figure-4-languages-{kind}-cd", title, panels[:2]))
            figures.append(PaperFigure(f"001-figure-4-languages-{kind}-ef", title, panels[2:]))
    return figures


ITEM = Item(
    "001", "figure-4", "LambdaSMART by the number of leaves, with and without randomisation, on closed and open tests",
    (
        *claims(NAMES, THREE),
        *claims(LANGUAGES, FOUR),
        asked(LANGUAGES, OPEN, f"LambdaBoost is better than LambdaSMART with {FEW} leaves", BOOST, trees(FEW, PLAIN)),
    ),
    (names.EXPERIMENT, language_runs.EXPERIMENT),
    layout,
    f"""Rankers, data and settings are those of Tables 3 and 5; L is 1 (LambdaBoost), {", ".join(map(str, LEAVES))}, as the
    text names 1, 2, 5 and 20 alone. Claims about languages are asked of the mean over the three backgrounds. The caption
    does not say what panel c shows: here it is the closed test, mean of the backgrounds. "No longer" holds where the gain
    is shown to be below half a point.""",
    names.OPEN_BECAUSE,
)  # fmt: skip
