"""Adapting a ranker to a new domain with few judgments: a background ranker and target data in, one ranker out.

- :func:`smart`: LambdaSMART, trees boosted from the background; :func:`lambdaboost`: a linear correction of it;
- :func:`trada`: the background's trees, tuned; :func:`moved`: what that changed;
- :func:`interpolate`: background and target rankers, weighted; :func:`neighbours`: the same with a third ranker, trained on
  background rows that are like the target;
- :func:`pool`: both data sets trained on together;
- :func:`choose`: all of them, tried on the target's queries, and the one to deploy.

Inside, in the order of reading: ``method_choice`` is the run: a task with its ``shared_fits``, a trial of each method
(``trials``, kept in a ``trial_store``) on queries ``held_out``, then the ``decision``, by the ``gain`` to expect, which depends
on the ``shift`` that can be seen. The ``choice`` is the result, with its ``recommendation``, ``learning_curve``,
``queries_needed`` and ``serving_costs``. ``methods`` holds the methods, which ``methods.catalogue`` lists; ``grade_scales``
refuses grades that do not mean the same; ``background_settings`` and ``forest_diff`` look into forests.
"""

from rankinite.adapt.choice import Choice
from rankinite.adapt.forest_diff import Moved, moved
from rankinite.adapt.learning_curve import LearningCurve
from rankinite.adapt.method_choice import choose
from rankinite.adapt.methods.interpolate import interpolate
from rankinite.adapt.methods.lambdaboost import lambdaboost
from rankinite.adapt.methods.neighbours import Neighbours, neighbours
from rankinite.adapt.methods.pool import pool
from rankinite.adapt.methods.smart import smart
from rankinite.adapt.methods.trada import Trada, trada

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
