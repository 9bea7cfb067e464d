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
    by_size,
    fitted_folds,
    is_fitted,
    is_large,
    left_out,
    measured,
    one_for_all,
    peer_values,
    queries_of,
    tuned,
    values_of,
)
from _defaults_sets import SETS
from _defaults_systems import CANDIDATES, LONG_COUNTS, PEERS
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
        "new default, left out": values_of(left_out(one_for_all(table), table.sets), regime),
        "by size, left out": values_of(left_out(by_size(table), table.sets), regime),
        "our tuned best": values_of(best, regime),
        **{peer: peer_values(peer, table.sets, regime) for peer in PEERS},
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


def sized_choice(table: Table) -> tuple[Option, Option]:
    """What the rule by size chooses for small and for large sets when all sets are seen."""
    rule = by_size(table)(table.sets)
    small, large = (next(name for name in table.sets if is_large(name) == size) for size in (False, True))
    return rule(small), rule(large)


def choices_list(table: Table) -> str:
    """What was chosen when each set was left out."""
    one, sized = left_out(one_for_all(table), table.sets), left_out(by_size(table), table.sets)
    rows = [
        [name, str(one[name]), str(sized[name]), *(str(tuned(table, name, regime)) for regime in REGIMES)]
        for name in table.sets
    ]
    return markdown(["left-out set", "one for all", "by size", "tuned, with", "tuned, without"], rows)


def candidates_table(table: Table) -> str:
    """Every candidate: its mean over sets with its best number of trees (both regimes), and without validation by number."""

    def best_count(name: str) -> int:
        return max(
            CANDIDATES[name].counts, key=lambda count: sum(table.mean(Option(name, count), regime) for regime in REGIMES)
        )

    def row(name: str) -> list[str]:
        means = [table.mean(Option(name, best_count(name)), "with")]
        means += [table.mean(Option(name, count), "without") for count in CANDIDATES[name].counts]
        cells = [name, str(best_count(name)), *map(number, means)]
        return cells + [""] * (2 + 1 + len(LONG_COUNTS) - len(cells))

    order = sorted(table.candidates, key=lambda name: -sum(table.mean(Option(name, best_count(name)), one) for one in REGIMES))
    head = ["candidate", "best trees", "with validation", *(f"without, {count} trees" for count in LONG_COUNTS)]
    return markdown(head, map(row, order))


def cutoff_pairs(sets: Sequence[str]) -> list[tuple[str, str]]:
    """Candidates that differ in the cutoff of the λ alone, and were fitted everywhere: trained for NDCG@10, and for more."""
    pairs = [(base, base + ending) for ending in CUTOFFS for base in CANDIDATES if base + ending in CANDIDATES]
    return [pair for pair in pairs if all(is_fitted(name, sets) for name in pair)]


def cutoff_table(sets: Sequence[str], trees: int) -> str:
    """Training for NDCG@10 or with a larger cutoff, all else equal, measured by NDCG@10; differences over sets."""
    rows = []
    for base, other in cutoff_pairs(sets):
        for regime in REGIMES:
            values = [{name: measured(name, one, regime, trees) for name in sets} for one in (base, other)]
            means = [number(float(over_sets(each).mean())) for each in values]
            rows.append([other, regime, *means, with_interval(set_differences(values[1], values[0]))])
    return markdown(["candidate", "validation data", "λ of ndcg@10", "of the candidate", "difference"], rows)


def cutoff_sets_table(sets: Sequence[str], trees: int) -> str:
    """The same differences set by set, the mean of both regimes; intervals over queries."""
    pairs = cutoff_pairs(sets)
    rows = []
    for name in sets:
        cells = []
        for base, other in pairs:
            every = [measured(name, other, regime, trees) - measured(name, base, regime, trees) for regime in REGIMES]
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
    learner = rk.LambdaMART.plain(trees=option.trees, train_history=False, **CANDIDATES[option.candidate].settings)
    with rk.threads(1):
        replace(learner, trees=2).fit(train)  # kernels are compiled or loaded
        started = time.process_time()
        learner.fit(train)
        return time.process_time() - started
