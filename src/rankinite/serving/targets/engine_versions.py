"""Versions of engines: which ones files can be written for."""

from __future__ import annotations

from rankinite.errors import ArgumentError


def check_known(version: tuple[int, ...], engine: str, first: tuple[int, int], last_major: int) -> None:
    """Refuse versions without a minor number, before the first, or of a later generation than is known."""
    shown = ".".join(map(str, version))
    known = f"Versions from {first[0]}.{first[1]} to {last_major}.x are known"
    if len(version) < 2:
        raise ArgumentError(
            f"does not say which {engine} {shown} it is",
            setting="engine_version",
            value=shown,
            rule="What a missing feature counts as has changed between minor versions",
            remedy=f"Give it as in {first[0]}.{first[1]}",
        )
    if version < first or version[0] > last_major:
        raise ArgumentError(
            f"is no version of {engine} that this is written for", setting="engine_version", value=shown, rule=known
        )
