"""MLflowFolder: a folder that MLflow loads as a Python function. It holds the ranker itself, of whatever kind.

The folder needs rankinite where it is served. Rankers whose scores depend on the other documents of a query take their rows'
queries from a column ``qid``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np

from rankinite.engine.kernel import Reals
from rankinite.errors import ArgumentError
from rankinite.evaluation.scorers import Scorer
from rankinite.installed import versions
from rankinite.models.base import Fitted, Ranker, names_of, needs_queries, stored_part
from rankinite.models.feature import Feature
from rankinite.models.files.container import model_bytes
from rankinite.models.files.loading import loaded
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.models.query_summaries import QuerySummaries
from rankinite.serving.categories import FILE, with_shared_codes
from rankinite.serving.flattening import QUERY, Flat, Leaf, Term, flatten, no_name, not_ours
from rankinite.serving.float32 import shortest
from rankinite.serving.folder import MODEL
from rankinite.serving.mlflow_loader import ServedRanker
from rankinite.serving.plan import ExportPlan
from rankinite.serving.proof import named_rows, own_scores
from rankinite.serving.target import Files, Target, Twin

DESCRIPTION, REQUIREMENTS, CONDA, ENVIRONMENT = "MLmodel", "requirements.txt", "conda.yaml", "python_env.yaml"
LOADER = "rankinite.serving.mlflow_loader"
MLFLOW = "mlflow-skinny>=3.0"


class MLflowFolder(Target):
    """A folder for ``mlflow.pyfunc.load_model``, whose ``predict`` takes a data frame and gives the ranker's own scores."""

    name = "mlflow"
    title = "an MLflow folder, for every kind of ranker; rankinite scores there"
    categories = "names"
    tells_unknown = True

    def flattened(self, ranker: Ranker) -> Flat:
        """What the ranker is made of, by which rows are made; a forest alone is one."""
        if isinstance(ranker, Forest):
            return flatten(ranker)
        by_query = needs_queries(ranker)
        names = (*names_of(ranker), QUERY) if by_query else names_of(ranker)
        coded, categories = with_shared_codes(ranker)
        terms = tuple(Term(1.0, leaf) for leaf in _leaves(coded))
        return Flat(names, 0.0, terms, same_bits=True, whole=True, by_query=by_query, categories=categories)

    def check(self, flat: Flat) -> None:
        """Take every ranker."""

    def check_features(self, names: tuple[str, ...]) -> None:
        """Refuse a feature that is called like the column of the queries."""
        if names.count(QUERY) > 1:
            raise ArgumentError(
                f"a feature is called {QUERY!r}",
                value=QUERY,
                rule="Scores depend on the query, which has a column of this name",
                remedy="Give the feature another name in the training data",
            )

    def write(self, plan: ExportPlan) -> Files:
        """The model file, what MLflow reads of it, and the packages that it needs."""
        found = versions()
        python = found.pop("Python")
        needed = [*(f"{package}=={version}" for package, version in found.items()), "pandas", MLFLOW]
        return {
            DESCRIPTION: _description(plan, python).encode(),
            MODEL: model_bytes(stored_part(plan.ranker, "the ranker")),
            REQUIREMENTS: "".join(f"{line}\n" for line in needed).encode(),
            CONDA: _conda(python, needed).encode(),
            ENVIRONMENT: f"python: {python}\nbuild_dependencies:\n- pip\ndependencies:\n- -r {REQUIREMENTS}\n".encode(),
        }

    def twin(self, files: Mapping[str, bytes], plan: ExportPlan) -> Twin:
        """The model file loaded, and called as the description says."""
        import pyarrow as pa

        lines = (line.strip().partition(": ") for line in files[DESCRIPTION].decode().splitlines())
        config = {key: value for key, _, value in lines}
        served = ServedRanker(loaded(files[config["data"]], MODEL), config)
        return lambda matrix: served.predict(pa.table(named_rows(plan, matrix)))

    def predicted(self, plan: ExportPlan, matrix: Reals) -> Reals:
        """The ranker's own scores, and the shift."""
        own = own_scores(plan, matrix)
        return own + plan.shift if plan.shift else own

    def companions(self, plan: ExportPlan) -> Files:
        """A program that has MLflow score the sample."""
        return {"check.py": (CHECK_NAMES if plan.categories else CHECK).encode()}

    def notes(self, plan: ExportPlan, files: Mapping[str, bytes]) -> list[str]:
        """What is asked of the rows."""
        notes = [f"rankinite scores there: {REQUIREMENTS} lists what it needs"]
        if plan.flat.by_query:
            notes.append(f"rows have their query in the column {QUERY!r}, and all documents of a query are given together")
        return notes


CHECK = '''"""Scores of the sample by MLflow: run this, then: rankinite check . --scores served.txt"""

import csv

import mlflow.pyfunc
import numpy as np
import pandas as pd

with open("sample.csv", encoding="utf-8", newline="") as file:
    head, *lines = csv.reader(file)
rows = pd.DataFrame([[float(value or "nan") for value in line] for line in lines], columns=head)
np.savetxt("served.txt", mlflow.pyfunc.load_model(".").predict(rows), fmt="%.17g")
'''


CHECK_NAMES = f'''"""Scores of the sample by MLflow: run this, then: rankinite check . --scores served.txt"""

import csv
import json

import mlflow.pyfunc
import numpy as np
import pandas as pd

with open("{FILE}", encoding="utf-8") as file:
    categories = json.load(file)["categories"]
with open("sample.csv", encoding="utf-8", newline="") as file:
    head, *lines = csv.reader(file)
columns = dict(zip(head, zip(*lines)))
rows = pd.DataFrame({{
    name: [value or None for value in values] if name in categories else [float(value or "nan") for value in values]
    for name, values in columns.items()
}})
np.savetxt("served.txt", mlflow.pyfunc.load_model(".").predict(rows), fmt="%.17g")
'''


def _description(plan: ExportPlan, python: str) -> str:
    """What MLflow reads first; without names of runs or times, so that the same ranker gives the same bytes."""
    lines = [
        "flavors:",
        "  python_function:",
        "    config:",
        f"      served_missing: {plan.missing}",
        f"      shift: {shortest(np.float64(plan.shift))}",
        f"    data: {MODEL}",
        "    env:",
        f"      conda: {CONDA}",
        f"      virtualenv: {ENVIRONMENT}",
        f"    loader_module: {LOADER}",
        f"    python_version: {python}",
    ]
    return "\n".join([*lines, ""])


def _conda(python: str, needed: list[str]) -> str:
    lines = ["name: rankinite", "channels:", "- conda-forge", "dependencies:", f"- python={python}", "- pip", "- pip:"]
    return "\n".join([*lines, *(f"  - {line}" for line in needed), ""])


def _leaves(ranker: Scorer) -> Iterator[Leaf]:
    """The rankers at the bottom of a ranker; refuses what cannot be saved, or found by name."""
    match ranker:
        case Feature(feature=int()):
            raise no_name(ranker)
        case Forest() | Linear() | Net() | Feature():
            yield ranker
        case QuerySummaries():
            yield from _leaves(ranker.top)
            for source in ranker.sources:
                yield from _leaves(source)
        case Fitted():
            for part in cast("tuple[Any, ...]", ranker.inside()):
                yield from _leaves(part.ranker)
        case _:
            raise not_ours(ranker)
