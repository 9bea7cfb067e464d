"""Environments in which NumPy, the C library, BLAS and the compiler do without the newer instructions of this processor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

OLD_LIBRARIES = {
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4,-AVX512F,-AVX_Usable,-AVX2_Usable,-FMA_Usable",
    "OPENBLAS_CORETYPE": "Nehalem",
}
PLAIN_PYTHON = OLD_LIBRARIES | {"NUMBA_DISABLE_JIT": "1"}
"""Floats are added and multiplied one by one: nothing has put them in another order."""
PROCESSORS = {
    "an old processor": OLD_LIBRARIES | {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    "an old processor without the compiler": PLAIN_PYTHON,
}


def results_with(environment: dict[str, str]) -> dict[str, str]:
    """What ``determinism.everything`` prints there, by name."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "determinism.everything"],
        cwd=Path(__file__).parents[1],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split("\t") for line in done.stdout.splitlines())
