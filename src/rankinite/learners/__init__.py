"""Learners: frozen settings with ``fit``.

Read ``base`` (what all share), then ``monitor`` (the loop of rounds, the watched measure, patience) and the two
engines: ``boosting`` for trees, with ``exact_steps`` and ``checkpoint``, and ``descent`` for nets. Each learner is
one file: ``lambdamart``, ``mart``, ``mcrank``, ``ranknet_trees``; ``ranknet``, ``lambdarank``; ``lambdaboost``, which
has its own engine.
"""
