"""The tables of the study of defaults, as Markdown."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

import rankinite as rk
from _defaults_choice import (
    OLD_OPTION,
    REGIMES,
    Option,
    Table,
    Values,
    chosen_trees,
    fitted_folds,
    is_fitted,
    left_out,
    measured,
    queries_of,
    tuned,
    values_of,
)
from _defaults_sets import SETS
from _defaults_systems import CANDIDATES, COUNTS, OUT_OF_BOX, PATIENCE, PEERS
from rankinite.evaluation.significance import holm, paired_differences, randomisation, t_interval

CUTOFFS = ("-ndcg-30", "-ndcg-all")
"""How the names of candidates end whose λ look further than NDCG@10."""
TITLES = {"with": "With validation data", "without": "Without validation data"}


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, [":--", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(value: float) -> str:
    return f"{value:.4f}".replace("0.", ".", 1)


def signed(value: float) -> str:
    return ("+" if value >= 0 else "−") + number(abs(value))


def with_interval(differences: np.ndarray) -> str:
    """The mean of differences and its 95 % interval."""
    low, high = t_interval(differences)
    return f"{signed(float(differences.mean()))} ({signed(low)} … {signed(high)})"


def over_sets(values: Values) -> np.ndarray:
    """The mean of each set."""
    return np.asarray([np.nanmean(one) for one in values.values()])


def set_differences(first: Values, second: Values) -> np.ndarray:
    """The mean difference of each set, over the queries that both have."""
    return np.asarray([np.nanmean(first[name] - second[name]) for name in first])


# ---- tables ----------------------------------------------------------------------------------------------------------------


def systems_in(table: Table, regime: str) -> dict[str, Values]:
    """All that is compared in a regime: name → set → test values."""
    best = {name: tuned(table, name, regime) for name in table.sets}
    return {
        "old default": values_of(dict.fromkeys(table.sets, OLD_OPTION), regime),
        "new default, left out": values_of(left_out(table), regime),
        "our tuned best": values_of(best, regime),
        **{peer: values_of(dict.fromkeys(table.sets, Option(peer)), regime) for peer in PEERS},
    }


def means_table(systems: Mapping[str, Values], sets: Sequence[str]) -> str:
    def cell(name: str, system: str) -> str:
        value = number(float(np.nanmean(systems[system][name])))
        if system not in PEERS or is_fitted(system, [name]):
            return value
        return f"{value} (folds fitted: {fitted_folds(name, system)})"

    rows = [[name, str(queries_of(name)), *(cell(name, system) for system in systems)] for name in sets]
    rows.append(["**mean**", "", *(f"**{number(over_sets(values).mean())}**" for values in systems.values())])
    return markdown(["set", "training queries", *systems], rows)


def tests(systems: Mapping[str, Values], sets: Sequence[str], against: str) -> dict[tuple[str, str], tuple[np.ndarray, float]]:
    """(set, peer) → the differences of queries, and the p-value of the randomisation test."""
    tested = {}
    for name in sets:
        for peer in PEERS:
            first, second = systems[against][name], systems[peer][name]
            both = ~np.isnan(first + second)
            differences = paired_differences(first[both], second[both])
            tested[name, peer] = differences, randomisation(differences)
    return tested


def differences_table(systems: Mapping[str, Values], sets: Sequence[str], against: str) -> str:
    """The chosen default minus each peer: * is p ≤ .05 alone, ** the same after Holm's correction over the whole table."""
    tested = tests(systems, sets, against)
    corrected = dict(zip(tested, holm([p for _, p in tested.values()]), strict=True))

    def cell(key: tuple[str, str]) -> str:
        differences, p = tested[key]
        return with_interval(differences) + ("**" if corrected[key] <= 0.05 else "*" if p <= 0.05 else "").replace("*", "\\*")

    rows = [[name, *(cell((name, peer)) for peer in PEERS)] for name in sets]
    own = systems[against]
    rows.append(["mean over sets", *(with_interval(set_differences(own, systems[peer])) for peer in PEERS)])
    worse = [key for key, (differences, p) in tested.items() if p <= 0.05 and differences.mean() < 0]
    return markdown(["set", *PEERS], rows) + "\n\n" + _verdict(worse, corrected)


def _verdict(worse: list[tuple[str, str]], corrected: Mapping[tuple[str, str], float]) -> str:
    if not worse:
        return "No peer is better on any set beyond chance, corrected or not."
    listed = ", ".join(f"{peer} on {name} (Holm: p = {corrected[name, peer]:.3f})" for name, peer in worse)
    return f"Better than ours at p ≤ .05 before correction: {listed}."


