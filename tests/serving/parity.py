"""Parity: random rankers through writer, twin and consumer. ``python -m serving.parity --forests 10000``: no bit may differ.

The twin is compared with the ranker's own decisions (``prove``), and the consumer with the twin.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from rankinite.models.base import Ranker
from rankinite.serving.adversarial_rows import adversarial_rows, takes_missing
from rankinite.serving.exporting import plan_for
from rankinite.serving.plan import ExportPlan
from rankinite.serving.proof import alike, allowed, prove
from rankinite.serving.target import TARGETS, Files, Target, target_named
from serving.random_rankers import category_forest_of, forest_of, with_missing_left

ROWS = 60
BATCH = 50
"""Rankers that a consumer is given at once."""


@dataclass
class Case:
    """One exported ranker, and rows for it."""

    target: Target
    plan: ExportPlan
    files: Files
    matrix: np.ndarray

    def twin(self) -> np.ndarray:
        """What the target's twin says."""
        return self.target.twin(self.files, self.plan)(self.matrix)


def case_of(to: str, ranker: Ranker, seed: int = 0, rows: int = ROWS, **choices: object) -> Case:
    """Write a ranker, prove what was written, and make rows that the proof has not seen."""
    target = target_named(to)
    plan = plan_for(ranker, target, name="model", **choices)
    files = target.write(plan)
    prove(target, files, plan, rows=rows)
    missing = plan.missing == "zero" or takes_missing(plan.flat)
    matrix = adversarial_rows(plan.flat, plan.names, target.inputs, missing=missing, rows=rows, seed=seed + 2)
    return Case(target, plan, files, matrix)


def random_case(to: str, seed: int) -> Case:
    """A random forest with random decisions; every other one asks for categories, where the target can hold sets."""
    random = np.random.default_rng([seed, 4])
    target = target_named(to)
    missing = random.choice(sorted(target.missing_rules(())))
    shift = [None, "auto", "none", 2.5][random.integers(4)]
    forest = category_forest_of(seed) if target.categories and seed % 2 else forest_of(seed)
    forest = with_missing_left(forest, seed) if target.tells_unknown else forest
    return case_of(to, forest, seed, served_missing=str(missing), shift=shift)


def differing(cases: Sequence[Case], to: str) -> list[int]:
    """The numbers of the cases whose consumer does not give the twin's scores."""
    consumer = import_module(f"serving.consumers.{to.replace('-', '_')}")
    found = consumer.scores(cases)
    wrong = []
    for number, (case, scores) in enumerate(zip(cases, found, strict=True)):
        expected = case.twin()
        served = np.asarray(scores)
        tolerance = allowed(case.target, case.plan, case.matrix)
        if served.shape != expected.shape or not alike(served, expected, tolerance).all():
            wrong.append(number)
    return wrong


def batches(forests: int) -> Iterator[range]:
    """Seeds, batch by batch."""
    for first in range(0, forests, BATCH):
        yield range(first, min(first + BATCH, forests))


def main() -> int:
    """Many forests for every target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--forests", type=int, default=10_000)
    parser.add_argument("--target", nargs="*", default=list(TARGETS))
    given = parser.parse_args()
    failed = 0
    for to in given.target:
        started, wrong, refused = time.perf_counter(), [], 0
        for seeds in batches(given.forests):
            cases = {}
            for seed in seeds:
                try:
                    cases[seed] = random_case(to, seed)
                except ValueError as problem:  # a refusal, which random thresholds may earn (Solr's slack)
                    refused += 1
                    if refused == 1:
                        print(f"{to}: refused, such as: {problem}", flush=True)
            numbers = list(cases)
            wrong += [numbers[number] for number in differing(list(cases.values()), to)]
        seconds = time.perf_counter() - started
        print(f"{to}: {given.forests - refused} forests, {len(wrong)} differ, {refused} refused, {seconds:.0f} s", flush=True)
        if wrong:
            print(f"  seeds {wrong[:20]}", flush=True)
        failed += len(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
