"""Recipes: members of ensembles that are single fits of one learner, and the subsets that paper 004 compares."""

from __future__ import annotations

from collections.abc import Mapping

from rankinite.checks import check_count
from rankinite.ensembles.one_part_out import OnePartOut
from rankinite.learners.base import Trainer

MEMBERS = 10
"""Members of a recipe with one learner, unless told otherwise."""
_LAMBDAMART, _NETS, _MARTS = [f"M{number}" for number in range(1, 9)], ["M9", "M10"], ["M11", "M12"]
CHALLENGE_SUBSETS: Mapping[str, tuple[str, ...]] = {
    "all minus MARTs": (*_LAMBDAMART, *_NETS),
    "LambdaMART only": tuple(_LAMBDAMART),
    "all minus LambdaRanks": (*_LAMBDAMART, *_MARTS),
    "augmented only": ("M2", "M3", "M6", "M7"),
    "non-augmented": ("M1", "M4", "M5", "M8", *_NETS, *_MARTS),
    "just ERR": ("M1", "M2", "M3", "M4", "M9"),
    "just NDCG": ("M5", "M6", "M7", "M8", "M10"),
}
"""The ensembles of paper 004, Table 3, by their names there; all twelve are compared anyway."""


def seed_members(trainer: Trainer, count: int = MEMBERS) -> dict[str, Trainer]:
    """The same trainer with ``count`` seeds; refuses one that draws nothing at random."""
    check_count("seed_members", "count", count, 2)
    return {f"seed {number}": trainer.reseeded(number) for number in range(count)}


def bag_members(trainer: Trainer, count: int = MEMBERS) -> dict[str, Trainer]:
    """The fits of a bag of ``count`` parts, each of which stops by another part."""
    check_count("bag_members", "count", count, 2)
    return {f"part {number + 1}": OnePartOut(trainer, count, number) for number in range(count)}
