"""Pictures: their file formats, and how they are written."""

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
        raise ArgumentError(
            "the name does not tell how to write the picture",
            place=path,
            value=ending,
            remedy=f"Give a name that ends in {', '.join(PICTURES)}",
        )
    return ending.removeprefix(".")


def save_picture(path: Path, draw: Callable[[], Any]) -> None:
    """Write the figure or axes that ``draw`` returns."""
    from rankinite.data.io.output_files import write_atomically

    kind = check_picture(path)
    try:
        import matplotlib as mpl

        mpl.use("Agg")  # there may be no screen
    except ImportError:
        pass  # drawing raises an error that names what to install
    drawn = draw()
    figure = getattr(drawn, "figure", None) or drawn
    try:
        with write_atomically(path) as handle:
            figure.savefig(handle, format=kind, dpi=150)
    finally:
        from matplotlib import pyplot as plt

        plt.close(figure)  # pyplot keeps figures until they are closed
