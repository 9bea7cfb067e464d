"""Explained: what rankers answer when they are asked why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy.typing as npt

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.measures.base import Measure
    from rankinite.models.explanations.contributions import Contributions
    from rankinite.models.explanations.pair import PairExplanation
    from rankinite.models.explanations.permutation import PermutationImportance
    from rankinite.models.explanations.query import QueryExplanation
    from rankinite.models.explanations.summary import WithinQueries


class Explained:
    """A ranker whose scores can be split by feature; see ``models/explanations``."""

    __slots__ = ()
    explained_by: ClassVar[str] = ""
    """The module of ``models/explanations`` that splits its scores; empty: nothing does."""

    def contributions(self, data: Dataset | npt.ArrayLike, *, permutations: int = 200, seed: int = 0) -> Contributions:
        """What every feature adds to every score: exact Shapley values, which add up to the score minus the model's mean.

        A feature that is not known lets a row go both ways at a forest's nodes, in the proportions of the training rows; it
        has its training mean in nets and linear rankers. Nets of more than 12 features are sampled: ``permutations`` orders
        in which features become known, drawn by ``seed``; then ``errors`` are the standard errors.
        """
        from rankinite.models.explanations.contributions import contributions_of

        return contributions_of(self, data, permutations, seed)

    def permutation_importance(
        self,
        data: Dataset,
        measure: Measure | str = "ndcg@10",
        *,
        features: Sequence[str] | None = None,
        repeats: int = 5,
        seed: int = 0,
        confidence: float = 0.95,
    ) -> PermutationImportance:
        """What the measure loses when a feature is shuffled within queries: :func:`rankinite.permutation_importance`."""
        from rankinite.models.explanations.permutation import permutation_importance

        checked: Any = self
        return permutation_importance(
            checked, data, measure, features=features, repeats=repeats, seed=seed, confidence=confidence
        )

    @overload
    def explain(
        self,
        data: Dataset,
        qid: str | int,
        *,
        above: str | int,
        below: str | int,
        measure: Measure | str = ...,
        repeats: int = ...,
        permutations: int = ...,
        seed: int = ...,
    ) -> PairExplanation: ...

    @overload
    def explain(
        self,
        data: Dataset,
        qid: str | int,
        *,
        measure: Measure | str = ...,
        repeats: int = ...,
        permutations: int = ...,
        seed: int = ...,
    ) -> QueryExplanation: ...

    @overload
    def explain(self, data: Dataset, *, permutations: int = ..., seed: int = ...) -> WithinQueries: ...

    def explain(
        self,
        data: Dataset,
        qid: str | int | None = None,
        *,
        above: str | int | None = None,
        below: str | int | None = None,
        measure: Measure | str = "ndcg@10",
        repeats: int = 10,
        permutations: int = 200,
        seed: int = 0,
    ) -> Any:
        """Why one document of a query is ranked above another, what ranks a query, or what ranks all of them.

        ``above`` and ``below``: document ids, or row numbers within the query, counted from 0. With both, the difference of
        their scores is split by feature, and the smallest change of one number that swaps them is looked for, or else the
        most frequent category that does (:class:`rankinite.PairExplanation`). With neither, ``measure`` says what every
        feature is worth in the query, when its contributions are taken out and when its values are shuffled ``repeats`` times
        (:class:`rankinite.QueryExplanation`). Without a query, features are ranked by their contributions within all queries
        (:class:`rankinite.WithinQueries`).
        """
        from rankinite.models.explanations.explaining import explanation_of

        return explanation_of(self, data, qid, above, below, measure, repeats, permutations, seed)
