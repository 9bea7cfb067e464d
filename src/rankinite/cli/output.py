"""Results on standard output, and per-query values in files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankinite.cli.options import ResultFormat
from rankinite.safe_text import for_terminal

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.engine.kernel import Floats
    from rankinite.evaluation.compare import Comparison
    from rankinite.grid import Grid


def echo(text: str) -> None:
    """Print without a second newline at the end; names from data and files do nothing to the terminal."""
    print(for_terminal(text.removesuffix("\n")))


def summary(path: Path, data: Dataset) -> dict[str, Any]:
    """What was written where."""
    return {"path": str(path), "queries": data.queries, "rows": data.rows, "features": len(data.feature_names)}


def echo_json(content: object) -> None:
    """Print as JSON."""
    echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


def laid_out(grid: Grid, layout: ResultFormat, csv_text: Callable[[], str] | None = None) -> str:
    """A table in the layout asked for; ``csv_text`` gives its CSV where that holds more digits than the table shows."""
    match layout:
        case "markdown":
            return grid.markdown()
        case "latex":
            return grid.latex()
        case "csv":
            return (csv_text or grid.csv)()
        case _:
            return grid.text()


def echo_comparison(result: Comparison, layout: ResultFormat, *, pairs: bool) -> None:
    """Print a comparison; ``pairs``: with every pair of systems."""
    match layout:
        case "text":
            echo(result.to_text(pairs=pairs))
        case "markdown":
            echo(result.to_markdown(pairs=pairs))
        case "latex":
            echo(result.to_latex(pairs=pairs))
        case "csv":  # one table per stream
            echo(result.pairs_to_csv() if pairs else result.to_csv())
        case "json":  # holds the pairs anyway
            echo(result.to_json())


def write_per_query(path: Path, data: Dataset, columns: Mapping[str, Floats]) -> None:
    """One line per query, one column per measure; skipped queries have empty cells."""
    from rankinite.data.io.output_files import write_atomically

    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["qid", *columns])
    for query, qid in enumerate(data.qids.tolist()):
        values = [float(column[query]) for column in columns.values()]
        writer.writerow([qid, *("" if isnan(value) else repr(value) for value in values)])
    with write_atomically(path) as handle:
        handle.write(text.getvalue().encode())
