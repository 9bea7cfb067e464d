"""Paper 003, Figure 12 (§5.5.4): adaptation and combination on five target domains, each with its best settings."""

from __future__ import annotations

from collections.abc import Sequence

from rankinite.evaluation.significance import holm
from rankinite.grid import Grid
from rankinite.reproduce.claims import BETTER, SURE, Compared, Measured
from rankinite.reproduce.differences import difference, mean_of
from rankinite.reproduce.experiment import Outcomes
from rankinite.reproduce.figure import Panel, PaperFigure
from rankinite.reproduce.item import Block, Item
from rankinite.reproduce.outcome import Points
from rankinite.reproduce.paper_003 import domains, models, sizes
from rankinite.reproduce.paper_003.models import ADAPTED, BASE, COMBINED, RELATIVE
from rankinite.reproduce.paper_003.size_layouts import OPEN_BECAUSE, UP, kinds_of

PAPER = {"D1": "adaptation", "D2": "combination", "D3": "combination", "D4": "adaptation", "D5": "adaptation"}
"""Which is better in the paper."""
BARS = {"base model": BASE, "combination": COMBINED, "adaptation": ADAPTED}


def layout(results: Outcomes) -> Sequence[Block]:
    """Bars for every domain, and a table of the settings chosen."""
    panels = [
        Panel(title, "target domain", UP, {label: _bars(own, name) for label, name in BARS.items()}, "bars", _labels(own))
        for title, _, own in kinds_of(results)
    ]
    return [PaperFigure("003-figure-12", "Adaptation and combination on several target domains", panels), _settings(results)]


def _labels(results: Outcomes) -> list[str]:
    return [f"R{place}" if case.real else case.unit for place, (case, _) in enumerate(results, start=1)]


def _bars(results: Outcomes, system: str) -> Points:
    found = [mean_of(results.where(unit=unit), system, RELATIVE) for unit in results.units]
    return list(range(len(found))), [0.0 if value is None else value.mean for value in found]


def _settings(results: Outcomes) -> Grid:
    """What was chosen on either half of the test queries, and how far the two are apart."""
    rows: list[tuple[str, ...]] = []
    for _, _, own in kinds_of(results):
        for label, (case, outcome) in zip(_labels(own), own, strict=True):
            chosen = [", or ".join(dict.fromkeys(outcome.facts[name])) for name in ("settings", "weights")]
            weights = chosen[1].replace("combination, ", "")
            found = difference(Outcomes([(case, outcome)]), ADAPTED, COMBINED, RELATIVE)
            named = case.unit if case.real else f"shift {domains.TARGETS[case.unit].shift:g}"
            rows.append((label, named, f"{outcome.facts['queries']:,}", chosen[0], weights, str(found), PAPER.get(label, "")))
    header = (
        "domain",
        "what it is",
        "target queries",
        "adaptation",
        "combination",
        "adaptation − combination",
        "better in the paper",
    )
    return Grid(header, tuple(rows), "llrllrl", title="Settings that were best on the other half of the test queries")


def depends_on_domain(results: Outcomes) -> tuple[str, bool | None]:
    """Whether each of the two is significantly better than the other on some domain."""
    found = {case.unit: difference(Outcomes([(case, outcome)]), ADAPTED, COMBINED, RELATIVE) for case, outcome in results}
    known = {unit: own for unit, own in found.items() if own is not None}
    values = holm([own.p_either() for own in known.values()])
    sure = [own.mean for own, p in zip(known.values(), values.tolist(), strict=True) if p <= SURE]
    above, below = sum(mean > 0.0 for mean in sure), sum(mean < 0.0 for mean in sure)
    told = f"of {len(known)} domains adaptation is significantly better on {above}, combination on {below}"
    return told, True if above and below else None


ITEM = Item(
    "003", "figure-12", "DCG of adaptation, combination and base models on several target domains",
    (
        Compared("Over the domains, adaptation is better than the base model", ADAPTED, BASE, BETTER, RELATIVE),
        Compared("Adaptation is better than combination on most domains (three of five)", ADAPTED, COMBINED, BETTER, RELATIVE),
        Measured(
            "Which of the two is better depends on the domain: combination on two of five", depends_on_domain,
            why="A single domain shows a difference only if it is larger than what its test queries leave open.",
        ),
    ),
    (domains.EXPERIMENT,),
    layout,
    f"""All but the base model have 330 trees. Adaptation: responses (R) or splitting values too (SR), β = 10 or 20, and 30
    additional trees; combination: W = 1, 10 or 20; of either, what is best on one half of the test queries is judged on the
    other half, and the other way round, where the paper takes the best. Artificial: domains of one world with the sizes of
    Table 1 (four fifths of the queries, but 600 of D1's; others test), 300 features, label noise 0.3, and shifts of 0.25 to
    0.75, as nobody knows how far the paper's domains are from its source; {models.REAL}, each used as a whole. {sizes.CHOSEN}
    {models.SETTING}""",
    OPEN_BECAUSE,
)  # fmt: skip
