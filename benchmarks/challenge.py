"""The twelve models of paper 004 (Tables 2 and 3) on five folds: single models, subsets, the average, students of it, peers.

    RANKINITE_DATA=… python benchmarks/challenge.py [--data mq2007 mq2008] [--peers lightgbm xgboost catboost]

Every fit's scores are kept in the folder for scratch files, so that a run that was ended goes on. ``--seeds 10`` is a first
look; the same command with more seeds goes on from there.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

import rankinite as rk
from _measure import SCRATCH, claimed, machine, sized, write_section
from quality import LEAVES, RATES, SYSTEMS, TREES, folds, ranked, seeded
from rankinite.engine.parallel import thread_count
from rankinite.ensembles import challenge
from rankinite.ensembles.recipes import CHALLENGE_SUBSETS

OURS, RIVALS = "rankinite", {"lightgbm": "lightgbm", "xgboost": "xgboost-cpu", "catboost": "catboost"}
NET = rk.LambdaRank(hidden=(10,), rate=0.001, restarts=1, train_history=False)
MODELS = 84
"""Models in the twelve: eight bags of ten, and four single ones. As many seeds are averaged of every system."""
MEASURES = [rk.NDCG(10), rk.ERR(max_grade=2)]
ALL = "M1–M12"
SEEDS_OF = "{}, seeds"
STUDENTS = (100, 300)
SETTINGS = len(LEAVES) * len(RATES) * 3
ABOUT = f"""Five LETOR folds. Every system is tuned alike: the grid of benchmarks/quality.py (leaves or depth, rate,
regularisation: {SETTINGS} settings, 60 numbers of trees, at most {TREES}), the best by NDCG@10 on the fold's validation part.
"{MODELS} seeds" (or fewer, where a label says so) is the mean of that many models with the best setting that draws rows and
features, each with its best number of trees: the twelve consist of {MODELS} models. The twelve models learn from the three
training parts alone: bags deal them into ten parts, single models stop by one of these; trees have the leaves, rate and
regularisation of LambdaMART's seeds. Nets: 10 hidden units, one restart, not tuned. Members are scaled to unit variance on
the training data and averaged. Students are of at most 100 and 300 trees, distilled from all twelve on the training parts;
"direct" is LambdaMART of the student's size. The test parts of all folds are evaluated together, queries of one grade
skipped; ±: half the 95 % interval over queries."""
Parts = tuple[rk.Dataset, rk.Dataset, rk.Dataset]


def seed_scores(name: str, number: int, system: str, fold: Parts, seeds: int) -> dict[str, np.ndarray] | None:
    """The scores of the test part by a tuned model and by every seed, those asked for and further ones that are kept.

    None while another process is at some of it.
    """
    part = partial(kept, name, number)
    grid = part(f"{system}-grid", lambda: {"settings": np.asarray(ranked(system, fold))})
    if not grid:
        return None
    best, *others = ((int(leaves), float(rate), int(regularised)) for leaves, rate, regularised in grid["settings"])
    drawn = next(settings for settings in (best, *others) if settings[2] > 0)  # without random numbers all seeds are one
    single = part(f"{system}-single", lambda: {"scores": seeded(system, fold, best, 0)})
    found = [
        part(f"{system}-seed-{seed}", lambda seed=seed: {"scores": seeded(system, fold, drawn, seed)}) for seed in range(seeds)
    ]
    if not single or not all(found):
        return None
    further = [part(f"{system}-seed-{seed}") for seed in range(seeds, MODELS)]
    scores = [one["scores"] for one in (*found, *further) if one]
    return {system: single["scores"], SEEDS_OF.format(system): np.asarray(scores), "settings": np.asarray(drawn)}


def twelve(fold: Parts, settings: np.ndarray) -> dict[str, np.ndarray]:
    """The scores of the test part by the twelve models, their ensembles and students."""
    train, _, test = fold
    leaves, rate, regularised = int(settings[0]), float(settings[1]), SYSTEMS[OURS][1][int(settings[2])]
    learner = rk.LambdaMART.plain(trees=TREES, leaves=leaves, rate=rate, patience=50, train_history=False, **regularised)
    points = rk.MART(trees=TREES, leaves=leaves, rate=rate, patience=50, train_history=False)
    trainers = challenge(learner, NET, points, max_grade=2).trainers
    rankers = {name: trainer.fit(train) for name, trainer in trainers.items()}
    ensemble = rk.combine.average(rankers, train).ranker
    found = {**rankers, ALL: ensemble}
    for name, members in CHALLENGE_SUBSETS.items():
        found[name] = rk.combine.average({member: rankers[member] for member in members}, train).ranker
    scores = {name: ranker.score(test) for name, ranker in found.items()}
    for trees in STUDENTS:
        for how in ("select", "grow"):
            scores[f"{how}, {trees} trees"] = rk.distil(ensemble, train, trees=trees, leaves=leaves, how=how).ranker.score(test)
        direct = replace(learner, trees=trees, patience=None, rate=min(0.3, 10.0 / trees))
        scores[f"direct, {trees} trees"] = direct.fit(train).score(test)
    return scores


def kept(name: str, number: int, what: str, make: Callable[[], dict[str, np.ndarray]] | None = None) -> dict[str, np.ndarray]:
    """A part of a fold's results from its file, made if there is none; nothing while another process is at it."""
    path = SCRATCH / "challenge-tuned" / f"{name}-{number + 1}-{what}.npz"
    if make is not None and not path.exists():
        with claimed(path) as ours:
            if ours and not path.exists():
                started = time.perf_counter()
                part = path.with_suffix(".part.npz")
                np.savez(part, **make())
                part.replace(path)
                print(f"{name} fold {number + 1} {what}: {time.perf_counter() - started:.0f} s", flush=True)
    if not path.exists():
        return {}
    with np.load(path) as stored:
        return {key: stored[key] for key in stored.files}


