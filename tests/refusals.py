"""How tests say which error they expect: by the fields it carries, so that its words can change."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from rankinite.errors import RankiniteError


@contextmanager
def refused(kind: type[RankiniteError], **fields: object) -> Generator[pytest.ExceptionInfo[RankiniteError]]:
    """Expect an error of a kind with these fields (place, owner, setting, value): equal, but a place may be the end of one.

    >>> with refused(RankiniteError, place="b.txt:3", value="x"):
    ...     raise RankiniteError("'x' is not a number", place="/a/b.txt:3", value="x", remedy="Give a number")
    """
    with pytest.raises(kind) as caught:
        yield caught
    error = caught.value
    for name, expected in fields.items():
        found = getattr(error, name)
        same = found.endswith(str(expected)) if name == "place" else type(found) is type(expected) and found == expected
        assert same, f"{name} is {found!r}, not {expected!r}: {error}"
    assert error.rule or error.remedy or error.setting, f"neither rule nor remedy: {error}"
