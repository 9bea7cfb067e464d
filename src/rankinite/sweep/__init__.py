"""The exact measure of two rankers' sum for every weight: ``sweep`` follows the crossings, ``curve`` is the result over a
range, ``ratios`` over all ratios of two weights.
"""
