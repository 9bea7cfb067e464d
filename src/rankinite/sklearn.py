"""The tree learners as scikit-learn estimators: ``LambdaMARTRanker(trees=300).fit(X, y, qid=qid).predict(X)``.

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
from typing import Any, ClassVar, ParamSpec, cast

import numpy as np
import numpy.typing as npt

try:
    # The type checker takes this file itself for the library of its name.
    from sklearn.base import BaseEstimator  # pyright: ignore[reportMissingImports]
    from sklearn.utils.validation import check_is_fitted, validate_data  # pyright: ignore[reportMissingImports]
except ImportError as problem:  # pragma: no cover - tested in a process of its own
    raise ImportError("rankinite.sklearn needs scikit-learn 1.6 or later: pip install rankinite[sklearn]") from problem

from rankinite.data.dataset import Dataset
from rankinite.data.reading import read
from rankinite.errors import ArgumentError
from rankinite.evaluation.evaluate import evaluate
from rankinite.kernel import Floats, Strings
from rankinite.rankers.boosting import Boosting
from rankinite.rankers.forest import Forest
from rankinite.rankers.lambdamart import LambdaMART
from rankinite.rankers.mart import MART
from rankinite.rankers.mcrank import McRank
from rankinite.rankers.ranknet_trees import RankNetTrees

__all__ = ["LambdaMARTRanker", "MARTRanker", "McRankRanker", "RankNetTreesRanker", "TreeRanker"]

Settings = ParamSpec("Settings")
Rows = npt.ArrayLike
SCORE_MEASURE = "ndcg@10"
"""What ``score`` gives the mean of."""

_validate: Any = validate_data  # its types do not know arrays


class TreeRanker(BaseEstimator):  # type: ignore[misc]
    """What the estimators share. Make one of its kinds, such as :class:`LambdaMARTRanker`."""

    learner: ClassVar[Callable[..., Boosting]]
    """What makes the learner from the settings."""

    forest_: Forest
    """The ranker trained, with all that it can do."""
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
    ) -> TreeRanker:
        """Train on features, grades and the query of each row.

        ``sample_weight``: how much a query counts, the same in all its rows. ``eval_set``: (X, y, qid) of other queries, on
        which training stops early.
        """
        matrix, grades = _validate(self, X, y, dtype=None, ensure_all_finite="allow-nan", y_numeric=True)
        train = self._data(matrix, grades, qid, "fit", sample_weight)
        valid = None
        if eval_set is not None:
            if not isinstance(eval_set, tuple) or len(eval_set) != 3:  # pyright: ignore[reportUnnecessaryIsInstance]
                raise ArgumentError("eval_set must be a tuple (X, y, qid): features, grades and queries of validation data.")
            other, judged, queries = eval_set
            valid = self._data(self._matrix(other), np.asarray(judged), queries, "fit", None)
        settings = {name: _plain(value) for name, value in self.get_params(deep=False).items()}
        self.forest_ = cast(Forest, type(self).learner(**settings).fit(train, valid))
        return self

    def predict(self, X: Rows) -> Floats:  # noqa: N803 - scikit-learn's name
        """One score a row; the highest of a query comes first."""
        check_is_fitted(self)
        return self.forest_.score(self._matrix(X))

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
        result = evaluate(self.forest_, data, SCORE_MEASURE)[SCORE_MEASURE]
        if data.weights is None:
            return result.mean
        counted = ~np.isnan(result.per_query)
        return float(np.average(result.per_query[counted], weights=data.weights[counted]))

    @property
    def feature_importances_(self) -> Floats:
        """What the splits on each feature gained, as shares of the whole."""
        check_is_fitted(self)
        gains = self.forest_.importance("gain")
        values = np.asarray([gains[name] for name in self.forest_.feature_names])
        return values / values.sum()

    def __sklearn_tags__(self) -> Any:
        """Missing values are welcome, and grades are needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags

    def _matrix(self, features: Rows) -> npt.NDArray[Any]:
        return _validate(self, features, dtype=None, reset=False, ensure_all_finite="allow-nan")

    def _data(self, matrix: Rows, grades: Rows, qid: Rows | None, verb: str, weight: Rows | None) -> Dataset:
        if qid is None:
            raise ArgumentError(
                f"{type(self).__name__}.{verb} needs qid=: the query of each row. Inside pipelines and searches, switch "
                f"routing on with sklearn.set_config(enable_metadata_routing=True) and call set_{verb}_request(qid=True)."
            )
        data = read(matrix, grades=grades, qid=np.asarray(qid), weight=None if weight is None else np.asarray(weight))
        names = getattr(self, "feature_names_in_", None)
        return data if names is None else data.rename_features([str(name) for name in names])


def _estimator(name: str, learner: Callable[Settings, Boosting]) -> Callable[Settings, TreeRanker]:
    """The estimator of a learner: a class whose constructor has the learner's settings, each with its default."""
    kind: Any = learner
    settings = [(one.name, one.type, field(default=one.default)) for one in fields(kind)]
    made: Any = make_dataclass(
        name, settings, bases=(TreeRanker,), namespace={"learner": learner}, kw_only=True, eq=False, repr=False
    )
    made.__module__, made.__doc__ = __name__, f"{kind.__name__} as a scikit-learn estimator. {kind.__doc__}"
    return made


def _plain(value: Any) -> Any:
    """A setting as Python has it: searches hand out NumPy's numbers."""
    return value.item() if isinstance(value, np.generic) else value


LambdaMARTRanker = _estimator("LambdaMARTRanker", LambdaMART)
MARTRanker = _estimator("MARTRanker", MART)
McRankRanker = _estimator("McRankRanker", McRank)
RankNetTreesRanker = _estimator("RankNetTreesRanker", RankNetTrees)
