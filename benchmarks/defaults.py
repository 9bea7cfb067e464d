"""Which defaults rank best out of the box: our candidates against the defaults of LightGBM, XGBoost and CatBoost.

    RANKINITE_DATA=… python benchmarks/defaults.py [--systems …] [--sets …] [--seeds …] [--report]

Twelve sets: mq2007 and mq2008 (LETOR's folds: three parts to train on, one to validate, one to test), seven classic
collections (five folds over queries, the same shares) and artificial data of three sizes (noise 0.5; each fold is a world of
its own, with 300 test queries). Every system is trained on the training part alone, out of the box. *Without validation data*
peers have their default number of trees; ours is chosen by held-out parts of the training queries, and the forest is trained
again on all of them. *With validation data* one rule holds for all: NDCG@10 after every round, at most 1,000 rounds, 200
without a better value end the training, the best round is kept. Defaults of the peers: LightGBM lambdarank (100 trees, 31
leaves, rate 0.1, at least 20 rows in a leaf, truncation 30), XGBoost rank:ndcg (100 trees, depth 6, rate 0.3, lambda 1),
CatBoost YetiRank (1,000 symmetric trees of depth 6, rate 0.03, a share of 0.8 of the rows drawn for each tree by MVS, random
strength 1). Our old default: 500 best-first trees of 31 leaves, rate 0.1. Everything is measured by NDCG@10, expected under
ties, queries of one grade left out. One seed for all. Intervals are over the queries of a set, and over sets for means of
sets.

The new default is chosen leave-one-set-out: for each set, the candidate with the best mean over the other eleven sets and
both regimes; so no figure in its column comes from a set that helped to choose among the candidates. "Our tuned best" takes
for each set the candidate (and without validation data a fixed number of trees) with the best mean NDCG@10 on the validation
parts of its folds. What was *not* left out: an earlier study of 13 candidates on the same sets, with fixed numbers of trees,
led to these candidates and to choosing the number by held-out queries, and the patience of 200 (for 50) was chosen after test
curves of some folds of five sets were seen. So the left-out figures are somewhat too good. Fits are kept in .bench/defaults,
so an interrupted run goes on where it was, and several processes may work at once; ``--report`` only writes the tables from
what is kept.
"""

from __future__ import annotations

import argparse
import os

import _defaults_report as report
import rankinite as rk
from _defaults_choice import REGIMES, Option, table_of
from _defaults_fits import fit_all
from _defaults_sets import SETS
from _defaults_systems import CANDIDATES, PEERS, SYSTEMS
from _measure import machine, sized, write_section

TIMED = ("cran", "mq2007", "artificial 3000")
COST = "Processor seconds of training on the first fold without validation data, one thread:"
NEW = "new default, left out"
TITLE = "Defaults"
DIFFERENCES = """{} minus each peer (95 % interval over queries; \\*: p ≤ .05 by the randomisation test, \\*\\*: also
after Holm's correction over the table):"""
CUTOFFS = "All else equal, NDCG@10; intervals over sets in the first table, over queries in the second:"


def section() -> str:
    """All tables of the study."""
    table = table_of([one.name for one in SETS])
    systems = {regime: report.systems_in(table, regime) for regime in REGIMES}
    final = table.best(table.sets)
    parts = [machine(["lightgbm", "xgboost-cpu", "catboost", "numba"]), *(__doc__ or "").strip().split("\n\n")[2:]]
    parts.append(f"Chosen when all sets are seen: **{final}**.")
    parts.append(f"{len(table.candidates)} of {len(CANDIDATES)} candidates were fitted in all folds and could be chosen.")
    for regime in REGIMES:
        parts += [f"### {report.TITLES[regime]}", report.means_table(systems[regime], table.sets)]
        parts += [DIFFERENCES.format(NEW.capitalize()), report.differences_table(systems[regime], table.sets, NEW)]
    parts += ["### Means over sets", report.summary_table(systems, NEW)]
    parts += ["### What was chosen", report.choices_list(table)]
    parts += ["### Cutoff of the λ", CUTOFFS, report.cutoff_table(table.sets), report.cutoff_sets_table(table.sets)]
    parts += ["### Cost", COST, report.cost_table(TIMED, [Option(final)])]
    parts += ["### All candidates", "Means over the twelve sets, the best first:", report.candidates_table(table)]
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="*", default=sized([one.name for one in SETS], ["cran", "artificial 100"]))
    parser.add_argument("--systems", nargs="*", default=sized(list(SYSTEMS), [next(iter(CANDIDATES)), *PEERS]))
    parser.add_argument("--seeds", nargs="*", type=int, default=[0])
    parser.add_argument("--report", action="store_true", help="Write the tables from the fits that are kept.")
    given = parser.parse_args()
    if not os.environ.get("RANKINITE_DATA"):
        print("RANKINITE_DATA does not name a folder with mq2007, mq2008 and classic; defaults are not compared.")
        return
    if given.report:
        write_section(TITLE, section())
        return
    with rk.threads(1):
        fit_all(given.systems, given.sets, given.seeds)


if __name__ == "__main__":
    main()
