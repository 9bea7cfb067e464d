"""Tuning: a search for the settings of a learner, and an honest value for what it finds.

In the order of reading: ``tune``, which puts it all together, ``space`` (what is searched), ``search`` (the loop over
generations), ``proposals`` (what to try next, asked of Optuna; the journal), ``evaluator`` (a setting's value on a
fold, here or on a worker), ``trials`` (which are dropped after a fold), ``result`` (the settings chosen, and what the
best of many is worth).
"""
