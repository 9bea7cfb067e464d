"""Ensembles: rankers put together from many fits (paper 004).

Read ``bag`` (ten fits, each with its own tenth of the queries to stop by), ``seeds`` (the same fit with other random
numbers), ``augmented`` (more training data by sampling documents), ``summarised`` (how other rankers score the whole
query, as further features), ``rescaled`` and ``average`` (unlike trainers on one scale). Each is a trainer like any
learner, so that they fit into each other and wherever a learner does. ``twelve_models`` puts them together to the
ensemble that won the challenge; ``cross_validation`` compares trainers on queries they did not see.
"""

from rankinite.ensembles.average import Average
from rankinite.ensembles.rescaled import Rescaled
from rankinite.ensembles.summarised import Summarised
from rankinite.ensembles.twelve_models import challenge

__all__ = ["Average", "Rescaled", "Summarised", "challenge"]
