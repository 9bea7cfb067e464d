"""How good a ranker is on judged data.

In the order of reading: ``scorers`` (what can be evaluated, and its checked scores), ``values`` (scores to the value of every
query, and to the mean), ``significance`` (intervals and paired tests; ``_resampling_kernels``), ``caveats`` (what was not
judged, and what was known before), ``evaluate`` (one ranker), ``pair_tests`` and ``compare`` (several rankers on the same
queries), ``sentences`` (a pair of systems in words), ``outputs`` (files of scores, and runs).
"""
