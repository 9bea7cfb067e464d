"""The papers' findings, one by one: what they say, what the kept cells say, and whether the two agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import fill

from _adaptation_cells import MORE, TREES
from _adaptation_findings import BETA, BETAS, DRAWN, LEAVES, LOSSES, PLAIN, ROWS, SAME_SIZE, SCALED, boosted, ours, responses
from _adaptation_groups import CLOSED, SIZES, Contrast, Group, contrast
from rankinite.grid import Grid

OPEN = None
"""On every open test there is."""
BETTER, WORSE, ALIKE, ASKED = 1, -1, 0, None
"""What a paper says of the first system beside the second; ASKED: nothing, we ask."""
SAYS = {BETTER: "better", WORSE: "worse", ALIKE: "no difference", ASKED: ""}
CALLED = {"λ": "λ-gradients", "squared": "squared loss, as in the paper"}
ABOUT = """What the papers say, asked of the same pairs and samples.
Differences are of NDCG@10: first minus second, mean over pairs, each the mean of its sizes, draws and (open) tests, ± half the
95 % interval over pairs, and in how many real pairs the first is above/below. A statement holds where the interval of the real
pairs lies on its side of 0, does not hold where it lies on the other side, and is undecided where it contains 0. That there is
no difference cannot be shown, only that none was found. Nothing is corrected for the number of questions asked. Learners of
LambdaSMART are as in the papers (plain λ, least-squares splits, the background's scores as they are) unless "ours" is said:
our λ and splits."""


@dataclass(frozen=True)
class Claim:
    """Two systems, and how a paper says they compare."""

    what: str
    first: str
    second: str
    says: int | None = BETTER
    where: str | None = CLOSED
    places: tuple[int, ...] = (0, 1, 2)
    """Which sizes of each pair are asked."""

    def asked(self, groups: Iterable[Group], *, real: bool = True) -> Contrast:
        wheres = OPEN if self.where is OPEN else (self.where,)
        own = (group for group in groups if group.place in self.places and group.pair.real is real)
        return contrast(own, self.first, self.second, wheres)

    def verdict(self, found: Contrast) -> str:
        if len(found.gains) < 2:
            return "not measured"
        if self.says is ASKED:
            return {1: "the first is better", -1: "the second is better", 0: "undecided"}[found.sign]
        if self.says == ALIKE:
            return "none found" if found.sign == 0 else "does not hold"
        return "undecided" if found.sign == 0 else "holds" if found.sign == self.says else "does not hold"

    def row(self, groups: Sequence[Group]) -> tuple[str, ...]:
        found = self.asked(groups)
        artificial = str(self.asked(groups, real=False))
        return self.what, self.first, self.second, SAYS[self.says], str(found), found.counts, self.verdict(found), artificial


def tuning_claims(loss: str) -> list[Claim]:
    """Paper 003 on Trada."""
    own, few = responses(BETA), (0,)
    asked = [
        Claim("layers (R) against leaves alone (RA), 003 §5.5.2", own, "RA"),
        Claim("thresholds moved too (S), 003 §5.5.2", "R, S", own, WORSE),
        Claim("branches trimmed (T), 003 §5.5.2", "R, T", own, ALIKE),
        Claim("thresholds moved and branches trimmed", "R, S, T", own, ASKED),
        Claim("tuned or not, 003 Table 3", own, "background"),
        Claim(f"{MORE} trees on the tuned forest, 003 §5.5.3", "R and trees", own),
        Claim(f"{MORE} trees on the background, 003 §5.5.3", "additive", "background"),
        Claim("tuned with trees against trees alone, 003 §5.5.3", "R and trees", "additive"),
        Claim("a larger β, 003 §5.5.1", own, responses(1)),
        Claim("a still larger β, 003 §5.5.1", responses(30), own, ALIKE),
        Claim("a very large β, suspected of overfitting in 003 §5.5.1", responses(100), own, WORSE),
        Claim("… for the fewest queries", responses(100), own, WORSE, places=few),
    ]
    return [Claim(c.what, f"{loss}: {c.first}", f"{loss}: {c.second}", c.says, c.where, c.places) for c in asked]


def boosting_claims() -> list[Claim]:
    """Papers 001 and 000 on LambdaSMART."""
    large, small = LEAVES[-1], LEAVES[0]
    claims = []
    for where, called in ((CLOSED, "closed"), (OPEN, "open")):
        drawn, plain = boosted(large, DRAWN), boosted(large, PLAIN)
        says = BETTER if where is OPEN else ASKED
        claims += [
            Claim(f"drawing at the nodes, {called}, 001 §5.3", drawn, plain, says, where),
            Claim(f"more leaves without drawing, {called}, 001 Fig. 4", plain, boosted(small, PLAIN),
                  BETTER if where == CLOSED else ALIKE, where),
            Claim(f"more leaves with drawing, {called}, 001 Fig. 4", drawn, boosted(small, DRAWN), BETTER, where),
            Claim(f"settings of 001 against those of 000, {called}", drawn, ROWS, ASKED, where),
            Claim(f"our λ and splits, settings of 000, {called}", ours(ROWS), ROWS, ASKED, where),
            Claim(f"our λ and splits, settings of 001, {called}", ours(drawn), drawn, ASKED, where),
            Claim(f"base scaled, {called}", SCALED, ROWS, ASKED, where),
            Claim(f"base scaled, our λ and splits, {called}", ours(SCALED), ours(ROWS), ASKED, where),
        ]  # fmt: skip
    claims.append(Claim("linear against trees of 2 leaves, open, 001 §5.3", "lambdaboost", boosted(small, PLAIN), BETTER, OPEN))
    return claims


def interpolation_claims() -> list[Claim]:
    """Paper 001 on interpolation, boosting, and tests that differ from the training data."""
    claims = []
    for where, called in ((CLOSED, "closed"), (OPEN, "open")):
        opposite = WORSE if where == CLOSED else BETTER
        claims += [
            Claim(f"target against background, {called}, 001 §5.2 (by AveNDCG)", "target", "background", -opposite, where),
            Claim(f"interpolation against LambdaSMART, {called}, 001 §5.2", "interpolate", "smart", opposite, where),
            Claim(f"interpolation against LambdaBoost, {called}, 001 §5.2", "interpolate", "lambdaboost", BETTER, where),
            Claim(f"LambdaSMART against LambdaBoost, {called}, 001 §5.2", "smart", "lambdaboost",
                  BETTER if where == CLOSED else ALIKE, where),
            Claim(f"3-way against 2-way interpolation, {called}, 001 §5.2", "neighbours", "interpolate", BETTER, where),
            Claim(f"interpolation against background, {called}, 001 §5.2", "interpolate", "background", BETTER, where),
        ]  # fmt: skip
    return claims


def size_claims() -> list[Claim]:
    """Paper 003 §5.5.4: all models with as many trees."""
    own = "trada-trees"
    rivals = (SAME_SIZE, "pool", "pool-10", "pool-20", "additive")
    claims = [Claim(f"{TREES + MORE} trees each, 003 §5.5.4", own, rival) for rival in rivals]
    few, all_of_it = (0,), (2,)
    claims.append(Claim("… with the fewest queries", own, SAME_SIZE, BETTER, places=few))
    claims.append(Claim("… with all queries", own, SAME_SIZE, ASKED, places=all_of_it))
    claims.append(Claim("pooling with W = 20 is near the target alone", "pool-20", SAME_SIZE, ALIKE))
    return claims


def findings(groups: Sequence[Group]) -> str:
    """The section of the page, or nothing where no variant was tried."""
    if not any(responses(BETA) in name for group in groups for cell in group.cells for name in cell["systems"]):
        return ""
    grids = [
        *(_grid(f"Tuning a forest trained with {CALLED[loss]}", tuning_claims(loss), groups) for loss in LOSSES),
        *(betas(loss, groups) for loss in LOSSES),
        _grid("Boosting from the background", boosting_claims(), groups),
        robustness(groups),
        _grid("Interpolation and boosting, closed and open tests", interpolation_claims(), groups),
        shifted(groups),
        _grid("Models of the same size", size_claims(), groups),
        same_size(groups),
    ]
    return "\n\n".join(["## What the papers found", fill(ABOUT, 128), *(grid.markdown() for grid in grids)])


def _grid(title: str, claims: Sequence[Claim], groups: Sequence[Group]) -> Grid:
    header = ("question", "first", "second", "the paper: the first is", "first − second, real pairs", "above/below", "verdict")
    return Grid((*header, "artificial pairs"), tuple(claim.row(groups) for claim in claims), "llllrrlr", title)


def _over(name: str, base: str, groups: Iterable[Group], where: str | None = CLOSED) -> str:
    return str(contrast(groups, name, base, OPEN if where is OPEN else (where,)))


def _at(groups: Sequence[Group], place: int) -> list[Group]:
    return [group for group in groups if group.place == place]


def betas(loss: str, groups: Sequence[Group]) -> Grid:
    """β against the number of target queries."""
    base = f"{loss}: background"
    rows = tuple(
        (f"{beta:g}", *(_over(f"{loss}: {responses(beta)}", base, _at(groups, place)) for place in range(len(SIZES))))
        for beta in BETAS
    )
    return Grid(
        ("β", *SIZES), rows, title=f"β and the number of target queries ({CALLED[loss]}, R): NDCG@10 over the background"
    )


def robustness(groups: Sequence[Group]) -> Grid:
    """Paper 001's Figure 4: leaves, with and without drawing, on closed and open tests."""
    columns = [(where, drawn) for where in (CLOSED, OPEN) for drawn in (PLAIN, DRAWN)]
    linear = [_over("lambdaboost", "background", groups, where) for where, _ in columns]
    rows = [("1 (LambdaBoost)", *linear)]
    rows += [(str(n), *(_over(boosted(n, drawn), "background", groups, where) for where, drawn in columns)) for n in LEAVES]
    header = ("leaves", *(f"{'open' if where is OPEN else 'closed'}, {drawn}" for where, drawn in columns))
    note = "LambdaSMART at rate 0.5. LambdaBoost draws nothing."
    return Grid(header, tuple(rows), title="Leaves and robustness (001, Figure 4): NDCG@10 over the background", notes=(note,))


def shifted(groups: Sequence[Group]) -> Grid:
    """What methods gain over the background on the closed test and on each open one."""
    names = ("target", "interpolate", "neighbours", "lambdaboost", "smart", "trada", "average")
    known = dict.fromkeys(where for group in groups for where in group.opens)
    tested = [group for group in groups if group.opens]
    rows = tuple(
        (name, _over(name, "background", tested), *(_over(name, "background", tested, where) for where in known))
        for name in names
    )
    note = "The pairs that have an open test, alone. Closed: other queries of the target."
    title = "Closed and open tests: NDCG@10 over the background"
    return Grid(("method", "closed", *(f"open: {where}" for where in known)), rows, title=title, notes=(note,))


def same_size(groups: Sequence[Group]) -> Grid:
    """Paper 003's Figures 11 and 12."""
    names = (SAME_SIZE, "pool", "pool-10", "pool-20", "additive", "trada-trees")
    rows = tuple((name, *(_over(name, "background", _at(groups, place)) for place in range(len(SIZES)))) for name in names)
    return Grid(("method", *SIZES), rows, title=f"{TREES + MORE} trees each: NDCG@10 over the background")
