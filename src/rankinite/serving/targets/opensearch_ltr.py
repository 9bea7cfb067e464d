"""OpenSearchLTR: the learning-to-rank plugin of OpenSearch, whose rule for missing values changed three times."""

from __future__ import annotations

from rankinite.serving.targets.engine_versions import check_known
from rankinite.serving.targets.ltr_plugin import LtrPlugin
from rankinite.serving.targets.xgboost_dump import MissingRule

RIGHT, DIRECTIONS = (3, 2), (3, 8)
"""Before the first, a missing feature is 0; before the second, it goes right at every split; then where the split says."""


class OpenSearchLTR(LtrPlugin):
    """OpenSearch with its plugin."""

    name = "opensearch-ltr"
    title = "OpenSearch with its learning-to-rank plugin"
    engine = "OpenSearch"
    directions_since = ".".join(map(str, DIRECTIONS))
    versions = "the version of OpenSearch, from 1.0 to 3.x"

    def check_version(self, version: tuple[int, ...]) -> None:
        """Refuse versions without the plugin."""
        check_known(version, self.engine, (1, 0), 3)

    def missing_rule(self, version: tuple[int, ...]) -> MissingRule:
        """0 up to 3.1, right from 3.2 to 3.7, the split's direction from 3.8 on."""
        if not version or version >= DIRECTIONS:
            return "direction"
        return "zero" if version < RIGHT else "right"
