"""Ensembles: rankers put together from many fits (paper 004).

In the order of reading: ``fits`` (fits that are independent of each other, on threads or a cluster), ``trainers``
(bags, seeds, augmented data, summaries, averages: each a trainer like any learner), ``recipes`` (the twelve models that
won the challenge, and others), ``cross_validation`` (trainers compared on queries they did not see), ``weight_finders``
and ``member_choice`` (which members to combine and how, found on queries held out), ``member_diversity`` (how much
members differ), ``time_budget`` (an ensemble scaled down to the time there is).
"""

from rankinite.ensembles.member_choice import MemberChoice, choose_members
from rankinite.ensembles.member_diversity import Diversity, diversity
from rankinite.ensembles.recipes import bag_members, challenge, seed_members
from rankinite.ensembles.trainers import Average, Rescaled, Summarised

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
