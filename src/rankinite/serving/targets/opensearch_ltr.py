"""OpenSearchLTR: the learning-to-rank plugin of OpenSearch, whose rule for missing values changed three times.

From 3.2 to 3.7 a patch release decides: as first released, these versions send a missing feature right at every split; since
July 2026 their branches follow the split, as 3.8 does. The first such patch releases are not known here, so every patch above 0
is taken for one, and a note says so. Where a missing feature counts as 0, the form of RankLib is right for all of them.
"""

from __future__ import annotations

from rankinite.serving.plan import ExportPlan
from rankinite.serving.targets.engine_versions import check_known
from rankinite.serving.targets.ltr_plugin import RANKLIB, XGBOOST, LtrPlugin
from rankinite.serving.targets.xgboost_dump import MissingRule

RIGHT, DIRECTIONS = (3, 2), (3, 8)
"""Before the first, a missing feature is 0; before the second, it goes right at every split; then where the split says."""


class OpenSearchLTR(LtrPlugin):
    """OpenSearch with its plugin."""

    name = "opensearch-ltr"
    title = "OpenSearch with its learning-to-rank plugin"
    engine = "OpenSearch"
    directions = "3.8 and later, and in patch releases of 3.2 to 3.7 since July 2026"
    versions = "the version of OpenSearch, from 1.0 to 3.x, with its patch from 3.2 to 3.7, as in 3.4.1"

    def check_version(self, version: tuple[int, ...]) -> None:
        """Refuse versions without the plugin."""
        check_known(version, self.engine, (1, 0), 3)

    def missing_rule(self, version: tuple[int, ...]) -> MissingRule:
        """0 up to 3.1, right from 3.2 to 3.7 as first released, and the split's direction in patch releases and from 3.8 on."""
        if not version or version >= DIRECTIONS or (version > RIGHT and version[2:3] > (0,)):
            return "direction"
        return "zero" if version < RIGHT else "right"

    def zero_form(self, version: tuple[int, ...]) -> str:
        """RankLib's from 3.2 to 3.7, whose releases differ in XGBoost's models."""
        return RANKLIB if RIGHT <= version < DIRECTIONS else XGBOOST

    def assumption(self, plan: ExportPlan) -> str:
        """That it is 3.8 where no version was given, and a patch release since July 2026 where such a number was."""
        if not plan.version:
            return "OpenSearch 3.8 or later is assumed, which sends a missing feature where a split says; earlier ones may not"
        if plan.missing == "zero" or plan.version >= DIRECTIONS or self.missing_rule(plan.version) != "direction":
            return ""
        given = ".".join(map(str, plan.version))
        return (
            f"OpenSearch {given} is taken for a release since July 2026, which sends a missing feature where a split says; for "
            f"an earlier one export with the engine version {plan.version[0]}.{plan.version[1]}.0"
        )
