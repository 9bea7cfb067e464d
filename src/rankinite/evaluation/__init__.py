"""How good a ranker is: ``inputs`` (what may be given), ``evaluate`` (measures with intervals), ``compare`` (rankers on
the same queries, with tests from ``pairs`` and ``significance``), ``bounds`` (where intervals end), ``coverage`` and
``training_overlap`` (what was judged, and what was known before), ``meaning`` (warnings in words), ``plots``.
"""
