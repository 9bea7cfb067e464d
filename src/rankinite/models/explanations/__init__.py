"""Explanations: what every feature adds to a score, why one document is above another, and what ranks a query.

Read ``contributions`` first: the result, and how a kind of ranker is asked for it. One module per kind splits scores and says
how they respond to a feature (``response``): ``of_forest``, ``of_linear``, ``of_net``, ``of_feature``, ``of_blend``,
``of_normalised``, ``of_stack``, ``of_summaries``. ``explaining`` answers questions: ``pair`` (why is x above y), with
``swaps`` (what would have to change), ``query`` and ``summary``; ``permutation`` asks any ranker, of whose scores nothing is
known, by the ``shuffles`` of features; ``documents`` finds what users name, ``plots`` draws.
"""
