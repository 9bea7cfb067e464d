"""Every case on every kind of group: ``python -m joint``. Writes docs/same-bytes.md; ends with 1 if a byte differs."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import distributed

import rankinite as rk
from joint.cases import CASES, from_folders, in_memory, write_folders
from joint.places import TESTS, on_dask, over_mpi

MEMBERS, THREADS = (1, 2, 3), (1, 2)
PAGE = TESTS.parent / "docs" / "same-bytes.md"
TEXT = """# The same bytes, whoever trains

`make cluster-test` trains every case below from data in memory, from folders of bins, by 1, 2 and 3 members on Dask's workers
(XGBoost's collective), and by 1, 2 and 3 processes of MPI, each with 1 and 2 threads, and compares the SHA-256 of the model
files with that of one thread and data in memory. This page is written by the program.

{date}, {machine}, {versions}. **{same} of {all} models have the same bytes.**

Data: {queries} training queries of 20 documents with 70 features and missing values, 20 validation queries; edges are made from
a sample of {sample} rows. *Uneven*: queries of 3 documents, then of 20. *Apart*: the last third of the rows has no values at
all, so that one member's rows never reach most nodes. *Categories*: two features of about 30, or of more than 255, some of them
in one member's rows alone, or in one of training and validation data; the base has others.

| case | {places} |
|---|{rule}|
{rows}
"""


def found_everywhere(root: Path) -> dict[str, dict[str, str]]:
    """Place → case → digest."""
    names = list(CASES)
    found: dict[str, dict[str, str]] = {}
    for threads in THREADS:
        with rk.threads(threads):
            found[f"memory, {threads} t"] = {name: in_memory(case) for name, case in CASES.items()}
            found[f"bins, {threads} t"] = {name: from_folders(case, root, 1) for name, case in CASES.items()}
        for members in MEMBERS:
            print(f"MPI, {members} × {threads} threads", flush=True)
            found[f"MPI {members} × {threads} t"] = over_mpi(names, root, members, threads)
        with distributed.LocalCluster(
            n_workers=max(MEMBERS), threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as local, distributed.Client(local, set_as_default=False) as client:  # fmt: skip
            for members in MEMBERS:
                print(f"Dask, {members} × {threads} threads", flush=True)
                found[f"Dask {members} × {threads} t"] = on_dask(names, root, members, client, threads)
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for kind in sorted({case.data for case in CASES.values()}):
            for shards in MEMBERS:
                write_folders(root, kind, shards)
        found = found_everywhere(root)
    wanted = found["memory, 1 t"]
    differing = [(place, case) for place, models in found.items() for case in CASES if models[case] != wanted[case]]
    for place, case in differing:
        print(f"{place}: {case} differs")
    PAGE.write_text(_page(found, wanted))
    sys.exit(1 if differing else 0)


def _page(found: dict[str, dict[str, str]], wanted: dict[str, str]) -> str:
    same = {place: {case: models[case] == wanted[case] for case in CASES} for place, models in found.items()}
    rows = [f"| {case} | " + " | ".join("=" if same[place][case] else "**≠**" for place in found) + " |" for case in CASES]
    libraries = ("numpy", "numba", "distributed", "xgboost-cpu", "mpi4py", "mpich")
    return TEXT.format(
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        machine=f"{os.cpu_count()} cores, {platform.machine()}",
        versions=", ".join(f"{name} {version(name)}" for name in libraries),
        same=sum(one for models in same.values() for one in models.values()),
        all=len(CASES) * len(found),
        queries=60,
        sample=400,
        places=" | ".join(found),
        rule="|".join("---" for _ in found),
        rows="\n".join(rows),
    )


if __name__ == "__main__":
    main()
