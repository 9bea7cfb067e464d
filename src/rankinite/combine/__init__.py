"""Combining rankers: rankers, judged data and a measure in, one ranker out.

- :func:`exact`: two rankers, or nested pairs, with weights that are exactly best for the measure;
- :func:`greedy`: many, by the pair that gains most; :func:`cyclic`: weights improved one at a time;
- :func:`average`: the mean of scaled scores; :func:`powell`: a search over all weights; :func:`stacked`: LambdaRank on scores.

Read ``combination`` first: what every method starts from (``ScoredRankers``) and what it gives (``Combination``). Then
``exact_weights``, which finds weights by :mod:`rankinite.sweep` (papers 000 §4, 004 §4.3), and ``inexact_weights``, the methods
it is compared with. ``fixed_scores`` makes rankers of arrays, score files and runs.
"""

from rankinite.combine.combination import Combination
from rankinite.combine.exact_weights import cyclic, exact, greedy, nested_by_number
from rankinite.combine.inexact_weights import average, powell, stacked

__all__ = ["Combination", "average", "cyclic", "exact", "greedy", "nested_by_number", "powell", "stacked"]
