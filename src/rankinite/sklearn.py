"""The learners as scikit-learn estimators: ``LambdaMARTRanker(trees=300).fit(X, y, qid=qid).predict(X)``.

An estimator has the settings of its learner, by the same names. The query of each row is metadata: pass ``qid=`` to ``fit`` and
``score``, or, inside pipelines and searches, switch scikit-learn's metadata routing on and ask for it:

>>> import sklearn
>>> from sklearn.model_selection import GridSearchCV, GroupKFold
>>> with sklearn.config_context(enable_metadata_routing=True):                                       # doctest: +SKIP
...     ranker = LambdaMARTRanker(trees=100).set_fit_request(qid=True).set_score_request(qid=True)
...     search = GridSearchCV(ranker, {"leaves": [15, 31]}, cv=GroupKFold(5)).fit(X, y, qid=qid, groups=qid)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, fields, make_dataclass
from typing import Any, ClassVar, ParamSpec, Self, TypeVar

import numpy as np
import numpy.typing as npt

try:
    # The type checker takes this file itself for the library of its name.
    from sklearn.base import BaseEstimator  # pyright: ignore[reportMissingImports]
    from sklearn.utils.validation import check_is_fitted, validate_data  # pyright: ignore[reportMissingImports]
except ImportError as problem:  # pragma: no cover - tested in a process of its own
    raise ImportError("rankinite.sklearn needs scikit-learn 1.6 or later: pip install rankinite[sklearn]") from problem

from rankinite.choices import MissingValues
from rankinite.data.dataset import Dataset
from rankinite.data.io.read_settings import ReadSettings
from rankinite.data.io.reading import read_with
from rankinite.engine.kernel import Floats, Strings
from rankinite.errors import ArgumentError
from rankinite.evaluation.evaluate import evaluate
from rankinite.foreign_settings.answers import answers_foreign_names
from rankinite.learners.base import Learner
from rankinite.learners.lambdaboost import LambdaBoost
from rankinite.learners.lambdamart import LambdaMART
from rankinite.learners.lambdarank import LambdaRank
from rankinite.learners.mart import MART
from rankinite.learners.mcrank import McRank
from rankinite.learners.ranknet import RankNet
from rankinite.learners.ranknet_trees import RankNetTrees
from rankinite.measures.base import Measure
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net

__all__ = [
    "LambdaBoostRanker",
    "LambdaMARTRanker",
    "LambdaRankRanker",
    "MARTRanker",
    "McRankRanker",
    "NetRanker",
    "RankNetRanker",
    "RankNetTreesRanker",
    "RankerEstimator",
    "TreeRanker",
]

Settings = ParamSpec("Settings")
Kind = TypeVar("Kind", bound="RankerEstimator")
Rows = npt.ArrayLike
SCORE_MEASURE = "ndcg@10"
"""What ``score`` gives the mean of."""

_validate: Any = validate_data  # its types do not know arrays


class RankerEstimator(BaseEstimator):  # type: ignore[misc]
    """What the estimators share. Make one of its kinds, such as :class:`LambdaMARTRanker`."""

    learner: ClassVar[Callable[..., Learner]]
    """The learner's class, which is called with the settings."""

    ranker_: Forest | Net | Linear
    """The trained ranker."""
    n_features_in_: int
    """How many features it was trained on."""
    feature_names_in_: Strings
    """Their names, where the training data named them all."""

    def fit(
        self,
        X: Rows,  # noqa: N803 - scikit-learn's name
        y: Rows,
        *,
        qid: Rows | None = None,
        sample_weight: Rows | None = None,
        eval_set: tuple[Rows, Rows, Rows] | None = None,
        allow_overlap: bool = False,
    ) -> Self:
        """Train on features, grades and the query of each row.

        ``sample_weight``: how much a query counts, the same in all its rows. ``eval_set``: (X, y, qid) of other queries, on
        which training stops early; queries that are in both are refused unless ``allow_overlap`` is true.
        """
        matrix, grades = _validate(self, X, y, ensure_all_finite=self._finite(), y_numeric=True)
        train = self._data(matrix, grades, qid, "fit", sample_weight)
        valid = None
        if eval_set is not None:
            if not isinstance(eval_set, tuple) or len(eval_set) != 3:  # pyright: ignore[reportUnnecessaryIsInstance]
                raise ArgumentError(
                    "must be a tuple (X, y, qid): features, grades and queries of validation data",
                    owner=f"{type(self).__name__}.fit",
                    setting="eval_set",
                    value=eval_set,
                )
            other, judged, queries = eval_set
            valid = self._data(self._matrix(other), np.asarray(judged), queries, "fit", None)
        settings = {name: _plain(value) for name, value in self.get_params(deep=False).items()}
        trained: Any = type(self).learner(**settings).fit(train, valid, allow_overlap=allow_overlap)
        self.ranker_ = trained
        return self

    def predict(self, X: Rows) -> Floats:  # noqa: N803 - scikit-learn's name
        """One score per row; the highest of a query comes first."""
        check_is_fitted(self)
        return self.ranker_.score(self._matrix(X))

    def score(
        self,
        X: Rows,  # noqa: N803 - scikit-learn's name
        y: Rows,
        *,
        qid: Rows | None = None,
        sample_weight: Rows | None = None,
    ) -> float:
        """The mean NDCG@10 of the queries, weighted where ``sample_weight`` says how much each counts."""
        check_is_fitted(self)
        data = self._data(self._matrix(X), np.asarray(y), qid, "score", sample_weight)
        result = evaluate(self.ranker_, data, SCORE_MEASURE)[SCORE_MEASURE]
        if data.weights is None:
            return result.mean
        counted = ~np.isnan(result.per_query)
        return float(np.average(result.per_query[counted], weights=data.weights[counted]))

    def __sklearn_tags__(self) -> Any:
        """Grades are needed."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _matrix(self, features: Rows) -> npt.NDArray[Any]:
        return _validate(self, features, reset=False, ensure_all_finite=self._finite())

    def _finite(self) -> bool | str:
        """What scikit-learn is to refuse: infinite values, and missing ones unless they are welcome."""
        return "allow-nan" if self.__sklearn_tags__().input_tags.allow_nan else True

    def _data(self, matrix: Rows, grades: Rows, qid: Rows | None, verb: str, weight: Rows | None) -> Dataset:
        if qid is None:
            raise ArgumentError(
                "must be the query of each row",
                owner=f"{type(self).__name__}.{verb}",
                setting="qid",
                value=None,
                remedy="Inside pipelines and searches, switch routing on with sklearn.set_config(enable_metadata_routing=True) "
                f"and call set_{verb}_request(qid=True)",
            )
        columns = {"grades": grades, "qid": np.asarray(qid), "weight": None if weight is None else np.asarray(weight)}
        plain: dict[str, Any] = {"missing": "zero", "unjudged": "error", "zero_based": False, "like": None, "ignore": ()}
        settings = ReadSettings(columns, group=None, features=None, **plain)
        data = read_with(matrix, settings)  # not read, whose note on regrouped rows is for those who get the data
        names = getattr(self, "feature_names_in_", None)
        return data if names is None else data.rename_features([str(name) for name in names])


class TreeRanker(RankerEstimator):
    """What the estimators with boosted trees share."""

    @property
    def forest_(self) -> Forest:
        """The trees trained: ``ranker_`` by its kind."""
        forest: Any = self.ranker_
        return forest

    @property
    def feature_importances_(self) -> Floats:
        """What the splits on each feature gained, as shares of the whole."""
        check_is_fitted(self)
        gains = self.forest_.importance("gain")
        values = np.asarray([gains[name] for name in self.forest_.feature_names])
        return values / values.sum()

    def __sklearn_tags__(self) -> Any:
        """Missing values are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class NetRanker(RankerEstimator):
    """What the estimators with a net or a linear ranker share."""

    nan: MissingValues

    def __sklearn_tags__(self) -> Any:
        """Missing values are welcome where there is a rule for them."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.nan == "mean"
        return tags


def _estimator(name: str, base: type[Kind], learner: Callable[Settings, Learner]) -> Callable[Settings, Kind]:
    """The estimator of a learner: a class whose constructor has the learner's settings, each with its default."""
    kind: Any = learner
    settings = [(one.name, one.type, field(default=_by_name(one.default))) for one in fields(kind)]
    made: Any = make_dataclass(
        name, settings, bases=(base,), namespace={"learner": learner}, kw_only=True, eq=False, repr=False
    )
    made = answers_foreign_names(made)
    made.__module__, made.__doc__ = __name__, f"{kind.__name__} as a scikit-learn estimator. {kind.__doc__}"
    return made


def _by_name(default: Any) -> Any:
    """A measure by its name, as scikit-learn has only plain values as defaults."""
    return str(default) if isinstance(default, Measure) else default


def _plain(value: Any) -> Any:
    """A setting as Python has it: searches hand out NumPy's numbers."""
    return value.item() if isinstance(value, np.generic) else value


LambdaMARTRanker = _estimator("LambdaMARTRanker", TreeRanker, LambdaMART)
MARTRanker = _estimator("MARTRanker", TreeRanker, MART)
McRankRanker = _estimator("McRankRanker", TreeRanker, McRank)
RankNetTreesRanker = _estimator("RankNetTreesRanker", TreeRanker, RankNetTrees)
LambdaRankRanker = _estimator("LambdaRankRanker", NetRanker, LambdaRank)
RankNetRanker = _estimator("RankNetRanker", NetRanker, RankNet)
LambdaBoostRanker = _estimator("LambdaBoostRanker", NetRanker, LambdaBoost)
