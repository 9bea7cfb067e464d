"""The exact measure of two rankers' combination, for every weight of the second (paper 000 §4).

A document with the scores s and t has the combined score s + αt (or (1−α)s + αt): a line over α. A measure of a ranked list
changes only where two lines of a query cross, so it is a step function of α, found by following the crossings. Nothing is
sampled and nothing is approximated. Read in this order:

1. ``_sweep_kernels``: one query. Its documents become lines; ``follow`` goes from crossing to crossing and writes a record
   where the query's measure changes. Documents with equal lines tie at every α and count their expectation.
2. ``_record_kernels``: all queries. Records become whole numbers, are sorted by α and added up, exactly.
3. ``sweep``: ``Sweep.curve`` runs both over a range of α. ``Sweep.ratio_curve`` runs them over every ratio of the two weights:
   it divides the scores by their spread and sweeps (1−h)s + ht over the share h from 0 to 1.
4. ``curve`` and ``ratios``: the results, ``Curve`` and ``RatioCurve``, with the choice of the best α.
"""
