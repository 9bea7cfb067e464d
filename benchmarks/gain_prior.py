"""What adapting has brought, as a prior for the next domain: estimates src/rankinite/adapt/gain_prior.py and checks its rule.

    python benchmarks/gain_prior.py [--draws 200]

Reads the kept cells of the adaptation benchmark and fits nothing, so it takes a minute at most. The first table is the prior,
estimated from the cells with the fewest target queries of each pair. The others are the rule at work, each pair judged by a
prior of the other pairs. Cells keep the cross-validated mean of every method, not its queries, so the deviation between queries
is taken from the test queries. In the last table the evidence itself is drawn from the test queries, again and again. Whether a
method ranks better than random orders, which the rule asks for too, is not in the cells.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from scipy import special

from _adaptation_cells import read_cells
from _adaptation_groups import BASELINES, CHOSEN, Group, below, grouped, values
from _adaptation_prior import FAMILIES, difference, estimate, evidence_of, posterior, prior_without, recommended
from _measure import SCRATCH
from rankinite.adapt import gain_prior as kept
from rankinite.adapt.decision import TOLERATE
from rankinite.adapt.gain_posterior import GainPosterior
from rankinite.grid import Grid, number

FORMER = 0.8
"""The confidence that the former rule asked for."""


# ---- the prior -----------------------------------------------------------------------------------------------------------


def spreads(groups: Sequence[Group]) -> np.ndarray:
    """The deviation of the average's differences between queries, in those of the background's values."""
    fewest = [cell for group in groups if group.place == 0 for cell in group.cells]
    return np.asarray([difference(c, "average").std(ddof=1) / np.nanstd(values(c, "background"), ddof=1) for c in fewest])


def prior_table(groups: Sequence[Group]) -> Grid:
    rows = []
    for constant, names in FAMILIES.items():
        found, now = estimate(groups, names), getattr(kept, constant)
        same = (found.location, found.scale, found.freedom) == (now.location, now.scale, now.freedom)
        rows.append((constant, f"{found.location:+.3f}", f"{found.scale:.3f}", f"{found.freedom:g}", "yes" if same else "NO"))
    ratio = spreads(groups)
    usual, apart = np.exp(np.log(ratio).mean()), np.log(ratio).std(ddof=1)
    note = f"SPREAD: {usual:.2f} ({ratio.min():.2f} to {ratio.max():.2f}); its logarithm deviates by {apart:.2f} between pairs."
    return Grid(("prior", "location", "scale", "freedom", "as kept"), tuple(rows), "lrrrl", notes=(note,))


# ---- the rule ------------------------------------------------------------------------------------------------------------


def formerly(queries: int, mean: float, variance: float) -> bool:
    """Whether the former rule would recommend the change."""
    return mean > 0.0 and bool(special.stdtr(queries - 1, mean / np.sqrt(variance / queries)) > FORMER)


def one_by_one(groups: Sequence[Group]) -> Grid:
    """Every cell decided by its cross-validated mean and a prior of the other pairs."""
    rows, sums = [], []
    for group in groups:
        for cell in group.cells:
            name, gains = cell[CHOSEN], difference(cell, cell[CHOSEN])
            mean = cell["systems"][name]["unseen"] - cell["systems"]["background"]["unseen"]
            found = posterior(cell, prior_without(groups, group.pair.name, name))
            before = formerly(cell["queries"], mean, gains.var(ddof=1))
            taken = name if recommended(found) else "background"
            counted = ~np.isnan(values(cell, name))
            gap, p = below(values(cell, taken)[counted], {base: values(cell, base)[counted] for base in BASELINES})
            worse = gap < 0.0 and p <= 0.05
            sums.append((found.expected, gains.mean(), recommended(found), before, worse, group.pair.real))
            rows.append((str(group), name, f"{mean:+.4f}", f"{found.expected:+.4f}", f"{found.loss_chance:.3f}",
                         "yes" if recommended(found) else "no", "yes" if before else "no",
                         f"{gains.mean():+.4f}", f"{gap:+.4f} (p {p:.3f})"))  # fmt: skip
    header = ("cell", "chosen", "evidence", "expected", "loss", "deployed", "formerly", "test", "over the better baseline")
    return Grid(header, tuple(rows), "llrrrllrr", "Each pair by a prior of the others", summed(np.asarray(sums, float)))


def summed(cells: np.ndarray) -> tuple[str, ...]:
    """Of columns expected, true, deployed, formerly, worse, real: what the rule brings and misses."""
    lines = []
    for name, own in (("all", cells), ("real", cells[cells[:, 5] == 1]), ("artificial", cells[cells[:, 5] == 0])):
        expected, true, now, then, worse = (own[:, place] for place in range(5))
        kept_now, kept_then = (int((1 - column).sum()) for column in (now, then))
        lines.append(
            f"{name}: chosen {true.mean():+.4f} (expected {expected.mean():+.4f}), recommended {(true * now).mean():+.4f}, "
            f"formerly {(true * then).mean():+.4f}; background kept in {kept_now} of {len(own)} cells, formerly {kept_then}; "
            f"significantly below the better baseline: {int(worse.sum())}."
        )
    return tuple(lines)


def drawn(groups: Sequence[Group], draws: int) -> Grid:
    """The same with evidence drawn from the test queries: how often the change is recommended, and what the rule costs."""
    random, rows, sums = np.random.default_rng(0), [], []
    for group in groups:
        cell = group.cells[0]
        gains, prior = difference(cell, cell[CHOSEN]), prior_without(groups, group.pair.name, cell[CHOSEN])
        true, taken = gains.mean(), []
        for _ in range(draws):
            some = random.choice(gains, cell["queries"])
            seen = len(some), float(some.mean()), float(some.var(ddof=1))
            found = GainPosterior.of(evidence_of(cell, *seen[1:]), prior, TOLERATE)
            taken.append((recommended(found), formerly(*seen)))
        now, then = np.mean(taken, axis=0)
        sums.append((true, true * now, true * then, now, then, group.pair.real))
        rows.append((str(group), f"{true:+.4f}", *(f"{share:.0%} ({-true * (1 - share):+.4f})" for share in (now, then))))
    header = ("cell", "gain on test", "deployed (cost)", "formerly (cost)")
    every = np.asarray(sums, float)
    notes = tuple(
        f"{name}: chosen {mean[0]:+.4f}, recommended {mean[1]:+.4f} ({mean[3]:.0%}), formerly {mean[2]:+.4f} ({mean[4]:.0%})."
        for name, mean in (("all", every.mean(0)), ("real", every[every[:, 5] == 1].mean(0)))
    )
    return Grid(header, tuple(rows), "lrrr", f"Evidence drawn {number(draws, 0)} times from the test queries", notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200)
    groups = grouped(read_cells("methods", SCRATCH / "adaptation"))
    for table in (prior_table(groups), one_by_one(groups), drawn(groups, parser.parse_args().draws)):
        print(table.text(), end="\n\n")


if __name__ == "__main__":
    main()
