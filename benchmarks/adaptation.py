"""Adapting a ranker to a new domain: every method, what is chosen, and what others offer, on real and artificial pairs.

    RANKINITE_DATA=… python benchmarks/adaptation.py [--cells mq2007-mq2008 …] [--draws 5] [--threads 2] [--limit-minutes 60]
    … python benchmarks/adaptation.py --kind rivals
    … python benchmarks/adaptation.py --report

A cell is a pair of domains, a number of judged target queries and a draw of them; it takes about a minute. Finished cells are
kept in .bench/adaptation, so an interrupted run goes on where it was, and several processes may work at once. ``--kind rivals``
fits what users of LightGBM, XGBoost and CatBoost would build. What the papers found is asked by ``python -m papers``.
``--report`` fits nothing: it writes docs/adaptation-results.md from what is kept, and puts that into benchmarks/cells, from
where a run on another machine goes on.
Without RANKINITE_DATA only the artificial pairs are tried. Cells made by older code of rankinite are kept; ``--redo`` makes
them anew.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import rankinite as rk
from _adaptation_cells import MEASURES, Cell, archive, cells_of, fit_methods
from _adaptation_pairs import PAIRS
from _adaptation_report import write_page
from _adaptation_rivals import fit_rivals
from _measure import SCRATCH, SMOKE, claimed, sized
from rankinite.installed import code_key

PAGE = (SMOKE or Path(__file__).parents[1] / "docs") / "adaptation-results.md"
KINDS = {"methods": fit_methods, "rivals": fit_rivals}
"""What is fitted in a cell."""


def known(patterns: list[str]) -> list[str]:
    """The pairs that can be tried and are asked for."""
    names = [name for name in PAIRS if any(fnmatch(name, pattern) for pattern in patterns)]
    if not names:
        raise SystemExit(f"no pair is called {' or '.join(patterns)}. The pairs are {', '.join(PAIRS)}.")
    if os.environ.get("RANKINITE_DATA"):
        return names
    left = [name for name in names if PAIRS[name].real]
    if left:
        print(f"RANKINITE_DATA does not name a folder with their data; left out: {', '.join(left)}.", flush=True)
    return [name for name in names if name not in left]


def work(cells: list[Cell], fit: Any, threads: int, until: float, code: str | None) -> int:
    """Fit all cells that are not there yet and that no other process is at; how many failed."""
    failed = 0
    for place, cell in enumerate(cells, 1):
        if time.monotonic() > until:
            print(f"The time is up before cell {place} of {len(cells)}; run it again to go on.", flush=True)
            break
        with claimed(cell.path) as ours:
            if not ours or cell.kept(code=code):
                continue
            try:
                print(f"[{place}/{len(cells)}] {cell}: {said(cell.run(fit, threads))}", flush=True)
            except rk.RankiniteError as problem:
                failed += 1
                print(f"[{place}/{len(cells)}] {cell}: FAILED, {problem}", flush=True)
    return failed


def said(found: dict[str, Any]) -> str:
    """A line about a finished cell."""

    def mean(name: str) -> float:
        values = [value for value in found["systems"][name]["test"][str(MEASURES[0])] if value is not None]
        return sum(values) / len(values)

    spent = f"{found['seconds']:.0f} s"
    if "chosen" not in found:
        return f"{len(found['systems'])} systems, {spent}"
    others = ", ".join(f"{name} {mean(name):.4f}" for name in ("background", "target"))
    return f"{found['chosen']} {mean(found['chosen']):.4f} ({others}), {spent}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--cells",
        nargs="*",
        default=sized(["*"], ["cran-cisi", "synthetic-small"]),
        metavar="PAIR",
        help=f"Only these of {', '.join(PAIRS)}.",
    )
    parser.add_argument("--draws", type=int, default=sized(5, 1), help="Draws of the target sample.")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit-minutes", type=float, default=float("inf"), help="Begin no cell after so long.")
    parser.add_argument("--kind", choices=list(KINDS), default="methods", help="What to fit in every cell.")
    parser.add_argument("--redo", action="store_true", help="Make cells of older code anew.")
    parser.add_argument("--report", action="store_true", help="Only write the page from the cells that are kept.")
    parser.add_argument("--folder", type=Path, default=SCRATCH / "adaptation", help="Where cells are kept.")
    parser.add_argument("--page", type=Path, default=PAGE, help="Where the page goes.")
    given = parser.parse_args()
    if given.report:
        write_page(given.folder, given.page)
        for kind in KINDS:
            archive(kind, given.folder)
        return
    code = code_key()  # of what is imported now, not of what it may become while this runs
    cells = cells_of(given.kind, known(given.cells), given.draws, given.folder)
    until = time.monotonic() + 60 * given.limit_minutes
    sys.exit(1 if work(cells, KINDS[given.kind], given.threads, until, code if given.redo else None) else 0)


if __name__ == "__main__":
    main()
