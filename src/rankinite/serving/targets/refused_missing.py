"""Missing values that a ranker refuses: there is no score that a program could give them."""

from __future__ import annotations

from rankinite.errors import ArgumentError
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.serving.flattening import leaves_of
from rankinite.serving.plan import ExportPlan


def check_known_missing(plan: ExportPlan) -> None:
    """Refuse to keep missing values missing for a linear ranker or net that refuses them."""
    refusing = [leaf for leaf in leaves_of(plan.flat) if isinstance(leaf, Linear | Net) and leaf.nan != "mean"]
    if plan.missing == "nan" and refusing:
        raise ArgumentError(
            f"is not for a {refusing[0].kind} that refuses missing values",
            setting="served_missing",
            value="nan",
            rule="A missing value counts as the feature's mean only if it did in training",
            remedy="Give `served_missing='zero'` if it is to count as 0, or train with `nan='mean'`",
        )
