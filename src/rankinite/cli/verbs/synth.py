"""``rankinite synth``: artificial judged data, and artificial clicks on judged data."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from rankinite.choices import Part
from rankinite.cli.files import Output
from rankinite.cli.messages import busy, say
from rankinite.cli.options import JsonSummary, Reading, with_options
from rankinite.cli.verbs.synth_clicks import ClickOptions, further_files, write_log
from rankinite.errors import ArgumentError, DataError
from rankinite.plurals import data_size

if TYPE_CHECKING:
    from rankinite.data.synthetic import World

ONE_FILE = "Give the name of a file, as log.parquet or log.txt.gz"


@with_options(clicking=ClickOptions(), reading=Reading())
def synth(
    out: Annotated[
        Path,
        Output(
            is_folder=lambda path: not _is_one_file(path), also=lambda path: further_files(path) if _is_one_file(path) else ()
        ),
        typer.Option(
            "--out",
            "-o",
            help="A file (.txt, .txt.gz, .parquet, …) for one part, or a folder for all parts.",
            show_default=False,
        ),
    ],
    queries: Annotated[
        int, typer.Option(min=1, help="Queries of the one part; of train and test in a folder (valid has half).")
    ] = 1000,
    part: Annotated[Part, typer.Option(help="Which part to write to a file.")] = "train",
    domain: Annotated[int, typer.Option(min=0, help="Which domain to write to a file; 0 is the background.")] = 0,
    domains: Annotated[int, typer.Option(min=1, help="How many domains to write to a folder.")] = 1,
    suffix: Annotated[str, typer.Option(help="The format of the files in a folder: txt, txt.gz, parquet, ….")] = "txt",
    documents: Annotated[int, typer.Option(min=1, help="Documents per query.")] = 50,
    features: Annotated[int, typer.Option(min=3, help="Features per document.")] = 50,
    terms: Annotated[int, typer.Option(min=1, help="Quadratic, and cubic, terms of the polynomial.")] = 20,
    noise: Annotated[float, typer.Option(min=0, help="Label noise, in standard deviations of the polynomial.")] = 0.0,
    shift: Annotated[float, typer.Option(min=0, max=1, help="How far domains 1, 2, … are from domain 0.")] = 0.5,
    categories: Annotated[
        list[int] | None,
        typer.Option(min=2, help="Add a categorical feature with so many levels; may be repeated. Not for LETOR files."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", "-s", min=0, help="Another seed is another world.")] = 0,
    doc_ids: Annotated[bool, typer.Option("--doc-ids", help="Name the documents.")] = False,
    json: JsonSummary = False,
    *,
    clicking: ClickOptions,
    reading: Reading,
) -> None:
    """Generate judged data: random cubic polynomials of the features, cut into five grades as frequent as on the web.

    Domains share a part of the polynomial and differ in the rest and in where their features lie: data for experiments
    in adaptation. The same seed gives the same world at every size; parts and domains have different queries.

    Examples:

      rankinite synth --queries 500 --out test.txt.gz --part test

      rankinite synth --queries 10000 --out artificial --suffix parquet

      rankinite synth --domains 2 --shift 0.3 --noise 0.2 --out markets

      rankinite synth --clicks --sessions 100000 --out log.parquet

      rankinite synth --clicks --judged web.txt.gz --shown-by feature:25 --click-model cascade --out log.parquet

      rankinite synth --categories 200 --categories 5000 --noise 0.3 --out shop --suffix parquet
    """
    from rankinite.data.synthetic import World, synthesise

    clicking.check()
    world = World(features, documents, terms, seed, noise, shift, categories=tuple(categories or ()))
    one_file = _is_one_file(out)
    if clicking.clicks:
        if not one_file:
            raise ArgumentError("is a folder, but a click log is one file", setting="out", value=str(out), remedy=ONE_FILE)
        generated = partial(synthesise, queries, part=part, domain=domain, world=world, doc_ids=doc_ids)
        _print_summary([write_log(clicking, generated, reading, seed, out)], json=json)
        return
    if one_file and domains > 1:
        raise ArgumentError(
            f"makes several files, but {out} is one",
            setting="domains",
            value=domains,
            remedy="Give a folder, or `domain` for one of them",
        )
    if not one_file and (part != "train" or domain):
        raise ArgumentError(
            "is a folder, to which all parts are written",
            setting="out",
            value=str(out),
            remedy="Give the name of a file to write one `part` or `domain` alone",
        )
    if one_file:
        _print_summary([_write(world, queries, part, domain, doc_ids, out)], json=json)
        return
    written: list[dict[str, Any]] = []
    for number in range(domains):
        folder = out / f"domain{number}" if domains > 1 else out
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            remedy = "Choose another name"
            raise DataError(f"this folder cannot be made ({problem})", place=folder, remedy=remedy) from problem
        for name in get_args(Part):
            size = max(1, queries // 2) if name == "valid" else queries
            path = folder / f"{name}.{suffix.removeprefix('.')}"
            written.append(_write(world, size, name, number, doc_ids, path))
    _print_summary(written, json=json)


def _is_one_file(out: Path) -> bool:
    """Whether the suffix says that --out is a file; anything else is a folder."""
    from rankinite.data.io.formats import has_known_suffix

    return has_known_suffix(out)


def _print_summary(written: list[dict[str, Any]], *, json: bool) -> None:
    from rankinite.cli.output import echo_json

    if json:
        echo_json({"files": written})


def _write(world: World, queries: int, part: Part, domain: int, doc_ids: bool, path: Path) -> dict[str, Any]:
    from rankinite.cli.output import summary
    from rankinite.data.io.writing import write
    from rankinite.data.synthetic import synthesise

    with busy(f"generating {path}"):
        data = synthesise(queries, part=part, domain=domain, world=world, doc_ids=doc_ids)
        write(data, path)
    say(f"{path}: {data_size(data.queries, data.rows, len(data.feature_names))}")
    return {**summary(path, data), "part": part, "domain": domain}
