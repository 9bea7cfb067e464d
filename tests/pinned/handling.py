"""What else is done with data: selected, joined, dealt, drawn, described, simulated, and written to every format."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.feather
import pyarrow.parquet

import rankinite as rk
from pinned.digest import digest, folder, of, of_data, outcome
from pinned.readers import of_bins
from pinned.samples import clicked, judged, mixed, tied_scores, unjudged, with_category, with_preferences, with_weights

TEXTS = (".csv", ".tsv", ".txt", ".letor", ".svm", ".qrels", ".json", ".run", ".npy", ".md")


def full() -> rk.Dataset:
    """Few queries with all that data may have, in another order than in their source."""
    data = with_weights(judged(queries=6))
    rows = (np.arange(data.rows) * 5) % data.rows
    return rk.read(
        data.features[rows],
        grades=data.grades[rows],
        qid=np.repeat(data.qids, np.diff(data.offsets))[rows],
        doc_id=data.doc_ids[rows],
        weight=np.repeat(data.weights, np.diff(data.offsets))[rows],
        batch=np.repeat(np.arange(6) % 2, 12)[rows],
        positions=(np.arange(data.rows) % 12 + 1)[rows],
    )


def handled() -> Iterator[tuple[str, Callable[[], rk.Dataset]]]:
    data, other, sets, everything = judged(), judged(1), with_category(), full()
    yield "select queries by number", lambda: data.select_queries([5, 2, 9])
    yield "select queries by name", lambda: data.select_queries(["q0-3", "q0-1"])
    yield "select rows", lambda: data.select_rows(data.in_row_order(data.grades > 1))
    yield "select features", lambda: data.select_features(["age", 0])
    yield "rename features", lambda: data.rename_features({"age": "days"})
    yield "one-hot", lambda: sets.one_hot(["kind"])
    yield "map grades", lambda: data.map_grades({0: 0, 1: 0, 2: 1, 3: 1, 4: 2})
    yield "map grades by a function", lambda: data.map_grades(lambda grades: grades / 2)
    yield "without grades", data.without_grades
    yield "with weights", lambda: with_weights(data)
    yield "with positions", clicked
    yield "with preferences", lambda: with_preferences(data)
    yield "preferences selected", lambda: with_preferences(data).select_queries([3, 1])
    yield "all parts", full
    yield "all parts selected", lambda: everything.select_rows(everything.in_row_order(everything.grades > 0))
    yield "concat", lambda: rk.concat([data, other])
    yield "concat, prefixes", lambda: rk.concat([data, data], prefixes=("a", "b"))
    yield "concat, the same twice", lambda: rk.concat([data, data])
    yield "concat, categories", lambda: rk.concat([sets.select_queries([0, 1]), with_category(1).select_queries([0])])
    yield "concat, parts that differ", lambda: rk.concat([everything, other.rename_features(everything.feature_names)])
    yield "sample", lambda: rk.sample_documents(data, 0.4)
    yield "sample, seed", lambda: rk.sample_documents(everything, 0.4, seed=4)
    yield "augment", lambda: rk.augment(data, 0.5, 2)
    yield "augment, seed", lambda: rk.augment(everything, 0.5, 2, seed=4)
    for name, parts in {
        "split": lambda: rk.split(data), "split, shares, seed": lambda: rk.split(data, (0.5, 0.5), seed=3),
        "k-folds": lambda: every(rk.k_folds(data, 3)), "k-folds, seed": lambda: every(rk.k_folds(data, 4, seed=2)),
        "rotating folds": lambda: every(rk.rotating_folds(rk.split(data))),
        "batch folds": lambda: every(rk.batch_folds(three(data))),
    }.items():  # fmt: skip
        for number, part in enumerate(parts()):
            yield f"{name}, {number}", lambda p=part: p
    world = rk.World(features=4, documents=5, terms=3, seed=2)
    for name, settings in {
        "": {}, "part": {"part": "test"}, "domain": {"domain": 2}, "ids": {"doc_ids": True},
        "noise": {"world": replace(world, noise=0.5)}, "shift": {"domain": 1, "world": replace(world, shift=0.9)},
        "categories": {"world": replace(world, categories=(4, 9))},
        "grade shares": {"world": replace(world, grade_shares=(0.5, 0.3, 0.2))},
    }.items():  # fmt: skip
        yield f"synthesised {name}", lambda s=settings: rk.synthesise(6, **{"world": world} | s)
    for name, settings in {
        "position": {}, "cascade": {"model": "cascade"}, "trust": {"model": "trust"}, "eta": {"eta": 0.5, "noise": 0.0},
        "shown": {"shown": 4, "seed": 3},
    }.items():  # fmt: skip
        chosen = rk.ClickSettings(**settings)
        yield f"clicks, {name}", lambda c=chosen: rk.simulate_clicks(data, tied_scores(data), 60, c).data


def three(data: rk.Dataset) -> rk.Dataset:
    return replace(data, batches=np.array([str(number % 3) for number in range(data.queries)]))


def every(folds: list[rk.Fold]) -> list[rk.Dataset]:
    return [part for fold in folds for part in (fold.train, fold.valid, fold.test)]


def orders() -> Iterator[tuple[str, str]]:
    data = full()
    values = np.arange(data.rows, dtype=float)
    yield "from the order of the input", of(np.asarray(data.from_input_order(values)))
    yield "to the order of the input", of(np.asarray(data.to_input_order(data.in_row_order(values))))
    for name, one in {"all parts": data, "categories": with_category(), "no grades": judged().without_grades()}.items():
        yield f"Arrow, {name}", of({str(column): values for column, values in one.to_arrow().to_pydict().items()})
    sketch = rk.QuerySketch.of(judged())
    yield "sketch", of([sketch.features, sketch.keys, sketch.level, sketch.complete])
    yield "queries of a sketch", of(rk.QuerySketch.of(judged(), ["age", "bm25"]).keys)


def descriptions() -> Iterator[tuple[str, str]]:
    data = judged()
    odd = replace(
        data,
        features=np.column_stack(
            [
                np.arange(data.rows),
                np.arange(data.rows) % 12,
                np.ones(data.rows),
                data.grades,
                data.features[:, 0],
                data.features[:, 0],
            ]
        ).astype(np.float32),
    )
    for name, one in {
        "plain": data, "category": with_category(), "all parts": full(), "unjudged": unjudged(data), "odd features": odd,
        "clicks": clicked(), "preferences": with_preferences(data),
        "twice the same": rk.concat([data, data], prefixes=("a", "b")),
    }.items():  # fmt: skip
        found = rk.describe(one)
        yield f"described, {name}", of(found.to_dict())
        yield f"described as text, {name}", of([grid.text() for grid in found.grids()] if callable(found.grids) else str(found))


def written(here: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    sets = {
        "plain": judged(queries=4),
        "all parts": full(),
        "category": with_category(),
        "no grades": judged(queries=4).without_grades(),
    }
    for suffix in (
        ".csv",
        ".tsv",
        ".txt",
        ".svm",
        ".parquet",
        ".arrow",
        ".feather",
        ".qrels",
        ".csv.gz",
        ".txt.xz",
        ".tsv.zst",
    ):
        for name, data in sets.items():
            yield f"written, {suffix}, {name}", partial(of_written, rk.write, data, here / f"data {name}{suffix}")
    for suffix in (".txt", ".run", ".csv", ".tsv", ".json", ".npy", ".parquet", ".arrow", ".run.gz"):
        for name in ("plain", "all parts"):
            path = here / f"scores {name}{suffix}"
            yield f"scores, {suffix}, {name}", partial(of_scores, sets[name], path)
    yield (
        "run",
        partial(of_written, lambda d, p: rk.write_run(p, d, rk.Feature("bm25"), tag="mine"), sets["plain"], here / "a.run"),
    )
    yield "qrels", partial(of_written, lambda d, p: rk.write_qrels(p, d), sets["plain"], here / "a.qrels")
    log = rk.simulate_clicks(judged(), tied_scores(judged()), 60)
    yield "examination", partial(of_written, lambda _, p: log.write_examination(p), judged(), here / "examination.csv")


def of_written(write: Callable[[Any, Path], None], data: rk.Dataset, path: Path) -> str:
    """Of the file's content; of formats whose bytes another library decides, of what is read again."""
    write(data, path)
    content = path.read_bytes()
    unpack: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".xz": lzma.decompress}
    suffix = path.suffix
    if suffix in unpack:
        content, suffix = unpack[suffix](content), path.suffixes[-2]
    found = digest(content) if suffix in TEXTS else of_data(rk.read(path, unjudged="keep", missing="nan"))
    beside = Path(f"{path}.position")
    return f"{found} positions:{digest(beside.read_bytes())}" if beside.exists() else found


