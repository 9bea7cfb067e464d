"""Paper 004, Table 4 (§4.3): the first five teams of the challenge on its own validation and test data."""

from __future__ import annotations

from rankinite.grid import Grid
from rankinite.reproduce.claims import Undecidable
from rankinite.reproduce.experiment import Outcomes
from rankinite.reproduce.item import Item

TEAMS = (
    ("1", "Ca3Si2O7", "0.468605", "0.8041", "0.4611", "0.7995"),
    ("2", "catonakeyboardinspace", "0.467857", "0.8060", "0.4609", "0.8011"),
    ("3", "MLG", "0.466954", "0.8026", "0.4600", "0.7960"),
    ("4", "Joker", "0.466776", "0.8053", "0.4607", "0.8011"),
    ("5", "AG", "0.466157", "0.8018", "0.4606", "0.8010"),
)


def layout(_results: Outcomes) -> list[Grid]:
    """The paper's own numbers."""
    header = ("rank", "team", "test ERR", "test NDCG", "validation ERR", "validation NDCG")
    return [Grid(header, TEAMS, "llrrrr", "Yahoo! Learning to Rank Challenge, Track 1: the paper's own numbers")]


ITEM = Item(
    "004", "table-4", "The leaderboard of the challenge",
    (
        Undecidable(
            "The ensemble of twelve has the highest ERR on the challenge's test data",
            "Yahoo gives the challenge's data to those who ask, and nobody may pass them on. With them, the twelve could "
            "be trained at the paper's size, and their ERR on the test data compared with the table's.",
        ),
    ),
    layout=layout,
    setting="The numbers are the paper's.",
)  # fmt: skip
