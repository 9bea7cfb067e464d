"""Ensembles: rankers put together from many fits (paper 004).

Read ``bag`` (ten fits, each with its own tenth of the queries to stop by), ``seeds`` (the same fit with other random
numbers), ``augmented`` (more training data by sampling documents) and ``summarised`` (how other rankers score the whole
query, as further features). Each is a trainer like any learner, so that they fit into each other and wherever a learner
does. ``cross_validation`` compares trainers on queries they did not see.
"""
