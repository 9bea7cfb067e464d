"""Adapting a ranker to a new domain with few judgments: a background ranker and target data in, one ranker out.

- :func:`smart`: LambdaSMART, trees boosted from the background; :func:`lambdaboost`: a linear correction of it;
- :func:`trada`: the background's trees, tuned; :func:`moved`: what that changed;
- :func:`interpolate`: background and target rankers, weighted; :func:`neighbours`: the same with a third ranker, trained on
  background rows that are like the target;
- :func:`pool`: both data sets trained on together;
- :func:`choose`: all of them, tried on the target's queries, and the one to deploy.

Inside: ``methods`` holds the methods, ``guards`` refuse what does not fit together. ``choosing`` is the run:
``choice_inputs`` make a ``task``, a ``contest`` makes a ``trial`` of each method on queries ``held_out`` with a shared
``groundwork``, kept in a ``trial_cache``; then come the ``decision``, by a ``gain_posterior`` under a ``gain_prior`` and by
``random_orders``, and the ``result`` with its ``refusals``, its ``recommendation``, ``concentration``, ``learning_curve`` and
``plots``. ``background_settings`` and ``forest_changes`` look into forests.
"""

from rankinite.adapt.choosing import choose
from rankinite.adapt.forest_changes import Moved, moved
from rankinite.adapt.learning_curve import LearningCurve
from rankinite.adapt.methods.interpolate import interpolate
from rankinite.adapt.methods.lambdaboost import lambdaboost
from rankinite.adapt.methods.neighbours import Neighbours, neighbours
from rankinite.adapt.methods.pool import pool
from rankinite.adapt.methods.smart import smart
from rankinite.adapt.methods.trada import Trada, trada
from rankinite.adapt.result import Choice

__all__ = [
    "Choice",
    "LearningCurve",
    "Moved",
    "Neighbours",
    "Trada",
    "choose",
    "interpolate",
    "lambdaboost",
    "moved",
    "neighbours",
    "pool",
    "smart",
    "trada",
]
