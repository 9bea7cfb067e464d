"""Coded data on disk: what trees are grown from, made without ever holding the features.

Read in this order: ``folder`` (what is in a folder of bins; docs/formats/bins.md), ``data`` (:class:`Binned`, such folders as a
data set), ``description`` (what is in them), ``sampling`` (the rows that edges are made from), ``tally`` (the categories of
pieces), ``counting`` (all that the first pass finds out), ``writing`` (a folder in the making), ``streaming`` (pieces on their
way to it), ``making`` (:func:`rankinite.bin`, the two passes).
"""
