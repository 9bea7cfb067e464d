"""What adapting has brought, as a prior for the next pair of domains: estimates src/rankinite/adapt/gain.py.

    python benchmarks/gain_prior.py                          # estimates, and shows what the prior is worth; a minute
    RANKINITE_DATA=… python benchmarks/gain_prior.py shifts  # looks again how far the benchmark's pairs are apart

It is estimated from the problems of ``calibration.py draw settling`` and from the cells of the adaptation benchmark, where the
true gain is known. Every pair of domains counts once. Nothing is fitted but the prior, so it takes a minute. The tables judge
generated problems by priors of other problems, and every pair of the adaptation benchmark by a prior without it; problems that
settled nothing are judged by ``calibration.py judge``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy import optimize

from _adaptation_cells import read_cells
from _adaptation_groups import CHOSEN, RECOMMENDED, Group, grouped, values
from _adaptation_pairs import PAIRS
from _measure import SCRATCH, sized
from calibration import problems
from rankinite.adapt import gain as written
from rankinite.adapt.decision import RISK, TOLERATE, decide, decision_of
from rankinite.adapt.gain import OFF, OFF_TIMES, GainEvidence, GainPosterior, Prior, Signs
from rankinite.adapt.shift import seen_shift
from rankinite.grid import Grid

SIGNS = Path(__file__).parent / "cells" / "adaptation-shifts.json"
"""How far the pairs of the adaptation benchmark are apart, as seen by the target queries of each cell."""
KINDS = 3
"""Kinds of domain pairs in the mixture."""
STRENGTH = 1.5
"""How strongly coefficients are drawn towards 0."""
PART = 5


@dataclass(frozen=True)
class Row:
    """A method on a pair of domains: what was seen of it, and what is true."""

    pair: str
    evidence: GainEvidence
    signs: Signs
    gain: float
    """The mean difference on test queries."""
    error: float
    """Its standard error."""
    shifted: bool = True


# ---- rows ----------------------------------------------------------------------------------------------------------------


def problem_rows(problem: dict) -> list[Row]:
    """What ``choose`` takes of a problem, and what it would take without the average."""
    unseen = {name: np.asarray(own) for name, own in problem["unseen"].items()}
    seen = {"shift": problem["shift_seen"], "background_queries": problem["background_queries"]}
    found = []
    for known in (unseen, {name: own for name, own in unseen.items() if name != "average"}):
        verdict = decide(known, **seen)
        gain, spread = problem["gains"][verdict.name]
        evidence = GainEvidence.of(unseen[verdict.name], unseen["background"])
        error = spread / np.sqrt(problem["test_queries"])
        found.append(Row(f"problem {problem['seed']}", evidence, verdict.signs, gain, error, problem["shifted"]))
    return found


def difference(cell: dict, name: str) -> np.ndarray:
    """The method minus the background on every counted test query of a cell."""
    found = values(cell, name) - values(cell, "background")
    return found[~np.isnan(found)]


def cell_row(group: Group, cell: dict) -> Row:
    """What ``choose`` took of a cell. Cells keep the mean of unseen queries, not each; test queries give the deviation."""
    seen = json.loads(SIGNS.read_text())[f"{group.pair.name}, {group.size}, {cell['draw']}"]
    background = np.nanvar(values(cell, "background"), ddof=1)

    def evidence(name: str) -> GainEvidence:
        mean = cell["systems"][name]["unseen"] - cell["systems"]["background"]["unseen"]
        squares = (cell["queries"] - 1) * difference(cell, name).var(ddof=1) + 0.5 * background
        return GainEvidence(cell["queries"], mean, float(np.sqrt(squares / (cell["queries"] + 1))))

    chosen, alone, gains = evidence(cell[CHOSEN]), evidence("target"), difference(cell, cell[CHOSEN])
    signs = Signs(seen["shift"], alone.mean / alone.deviation, seen["background_queries"])
    return Row(group.pair.name, chosen, signs, float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(len(gains))))


def cell_rows(groups: Sequence[Group]) -> list[Row]:
    return [cell_row(group, cell) for group in groups for cell in group.cells]


def look_again() -> None:
    """Write how far the pairs are apart."""
    found = {}
    for group in grouped(read_cells("methods", SCRATCH / "adaptation")):
        material = PAIRS[group.pair.name].material
        for cell in group.cells:
            target, draw = PAIRS[group.pair.name].sample(group.size, cell["draw"]), cell["draw"]
            shift = seen_shift(None, material.background, target, draw)
            seen = {"shift": round(shift, 4), "background_queries": material.background.queries}
            found[f"{group.pair.name}, {group.size}, {draw}"] = seen
    SIGNS.write_text(json.dumps(found, indent=1) + "\n")


# ---- the estimate --------------------------------------------------------------------------------------------------------


def estimate(rows: Sequence[Row]) -> Prior:
    """The prior under which the true gains are most likely, after the queries were looked at; every pair counts once."""
    units = np.asarray([row.evidence.deviation for row in rows])
    varied = units > 0.0
    rows, units = [row for row, has in zip(rows, varied, strict=True) if has], units[varied]
    queries = np.asarray([row.evidence.queries for row in rows], float)
    signs = np.asarray([row.signs.values(row.evidence.queries) for row in rows])
    seen, true = (np.asarray(own) / units for own in ([r.evidence.mean for r in rows], [r.gain for r in rows]))
    noise_of_truth = (np.asarray([row.error for row in rows]) / units) ** 2
    often = dict(zip(*np.unique([row.pair for row in rows], return_counts=True), strict=True))
    counts = np.asarray([1.0 / often[row.pair] for row in rows])

    def loss(parameters: np.ndarray) -> float:
        prior = unpacked(parameters, len(often))
        scales = prior.scales * np.exp(prior.widening * signs[:, 1:2])
        places, variances = signs @ prior.locations.T, scales**2
        late = (seen + prior.lag / np.sqrt(queries))[:, None]
        parts = []
        for share, times in ((1.0 - OFF, 1.0), (OFF, OFF_TIMES)):
            errors = (times * prior.noise / queries)[:, None]
            means = (places * errors + late * variances) / (variances + errors)
            explained = np.log(share) + normal(late - places, variances + errors)
            fits = normal(true[:, None] - means, variances * errors / (variances + errors) + noise_of_truth[:, None])
            parts.append((explained, fits))
        weights = signs @ prior.weights.T
        weights = weights - logsum(weights)[:, None]
        before = np.concatenate([weights + explained for explained, _ in parts], axis=1)
        after = before + np.concatenate([fits for _, fits in parts], axis=1)
        likelihood = float(counts @ (logsum(after) - logsum(before)))
        drawn = (prior.weights[:, 1:] ** 2).sum() + 4 * (prior.locations[:, 1:] ** 2).sum() + prior.widening**2
        drawn += 0.2 * (prior.weights[:, 0] ** 2).sum() + 50 * max(0.0, np.log(0.02 / prior.scales.min())) ** 2
        return STRENGTH * drawn - likelihood

    others = KINDS - 1
    columns = signs.shape[1]
    locations = np.zeros((others, columns))
    locations[:, 0] = np.linspace(0.2, 0.8, others)
    random = np.random.default_rng(0)
    locations += 0.02 * random.standard_normal(locations.shape)
    start = np.concatenate([
        0.1 * random.standard_normal(others * columns), [0.0], locations.ravel(),
        np.log(np.linspace(0.06, 0.4, KINDS)), [0.0, np.log(1.3), 0.2],
    ])  # fmt: skip
    best = optimize.minimize(loss, start, method="L-BFGS-B", options={"maxiter": sized(500, 3), "maxfun": 100_000})
    return unpacked(best.x, len(often))


def unpacked(parameters: np.ndarray, pairs: int) -> Prior:
    """The prior that the numbers stand for; of the first kind only the constant counts, and its weight is 0."""
    columns = (len(parameters) - KINDS - 4) // (2 * (KINDS - 1))
    size = (KINDS - 1) * columns
    weights, location, locations, scales, rest = np.split(parameters, np.cumsum([size, 1, size, KINDS]))
    first = np.zeros((1, columns))
    first[0, 0] = location[0]
    return Prior(
        pairs=pairs,
        weights=np.concatenate([np.zeros((1, columns)), weights.reshape(-1, columns)]),
        locations=np.concatenate([first, locations.reshape(-1, columns)]),
        scales=np.exp(np.clip(scales, -6.0, 4.0)),
        widening=float(np.clip(rest[0], -2.0, 2.0)),
        noise=float(np.exp(np.clip(rest[1], -3.0, 4.0))),
        lag=float(rest[2]),
    )


def normal(away: np.ndarray, variance: np.ndarray) -> np.ndarray:
    return -0.5 * (away**2 / variance + np.log(2.0 * np.pi * variance))


def logsum(logs: np.ndarray) -> np.ndarray:
    top = logs.max(axis=1)
    return top + np.log(np.exp(logs - top[:, None]).sum(axis=1))


def as_code(name: str, prior: Prior) -> str:
    """The prior as source code."""

    def matrix(numbers: np.ndarray) -> str:
        lines = ("[" + ", ".join(f"{number:.3f}" for number in line) + "]" for line in np.atleast_2d(numbers))
        return "np.asarray([\n        " + ",\n        ".join(lines) + ",\n    ])"

    return (
        f"{name} = Prior(\n    pairs={prior.pairs},\n    weights={matrix(prior.weights)},\n"
        f"    locations={matrix(prior.locations)},\n    scales={matrix(prior.scales)}[0],\n"
        f"    widening={prior.widening:.3f},\n    noise={prior.noise:.3f},\n    lag={prior.lag:.3f},\n)"
    )


# ---- what it is worth ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    """How promises were kept: the columns of the tables of calibration."""

    inside: tuple[float, ...]
    """The shares of true gains inside the 95, 80 and 50 % intervals, with their standard errors below."""
    gap: tuple[float, float]
    """Mean expected minus true gain, and its standard error."""
    losses: tuple[tuple[float, float, float], ...]
    """At every tolerance: the predicted and the true share of losses, and the standard error of their difference."""


def kept(pairs: Iterable[tuple[Row, GainPosterior]]) -> Kept:
    """Promises against what came; the true gain is itself known with an error, which widens intervals."""
    found = [(row, gain) for row, gain in pairs if gain.deviations != (0.0,)]
    places = np.asarray([place_of(row, gain) for row, gain in found])
    gaps = np.asarray([gain.expected - row.gain for row, gain in found])
    losses = []
    for tolerance in (0.0, 0.002, 0.01):
        predicted = np.asarray([widened(row, gain).chance_below(-tolerance) for row, gain in found])
        came = np.asarray([row.gain < -tolerance for row, _ in found])
        apart = predicted - came
        losses.append((float(predicted.mean()), float(came.mean()), error(apart)))
    inside = tuple(float(np.mean(np.abs(places - 0.5) <= share / 2)) for share in (0.95, 0.8, 0.5))
    return Kept(inside, (float(gaps.mean()), error(gaps)), tuple(losses))


def widened(row: Row, gain: GainPosterior) -> GainPosterior:
    return replace(gain, deviations=tuple(float(np.hypot(own, row.error)) for own in gain.deviations))


def place_of(row: Row, gain: GainPosterior) -> float:
    """The share of the posterior below the true gain, uniform if promises are kept."""
    return widened(row, gain).chance_below(row.gain)


def error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def table(named: Iterable[tuple[str, Sequence[tuple[Row, GainPosterior]]]], title: str) -> Grid:
    """One line for each group of promises."""
    rows = []
    for name, pairs in named:
        found = kept(pairs)
        count = len(pairs)
        inside = (
            f"{100 * share:.1f} ±{100 * np.sqrt(aim * (1 - aim) / count):.1f}"
            for share, aim in zip(found.inside, (0.95, 0.8, 0.5), strict=True)
        )
        losses = (f"{said:.3f} / {came:.3f} ±{apart:.3f}" for said, came, apart in found.losses)
        rows.append((name, str(count), *inside, f"{found.gap[0]:+.4f} ±{found.gap[1]:.4f}", *losses))
    header = ("of", "problems", "in 95%", "in 80%", "in 50%", "expected − came", "loss > 0", "> 0.002", "> 0.01")
    note = "Loss: the predicted chance / the share that came. ±: one standard error."
    return Grid(header, tuple(rows), "lr" + "r" * 7, title, (note,))


def crossed(rows: Sequence[Row], groups: Callable[[Row], object]) -> list[tuple[Row, GainPosterior]]:
    """Every row with its gain by a prior of the rows of other groups."""
    found = []
    for own in sorted({groups(row) for row in rows}, key=str):
        prior = estimate([row for row in rows if groups(row) != own])
        found += [(row, GainPosterior.of(row.evidence, row.signs, prior)) for row in rows if groups(row) == own]
    return found


def by_class(pairs: Sequence[tuple[Row, GainPosterior]]) -> list[tuple[str, list[tuple[Row, GainPosterior]]]]:
    kinds = (("all", lambda _: True), ("shifted", lambda row: row.shifted), ("not shifted", lambda row: not row.shifted))
    return [(name, [pair for pair in pairs if is_kind(pair[0])]) for name, is_kind in kinds]


def decided(groups: Sequence[Group]) -> list[Group]:
    """The groups with what the rule recommends in every cell, each pair by a prior without it."""
    cells = cell_rows(groups)
    generated = [row for problem in problems("settling") for row in problem_rows(problem) if not row.signs.picked]
    priors = {
        group.pair.name: estimate([*generated, *(row for row in cells if row.pair != group.pair.name)]) for group in groups
    }
    found = []
    for group in groups:
        own = []
        for cell in group.cells:
            gain = GainPosterior.of((row := cell_row(group, cell)).evidence, row.signs, priors[group.pair.name])
            clear = row.evidence.mean > 1.96 * row.evidence.deviation / np.sqrt(row.evidence.queries)
            decision = decision_of(gain, RISK, TOLERATE, clear=clear)
            taken = "background" if decision == "keep" else cell[CHOSEN]
            own.append({**cell, RECOMMENDED: taken, "decision": decision, "expected": gain.expected})
        found.append(replace(group, cells=tuple(own)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("shifts",))
    if parser.parse_args().what == "shifts":
        look_again()
        return
    every = [row for problem in problems("settling") for row in problem_rows(problem)]
    usual, picked = ([row for row in every if row.signs.picked == is_picked] for is_picked in (False, True))
    cells = cell_rows(grouped(read_cells("methods", SCRATCH / "adaptation")))
    for name, rows in (("AVERAGED", [*usual, *cells]), ("PICKED", picked)):
        prior, now = estimate(rows), getattr(written, name)
        print(as_code(name, prior), end="\n\n")
        same = prior.locations.shape == now.locations.shape and np.allclose(prior.locations, now.locations, atol=0.02)
        print(f"as it is written: {'yes' if same else 'NO'}", end="\n\n")
    print(f"mean shift {np.mean([row.signs.shift or 0.0 for row in usual]):.2f}", end="\n\n")
    for name, rows in (("the average among them", usual), ("no average", picked)):
        number = {pair: place for place, pair in enumerate(dict.fromkeys(row.pair for row in rows))}
        parts = crossed(rows, lambda row, number=number: number[row.pair] % PART)
        print(table(by_class(parts), f"Generated problems, each fifth by a prior of the others; {name}").text(), end="\n\n")
    real = crossed_cells(usual, cells)
    print(table([("all", real)], "Pairs of the adaptation benchmark, each by a prior of all others").text())


def crossed_cells(generated: Sequence[Row], cells: Sequence[Row]) -> list[tuple[Row, GainPosterior]]:
    found = []
    for pair in dict.fromkeys(row.pair for row in cells):
        prior = estimate([*generated, *(row for row in cells if row.pair != pair)])
        found += [(row, GainPosterior.of(row.evidence, row.signs, prior)) for row in cells if row.pair == pair]
    return found


if __name__ == "__main__":
    main()
