"""The tables of the study of defaults, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from _defaults_choice import (
    OLD_OPTION,
    REGIMES,
    Option,
    Table,
    Values,
    by_size,
    found,
    left_out,
    measured,
    one_for_all,
    peer_values,
    queries_of,
    tuned,
    values_of,
)
from _defaults_sets import SETS
from _defaults_systems import CANDIDATES, COUNTS, OLD_NAME, PEERS
from rankinite.evaluation.significance import holm, paired_differences, randomisation, t_interval

CUTOFFS = {"ndcg@10": "", "ndcg@30": "-ndcg-30", "ndcg": "-ndcg-all"}
CUTOFF_BASES = (OLD_NAME, "best-15-05-drawn", "symmetric-32-05-drawn")
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
    return np.asarray([one.mean() for one in values.values()])


# ---- tables ----------------------------------------------------------------------------------------------------------------


def systems_in(table: Table, regime: str) -> dict[str, Values]:
    """All that is compared in a regime: name → set → test values."""
    best = {name: tuned(name, regime) for name in table.sets}
    return {
        "old default": values_of(dict.fromkeys(table.sets, OLD_OPTION), regime),
        "new default, left out": values_of(left_out(one_for_all(table), table.sets), regime),
        "by size, left out": values_of(left_out(by_size(table), table.sets), regime),
        "our tuned best": values_of(best, regime),
        **{peer: peer_values(peer, table.sets, regime) for peer in PEERS},
    }


def means_table(systems: Mapping[str, Values], sets: Sequence[str]) -> str:
    rows = [[name, str(queries_of(name)), *(number(values[name].mean()) for values in systems.values())] for name in sets]
    rows.append(["**mean**", "", *(f"**{number(over_sets(values).mean())}**" for values in systems.values())])
    return markdown(["set", "training queries", *systems], rows)


def tests(systems: Mapping[str, Values], sets: Sequence[str], against: str) -> dict[tuple[str, str], tuple[np.ndarray, float]]:
    """(set, peer) → the differences of queries, and the p-value of the randomisation test."""
    tested = {}
    for name in sets:
        for peer in PEERS:
            differences = paired_differences(systems[against][name], systems[peer][name])
            tested[name, peer] = differences, randomisation(differences)
    return tested


def differences_table(systems: Mapping[str, Values], sets: Sequence[str], against: str) -> str:
    """The new default minus each peer: * is p ≤ .05 alone, ** the same after Holm's correction over the whole table."""
    tested = tests(systems, sets, against)
    corrected = dict(zip(tested, holm([p for _, p in tested.values()]), strict=True))

    def cell(key: tuple[str, str]) -> str:
        differences, p = tested[key]
        return with_interval(differences) + ("**" if corrected[key] <= 0.05 else "*" if p <= 0.05 else "").replace("*", "\\*")

    rows = [[name, *(cell((name, peer)) for peer in PEERS)] for name in sets]
    own = over_sets(systems[against])
    rows.append(["mean over sets", *(with_interval(own - over_sets(systems[peer])) for peer in PEERS)])
    worse = [key for key, (differences, p) in tested.items() if p <= 0.05 and differences.mean() < 0]
    return markdown(["set", *PEERS], rows) + "\n\n" + _verdict(worse, corrected)


def _verdict(worse: list[tuple[str, str]], corrected: Mapping[tuple[str, str], float]) -> str:
    if not worse:
        return "No peer is better on any set beyond chance, corrected or not."
    listed = ", ".join(f"{peer} on {name} (Holm: p = {corrected[name, peer]:.3f})" for name, peer in worse)
    return f"Better than the new default at p ≤ .05 before correction: {listed}."


def summary_table(systems: Mapping[str, Mapping[str, Values]], against: str) -> str:
    """The new default minus everything else, means over sets with intervals over sets."""
    others = [name for name in systems["with"] if name != against]
    rows = [
        [name, *(with_interval(over_sets(systems[regime][against]) - over_sets(systems[regime][name])) for regime in REGIMES)]
        for name in others
    ]
    return markdown(["new default minus", *(TITLES[regime].lower() for regime in REGIMES)], rows)


def choices_list(table: Table) -> str:
    """What was chosen when each set was left out."""
    one, sized = left_out(one_for_all(table), table.sets), left_out(by_size(table), table.sets)
    rows = [[name, str(one[name]), str(sized[name]), *(str(tuned(name, regime)) for regime in REGIMES)] for name in table.sets]
    return markdown(["left-out set", "one for all", "by size", "tuned, with", "tuned, without"], rows)


def candidates_table(table: Table) -> str:
    """Every candidate: its mean over sets with its best number of trees (both regimes), and without validation by number."""

    def best_count(name: str) -> int:
        return max(COUNTS, key=lambda count: sum(table.mean(Option(name, count), regime) for regime in REGIMES))

    def row(name: str) -> list[str]:
        means = [table.mean(Option(name, best_count(name)), "with")]
        means += [table.mean(Option(name, count), "without") for count in COUNTS]
        return [name, str(best_count(name)), *map(number, means)]

    order = sorted(CANDIDATES, key=lambda name: -sum(table.mean(Option(name, best_count(name)), one) for one in REGIMES))
    head = ["candidate", "best trees", "with validation", *(f"without, {count} trees" for count in COUNTS)]
    return markdown(head, map(row, order))


def cutoff_table(sets: Sequence[str], trees: int) -> str:
    """Training for NDCG@10, NDCG@30 or NDCG, all else equal, measured by NDCG@10: means, then differences over sets."""
    rows = []
    for base in CUTOFF_BASES:
        for regime in REGIMES:
            means = {
                cutoff: np.asarray([measured(name, base + ending, regime, trees).mean() for name in sets])
                for cutoff, ending in CUTOFFS.items()
            }
            differences = [with_interval(means[cutoff] - means["ndcg@10"]) for cutoff in ("ndcg@30", "ndcg")]
            rows.append([f"{base}, {regime}", *(number(one.mean()) for one in means.values()), *differences])
    return markdown(["settings, validation", *CUTOFFS, "@30 minus @10", "all minus @10"], rows)


def cutoff_sets_table(sets: Sequence[str], trees: int) -> str:
    """NDCG@30 or NDCG minus NDCG@10 for every set, mean of the settings and regimes above."""
    rows = []
    for name in sets:
        cells = []
        for cutoff in ("ndcg@30", "ndcg"):
            every = [
                measured(name, base + CUTOFFS[cutoff], regime, trees) - measured(name, base, regime, trees)
                for base in CUTOFF_BASES
                for regime in REGIMES
            ]
            cells.append(with_interval(np.mean(every, axis=0)))
        rows.append([name, *cells])
    return markdown(["set", "@30 minus @10", "all minus @10"], rows)


def cost_table(sets: Sequence[str], new: Option) -> str:
    """Seconds of training for every hundred trees, one thread: the old and the new default."""

    def seconds(name: str, candidate: str) -> float:
        counts = next(one for one in SETS if one.name == name).count
        fits = [found(name, fold, candidate, 0) for fold in range(counts)]
        return float(np.median([100 * one.seconds / len(one.valid) for one in fits]))

    rows = []
    for name in sets:
        old, other = seconds(name, OLD_NAME), seconds(name, new.candidate)
        total = new.trees * other / (OLD_OPTION.trees * old)
        rows.append([name, f"{old:.2f}", f"{other:.2f}", f"{total:.2f}"])
    head = ["set", "old, s per 100 trees", "new, s per 100 trees", "new ÷ old, all trees, no validation data"]
    return markdown(head, rows)
