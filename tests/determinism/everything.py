"""A digest of what each learner and reader makes of the same data: ``python -m determinism.everything``, one line each."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import rankinite as rk

SMALL = {"trees": 6, "leaves": 5, "min_rows": 4}
LEARNERS = {
    "LambdaMART": rk.LambdaMART.plain(**SMALL),
    "LambdaMART for ERR": rk.LambdaMART.plain(measure="err", row_share=0.7, **SMALL),
    "LambdaMART, symmetric": rk.LambdaMART.plain(shape="symmetric", thresholds="random", row_share=0.8, **SMALL),
    "McRank, drawn": rk.McRank(node_row_share=0.7, node_feature_share=0.7, criterion="mse", **SMALL),
    "MART": rk.MART(**SMALL),
    "MART, logistic": rk.MART(loss="graded", **SMALL),
    "McRank": rk.McRank(**SMALL),
    "RankNet": rk.RankNet(hidden=(4,), epochs=3, nan="mean"),
    "LambdaRank": rk.LambdaRank(hidden=(4,), epochs=3, nan="mean"),
    "LambdaBoost": rk.LambdaBoost(rounds=5, nan="mean"),
}
MEASURES = ("ndcg@10", "ndcg", "err", "map", "mrr")


def judged(*, fractions: bool) -> rk.Dataset:
    """Uniform features, which no logarithm has touched, and grades that follow from some of them."""
    random = np.random.default_rng(7)
    features = random.random((1200, 6), np.float32)
    features[::11, 2] = np.nan
    noisy = features[:, 0] + features[:, 1] * features[:, 3] + 0.3 * random.random(1200, np.float32)
    grades = np.clip(2.0 * noisy, 0.0, 4.0) if fractions else np.floor(np.clip(2.0 * noisy, 0.0, 4.0))
    return rk.read(features, grades=grades, qid=np.arange(1200) // 24)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def results() -> Iterator[tuple[str, str]]:
    data, fractions = judged(fractions=False), judged(fractions=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.rankinite")
        for name, learner in LEARNERS.items():
            model = learner.fit(data)
            model.save(path)
            yield name, digest(path.read_bytes())
            yield f"scores of {name}", digest(model.score(data).tobytes())
    rough = np.round(fractions.features[:, 0] * 8.0).astype(np.float64)
    for measure in MEASURES:
        judge = data if measure in ("map", "mrr") else fractions
        yield measure, digest(rk.evaluate(rough, judge, [measure]).to_json().encode())


if __name__ == "__main__":
    for name, value in results():
        print(name, value, sep="\t")
