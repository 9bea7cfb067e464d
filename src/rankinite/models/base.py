"""Ranker: an immutable fitted model that scores rows, can be saved, and can be weighted and added."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol, overload, runtime_checkable

import numpy as np
import numpy.typing as npt

from rankinite.checks import check_count, check_seed
from rankinite.data.dataset import Dataset
from rankinite.data.identity import QuerySketch, arrays_key
from rankinite.data.io.text_files import AnyPath
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError
from rankinite.evaluation.scorers import Scorer, is_scorer, match_to
from rankinite.models.files.container import Stored, write_model
from rankinite.models.history import learner_of
from rankinite.pickles import StablePickle

if TYPE_CHECKING:
    from rankinite.grid import Grid
    from rankinite.measures.base import Measure
    from rankinite.models.blend import Blend
    from rankinite.models.explanations.contributions import Contributions, Response, Sampling
    from rankinite.models.explanations.pair import PairExplanation
    from rankinite.models.explanations.permutation import PermutationImportance
    from rankinite.models.explanations.query import QueryExplanation
    from rankinite.models.explanations.summary import WithinQueries
    from rankinite.models.history import History
    from rankinite.models.scorer import PreparedScorer


@runtime_checkable
class Ranker(Protocol):
    """A complete model: whatever it was boosted from or made of is inside it."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features it needs; empty when it takes them by position alone."""
        ...

    def score(self, features: Dataset | npt.ArrayLike, /) -> Floats:
        """One score per row of a Dataset, a data frame or a matrix; the highest comes first.

        Scores of a Dataset are in the order of its rows. Where reading has regrouped these, ``data.to_input_order(scores)``
        puts the scores in the order of the source, so that they fit the frame that was read.
        """
        ...

    def save(self, path: AnyPath, /) -> None:
        """Write a model file that :func:`rankinite.load` reads."""
        ...

    def __mul__(self, weight: float, /) -> Ranker: ...

    def __rmul__(self, weight: float, /) -> Ranker: ...

    def __add__(self, other: Scorer, /) -> Ranker: ...


@dataclass(frozen=True, slots=True)
class Part:
    """A ranker inside another."""

    ranker: Scorer
    weight: float | None = None
    """What its scores are multiplied by; None: they go in as they are."""


@dataclass(frozen=True, slots=True)
class Trained:
    """How a ranker was trained."""

    settings: Mapping[str, Any]
    history: History | None
    sketch: QuerySketch | None
    unit: str = "round"
    """The steps that training took."""
    correction: bool = False
    """Whether, on top of a base, it corrects that base, so that looking at their sum leads to it."""

    @property
    def learner(self) -> str | None:
        """The learner that trained it; None: that is not known."""
        return learner_of(self.settings)


GIVE_RANKERS = "Give rankers: objects with a method score(data)"
"""The remedy where something else was given."""

Note = Callable[[str], None]
"""Takes a sentence that says what was done to a ranker."""


