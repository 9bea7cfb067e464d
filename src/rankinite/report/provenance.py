"""Facts to repeat a result by: versions, settings, seeds, and fingerprints of the data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from rankinite.data.dataset import Dataset
from rankinite.data.identity import fingerprint
from rankinite.installed import versions
from rankinite.models.base import trained_of
from rankinite.plurals import data_size
from rankinite.report.document import Facts
from rankinite.report.parts import inside


def version_facts() -> Facts:
    """The versions installed."""
    return Facts("Versions", tuple(versions().items()))


def data_facts(data: Mapping[str, Dataset | None]) -> Facts:
    """Each data set's size and fingerprint."""
    return Facts("Data", tuple((name, _data_text(dataset)) for name, dataset in data.items() if dataset is not None))


def _data_text(data: Dataset) -> str:
    size = data_size(data.queries, data.rows, len(data.feature_names))
    return f"{data.source}: {size}; fingerprint {fingerprint(data)[:16]}"


def model_facts(rankers: Mapping[str, Any]) -> tuple[Facts, ...]:
    """The settings, seeds among them, that rankers and the parts of blends were trained with, where they know them."""
    names = {id(ranker): name for name, ranker in rankers.items() if ranker is not None}
    found: dict[str, Mapping[str, Any]] = {}
    for name, ranker in rankers.items():
        for label, part in inside(name, ranker, names):
            trained = trained_of(part)
            if trained is not None and trained.settings:
                found.setdefault(label, trained.settings)
    entries = tuple((name, _settings_or_reference(name, settings, found)) for name, settings in found.items())
    return (Facts("Settings of the models", entries),) if entries else ()


def _settings_or_reference(name: str, settings: Mapping[str, Any], found: Mapping[str, Mapping[str, Any]]) -> str:
    """Settings as text; where they are those of a ranker listed before, its name."""
    before = list(found.items())[: list(found).index(name)]
    above = {_settings_text(known): other for other, known in reversed(before)}
    text = _settings_text(settings)
    if text in above:
        return f"as {above[text]}"
    base = above.get(_text(settings.get("base")), "")
    return _settings_text({**settings, "base": f"as {base}"}) if base else text


def caller_facts(facts: Mapping[str, Mapping[str, Any]] | None) -> tuple[Facts, ...]:
    """Facts of the caller's own, such as the command: headings, each with names and values."""
    return tuple(
        Facts(str(title), tuple((str(name), _text(value)) for name, value in entries.items() if value is not None))
        for title, entries in (facts or {}).items()
        if entries
    )


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _settings_text(cast("Mapping[str, Any]", value))
    if isinstance(value, Sequence):
        return ", ".join(_text(entry) for entry in cast("Sequence[Any]", value))
    return json.dumps(value) if value is None or isinstance(value, bool | int | float) else str(value)


def _settings_text(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_nested(value)}" for name, value in settings.items())


def _nested(value: Any) -> str:
    return f"({_text(value)})" if isinstance(value, Mapping | list | tuple) else _text(value)
