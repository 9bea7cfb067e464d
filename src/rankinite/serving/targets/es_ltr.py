"""ElasticsearchLTR: the learning-to-rank plugin of Elasticsearch, which is released for every version of it."""

from __future__ import annotations

from rankinite.serving.targets.engine_versions import check_known
from rankinite.serving.targets.ltr_plugin import LtrPlugin
from rankinite.serving.targets.xgboost_dump import MissingRule

DIRECTIONS = (8, 12)
"""Plugins for Elasticsearch from here on follow a split's direction; they are later than January 2024, when it was added. Those
before take a missing feature for 0; for 8.11 there may be both, so that it counts as before."""


class ElasticsearchLTR(LtrPlugin):
    """Elasticsearch with the plugin by OpenSource Connections; Elastic's own way is another target."""

    name = "es-ltr"
    title = "Elasticsearch with its learning-to-rank plugin"
    engine = "Elasticsearch"
    directions = "8.12 and later"
    versions = "the version of Elasticsearch, from 6.0 to 9.x"

    def check_version(self, version: tuple[int, ...]) -> None:
        """Refuse versions without the plugin."""
        check_known(version, self.engine, (6, 0), 9)

    def missing_rule(self, version: tuple[int, ...]) -> MissingRule:
        """0 before 8.12, the split's direction since."""
        return "zero" if version and version < DIRECTIONS else "direction"