def of_scores(data: rk.Dataset, path: Path) -> str:
    """Of a score file, and of what is read from it."""
    scores = data.in_row_order(mixed(data.rows, 33))
    rk.write_scores(path, data, scores)
    if path.suffix in TEXTS:
        found = digest(path.read_bytes())
    elif path.suffix == ".gz":
        found = digest(gzip.decompress(path.read_bytes()))
    else:
        table: Any = pyarrow.parquet.read_table(path) if path.suffix == ".parquet" else pyarrow.feather.read_table(path)
        found = of({str(name): values for name, values in table.to_pydict().items()})
    read = outcome(lambda: of(np.asarray(rk.read_scores(path, data)))[:8])
    evaluated = outcome(lambda: f"{rk.evaluate(path, data, 'ndcg').results[0].mean:.6f}")
    return f"{found} read: {read} evaluated: {evaluated}"


def trec_files(here: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    qrels, run = here / "judged.qrels", here / "some.run"
    qrels.write_text("2 0 b 1\n1 0 a 2\n1 0 c -1\n2 0 a 0\n")
    run.write_text("1 Q0 x 1 9.5 t\n1 Q0 a 2 3 t\n2 Q0 a 1 1 t\n3 Q0 z 1 1 t\n")
    (here / "other.run").write_text("2\tQ0\tb\t1\t0.5\tt\n")
    yield "TREC", lambda: of_trec(*rk.read_trec(qrels, [run, here / "other.run"]))
    yield "TREC, run", lambda: of(np.asarray(rk.read_run(run, rk.read(qrels, unjudged="keep"))))
    for name, text in {
        "twice": "1 Q0 a 1 9 t\n1 Q0 a 2 8 t\n", "no score": "1 Q0 a 1 x t\n", "fields": "1 Q0 a 1 9\n", "empty": "",
        "infinite": "1 Q0 a 1 inf t\n2 Q0 b 1 -inf t\n",
    }.items():  # fmt: skip
        path = here / f"{name}.run"
        path.write_text(text)
        yield f"TREC, {name}", lambda p=path: of_trec(*rk.read_trec(qrels, [p]))
    data = judged(queries=3)
    for name, text in {
        "lines": "\n".join(f"{value:.3f}" for value in mixed(data.rows, 40)), "too few": "1\n2\n", "no number": "1\nx\n",
        "JSON": json.dumps({"scores": mixed(data.rows, 41).tolist()}), "columns": "score\n" + "\n".join(["1.5"] * data.rows),
    }.items():  # fmt: skip
        path = here / f"{name}.scores"
        path.write_text(text)
        yield f"scores, {name}", lambda p=path: of(np.asarray(rk.read_scores(p, data)))
    for name, text in {
        "ids": "q0-0\td0-1\td0-2\t0.9\nq0-2\td0-25\td0-30\n", "header": "qid\tbetter\tworse\nq0-0\td0-1\td0-2\n",
        "unknown": "q0-0\tx\td0-2\n", "other query": "q0-0\td0-1\td0-30\n", "probability": "q0-0\td0-1\td0-2\t1.5\n",
    }.items():  # fmt: skip
        path = here / f"{name}.tsv"
        path.write_text(text)
        yield f"preferences, {name}", lambda p=path: of_data(data.with_preferences(rk.read_preferences(p, data)))


def of_trec(data: rk.Dataset, scores: Any) -> str:
    return f"{of_data(data)} scores:{of([np.asarray(one) for one in scores])[:8]}"


def binned(here: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    """Folders of bins: each file."""
    data, sets = judged(), with_category()
    for name, source, settings in (
        ("plain", data, {}), ("weights", with_weights(data), {}), ("no weights for some", zero_weights(data), {}),
        ("category", sets, {"category_rows": 40}), ("few bins", data, {"bins": 5}), ("sample", data, {"bin_sample": 50}),
        ("shards", data, {"shards": 3}), ("base", data, {"base": rk.Feature("bm25")}), ("no grades", data.without_grades(), {}),
    ):  # fmt: skip
        yield f"bins, {name}", partial(of_folder, here / f"{name}.bins", source, settings)
    yield "bins, like", lambda: of_like(here / "like", data)
    for name in ("training", "training, two folders"):
        yield f"bins, {name}", lambda n=name: of_training(here / n, data, shards=2 if "two" in n else None)


def zero_weights(data: rk.Dataset) -> rk.Dataset:
    return data.with_weights(np.arange(data.queries) % 3)


def of_folder(path: Path, source: rk.Dataset, settings: dict[str, Any]) -> str:
    rk.bin(source, path, **settings)
    parts = sorted(path.iterdir()) if settings.get("shards") else [path]
    return " | ".join(f"{of_bins(part)} {' '.join(map(of_file, sorted(part.glob('*.npy'))))}" for part in parts)


def of_file(path: Path) -> str:
    return f"{path.stem}={digest(path.read_bytes())[:4]}"


def of_like(here: Path, data: rk.Dataset) -> str:
    here.mkdir()
    train = rk.bin(data, here / "train.bins")
    rk.bin(judged(2, 12), here / "valid.bins", like=train)
    return of_bins(here / "valid.bins")


def of_training(here: Path, data: rk.Dataset, shards: int | None) -> str:
    here.mkdir()
    train = rk.bin(data, here / "train.bins", shards=shards)
    rk.bin(judged(2, 12), here / "valid.bins", like=train)
    forest = rk.LambdaMART.plain(trees=3, leaves=4, min_rows=4).fit(train, rk.Binned(here / "valid.bins"))
    forest.save(here / "model")
    return digest((here / "model").read_bytes())


def digests() -> dict[str, str]:
    found = {name: outcome(lambda m=make: of_data(m())) for name, make in handled()}
    found |= dict(orders()) | dict(descriptions())
    with folder() as here:
        for part in (written, trec_files, binned):
            place = here / part.__name__
            place.mkdir()
            found |= {name: outcome(make) for name, make in part(place)}
    return found
