"""LightGBM itself."""

from __future__ import annotations

import lightgbm


def scores(cases):
    """``Booster.predict`` of the text."""
    return [lightgbm.Booster(model_str=case.files["model.txt"].decode()).predict(case.matrix) for case in cases]
