"""Matplotlib without a screen, for the tests of drawings."""

from __future__ import annotations

import io
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt


@pytest.fixture
def close_figures():
    yield
    plt.close("all")


def rendered(axes):
    """The picture as PNG bytes: drawing everything must not fail."""
    canvas = io.BytesIO()
    axes.figure.savefig(canvas, format="png")
    return canvas.getvalue()


def bars(axes):
    """Every dot with its name and its interval, where one is drawn: name → (value, interval)."""
    names = dict(zip(axes.get_yticks(), (label.get_text() for label in axes.get_yticklabels()), strict=True))
    found = {name: [None, None] for name in names.values()}
    for line in axes.get_lines():
        x, y = line.get_xdata(), line.get_ydata()
        if line.get_marker() == "o":
            found[names[y[0]]][0] = x[0]
        elif y[0] == y[1] and y[0] in names:
            found[names[y[0]]][1] = tuple(x)
    return {name: tuple(told) for name, told in found.items()}
