"""Pictures in files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rankinite.errors import ArgumentError

PICTURES = (".png", ".svg", ".pdf")


def check_picture(path: Path) -> str:
    """The format that a picture's name asks for; refuses a name that asks for none."""
    ending = path.suffix.lower()
    if ending not in PICTURES:
        raise ArgumentError(f"{path}: a picture's name must end in {', '.join(PICTURES)}, which says how to write it.")
    return ending.removeprefix(".")


def save_picture(path: Path, draw: Callable[[], Any]) -> None:
    """Write what ``draw`` gives, a figure or axes."""
    from rankinite.data.io.output_files import write_atomically

    kind = check_picture(path)
    try:
        import matplotlib as mpl

        mpl.use("Agg")  # there may be no screen
    except ImportError:
        pass  # drawing says what to install
    drawn = draw()
    figure = getattr(drawn, "figure", None) or drawn
    try:
        with write_atomically(path) as handle:
            figure.savefig(handle, format=kind, dpi=150)
    finally:
        from matplotlib import pyplot as plt

        plt.close(figure)  # pyplot keeps figures until they are closed
