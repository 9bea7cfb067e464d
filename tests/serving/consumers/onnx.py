"""onnxruntime on one thread, where it adds trees in order."""

from __future__ import annotations

import onnxruntime


def scores(cases):
    """The output of a session for each model."""
    return [scored(case.files["model.onnx"], case.matrix) for case in cases]


def scored(content, matrix):
    """The output of one model."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    [found] = session.run(["score"], {"features": matrix})
    return found