def summary_table(systems: Mapping[str, Mapping[str, Values]], against: str) -> str:
    """The chosen default minus everything else, means over sets with intervals over sets."""
    others = [name for name in systems["with"] if name != against]
    rows = [
        [name, *(with_interval(set_differences(systems[regime][against], systems[regime][name])) for regime in REGIMES)]
        for name in others
    ]
    return markdown([f"{against}: minus", *(TITLES[regime].lower() for regime in REGIMES)], rows)


def choices_list(table: Table) -> str:
    """What was chosen when each set was left out, and how many trees its held-out queries chose for that."""
    chosen = left_out(table)

    def row(name: str) -> list[str]:
        counts = ", ".join(map(str, chosen_trees(name, chosen[name].system)))
        return [name, str(chosen[name]), counts, *(str(tuned(table, name, regime)) for regime in REGIMES)]

    return markdown(
        ["left-out set", "chosen", "its trees, fold by fold", "tuned, with", "tuned, without"], map(row, table.sets)
    )


def candidates_table(table: Table) -> str:
    """Every candidate: its mean over sets in both regimes, and without validation data by fixed numbers of trees."""

    def fixed(name: str, count: int) -> float:
        return float(np.mean([np.nanmean(measured(one, Option(name, count), "without")) for one in table.sets]))

    def row(name: str) -> list[str]:
        return [name, *map(number, [*(table.mean(name, one) for one in REGIMES), *(fixed(name, count) for count in COUNTS)])]

    order = sorted(table.candidates, key=lambda name: -sum(table.mean(name, regime) for regime in REGIMES))
    head = [
        "candidate",
        "with validation",
        "without, trees by held-out queries",
        *(f"without, {count} trees" for count in COUNTS),
    ]
    return markdown(head, map(row, order))


def cutoff_pairs(sets: Sequence[str]) -> list[tuple[str, str]]:
    """Candidates that differ in the cutoff of the λ alone, and were fitted everywhere: trained for NDCG@10, and for more."""
    pairs = [(base, base + ending) for ending in CUTOFFS for base in CANDIDATES if base + ending in CANDIDATES]
    return [pair for pair in pairs if all(is_fitted(name, sets) for name in pair)]


def cutoff_table(sets: Sequence[str]) -> str:
    """Training for NDCG@10 or with a larger cutoff, all else equal, measured by NDCG@10; differences over sets."""
    rows = []
    for base, other in cutoff_pairs(sets):
        for regime in REGIMES:
            values = [{name: measured(name, Option(one), regime) for name in sets} for one in (base, other)]
            means = [number(float(over_sets(each).mean())) for each in values]
            rows.append([other, regime, *means, with_interval(set_differences(values[1], values[0]))])
    return markdown(["candidate", "validation data", "λ of ndcg@10", "of the candidate", "difference"], rows)


def cutoff_sets_table(sets: Sequence[str]) -> str:
    """The same differences set by set, the mean of both regimes; intervals over queries."""
    pairs = cutoff_pairs(sets)
    rows = []
    for name in sets:
        cells = []
        for base, other in pairs:
            every = [measured(name, Option(other), regime) - measured(name, Option(base), regime) for regime in REGIMES]
            differences = np.mean(every, axis=0)
            cells.append(with_interval(differences[~np.isnan(differences)]))
        rows.append([name, *cells])
    return markdown(["set", *(other for _, other in pairs)], rows)


def cost_table(sets: Sequence[str], options: Sequence[Option]) -> str:
    """Processor seconds of training on the first fold without validation data, one thread: the old default, and others.

    They are taken afresh: the seconds kept with the fits depend on what else the machine did.
    """
    rows = []
    for one in (one for one in SETS if one.name in sets):
        train = one.folds()[0].train
        rows.append([one.name, *(f"{processor_seconds(train, option):.2f}" for option in (OLD_OPTION, *options))])
    return markdown(["set", *map(str, (OLD_OPTION, *options))], rows)


def processor_seconds(train: rk.Dataset, option: Option) -> float:
    trees = None if option.trees == OUT_OF_BOX else option.trees
    settings = {"trees": trees, "patience": PATIENCE, "train_history": False}
    learner = rk.LambdaMART.plain(**settings, **CANDIDATES[option.system].settings)
    with rk.threads(1):
        replace(learner, trees=2).fit(train)  # kernels are compiled or loaded
        started = time.process_time()
        learner.fit(train)
        return time.process_time() - started
