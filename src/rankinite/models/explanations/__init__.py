"""Explanations: what every feature adds to a score, why one document is above another, and what ranks a query.

Read ``contributions`` first: the results. Each kind of ranker splits its scores itself (``Fitted.split_scores``; nets by
``net_contributions``). The questions are ``pair`` (why is x above y), with ``swaps`` (what would have to change), ``query`` and
``summary``; ``permutation`` asks any ranker, of whose scores nothing is known (``shuffles``); ``documents`` finds what
users name, ``plots`` draws.
"""
