"""The artificial data of paper 000 (§5.1): random cubic polynomials of 50 features, 50 documents per query, no noise."""

from __future__ import annotations

from rankinite.data.folds import Fold
from rankinite.data.synthetic import World, synthesise
from rankinite.reproduce.experiment import Lab

WORLD = World(features=50, documents=50, terms=20, seed=0, noise=0.0)
QUERIES = {"train": 10_000, "valid": 5_000, "test": 10_000}
QUICK = {"train": 100, "valid": 50, "test": 100}


def artificial(lab: Lab) -> Fold:
    """10,000 training, 5,000 validation and 10,000 test queries, as in the paper."""
    sizes = QUICK if lab.quick else QUERIES
    return Fold(
        synthesise(sizes["train"], part="train", world=WORLD),
        synthesise(sizes["valid"], part="valid", world=WORLD),
        synthesise(sizes["test"], part="test", world=WORLD),
    )
