"""Models of every kind in ``tests/model_files`` exported to every target, some with every option: files, or what is refused."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import rankinite as rk
from pinned.digest import digest, folder, of
from pinned.samples import MODELS, models, with_category

VERSIONS = re.compile(rb"(python(_version)?\s*[=:]+\s*|==)[0-9][0-9a-z.]*")
"""Of Python and of other packages."""
TIME = re.compile(r"about [0-9.]+ µs".encode())
OPTIONS: dict[str, dict[str, Any]] = {
    "name": {"name": "shop"},
    "missing is 0": {"served_missing": "zero"},
    "missing is NaN": {"served_missing": "nan"},
    "shift": {"shift": 2.5},
    "no shift": {"shift": "none"},
    "shift found": {"shift": "auto"},
    "feature queries": {
        "feature_queries": {
            "bm25": {"match": {"title": "{{keywords}}"}},
            "url length": {"function_score": {"field_value_factor": {"field": "length", "missing": 0}}},
        }
    },
    "feature queries, texts": {"feature_queries": {"bm25": "{!edismax qf=title v=${q}}", "clicks": "{!func}clicks"}},
    "feature queries, unknown": {"feature_queries": {"bm52": "x"}},
    "engine 7.10": {"engine_version": "7.10.0"},
    "engine 9.1": {"engine_version": "9.1.0"},
    "engine 2.17": {"engine_version": "2.17.0"},
}
CHOSEN = ("lambdamart", "linear", "feature", "net")
"""Models that are exported with each option."""


def of_export(path: Path) -> str:
    """The digest of each file, the versions of programs aside."""
    return " ".join(f"{one.relative_to(path)}:{_of_file(one)[:8]}" for one in sorted(path.rglob("*")) if one.is_file())


def _of_file(path: Path) -> str:
    content = VERSIONS.sub(rb"\1", path.read_bytes().replace(rk.__version__.encode(), b""))
    content = TIME.sub(b"about some time", content)
    if path.name == "export.json":  # it has digests of the other files, which hold versions
        facts = json.loads(content)
        return of(facts | {"files": list(facts["files"]), "model": None})
    return digest(content)


def exported(ranker: Any, target: str, **options: Any) -> str:
    with folder() as here:
        try:
            made = rk.export(ranker, here / "out", to=target, **options)
        except rk.ArgumentError as problem:
            if problem.setting != "served_missing" or "served_missing" in options:
                raise
            made = rk.export(ranker, here / "out", to=target, served_missing="zero", **options)
        facts = [made.exactness, made.served_missing, f"{made.shift:g}"]
        return f"{', '.join(facts)} | {of_export(made.folder)}"


def export_or_refusal(make: Callable[[], str]) -> str:
    """What is made, or the words by which it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make()
        except rk.RankiniteError as problem:
            return " | ".join(["refused", *([problem.setting] if problem.setting else []), of(problem.text())])


def results() -> Iterator[tuple[str, str]]:
    for path in models():
        ranker = rk.load(path)
        offers = rk.targets(ranker)
        for offer in offers:
            yield (
                f"{path.stem} to {offer.target}",
                export_or_refusal(lambda r=ranker, t=offer.target: exported(r, t, name="model")),
            )
        yield f"{path.stem}, offers", " ".join(f"{one.target}:{one.exactness or 'refused'}" for one in offers)
    names = [one.target for one in rk.targets(rk.load(MODELS / "lambdamart.rankinite"))]
    forest = rk.load(MODELS / "lambdamart.rankinite")
    for option, settings in OPTIONS.items():
        given = {"name": "model"} | settings
        for target in names:
            yield f"lambdamart to {target}, {option}", export_or_refusal(lambda t=target, g=given: exported(forest, t, **g))
    sample = rk.read(MODELS / "rows.csv", unjudged="keep", missing="nan")
    for model in CHOSEN:
        ranker = rk.load(MODELS / f"{model}.rankinite")
        for target in names:
            yield (
                f"{model} to {target}, sample",
                export_or_refusal(lambda r=ranker, t=target: exported(r, t, name="model", sample=sample)),
            )
    sets = with_category()
    shops = rk.LambdaMART.plain(trees=3, leaves=4, min_rows=3).fit(sets)
    odd = forest.renamed(["BM25 (title)", "Url-Length", "1st click", "Ä 1"])
    for target in names:
        yield f"categories to {target}", export_or_refusal(lambda t=target: exported(shops, t, name="model", sample=sets))
        yield f"odd names to {target}", export_or_refusal(lambda t=target: exported(odd, t, name="model"))


def digests() -> dict[str, str]:
    return dict(results())
