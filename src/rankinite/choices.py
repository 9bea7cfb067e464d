"""Choices: the words that settings may be, shared by the library and its command line.

They are kept apart from the code that acts on them because that code imports Numba, and ``--help`` must be quick.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Missing: TypeAlias = Literal["zero", "nan"]
"""The value of a feature that a LETOR line leaves out."""
Infinite: TypeAlias = Literal["error", "missing", "clip", "keep"]
"""±inf, and numbers beyond float32 such as 1.79e308, which public sets use as sentinels."""
Unjudged: TypeAlias = Literal["error", "drop", "keep"]
"""Negative grades such as −1, which mean that nobody judged the document."""
Part: TypeAlias = Literal["train", "valid", "test"]
"""Disjoint draws from one artificial world."""
Ties: TypeAlias = Literal["expected", "lowest", "highest", "order", "doc_id"]
"""What tied scores mean.

- ``expected``: the exact mean over all orders of the tied documents;
- ``lowest`` / ``highest``: tied documents from worst to best, or from best to worst. :func:`rankinite.evaluate` turns the two
  round for errors, so that they give the lowest and the highest value a ranking may have;
- ``order``: in the order of the input, as in most libraries, which rarely document it;
- ``doc_id``: by document id from high to low, as trec_eval does.
"""
Test: TypeAlias = Literal["randomisation", "t", "bootstrap"]
"""A paired test: Fisher's randomisation, Student's t, or the bootstrap."""
Form: TypeAlias = Literal["sum", "convex"]
"""What α combines two scores s and t to: s + αt, or (1−α)s + αt."""
Scale: TypeAlias = Literal["all", "query", "rank"]
"""What scores are compared with: all scores of some data, those of the same query, or only their order within it."""
ScoreScale: TypeAlias = Literal["all", "query", "rank", "probability", "peak"]
"""How a single ranker's scores can be scaled: as for several of them, as probabilities, or by a query's highest score."""
Distilling: TypeAlias = Literal["best", "select", "grow", "net"]
"""How a student is made: of trees of its teacher, of new ones that follow its scores, of the nearer ones, or as a net."""
MissingValues: TypeAlias = Literal["refuse", "mean"]
"""What a missing value (NaN) is to a net or a linear ranker: refused, or taken for the feature's mean in the training data."""
Batches: TypeAlias = Literal["batches"]
"""Folds that are the batches of the data: each is judged by rankers of all others."""
Sampler: TypeAlias = Literal["tpe", "random", "grid"]
"""Who proposes settings: a tree-structured Parzen estimator, which learns from what was tried; chance; or a grid, shuffled."""
ServedMissing: TypeAlias = Literal["nan", "zero"]
"""What a missing feature is where a model is served: missing, so that trees send it their way, or 0."""
Exactness: TypeAlias = Literal["exact", "last bits", "float32", "same order"]
"""How near the scores of an exported model are.

- ``exact``: the same float64, bit for bit;
- ``last bits``: float64, added up in another order, so that the last digits may differ;
- ``float32``: every tree decides alike, the sum is rounded to float32;
- ``same order``: other scores that put the documents of a query into the same order.
"""
Debias: TypeAlias = Literal["pairwise", "additive"]
"""How clicks are debiased: pairs divided by how often their positions are clicked and skipped, or a bias of each position."""
ClickModel: TypeAlias = Literal["position", "cascade", "trust"]
"""How simulated users look at results.

- ``position``: a position is looked at with probability (1/position)^η, whatever else happens;
- ``cascade``: from the top down until something satisfies, or patience ends;
- ``trust``: as by position, but what is shown further up is also clicked more readily than it deserves.
"""
