"""A loss that is a function of the user: from scores, grades and offsets to pushes and curvatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.engine.function_names import name_of
from rankinite.engine.kernel import SCORE, Flags, Floats, Indices, frozen
from rankinite.errors import ArgumentError, DataError, cut
from rankinite.evaluation.scorers import row_place
from rankinite.gradients.base import checked_scores, weight_of_rows

LossFunction = Callable[[Floats, Floats, Indices], tuple[npt.ArrayLike, npt.ArrayLike]]
"""From the scores of all rows, their grades, and where queries begin and end, to the push and the curvature of each row."""


class FunctionLoss:
    """Any cost that a function gives the push (positive = up: the negative gradient) and the curvature (≥ 0) of.

    The weight of a query multiplies what the function gives. Training starts from ``start``.
    """

    outputs = 1

    def __init__(self, data: Dataset, function: LossFunction, start: float = 0.0) -> None:
        check_judged(data)
        self._data, self._function, self._name = data, function, name_of(function)
        self._grades = frozen(data.grades.astype(SCORE))
        self._weights = None if data.weights is None else weight_of_rows(data)
        self.start: Floats = np.asarray([start], SCORE)

    def __str__(self) -> str:
        return f"the loss {self._name}"

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Push and curvature of every row; all of shape (1, rows)."""
        scores = checked_scores(1, self._data.rows, scores, out_push, out_curvature)
        returned: Any = self._function(scores[0].copy(), self._grades, self._data.offsets)  # it may use the scores up
        try:
            push, curvature = returned
        except (TypeError, ValueError):
            self._refuse(f"returned {_kind(returned)}, not a pair", returned)
        for name, given, out in (("push", push, out_push[0]), ("curvature", curvature, out_curvature[0])):
            out[:] = self._checked(name, given)
        self._check_rows("push", out_push[0], np.isfinite(out_push[0]), "finite")
        sound = np.isfinite(out_curvature[0]) & (out_curvature[0] >= 0.0)
        self._check_rows("curvature", out_curvature[0], sound, "finite and not negative")
        if self._weights is not None:
            out_push[0] *= self._weights
            out_curvature[0] *= self._weights

    def _checked(self, name: str, given: Any) -> Floats:
        try:
            array = np.asarray(given, SCORE)
        except (TypeError, ValueError) as problem:
            self._refuse(f"returned a {name} that is no array of numbers ({cut(problem)})", type(given).__name__)
        if array.shape != (self._data.rows,):
            self._refuse(f"returned a {name} of shape {array.shape} for {self._data.rows} rows", array.shape)
        return array

    def _refuse(self, problem: str, value: Any) -> NoReturn:
        raise ArgumentError(
            problem,
            place=f"the loss {self._name}",
            value=value,
            rule="A loss returns two arrays with one number for each row: push and curvature",
            remedy="Return them in the order of the scores, as in `return grades - scores, np.ones_like(scores)`",
        )

    def _check_rows(self, name: str, values: Floats, sound: Flags, rule: str) -> None:
        if sound.all():
            return
        row = int(np.flatnonzero(~sound)[0])
        raise DataError(
            f"the loss {self._name} gives the {name} {values[row]:g}",
            place=row_place(self._data, row),
            value=float(values[row]),
            rule=f"Each {name} must be {rule}",
            remedy="Check what it gives for this row's score and grade; from a gradient and its hessian, push is minus the "
            "gradient and curvature the hessian",
        )


def _kind(value: Any) -> str:
    """What a function has returned, for a message."""
    if isinstance(value, np.ndarray):
        shape: Any = value.shape
        return f"an array of shape {shape}"
    return "None" if value is None else f"an object of type {type(value).__name__}"
