"""Refusals: the methods that could not be tried, with the error that explains each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rankinite.errors import RankiniteError


class Refusals(Mapping[str, str]):
    """Why methods could not be tried, as text by name; ``errors`` holds what the texts are written from."""

    def __init__(self, errors: Mapping[str, RankiniteError], written: Callable[[RankiniteError], str] = str) -> None:
        self.errors = dict(errors)
        self._written = written

    def __getitem__(self, name: str) -> str:
        return self._written(self.errors[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.errors)

    def __len__(self) -> int:
        return len(self.errors)

    def __repr__(self) -> str:
        return repr(dict(self))


def reasons(errors: Mapping[str, RankiniteError], *, at_shell: bool = False) -> str:
    """All refusals in one text for another error, which spells their settings."""
    texts: list[str] = []
    for name, error in errors.items():
        remedy = (at_shell and error.shell_remedy) or error.remedy
        texts.append(error.written([name, error.place], "", remedy, lambda code: f"`{code}`"))
    return " ".join(texts)
