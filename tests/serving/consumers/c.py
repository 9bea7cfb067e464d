"""A C compiler: many models in one file, since starting the compiler takes longer than compiling a small model."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path

import numpy as np

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
"""Warnings as an engineer would ask for them. Optimising many models takes long; test_c.py does it with a few."""


def library(cases, *flags):
    """All models compiled together, each under a name of its own: model0_score, model1_score, …."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for number, case in enumerate(cases):
            for name in ("model.h", "model.c"):
                text = case.files[name].decode().replace("model_", f"model{number}_").replace('"model.h"', f'"model{number}.h"')
                (place / f"model{number}{name[-2:]}").write_text(text)
        (place / "all.c").write_text("".join(f'#include "model{number}.c"\n' for number in range(len(cases))))
        command = ["cc", *STRICT, *flags, "-shared", "-fPIC", "-o", "all.so", "all.c"]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:3000]
        assert not done.stderr, done.stderr[:3000]
        return ctypes.CDLL(str(place / "all.so"))


def many(function, rows):
    """The scores of a matrix by one call of ``…_score_many``."""
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p)
    function.restype = None
    rows, found = np.ascontiguousarray(rows), np.full(len(rows), np.nan)
    function(rows.ctypes.data, len(rows), rows.shape[1], found.ctypes.data)
    return found


def single(function, rows):
    """The scores of a matrix, row by row."""
    function.argtypes, function.restype = (ctypes.c_void_p,), ctypes.c_double
    rows = np.ascontiguousarray(rows)
    return np.asarray([function(rows[i].ctypes.data) for i in range(len(rows))])


def scores(cases):
    """The scores of all rows at once, which must be those of one row at a time."""
    compiled = library(cases)
    found = []
    for number, case in enumerate(cases):
        found.append(many(compiled[f"model{number}_score_many"], case.matrix))
        np.testing.assert_array_equal(single(compiled[f"model{number}_score"], case.matrix), found[-1])
    return found
