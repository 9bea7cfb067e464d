"""How good a ranker is: ``inputs`` (checked rankers and measures), ``query_values`` and ``evaluate`` (measures with intervals),
``compare`` (rankers on the same queries, with tests from ``pairs`` and ``significance``, laid out by ``tables``), ``bounds``
(where intervals end), ``coverage`` and ``training_overlap`` (what was judged, and what was known before), ``meaning``
(explanations), ``plots``, ``outputs`` (files of scores, and runs).
"""
