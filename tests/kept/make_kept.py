"""Made the files of this folder. Run it only to add one: those that are here must stay as they are.

    python tests/kept/make_kept.py NAME …

writes the files of these names, of MAKERS, and what is expected of them in expected.json. A name that is there already is
refused.
"""

from __future__ import annotations

import csv
import hashlib
import json
import pickle
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import rankinite as rk

HERE = Path(__file__).parent
SMALL: dict[str, Any] = {"trees": 4, "leaves": 4, "min_rows": 2, "patience": None}
LEARNER = rk.LambdaMART.plain(**SMALL)
SEARCH: dict[str, Any] = {"space": {"leaves": [2, 3, 4], "rate": [0.1, 0.5]}, "folds": 3, "trials": 3, "generation": 3}
CHOICE: dict[str, Any] = {"methods": ["trada"], "folds": 2, "curve": False}
SHOPS, SIZES = ("acme", "big co", "née & fils", "d'or"), (7, -1, 12)


class StoppedError(Exception):
    """A training that is ended on purpose."""


def write_rows() -> None:
    """24 queries of 5 rows, a weight for each query; categories are missing here and there."""
    random = np.random.default_rng(41)
    with (HERE / "rows.csv").open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(("qid", "grade", "weight", "doc_id", "bm25", "clicks", "shop", "size"))
        for row in range(120):
            shop, size = random.integers(len(SHOPS)), random.integers(len(SIZES))
            bm25, clicks = np.float32(random.random()), np.float32(random.random())
            grade = int(np.clip(np.round(2 * bm25 + shop % 2 + (size == 1) + random.normal() / 3), 0, 4))
            writer.writerow(
                (
                    *(f"q{row // 5}", grade, 1 + row // 5 % 3, f"d{row}", str(bm25), "" if row % 7 == 3 else str(clicks)),
                    *("" if row % 11 == 5 else SHOPS[shop], SIZES[size]),
                )
            )


@cache
def rows(*ignored: str) -> rk.Dataset:
    """The rows without some columns; their source is named alike on all machines."""
    categories = [] if "size" in ignored else ["size"]
    return replace(rk.read(HERE / "rows.csv", categories=categories, ignore=ignored), source="rows.csv")


@cache
def numbers(first: int = 0, last: int = 24) -> rk.Dataset:
    """Some queries, without weights and categories."""
    return rows("shop", "size", "weight").select_queries(np.arange(first, last))


@cache
def background() -> rk.Forest:
    """A forest of the first queries."""
    return LEARNER.fit(numbers(0, 12))


def bytes_key(ranker: Any) -> str:
    """A hash of the model file of a ranker."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        ranker.save(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()


def in_hexadecimal(values: Any) -> list[str]:
    """Numbers to the bit."""
    return [float(value).hex() for value in values]


def bins(name: str) -> Any:
    """A folder of bins of version 1, with weights and the scores of a base; or of version 2, with categories."""
    data, base = (rows("shop", "size"), background()) if name == "bins" else (rows(), None)
    made = rk.bin(data, HERE / name, bins=16, base=base)
    return bytes_key(trained_on_bins(made, name))


def trained_on_bins(data: rk.Binned, name: str) -> rk.Forest:
    """The forest of a folder of bins."""
    return replace(LEARNER, bins=16).fit(data, base=background() if name == "bins" else None)


def json_of(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def checkpoint(name: str) -> Any:
    """What is there after round 2 of 4."""

    def stop(progress: rk.Progress) -> None:
        if progress.round == 3:
            raise StoppedError

    with suppress(StoppedError):
        LEARNER.fit(numbers(), callbacks=[rk.Checkpoint(HERE / name, every=2), stop])
    return bytes_key(LEARNER.fit(numbers()))


def searched(keep: Path | None) -> rk.Tuned:
    """A search that keeps its fits."""
    return rk.tune(LEARNER, numbers(), **SEARCH, keep=keep)


def adapted(keep: Path | None) -> rk.adapt.Choice:
    """A choice of a method that keeps its trials."""
    return rk.adapt.choose(background(), numbers(12, 24), **CHOICE, keep=keep)


def values_of_search(tuned: rk.Tuned) -> Any:
    return [[one.number, dict(one.settings), in_hexadecimal(one.values())] for one in tuned.trials]


def values_of_choice(choice: rk.adapt.Choice) -> Any:
    return {name: in_hexadecimal(choice.unseen[name][choice.measure].per_query) for name in choice.unseen.systems}


def fits(name: str) -> Any:
    """Finished fits. Those that are here were made under a hash that no code has ("earlier code" in the place of it)."""
    return values_of_search(searched(HERE / name)) if name == "tuned" else values_of_choice(adapted(HERE / name))


def whole() -> rk.Dataset:
    """A data set of which every field is set."""
    data = rows()
    pairs = rk.Preferences(np.asarray([0, 6]), np.asarray([1, 5]), np.asarray([0.9, 0.25]))
    batched = replace(data, batches=np.asarray([f"batch {query % 2}" for query in range(data.queries)]), preferences=pairs)
    return batched.with_positions(np.arange(data.rows) % 5 + 1).select_queries([3, 1, 0])


def estimator() -> Any:
    from rankinite.sklearn import LambdaMARTRanker

    data = numbers()
    queries = np.asarray(data.qids.tolist())[data.query_of_row()]
    return LambdaMARTRanker(watch=rk.ERR(5), **SMALL).fit(data.features, data.grades, qid=queries)


def of_models(name: str) -> Callable[[], Any]:
    """A ranker of tests/model_files."""
    return lambda: rk.load(HERE.parent / "model_files" / f"{name}.rankinite")


RANKERS = (
    *("lambdamart-held-out", "clicks-additive", "categories", "mcrank", "net", "lambdaboost-from-linear", "feature-ascending"),
    *("stack", "query-summaries", "blend-of-adapted"),
)
PICKLES: dict[str, Callable[[], Any]] = {
    "dataset": whole,
    **{name: of_models(name) for name in RANKERS},
    "scorer": lambda: of_models("lambdamart-held-out")().scorer(["other", "bm25", "url length", "clicks", "age"]),
    "scorer-of-categories": lambda: of_models("categories")().scorer(["size", "shop", "bm25"]),
    "scorer-of-queries": lambda: of_models("stack")().scorer(),
    "estimator": estimator,
    "measures": lambda: [rk.NDCG(5, gains="linear"), rk.ERR(), rk.AP(relevant=2), rk.PairwiseErrors(), rk.RBP(p=0.5)],
}


def write_pickle(name: str) -> Any:
    """A pickle, and what is in it."""
    made = PICKLES[name.removeprefix("pickle-")]()
    (HERE / f"{name}.pickle").write_bytes(pickle.dumps(made, protocol=4))
    return content_of(made, name.removeprefix("pickle-"))


def content_of(made: Any, name: str) -> Any:
    """What is in a pickle, as JSON has it: the fields of a data set, the scores of what scores, the names of measures."""
    if isinstance(made, rk.Dataset):
        values = {field: getattr(made, field) for field in [one.name for one in fields(made)]}
        pairs = made.preferences
        assert pairs is not None
        values["preferences"] = [pairs.better.tolist(), pairs.worse.tolist(), pairs.probability.tolist()]
        values["categories"] = {feature: [one.names, one.numeric] for feature, one in made.categories.items()}
        plain = {field: value.tolist() if isinstance(value, np.ndarray) else value for field, value in values.items()}
        return json.loads(json.dumps(plain).replace("NaN", "null"))
    if isinstance(made, list):
        return [str(one) for one in made]
    if name.startswith("scorer"):
        columns = max(len(made.names), 1)
        return in_hexadecimal(made(np.linspace(-1.0, 4.0, 8 * columns).reshape(8, columns)))
    if name == "estimator":
        return in_hexadecimal(made.predict(numbers().features))
    columns = len(made.feature_names) or 4
    matrix = np.linspace(-1.0, 4.0, 8 * columns).reshape(8, columns)
    return in_hexadecimal(made.score(matrix, **({"qid": np.arange(8) // 4} if made.needs_queries else {})))


MAKERS: dict[str, Callable[[str], Any]] = {
    "bins": bins,
    "bins-categories": bins,
    "checkpoint.rankinite": checkpoint,
    "tuned": fits,
    "trials": fits,
    **{f"pickle-{name}": write_pickle for name in PICKLES},
}


def main(names: list[str]) -> None:
    """Write these files."""
    if not (HERE / "rows.csv").exists():
        write_rows()
    path = HERE / "expected.json"
    expected: dict[str, Any] = json_of(path) if path.exists() else {}
    for name in names:
        if name in expected:
            raise SystemExit(f"{name}: it is here already and must stay as it is.")
        expected[name] = MAKERS[name](name)
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(values)}" for name, values in expected.items())
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
