"""Tuning: a search for the settings of a learner, and an honest value for what it finds.

Read ``space`` (what is searched), ``proposals`` (who proposes), ``fold_values`` (one setting on one fold, here or on a
worker), ``racing`` (who is dropped after a fold), ``search`` (the loop), ``choice`` (the settings taken, and what the best of
many is worth), ``journal`` (the record that others can look at) and ``tune``, which puts it all together.
"""
