"""Contenders of the scoring benchmark: each a function from a folder of model files and a number of threads to a predictor."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from _measure import SCRATCH

Predict = Callable[[np.ndarray], np.ndarray]

LLEAVES = SCRATCH / "lleaves-environment"
"""Its own virtual environment: lleaves needs an older llvmlite than Numba does."""
LONGEST_COMPILATION = 420
"""Seconds that lleaves may take to compile a model."""


HELD = ExitStack()
"""What is in force for the rest of a contender's process; a context that nobody holds would end at once."""


def rankinite_scorer(folder: Path, threads: int) -> Predict:
    import rankinite as rk

    return _on_threads(rk.load(folder / "model.rankinite").scorer(), threads)


def rankinite_score(folder: Path, threads: int) -> Predict:
    import rankinite as rk

    return _on_threads(rk.load(folder / "model.rankinite").score, threads)


def _on_threads(score: Predict, threads: int) -> Predict:
    import rankinite as rk

    HELD.enter_context(rk.threads(threads))
    return score


def lightgbm_predict(folder: Path, threads: int) -> Predict:
    import lightgbm

    model = lightgbm.Booster(model_file=str(folder / "model.txt"))
    return lambda rows: model.predict(rows, raw_score=True, num_threads=threads)


def lightgbm_fast(folder: Path, threads: int) -> Predict:
    """The C interface for single rows, as a service in C++ would call it; from Python it costs a call through ctypes."""
    import lightgbm
    from lightgbm.basic import _LIB, _safe_call

    model = lightgbm.Booster(model_file=str(folder / "model.txt"))
    columns, raw_score, float32 = model.num_feature(), 1, 0
    fast, length, score = ctypes.c_void_p(), ctypes.c_int64(), np.zeros(1)
    settings = ctypes.c_char_p(f"num_threads={threads}".encode())
    start = _LIB.LGBM_BoosterPredictForMatSingleRowFastInit
    handle = model._handle if hasattr(model, "_handle") else model.handle  # noqa: SLF001 - there is no public name
    _safe_call(start(handle, raw_score, 0, -1, float32, ctypes.c_int32(columns), settings, ctypes.byref(fast)))
    predict, out, out_length = (
        _LIB.LGBM_BoosterPredictForMatSingleRowFast,
        score.ctypes.data_as(ctypes.c_void_p),
        ctypes.byref(length),
    )

    def one(rows: np.ndarray) -> np.ndarray:
        assert len(rows) == 1
        _safe_call(predict(fast, ctypes.c_void_p(rows.ctypes.data), out_length, out))
        return score

    one.keep = model  # type: ignore[attr-defined]  # it must live as long as its handle
    return one


def xgboost_inplace(folder: Path, threads: int) -> Predict:
    import xgboost

    model = xgboost.Booster({"nthread": threads}, model_file=str(folder / "model.ubj"))
    return lambda rows: model.inplace_predict(rows, predict_type="margin")


def catboost_predict(folder: Path, threads: int) -> Predict:
    import catboost

    model = catboost.CatBoost()
    model.load_model(str(folder / "model.cbm"))
    return lambda rows: model.predict(rows, prediction_type="RawFormulaVal", thread_count=threads)


def onnxruntime_run(folder: Path, threads: int) -> Predict:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
    (entry,) = session.get_inputs()
    precision = np.float64 if "double" in entry.type else np.float32
    return lambda rows: session.run(None, {entry.name: rows.astype(precision, copy=False)})[0].reshape(-1)


def treelite_gtil(folder: Path, threads: int) -> Predict:
    import treelite

    model = treelite.frontend.load_lightgbm_model(folder / "model.txt")
    return lambda rows: treelite.gtil.predict(model, rows, nthread=threads, pred_margin=True).reshape(-1)


def lleaves_predict(folder: Path, threads: int) -> Predict:
    import lleaves

    model = lleaves.Model(model_file=str(folder / "model.txt"))
    model.compile(cache=str(folder / "lleaves.o"), raw_score=True)
    return lambda rows: model.predict(rows, n_jobs=threads)


CONTENDERS: dict[str, Callable[[Path, int], Predict]] = {
    "rankinite scorer": rankinite_scorer,
    "rankinite score": rankinite_score,
    "LightGBM predict": lightgbm_predict,
    "LightGBM single-row fast": lightgbm_fast,
    "XGBoost inplace_predict": xgboost_inplace,
    "CatBoost predict": catboost_predict,
    "onnxruntime": onnxruntime_run,
    "treelite gtil": treelite_gtil,
    "lleaves": lleaves_predict,
}
ONE_ROW_ONLY = {"LightGBM single-row fast"}


def lleaves_python() -> Path | None:
    """The Python that has lleaves, installed now if it never was; None, with a sentence, where that fails."""
    python = LLEAVES / "bin" / "python"
    if not (LLEAVES / "ready").exists():
        print("installing lleaves in an environment of its own", flush=True)
        try:
            subprocess.run([sys.executable, "-m", "venv", "--clear", LLEAVES], check=True)
            packages = ["lleaves", "llvmlite<0.44", "numpy", "pandas"]  # newer llvmlites lack what it compiles with
            for step in (["-m", "pip", "install", *packages], ["-c", "import lleaves"]):
                subprocess.run([python, *step], check=True, timeout=300, capture_output=True)
        except (subprocess.SubprocessError, OSError) as problem:
            print(f"lleaves is left out: it cannot be installed here ({type(problem).__name__}).", flush=True)
            return None
        (LLEAVES / "ready").touch()
    return python


def compile_with_lleaves(folder: Path) -> bool:
    """Whether lleaves has compiled the model, which may take minutes; it is done once."""
    python = lleaves_python()
    if python is None:
        return False
    if not (folder / "lleaves.o").exists():
        print("compiling with lleaves", flush=True)
        model, compiled = str(folder / "model.txt"), str(folder / "lleaves.new")
        code = f"import lleaves; lleaves.Model({model!r}).compile(cache={compiled!r}, raw_score=True)"
        try:
            subprocess.run([python, "-c", code], check=True, timeout=LONGEST_COMPILATION)
        except (subprocess.SubprocessError, OSError) as problem:
            print(f"lleaves is left out: it cannot compile {folder.name} ({type(problem).__name__}).", flush=True)
            return False
        (folder / "lleaves.new").rename(folder / "lleaves.o")
    return True
