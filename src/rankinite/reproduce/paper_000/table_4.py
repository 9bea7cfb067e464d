"""Paper 000, Table 4 (§5.5): rankers of four languages, tested on one, before and after adaptation to it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rankinite.grid import Grid
from rankinite.models.base import Fitted
from rankinite.reproduce.adaptation import NETS, background_net, interpolated, net, with_valid
from rankinite.reproduce.claims import BETTER, Compared, half
from rankinite.reproduce.differences import mean_of
from rankinite.reproduce.experiment import Case, Experiment, Lab, Outcomes
from rankinite.reproduce.item import Item
from rankinite.reproduce.languages import ABOUT, language_cases, languages_of
from rankinite.reproduce.outcome import Outcome, judged
from rankinite.reproduce.paper_000.adaptation_runs import MEASURES, SETTINGS, lambdasmart

OWN, BACKGROUNDS = "target", ("background 1", "background 2", "background 3")
SUBMODELS = (OWN, *BACKGROUNDS)
INTERPOLATED = "interpolated"

better = partial(Compared, says=BETTER)


def boosted(submodel: str) -> str:
    """What LambdaSMART from a submodel is called."""
    return f"LambdaSMART from {submodel}"


def cases(lab: Lab) -> Sequence[Case]:
    """Every group of languages."""
    return language_cases(lab, 5.0, 28.0)


def run(case: Case, lab: Lab) -> Outcome:
    """A net per language, the four interpolated, and LambdaSMART on the target from each of them."""
    data, draw = languages_of(case, lab), case.settings.get("draw", 0)
    train, valid = with_valid(data.pool, draw)
    nets: dict[str, Fitted] = {OWN: net(10, draw, lab).fit(train, valid)}
    nets |= {name: background_net(own, draw, lab) for name, own in zip(BACKGROUNDS, data.backgrounds, strict=True)}
    adapted = {boosted(name): lambdasmart(draw, lab).fit(train, valid, base=base) for name, base in nets.items()}
    rankers = {**nets, **adapted, INTERPOLATED: interpolated(list(nets.values()), valid)}
    return Outcome({"test": judged(rankers, data.closed, MEASURES)})


def layout(results: Outcomes) -> list[Grid]:
    """Both halves of the table, of real and of artificial data."""
    grids: list[Grid] = []
    for kind, own in (("collections", results.where(real=True)), ("worlds", results.where(real=False))):
        if not own:
            continue
        where = f"test queries of the target, {kind} (mean of {len(own.units)})"
        grids.append(_grid(own, {name: name for name in SUBMODELS}, f"Baseline rankers, by their training data: {where}"))
        adapted = {f"from {name}": boosted(name) for name in SUBMODELS} | {INTERPOLATED: INTERPOLATED}
        grids.append(_grid(own, adapted, f"LambdaSMART on the target, by its submodel, and interpolation: {where}"))
    return grids


def _grid(results: Outcomes, columns: dict[str, str], title: str) -> Grid:
    rows = [
        (f"NDCG@{measure.cutoff}", *(half(mean_of(results, system, str(measure))) for system in columns.values()))
        for measure in MEASURES
    ]
    return Grid(("", *columns), tuple(rows), title=title)


ITEM = Item(
    "000", "table-4", "NDCG on one language of rankers of four languages, interpolated, and adapted by LambdaSMART",
    (
        *(better(f"The target's own ranker is much better than that of {name}", OWN, name) for name in BACKGROUNDS),
        *(better(f"LambdaSMART improves on its submodel, {name}", boosted(name), name) for name in SUBMODELS),
        better("Interpolation of all four is slightly better than the target's own ranker", INTERPOLATED, OWN),
        *(better(f"LambdaSMART from {name} is better than interpolation", boosted(name), INTERPOLATED) for name in SUBMODELS),
    ),
    (Experiment("000-languages", cases, run),),
    layout,
    f"""{ABOUT} Open tests are not asked here. Baseline rankers are two-layer LambdaRank nets with 15 hidden units, the
    target's own with 10. {NETS} {SETTINGS}""",
)  # fmt: skip
