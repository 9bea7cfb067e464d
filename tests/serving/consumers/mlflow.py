"""MLflow itself, which loads every case's folder."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pandas as pd

from rankinite.serving.proof import named_rows

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"


def scores(cases):
    """``predict`` of each folder, for a data frame."""
    return [scored(case.files, pd.DataFrame(named_rows(case.plan, case.matrix))) for case in cases]


def scored(files, frame):
    """``predict`` of one folder."""
    import mlflow.pyfunc

    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        model = mlflow.pyfunc.load_model(folder, suppress_warnings=True)  # without looking up what is installed, each time
        return model.predict(frame)
