"""Missing: what nets and linear rankers do about missing values."""

from __future__ import annotations

from typing import Literal

Missing = Literal["refuse", "mean"]
"""What a missing value (NaN) is: refused, or taken for the feature's mean in the training data."""
