"""Paper 001, Figure 4 (§5.3): AveNDCG of LambdaSMART against the number of leaves, with and without randomisation."""

from __future__ import annotations

from functools import partial

from papers.claims import BETTER, MARGIN, Compared, Measured
from papers.differences import SURE, difference, mean_of
from papers.experiment import Outcomes
from papers.figure import Panel, PaperFigure
from papers.item import Item
from papers.paper_001 import languages, names
from papers.paper_001.languages import FOUR, LANGUAGES, NUMBERS, of
from papers.paper_001.names import NAMES, THREE
from papers.paper_001.rankers import AVERAGE, BOOST, CLOSED, DRAWN, LEAVES, OPEN, PLAIN, SHARES, gain, smart_with

FEW, MANY = LEAVES[0], LEAVES[-1]
LABELS = ("1", *map(str, LEAVES))
SCARCE = """The likeliest reason is that a node which does not draw the feature it needs splits by a worse one, while with 750
artificial queries there is little overfitting to be saved from. Thousands of real judged queries would decide."""


def asked(shown: str, test: str, text: str, first: str, second: str, why: str = "") -> Compared:
    """A claim that one is better, asked of the names or of the languages."""
    sentence = f"{shown.capitalize()}, {test} test: {text}"
    return Compared(sentence, first, second, BETTER, AVERAGE, test, {"shown": shown}, why)


def no_gain(results: Outcomes, shown: str) -> tuple[str, bool | None]:
    """Whether more leaves without randomisation are no better on the open test, by half a point at least."""
    texts: list[str] = []
    for kind, real in (("real", True), ("artificial", False)):
        chosen = results.where(real=real, shown=shown)
        gained = difference(chosen, smart_with(MANY, PLAIN), smart_with(FEW, PLAIN), AVERAGE, OPEN)
        if gained is None:
            continue
        texts.append(f"{kind} {gained}")
        if gained.p_below(MARGIN) <= SURE or gained.p_above() <= SURE / 2:
            return "; ".join(texts), gained.p_below(MARGIN) <= SURE
    return "; ".join(texts) or "not run", None


def claims(shown: str, interpolated: str) -> list[Compared | Measured]:
    """What §5.3 says, of names and again of languages."""
    more = f"{MANY} leaves are better than {FEW}"
    return [
        asked(shown, CLOSED, f"{more} without randomisation", smart_with(MANY, PLAIN), smart_with(FEW, PLAIN)),
        Measured(f"{shown.capitalize()}, open test: {more} no longer", partial(no_gain, shown=shown)),
        asked(shown, CLOSED, f"{more} with randomisation", smart_with(MANY, DRAWN), smart_with(FEW, DRAWN)),
        asked(shown, OPEN, f"{more} with randomisation", smart_with(MANY, DRAWN), smart_with(FEW, DRAWN)),
        asked(shown, OPEN, f"randomisation helps, {MANY} leaves", smart_with(MANY, DRAWN), smart_with(MANY, PLAIN), SCARCE),
        asked(shown, OPEN, f"randomisation helps {MANY} leaves more than {FEW}", gain(MANY), gain(FEW), SCARCE),
        asked(shown, OPEN, "interpolation is still better", interpolated, smart_with(MANY, DRAWN)),
    ]


def _panel(results: Outcomes, title: str, test: str, background: int | None = None) -> Panel:
    """Bars for each number of leaves; the first pair is LambdaBoost, which draws nothing."""

    def height(system: str) -> float:
        mean = mean_of(results, system if background is None else of(system, background), AVERAGE, test)
        return float("nan") if mean is None else mean.mean

    bars = {
        randomisation: [height(BOOST), *(height(smart_with(leaves, randomisation)) for leaves in LEAVES)]
        for randomisation in SHARES
    }
    lines = {name: (range(len(LABELS)), heights) for name, heights in bars.items()}
    return Panel(title, "L", "AveNDCG", lines, "bars", LABELS)


def layout(results: Outcomes) -> list[PaperFigure]:
    """Panels a to f, of real and of artificial data."""
    figures: list[PaperFigure] = []
    for kind, real in (("real", True), ("artificial", False)):
        of_names, of_languages = (results.where(real=real, shown=shown) for shown in (NAMES, LANGUAGES))
        if of_names:
            panels = [_panel(of_names, "(a) names, closed test", CLOSED), _panel(of_names, "(b) names, open test", OPEN)]
            figures.append(PaperFigure(f"001-figure-4-names-{kind}", f"Leaves and randomisation: names, {kind} data", panels))
        if of_languages:
            panels = [_panel(of_languages, "(c) languages, closed test", CLOSED)]
            panels += [
                _panel(of_languages, f"({letter}) open test, background {number}", OPEN, number)
                for letter, number in zip("def", NUMBERS, strict=True)
            ]
            title = f"Leaves and randomisation: languages, {kind} data"
            figures.append(PaperFigure(f"001-figure-4-languages-{kind}-cd", title, panels[:2]))
            figures.append(PaperFigure(f"001-figure-4-languages-{kind}-ef", title, panels[2:]))
    return figures


FIGURE_4 = Item(
    "001", "figure-4", "LambdaSMART by the number of leaves, with and without randomisation, on closed and open tests",
    (
        *claims(NAMES, THREE),
        *claims(LANGUAGES, FOUR),
        asked(LANGUAGES, OPEN, f"LambdaBoost is better than LambdaSMART with {FEW} leaves", BOOST, smart_with(FEW, PLAIN)),
    ),
    (names.EXPERIMENT, languages.EXPERIMENT),
    layout,
    f"""Rankers, data and settings are those of Tables 3 and 5; L is 1 (LambdaBoost), {", ".join(map(str, LEAVES))}, as the
    text names 1, 2, 5 and 20 alone. Claims about languages are asked of the mean over the three backgrounds. The caption
    does not say what panel c shows: here it is the closed test, mean of the backgrounds. "No longer" holds where the gain
    is shown to be below half a point.""",
    names.OPEN_BECAUSE,
)  # fmt: skip
