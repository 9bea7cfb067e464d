"""Combining rankers: rankers, judged data and a measure in, one ranker out.

- :func:`exact`: two rankers, or nested pairs, with weights that are exactly best for the measure;
- :func:`greedy`: many, by the pair that gains most; :func:`cyclic`: weights improved one at a time;
- :func:`average`: the mean of scaled scores; :func:`powell`: a search over all weights; :func:`stacked`: LambdaRank on scores.
"""

from rankinite.combine.averaging import average
from rankinite.combine.exact_weights import cyclic, exact, greedy, nested_by_number
from rankinite.combine.powell_search import powell
from rankinite.combine.result import Combination
from rankinite.combine.stacking import stacked

__all__ = ["Combination", "average", "cyclic", "exact", "greedy", "nested_by_number", "powell", "stacked"]
