"""Coded data on disk: what trees are grown from, made without ever holding the features.

Read in this order: ``folder`` (what is in a folder of bins; docs/formats/bins.md), ``data`` (:class:`Binned`, such folders as a
data set), ``sampling`` (the rows that edges are made from), ``writing`` (a folder in the making), ``making``
(:func:`rankinite.bin`, the two passes).
"""
