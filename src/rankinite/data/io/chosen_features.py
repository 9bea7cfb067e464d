"""Chosen features of sources whose features are known by position: LETOR files and matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rankinite.data.categories import with_categories
from rankinite.data.dataset import Dataset
from rankinite.data.io.name_patterns import absent_names, is_pattern, resolved
from rankinite.data.io.read_settings import ReadSettings
from rankinite.data.io.renaming import renamed_data
from rankinite.data.joining import check_same_features


def with_features(data: Dataset, settings: ReadSettings, place: Callable[[int], str]) -> Dataset:
    """The features that are chosen, for sources whose features are known by position, and those that are categories coded."""
    own = [name for name in settings.categories if not isinstance(name, str) or name in data.feature_names]
    data = with_chosen_features(with_categories(data, own, place), settings)
    return with_categories(data, [name for name in settings.category_names() if name not in own], place)  # names of ``like``


def with_chosen_features(data: Dataset, settings: ReadSettings) -> Dataset:
    """For sources whose features are known by position."""
    data = renamed_data(data, settings.renaming)
    if settings.features is not None or settings.ignore:
        chosen = _positions(data, data.feature_names if settings.features is None else settings.features)
        ignored = frozenset(_positions(data, settings.ignore))
        data = data.select_features([feature for feature in chosen if feature not in ignored])
    if settings.like is None or settings.like.feature_names == data.feature_names:
        return data
    names = settings.like.feature_names
    if len(names) == len(data.feature_names) and not all(name.isdecimal() for name in names):
        return data.rename_features(names)
    if names != data.feature_names[: len(names)] and set(names) <= set(data.feature_names):
        return data.select_features(names)  # a selection, not merely fewer features
    check_same_features(settings.like, data)
    return data


def _positions(data: Dataset, features: Sequence[int | str]) -> list[int]:
    """The positions, each once, of features given by position, name or pattern."""
    names, found = frozenset(data.feature_names), dict[int, None]()
    for feature in features:
        meant: Sequence[int | str] = [feature]
        if isinstance(feature, str) and feature not in names:
            meant, absent = resolved([feature], data.feature_names)
            if absent and is_pattern(absent[0]):
                raise absent_names(absent, data.feature_names, data.source)
            meant = [*meant, *absent]
        found |= dict.fromkeys(data.feature_index(one) for one in meant)
    return list(found)


def declared_width(settings: ReadSettings) -> int | None:
    """The number of features a LETOR file must have: that of ``like``, unless it is a selection of numbered ones."""
    if settings.like is None or settings.features is not None or settings.ignore or settings.renaming:
        return None
    names = settings.like.feature_names
    first = 0 if settings.zero_based else 1
    in_order = names == tuple(str(number) for number in range(first, first + len(names)))
    return len(names) if in_order or not all(name.isdecimal() for name in names) else None
