"""Feature queries: how an engine computes each feature, from a file of name → query."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from rankinite.data.io.streams import read_whole
from rankinite.data.io.text_files import AnyPath
from rankinite.errors import ArgumentError, DataError, cut, listed, quoted
from rankinite.plurals import counted


def read_feature_queries(
    given: Mapping[str, Any] | AnyPath | None, names: Mapping[str, str], used: tuple[str, ...]
) -> dict[str, Any]:
    """The queries of the features used; refuses a file that is not JSON, and a query for what is no feature of the model.

    ``names``: the model's names → those there. Keys may be either; ``used`` and the result have those there.
    """
    if given is None:
        return {}
    queries = dict(given) if isinstance(given, Mapping) else _from_file(Path(given))
    unknown = [key for key in queries if key not in names and key not in names.values()]
    if unknown:
        raise ArgumentError(
            f"has a query for {listed(unknown, 5)}, which the model does not have",
            setting="feature_queries",
            value=unknown[0],
            rule=f"The features are {listed(list(names))}",
            remedy="Use the model's names as keys",
        )
    found = {names.get(key, key): query for key, query in queries.items()}
    return {name: found[name] for name in used if name in found}


def _from_file(path: Path) -> dict[str, Any]:
    try:
        found: Any = json.loads(read_whole(path))
    except (ValueError, RecursionError) as error:
        raise DataError(f"this is not JSON ({cut(error)})", place=path, remedy='Give {"feature": query, …}') from error
    if not isinstance(found, dict):
        raise DataError(f"{quoted(found)} is not a JSON object", place=path, value=found, remedy='Give {"feature": query, …}')
    return cast("dict[str, Any]", found)


def missing_queries_note(plan_names: tuple[str, ...], queries: Mapping[str, Any], file: str) -> list[str]:
    """A note on features whose query is a placeholder."""
    missing = [name for name in plan_names if name not in queries]
    if not missing:
        return []
    return [f"{file} has placeholders for the queries of {len(missing)} of {counted(len(plan_names), 'feature')}: fill them in"]