def fold_scores(name: str, number: int, fold: Parts, systems: Sequence[str], seeds: int) -> dict[str, np.ndarray] | None:
    """The scores of the test part by every system of a fold, seeds still apart; None while other processes are at some."""
    found = [seed_scores(name, number, system, fold, seeds) for system in (OURS, *systems)]
    if found[0]:
        found.append(kept(name, number, "twelve", partial(twelve, fold, found[0]["settings"])))
    if not all(found):
        return None
    return {system: scores for one in found if one for system, scores in one.items() if system != "settings"}


def joined(system: str, folds_of_scores: Sequence[np.ndarray]) -> tuple[str, np.ndarray]:
    """A system's scores of all folds under its name; of seeds, the mean of as many as every fold has."""
    if not system.endswith(SEEDS_OF.format("")):
        return system, np.concatenate(folds_of_scores)
    seeds = min(len(scores) for scores in folds_of_scores)
    means = [scores[:seeds].mean(axis=0) for scores in folds_of_scores]
    return system.replace(SEEDS_OF.format(""), f", {seeds} seeds"), np.concatenate(means)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", default=sized(["mq2008", "mq2007"], ["mq2008"]))
    parser.add_argument("--threads", type=int, default=thread_count(), help="Several processes may work at once.")
    parser.add_argument("--peers", nargs="*", default=list(RIVALS))
    parser.add_argument(
        "--seeds", type=int, default=sized(MODELS, 2), help="Of each system; further ones that are kept count too."
    )
    given = parser.parse_args()
    if not os.environ.get("RANKINITE_DATA"):
        print("RANKINITE_DATA does not name a folder with mq2007 and mq2008; the twelve models are not measured.")
        return
    for name in given.data:
        parts = folds(name)
        with rk.threads(given.threads):
            found = [fold_scores(name, number, fold, given.peers, given.seeds) for number, fold in enumerate(parts)]
        if any(one is None for one in found):
            print(f"{name}: other processes are at some folds; run this again when they have finished.", flush=True)
            continue
        data = replace(rk.concat([test for _, _, test in parts]), source=f"{name}, test parts of five folds")
        scores = dict(joined(system, [one[system] for one in found]) for system in found[0])
        result = rk.compare(scores, data, MEASURES, against=[ALL])
        rows = [result.pair(system, ALL, MEASURES[0]) for system in scores if system != ALL]
        lines = ["| NDCG@10 of | less that of | difference | 95 % interval | Holm p |", "|---|---|--:|---|--:|"]
        for pair in rows:
            low, high = pair.interval
            p = pair.p("randomisation").holm
            lines.append(f"| {pair.first} | {pair.second} | {pair.difference:+.4f} | {low:+.4f} to {high:+.4f} | {p:.4f} |")
        made_with = machine(["numba", "numpy", *(RIVALS[system] for system in given.peers)])
        text = "\n\n".join([made_with, ABOUT, result.to_markdown(), "\n".join(lines)])
        print(text, flush=True)
        write_section(f"The twelve models: {name}", text)


if __name__ == "__main__":
    main()
