"""LinearForm: sums of linear rankers and features as one constant and one weight per feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankinite.errors import ArgumentError
from rankinite.models.feature import Feature
from rankinite.models.linear import Linear
from rankinite.serving.flattening import Flat, Term
from rankinite.serving.plan import ExportPlan, no_forest


@dataclass(frozen=True)
class LinearForm:
    """bias + Σ weight · feature."""

    bias: float
    weights: dict[str, float]
    """By feature; those that are 0 are left out."""


def is_linear(flat: Flat) -> bool:
    """Whether a sum consists of linear rankers and features alone."""
    return all(isinstance(term.leaf, Linear | Feature) for term in flat.terms)


def linear_form(flat: Flat) -> LinearForm:
    """A sum of linear rankers and features, their centres multiplied out."""
    bias, weights = flat.start, dict.fromkeys(flat.names, 0.0)
    for term in flat.terms:
        if isinstance(term.leaf, Feature):
            weights[str(term.leaf.feature)] += -term.weight if term.leaf.ascending else term.weight
        elif isinstance(term.leaf, Linear):
            bias += term.weight * (term.leaf.bias - float(term.leaf.weights @ term.leaf.centre_of_features))
            for name, weight in term.leaf.by_feature().items():
                weights[name] += term.weight * weight
    return LinearForm(float(bias), {name: weight for name, weight in weights.items() if weight != 0.0})


def check_trees_or_linear(flat: Flat, program: str) -> None:
    """Refuse what is neither a forest nor linear."""
    if flat.forest is None and not is_linear(flat):
        known = no_forest(flat)
        rule = f"{program} holds a sum of trees, or a linear ranker"
        raise ArgumentError(known.problem, value=known.value, rule=rule, remedy=known.remedy)


def check_linear_missing(plan: ExportPlan, program: str) -> None:
    """Refuse a linear ranker whose missing values are to be anything but 0, which they count as in every linear model there."""
    if plan.flat.forest is not None or plan.missing == "zero" or all(map(_zero_where_missing, plan.flat.terms)):
        return
    raise ArgumentError(
        "cannot be had for a linear ranker",
        setting="served_missing",
        value=plan.missing,
        rule=f"A missing feature counts as 0 in linear models of {program}; this ranker takes its mean, or refuses it",
        remedy="Give `served_missing='zero'` if it is to count as 0, or choose another target",
    )


def _zero_where_missing(term: Term) -> bool:
    leaf = term.leaf
    return isinstance(leaf, Linear) and leaf.nan == "mean" and not np.any(leaf.centre_of_features[leaf.weights != 0.0])
