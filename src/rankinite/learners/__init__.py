"""Learners: frozen settings with ``fit``.

Settings, which import neither NumPy nor Numba, so that the command line can list them quickly: ``base`` (what all
share), ``boosting`` and ``step_settings`` for trees, ``descent`` for nets, and one file for each learner:
``lambdamart``, ``mart``, ``mcrank``, ``ranknet_trees``, ``custom_trees``; ``ranknet``, ``lambdarank``; ``lambdaboost``.

Training, imported by ``fit``: ``start`` (data checked, first scores), ``monitor`` (the loop of rounds, the watched
measure, patience), then ``boosting_run`` with ``step_search`` and ``checkpoint``, ``descent_run``, ``lambdaboost_run``.
"""
