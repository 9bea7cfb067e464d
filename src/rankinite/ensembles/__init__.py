"""Ensembles: rankers put together from many fits (paper 004).

Read ``bag`` (ten fits, each with its own tenth of the queries to stop by), ``seeds`` (the same fit with other random
numbers), ``augmented`` (more training data by sampling documents), ``summarised`` (how other rankers score the whole
query, as further features), ``rescaled`` and ``average`` (unlike trainers on one scale). Each is a trainer like any
learner, so that they fit into each other and wherever a learner does. ``twelve_models`` puts them together to the
ensemble that won the challenge, ``recipes`` has others; ``cross_validation`` compares trainers on queries they did not see.

``member_choice`` finds on queries held out which members to combine and how (``weighing``), and ``member_diversity`` how much
they differ; both look at members by their scores (``scored_members``). ``time_budget`` scales an ensemble down
to the time there is.
"""

from rankinite.ensembles.average import Average
from rankinite.ensembles.member_choice import MemberChoice, choose_members
from rankinite.ensembles.member_diversity import Diversity, diversity
from rankinite.ensembles.recipes import bag_members, seed_members
from rankinite.ensembles.rescaled import Rescaled
from rankinite.ensembles.summarised import Summarised
from rankinite.ensembles.twelve_models import challenge

__all__ = [
    "Average",
    "Diversity",
    "MemberChoice",
    "Rescaled",
    "Summarised",
    "bag_members",
    "challenge",
    "choose_members",
    "diversity",
    "seed_members",
]
