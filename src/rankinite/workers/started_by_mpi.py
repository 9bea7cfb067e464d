"""Whether MPI started this process. Apart from what uses MPI, so that the command line can ask without loading anything."""

from __future__ import annotations

import os

SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_SIZE", "MV2_COMM_WORLD_SIZE")
"""Variables in which starters of MPI programs tell each process how many there are."""


def started_by_mpi() -> bool:
    """Whether ``mpiexec`` started this process together with others."""
    return any(os.environ.get(name, "").isdecimal() and int(os.environ[name]) > 1 for name in SIZES)