class Fitted(StablePickle, ABC):
    """A ranker of ours: besides scoring it can be saved, weighted and added, and describe itself.

    A kind of ranker is one class in one file, and one line in :data:`rankinite.models.files.loading.HOMES`. Whoever shows,
    reports or matches rankers asks these methods, and never for the class.
    """

    __slots__ = ()
    __array_ufunc__ = None  # NumPy's numbers leave 0.3 * ranker to the ranker
    shows: frozenset[str] = frozenset()
    """What there is to look at: "trees", "splits" (which judge features), "weights", "history"."""
    about_title = ""
    """A title that says what the ranker it is :meth:`about` is to it."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "score" in vars(cls):
            cls.score = _in_row_order(cls.score)  # whatever kind of ranker: its scores know which rows they are for

    @abstractmethod
    def score(self, features: Dataset | npt.ArrayLike, /) -> Floats:
        """One score per row. Those of a regrouped Dataset are in the order of its rows: see ``Dataset.to_input_order``."""

    @abstractmethod
    def stored(self) -> Stored:
        """Its content in a model file."""

    @property
    def trained_on(self) -> tuple[QuerySketch | None, ...]:
        """Which queries it was trained on: one sketch per trained part; None where that is not known."""
        return (None,)

    @property
    def needs_queries(self) -> bool:
        """Whether a score depends on the other documents of its query."""
        return False

    def scorer(self, names: Sequence[str] | None = None) -> PreparedScorer:
        """A function from matrices to scores, for services that score many small ones: all that can be done once is done here.

        ``names``: what the columns of the matrices are; left out, they are ``feature_names``. Any thread may call it, and any
        process that was forked later. The scores are those of :meth:`score`, to the bit.
        """
        from rankinite.models.scorer import PreparedScorer, matched_by_names

        return PreparedScorer(*matched_by_names(self, names))

    # ---- what it is made of -----------------------------------------------------------------------------------

    def inside(self) -> tuple[Part, ...]:
        """The rankers it is made of."""
        return ()

    def with_inside(self, rankers: Sequence[Scorer]) -> Fitted:
        """The same with other rankers inside, in the order of :meth:`inside`."""
        assert not rankers
        return self

    def summands(self) -> tuple[Part, ...]:
        """The rankers whose weighted scores add up to this one's, but for a constant; itself where it is no sum of others."""
        return (Part(self, 1.0),)

    def about(self) -> Scorer:
        """The inner ranker that users look at instead of this one; itself where it has trees or weights, or several parts."""
        return self

    def core(self) -> Scorer:
        """The ranker whose trees or weights are meant when this one is asked for them."""
        inner = self.about()
        return inner if inner is self or not isinstance(inner, Fitted) else inner.core()

    def last_trained(self) -> Scorer:
        """The part that was trained last: the ranker itself, or what was trained on top of others."""
        return self

    def trained(self) -> Trained | None:
        """How it was trained; None where it was not."""
        return None

    def matched(self, names: tuple[str, ...], place: str, note: Note) -> Fitted:
        """The ranker for data with these feature names, which errors call ``place``; see ``files/matching``."""
        if set(names_of(self)) <= set(names):
            return self
        parts = [part.ranker for part in self.inside()]
        if not parts:
            from rankinite.models.inputs import columns_of

            columns_of(names, names_of(self), place)
        return self.with_inside([part.matched(names, place, note) if isinstance(part, Fitted) else part for part in parts])

    # ---- what it is, in words ---------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        """What it is called in a sentence."""
        return type(self).__name__.lower()

    def line(self) -> str:
        """The ranker in one line."""
        return repr(self).strip("<>")

    def summary(self) -> list[tuple[str, str]]:
        """Its size and what else distinguishes it from others of its kind, as names and values."""
        return []

    def tables(self, most: int | None) -> list[Grid]:
        """What there is to show besides the summary; ``most`` features, or all."""
        return []

    def facts(self) -> dict[str, Any]:
        """Everything as JSON has it."""
        return {"kind": type(self).__name__.lower(), "features": list(names_of(self))}

    def sizes(self) -> dict[str, int]:
        """How large it is: a number for each kind of thing that it is made of."""
        return {type(self).__name__.lower(): 1}

    # ---- why it scores as it does: see models/explanations ----------------------------------------------------------

    def contributions(self, data: Dataset | npt.ArrayLike, *, permutations: int = 200, seed: int = 0) -> Contributions:
        """What every feature adds to every score: exact Shapley values, which add up to the score minus the model's mean.

        A feature that is not known lets a row go both ways at a forest's nodes, in the proportions of the training rows; it
        has its training mean in nets and linear rankers. Nets of more than 12 features are sampled: ``permutations`` orders
        in which features become known, drawn by ``seed``; then ``errors`` are the standard errors.
        """
        from rankinite.models.explanations.contributions import OWNER, Sampling

        check_count(OWNER, "permutations", permutations, 4)
        check_seed(OWNER, seed)
        matched: Any = match_to(self, data)[0] if isinstance(data, Dataset) else self
        return split_scores(matched, data, Sampling(permutations, seed))

    def split_scores(self, features: Dataset | npt.ArrayLike, sampling: Sampling) -> Contributions:
        """The contributions to the scores of data that name features as the ranker does; refused where there are none."""
        raise _unexplained(self)

    def response(self) -> Response | None:
        """How the score follows one feature while the others stay; None where that is not known exactly."""
        return None

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

        return permutation_importance(self, data, measure, features=features, repeats=repeats, seed=seed, confidence=confidence)

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
        from rankinite.models.explanations.contributions import Sampling
        from rankinite.models.explanations.documents import OWNER
        from rankinite.models.explanations.pair import explain_pair
        from rankinite.models.explanations.query import explain_query
        from rankinite.models.explanations.summary import explain_queries

        check_count(OWNER, "repeats", repeats)
        check_count(OWNER, "permutations", permutations, 4)
        check_seed(OWNER, seed)
        from rankinite.measures.spelling import one_measure

        chosen, sampling = one_measure(OWNER, "measure", measure), Sampling(permutations, seed)
        if (above is None) != (below is None):
            given, missing = ("above", "below") if below is None else ("below", "above")
            raise ArgumentError(
                f"names one document, and `{missing}=…` none",
                owner=OWNER,
                setting=given,
                value=below if above is None else above,
                remedy="Give both, or neither to explain the whole query",
            )
        if qid is None and above is not None:
            raise ArgumentError(
                "names a document of no query", owner=OWNER, setting="above", value=above, remedy="Give its query with `qid=…`"
            )
        if qid is None:
            return explain_queries(self, data, sampling)
        if above is None or below is None:
            return explain_query(self, data, qid, chosen, repeats, sampling)
        return explain_pair(self, data, qid, above, below, sampling)

    # ---- files and sums ---------------------------------------------------------------------------------------

    def save(self, path: AnyPath) -> None:
        """Write a model file that :func:`rankinite.load` reads; the same model gives the same bytes.

        A name that ends in .gz, .zst or .xz is compressed.
        """
        write_model(path, self.stored())

    def _repr_html_(self) -> str:
        from rankinite.models.views import card

        return card(self).html()

    def __mul__(self, weight: float) -> Blend:
        from rankinite.models.blend import weighted

        number: Any = weight
        return weighted(self, weight) if isinstance(number, Real) else NotImplemented

    __rmul__ = __mul__

    def __add__(self, other: Scorer) -> Fitted:
        from rankinite.models.blend import added

        return added(self, other) if is_scorer(other) else NotImplemented

    def __radd__(self, other: Scorer | int) -> Fitted:
        from rankinite.models.blend import added

        if isinstance(other, int):
            return self if other == 0 else NotImplemented  # sum(rankers) begins with 0
        return added(other, self) if is_scorer(other) else NotImplemented


