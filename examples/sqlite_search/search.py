"""Search that learns, in one database file: log features, train, adapt to a second market, and re-rank by one SQL statement.

python examples/sqlite_search/search.py
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from index import Index, judged
from market import NEW, Market, Query, Taste

import rankinite as rk

FIRST, SECOND = Taste(), Taste(topic=1.2, title=0.6, fresh=3.0, popular=0.1)
"""The second market reads news: it cares for fresh pages, and less for popular ones."""

BM25 = rk.Feature("bm25")


@dataclass(frozen=True)
class Sizes:
    """How much is generated and trained."""

    documents: int = 3000
    train: int = 240
    valid: int = 80
    few: int = 40
    """Judged queries of the second market."""
    test: int = 120
    trees: int = 150


@dataclass(frozen=True)
class Result:
    """What has come of it."""

    index: Index
    queries: list[Query]
    """The second market's queries that were held out."""
    log: pa.Table
    """Their candidates, features and grades."""
    adapted: rk.Ranker
    exported: Path
    """The adapted model as SQL."""


def data_of(log: pa.Table) -> rk.Dataset:
    """A log as judged data; an empty field is a missing value."""
    return rk.read(log, qid="qid", grades="grade", doc_id="id")


def run(sizes: Sizes, folder: Path, seed: int = 0) -> Result:
    """All steps; ``folder`` is where the model is exported to."""
    home = Market("home", FIRST, sizes.documents, seed)
    index = Index(home.documents, NEW)
    train, valid, test = (data_of(judged(index, home, home.ask(count))) for count in (sizes.train, sizes.valid, sizes.test))
    model = rk.LambdaMART(trees=sizes.trees, leaves=12, min_rows=20).fit(train, valid)
    show(f"The first market: {sizes.train} judged queries", {"BM25": BM25, "model": model}, test)

    abroad = Market("abroad", SECOND, sizes.documents, seed)
    index = Index(abroad.documents, NEW)
    few = data_of(judged(index, abroad, abroad.ask(sizes.few)))
    queries = abroad.ask(sizes.test)
    log = judged(index, abroad, queries)
    adapted = adapt(model, few)
    rankers = {"BM25": BM25, "model": model, "adapted": adapted}
    show(f"The second market: {sizes.few} judged queries", rankers, data_of(log))

    made = rk.export(adapted, folder, to="sql", served_missing="nan", sample=data_of(log), overwrite=True)
    print(f"\nThe adapted model as SQL, {made.check.sentence()}")
    print(f"\nThe database itself on {' '.join(queries[0].words)!r}, scores and titles:")
    for number, score in index.reranked(queries[0], folder / "model.sql", 5):
        print(f"{score:8.3f}  {' '.join(abroad.documents[number - 1].title)}")
    return Result(index, queries, log, adapted, folder / "model.sql")


def adapt(model: rk.Ranker, few: rk.Dataset) -> rk.Ranker:
    """The better of two methods on queries they have not seen, or the model itself if neither is surely better."""
    return rk.adapt.choose(model, few, methods=("trada", "smart"), folds=3, curve=False, deployable="sql").ranker


def show(title: str, rankers: dict[str, rk.Ranker], test: rk.Dataset) -> None:
    """Print NDCG@10 of rankers on queries that were held out."""
    print(f"\n{title}; NDCG@10 on {test.queries} others (95 % interval)")
    for name, ranker in rankers.items():
        found = rk.evaluate(ranker, test, "ndcg@10")["ndcg@10"]
        low, high = found.interval
        print(f"{name:>8}  {found.mean:.4f} ({low:.4f} to {high:.4f})")


def main() -> None:
    """Run it with the sizes given."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("--out", type=Path, help="a folder for the exported model; left out: none is kept")
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()
    if given.out:
        run(Sizes(), given.out, given.seed)
        return
    with tempfile.TemporaryDirectory() as folder:
        run(Sizes(), Path(folder) / "search", given.seed)


if __name__ == "__main__":
    main()
