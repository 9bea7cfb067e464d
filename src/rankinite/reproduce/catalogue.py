"""The catalogue: every table and figure of the five papers that reports a result, one line each."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from rankinite.errors import ArgumentError, listed
from rankinite.reproduce.experiment import Experiment
from rankinite.reproduce.item import Item

PAPERS = {
    "000": "Wu, Burges, Svore, Gao: Adapting boosting for information retrieval measures (2009)",
    "001": "Gao et al.: Model adaptation via model interpolation and boosting for web search ranking (2009)",
    "002": "Burges: From RankNet to LambdaRank to LambdaMART: an overview (2010)",
    "003": "Chen et al.: Trada: tree based ranking function adaptation (2008)",
    "004": "Burges et al.: Learning to rank using an ensemble of lambda-gradient models (2011)",
}
ITEMS = {
    "000": ("table_1", "figure_2", "table_2", "table_3", "table_4", "figure_3", "figure_4"),
    "001": (*(f"table_{number}" for number in range(3, 13)), "figure_4", "settings"),
    "002": ("figure_1", "section_2_1", "section_4_1", "section_4_2", "section_7"),
    "003": ("figure_6", "figure_7", "figure_8", "figure_9", "figure_10", "table_3", "figure_11", "figure_12", "lambda_forests"),
    "004": ("figure_1", "table_1", "table_2", "table_3", "table_4", "augmentation", "bagging", "diversity"),
}
"""The modules of a paper's items, in its order; each has an ``ITEM``."""


@cache
def items() -> tuple[Item, ...]:
    """All items, paper by paper."""
    return tuple(
        import_module(f"rankinite.reproduce.paper_{paper}.{module}").ITEM for paper, own in ITEMS.items() for module in own
    )


def item_called(paper: str, name: str) -> Item:
    """The item of a paper; unknown names list the known ones."""
    own = {item.name: item for item in items() if item.paper == paper}
    if name not in own:
        raise ArgumentError(
            f"there is no item {name!r}", place=f"paper {paper}", value=name, rule=f"Its items are {listed(own)}"
        )
    return own[name]


def experiment_called(name: str) -> Experiment:
    """An experiment by its name."""
    return next(experiment for item in items() for experiment in item.experiments if experiment.name == name)