def in_row_order(scores: Floats, features: object) -> Floats:
    """The scores, which know the order of their rows where these were regrouped."""
    return features.in_row_order(scores) if isinstance(features, Dataset) else scores


def _in_row_order(score: Callable[..., Floats]) -> Callable[..., Floats]:
    @wraps(score)
    def scored(self: Fitted, features: Dataset | npt.ArrayLike, *further: Any, **settings: Any) -> Floats:
        return in_row_order(score(self, features, *further, **settings), features)

    return scored


def split_scores(ranker: Any, features: Any, sampling: Sampling) -> Contributions:
    """The contributions of a ranker, or of one inside another; refuses rankers whose scores cannot be split."""
    if isinstance(ranker, Fitted):
        return ranker.split_scores(features, sampling)
    raise _unexplained(ranker)


def response_of(ranker: Any) -> Response | None:
    """How the score of a ranker, or of one inside another, follows one feature; refuses rankers of which nothing is known."""
    if isinstance(ranker, Fitted):
        return ranker.response()
    raise _unexplained(ranker)


def _unexplained(ranker: object) -> ArgumentError:
    from rankinite.models.explanations.contributions import not_split

    return not_split(f"a {type(ranker).__name__}", "Nothing is known of its scores but their values")


def part_scores(part: Scorer, features: Any, qid: npt.ArrayLike | None) -> npt.NDArray[Any]:
    """The scores of a ranker inside another, which is given the queries if it needs them."""
    queries: dict[str, Any] = {"qid": qid} if needs_queries(part) else {}
    return np.asarray(part.score(features, **queries))


def needs_queries(part: object) -> bool:
    """Whether a part's score depends on the other documents of a query; rankers that are not ours may say so too."""
    return bool(getattr(part, "needs_queries", False))


def names_of(part: object) -> tuple[str, ...]:
    """The features a part needs; rankers that are not ours may name them too."""
    return tuple(getattr(part, "feature_names", ()))


def line_of(part: object) -> str:
    """A part in one line."""
    return part.line() if isinstance(part, Fitted) else repr(part).strip("<>")


def trained_of(part: object) -> Trained | None:
    """How a part was trained."""
    return part.trained() if isinstance(part, Fitted) else None


def sketches_of(part: object) -> tuple[QuerySketch | None, ...]:
    """Which queries a part was trained on; nothing for rankers that are not ours."""
    return part.trained_on if isinstance(part, Fitted) else ()


def stored_part(ranker: Scorer, place: str) -> Stored:
    """The content of a ranker inside another in a model file; refuses rankers that are not ours."""
    if not isinstance(ranker, Fitted):
        kind = type(ranker).__name__
        raise ArgumentError(
            f"a {kind} cannot be written to a model file",
            place=place,
            value=kind,
            rule="Only rankers of rankinite can be saved",
            remedy="Save the others by other means and add them after loading",
        )
    return ranker.stored()


def content_key(ranker: Scorer, place: str) -> str:
    """A hash of what a model file of the ranker would hold, by which finished work is recognised."""
    stored = stored_part(ranker, place)
    return arrays_key(dict(stored.arrays), stored.described())
