"""Conventions: how other tools count, by name, so that their numbers can be reproduced and compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from rankinite.errors import ArgumentError
from rankinite.measures.base import Measure
from rankinite.measures.ranking import Ties


@dataclass(frozen=True)
class Convention:
    """What a tool does where tools differ."""

    name: str
    ties: Ties = "expected"
    """What tied scores mean."""
    skip_one_grade: bool = True
    """Leave out queries whose documents all have one grade: every ranker does equally well on them."""
    empty: float | None = None
    """What a query counts where a measure is undefined (no relevant document); None leaves it out."""
    single_precision: bool = False
    """Scores are compared as 32-bit floats, so that closer ones tie."""
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """Measure name → settings it has in this tool, where the measure has the default."""

    def adapt(self, measure: Measure) -> Measure:
        """The measure as the tool computes it; a setting that is not the default is left alone."""
        settings = self.settings.get(getattr(measure, "name", ""), {})
        defaults = {f.name: f.default for f in fields(measure)} if settings else {}  # type: ignore[arg-type]
        changed = {key: value for key, value in settings.items() if key in defaults and getattr(measure, key) == defaults[key]}
        return replace(measure, **changed) if changed else measure  # type: ignore[type-var]


_LINEAR = {"ndcg": {"gains": "linear"}, "dcg": {"gains": "linear"}, "avendcg": {"gains": "linear"}}
_LETOR = {name: {"discount": "letor", "short": "zero"} for name in ("ndcg", "dcg", "avendcg")}
_REACHABLE = {"ap": {"of": "reachable"}}

CONVENTIONS: Mapping[str, Convention] = {
    c.name: c
    for c in (
        Convention("rankinite"),
        Convention("lightgbm", ties="order", skip_one_grade=False, empty=1.0, settings=_REACHABLE),
        Convention("xgboost", ties="order", skip_one_grade=False, empty=1.0, settings={**_REACHABLE, "p": {"of": "returned"}}),
        Convention("ranklib", ties="order", skip_one_grade=False, empty=0.0, settings={"p": {"of": "returned"}}),
        Convention(
            "trec",
            ties="doc_id",
            skip_one_grade=False,
            empty=0.0,
            single_precision=True,
            settings={**_LINEAR, "rbp": {"p": 0.9}},
        ),
        Convention("sklearn", ties="expected", skip_one_grade=False, empty=0.0, settings=_LINEAR),
        Convention("letor", ties="order", skip_one_grade=False, empty=0.0, settings=_LETOR),
    )
}


def convention(chosen: str | Convention) -> Convention:
    """The convention of that name; a Convention is returned as it is."""
    if isinstance(chosen, Convention):
        return chosen
    if chosen not in CONVENTIONS:
        raise ArgumentError(
            "is unknown",
            setting="convention",
            value=chosen,
            rule=f"Known are {', '.join(CONVENTIONS)}",
            remedy="Give one of them, or a Convention of your own",
            shell_remedy="Give one of them",
        )
    return CONVENTIONS[chosen]
