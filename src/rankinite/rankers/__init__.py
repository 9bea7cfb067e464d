"""A former name, until 0.3."""

raise ImportError(
    "rankinite.rankers has become rankinite.models and rankinite.learners. What is public is in rankinite itself; "
    "match_features among it."
)
