"""Learners: frozen settings with ``fit``.

Settings, which import neither NumPy nor Numba, so that the command line can list them quickly: ``base`` (what all share),
``boosting`` (trees) with ``lambdamart``, ``mart``, ``mcrank``, ``ranknet_trees`` and ``custom_trees``; ``descent`` (nets) with
``ranknet`` and ``lambdarank``; ``lambdaboost``.

Training, imported by ``fit``, in the order in which it runs: ``training_checks`` (data, base, first scores),
``joint_training`` (alone, or with others: ``dask_run``, ``member_link``), ``tree_count`` (how many trees, where that is not
given), ``boosting_run`` (the loop of trees) with ``training_bins``, ``monitor`` (the watched measure, patience, callbacks) and
``step_search`` (exact weights of trees). ``descent_run`` and ``lambdaboost_run`` are the other loops, ``checkpoint`` is the
callback that an interrupted run goes on from, ``click_examination`` what debiasing estimates first.
"""

LEARNERS = {
    "lambdamart": "LambdaMART",
    "mart": "MART",
    "mcrank": "McRank",
    "ranknet_trees": "RankNetTrees",
    "lambdarank": "LambdaRank",
    "ranknet": "RankNet",
    "lambdaboost": "LambdaBoost",
}
"""What can train: the module and its class. The command line calls each by the name of its module."""
