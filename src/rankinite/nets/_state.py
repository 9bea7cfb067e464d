"""Arguments of the kernels of nets.

Notation, for a net of L layers with D weights:

    sizes       (L + 1,) inputs, hidden units of each layer, 1
    weights     (D,) all layers, one after the other: W as (outputs, inputs), then the biases (outputs,)
    units       (Σ sizes, m): the inputs, then the units of each layer, for the documents of a query, m being their number
                filled up to whole blocks. Documents are adjacent, so loops over them run in SIMD.
    pulls       (Σ sizes, m): what raising each unit would add to Σ_i λ_i s_i

Hidden units are tanh, the output is linear.
"""

from __future__ import annotations

from typing import NamedTuple

from rankinite.engine.kernel import Floats, Indices


class Frame(NamedTuple):
    """A net but for its weights."""

    sizes: Indices
    centre: Floats
    """(inputs,) what is subtracted from each feature first, and replaces a missing value."""
    scale: Floats
    """(inputs,) what it is then multiplied by; 0 leaves it out."""


class Steps(NamedTuple):
    """How weights follow a gradient."""

    rate: float
    l2: float
    adam: bool
    moments: Floats
    """(2, D) running means of the gradient and of its square, for Adam."""
    taken: Indices
    """(1,) the number of steps taken."""


class RowArrays(NamedTuple):
    """Arrays with one number per row of the data."""

    start: Floats
    """The scores of the base; 0 without one."""
    scores: Floats
    push: Floats
    curvature: Floats
