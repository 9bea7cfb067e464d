"""What every reader makes of small files, frames and arrays: read whole, in pieces of a few rows, and binned."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import scipy.sparse

import rankinite as rk
from pinned.digest import digest, folder, of, of_data, outcome
from pinned.private import pieces
from pinned.samples import mixed

LETOR = """# a comment
2 qid:7 1:0.5 2:-3 3:1e-3 # d1
0 qid:7 1:0.25 3:2.5e2 #docid = d2 inc = 1

1 qid:a 2:.5 # d3
3 qid:a 1:7 2:0 4:1.25 # d4
0 qid:a 4:16777217 # d5
4\tqid:b\t1:1  2:2 \t# d6
0.5 qid:c 3:0.1 # d7
1 qid:c 1:-0 # d8
"""
NO_GRADES = "qid:7 1:0.5 2:-3\nqid:7 1:0.25\nqid:8 2:4\n"
UNJUDGED = "-1 qid:7 1:0.5\n2 qid:7 1:1\n0 qid:8 1:2\n-1 qid:9 1:3\n"
NO_QID = "2 1:0.5 2:-3\n0 1:0.25\n1 2:4\n0 1:1\n3 2:2\n"
CSV = """qid,doc_id,grade,bm25,url length,clicks,weight,batch
7,d1,2,0.5,-3,,1.5,x
7,d2,0,.25,12,1,1.5,x
"a,b",d3,1,1e-3,7,0,0.5,y
"a,b",d4,3,16777217,0,2,0.5,y
"a,b",d5,0,-0,1,,0.5,y
c,d6,4,0.1,2.5,5,2,x
"""
SEMICOLONS = "query_id;relevance;a;b\n1;2;0,5;x\n1;0;1,25;y\n2;1;3;x\n"
WORDS = "qid,grade,kind,site,n\n1,Good,news,1,0.5\n1,Bad,shop,2,1.5\n2,Fair,,1,\n2,Good,news,3,2.5\n3,Bad,wiki,2,7\n"
ODD = "qid,grade,a,b\n1,2,inf,1\n1,0,1,-inf\n2,1,1.79e308,\n2,3,nan,4\n"
SCATTERED = "qid,grade,a\n1,2,0.5\n2,0,1.5\n1,1,2.5\n3,0,3.5\n2,2,4.5\n"
NO_HEADER = "2,0.5,1\n0,1.5,2\n1,2.5,3\n0,3.5,4\n"
EMPTY_GRADES = "qid,grade,a\n1,2,0.5\n1,,1.5\n2,1,2.5\n2,-1,3.5\n3,,4\n"
QRELS = "2 0 b 1\n1 0 a 2\n1 0 c -1\n2 0 a 0\n"

Case = tuple[str, Any, dict[str, Any]]


def text_files(here: Path) -> Iterator[Case]:
    def put(name: str, text: str) -> Path:
        content = text.encode()
        path = here / name
        if name.endswith(".gz"):
            content = gzip.compress(content)
        elif name.endswith(".xz"):
            content = lzma.compress(content)
        elif name.endswith(".zst"):
            content = pa.compress(content, codec="zstd", asbytes=True)
        path.write_bytes(content)
        return path

    letor = put("a.txt", LETOR)
    yield "LETOR", letor, {}
    for suffix in (".gz", ".xz", ".zst"):
        yield f"LETOR, {suffix}", put(f"a.txt{suffix}", LETOR), {}
    yield "LETOR, compressed without saying so", put("odd", "").with_name("a.txt.gz").rename(here / "hidden.txt"), {}
    yield "LETOR, Windows", put("crlf.txt", LETOR.replace("\n", "\r\n")), {}
    yield "LETOR, byte order mark", put("bom.txt", "\ufeff" + LETOR.split("\n", 1)[1]), {}
    yield "LETOR, .svm", put("a.svm", LETOR), {}
    yield "LETOR, format", put("a.data", LETOR), {"format": "letor"}
    yield "LETOR, missing=nan", letor, {"missing": "nan"}
    yield "LETOR, zero_based", letor, {"zero_based": True}
    yield (
        "LETOR, from index 0",
        put("zero.txt", LETOR.replace(" 4:", " 0:").replace("1:7 2:0 0:1.25", "0:1.25 1:7 2:0")),
        {"zero_based": True},
    )
    yield "LETOR, features", letor, {"features": ["3", "1"]}
    yield "LETOR, features by number", letor, {"features": [2, 0]}
    yield "LETOR, features in a text", letor, {"features": "1,4"}
    yield "LETOR, ignore", letor, {"ignore": ["2"]}
    yield "LETOR, rename", letor, {"rename": {"1": "bm25", "3": "age"}, "features": ["age", "bm25"]}
    yield "LETOR, rename by a file", letor, {"rename": put("names.txt", "bm25\npagerank\nclicks\nage\n")}
    yield "LETOR, map_grades", letor, {"map_grades": {0: 0, 0.5: 1, 1: 1, 2: 2, 3: 2, 4: 4}}
    yield "LETOR, map_grades without one", letor, {"map_grades": {0: 0, 1: 1}}
    yield "LETOR, categories", put("sets.txt", LETOR.replace("16777217", "8").replace("4:1.25", "4:1")), {"categories": ["4"]}
    yield "LETOR, group", put("plain.txt", NO_QID), {"group": [2, 3]}
    put("sized.txt.query", "2\n0\n3\n")
    yield "LETOR, .query", put("sized.txt", NO_QID), {}
    yield "LETOR, group file", put("plain2.txt", NO_QID), {"group": put("sizes", "1\n4\n")}
    yield "LETOR, group of other rows", put("plain3.txt", NO_QID), {"group": [2, 2]}
    yield "LETOR, no queries", put("plain4.txt", NO_QID), {}
    put("shown.txt.position", "2\n1\n1\n3\n2\n1\n2\n1\n")
    yield "LETOR, .position", put("shown.txt", LETOR), {}
    yield "LETOR, positions", letor, {"positions": put("positions", "2\n1\n1\n3\n2\n1\n2\n1\n")}
    yield "LETOR, no grades", put("ungraded.txt", NO_GRADES), {"unjudged": "keep"}
    yield "LETOR, no grades, refused", put("ungraded2.txt", NO_GRADES), {}
    for choice in ("error", "drop", "keep"):
        yield f"LETOR, unjudged={choice}", put(f"unjudged-{choice}.txt", UNJUDGED), {"unjudged": choice}
    yield "LETOR, several", [put("one.txt", LETOR), put("two.txt", "1 qid:c 5:2 # d9\n0 qid:z 1:1\n")], {}
    yield "LETOR, like", put("few.txt", "1 qid:1 2:5\n0 qid:1 1:1\n"), {"like": rk.read(letor)}
    yield "LETOR, scattered", put("scattered.txt", "1 qid:1 1:1\n0 qid:2 1:2\n2 qid:1 1:3\n"), {}
    for choice in ("error", "missing", "clip", "keep"):
        odd = put(f"odd-{choice}.txt", "1 qid:1 1:inf 2:1e39\n0 qid:1 1:-inf 2:nan\n")
        yield f"LETOR, infinite={choice}", odd, {"infinite": choice}
    for name, line in {
        "no number": "1 qid:1 1:x", "no colon": "1 qid:1 5", "order": "1 qid:1 2:1 1:2", "twice": "1 qid:1 1:1 1:2",
        "index 0": "1 qid:1 0:1", "no grade": "x qid:1 1:1", "no qid": "1 1:1", "empty": "", "binary": "1 qid:1 1:\0",
        "negative index": "1 qid:1 -1:2", "huge index": "1 qid:1 99999999999:2", "infinite grade": "inf qid:1 1:2",
    }.items():  # fmt: skip
        yield f"LETOR, flaw: {name}", put(f"flaw {name}.txt", f"2 qid:1 1:1\n{line}\n" if line else ""), {}

    table = put("a.csv", CSV)
    yield "CSV", table, {}
    for suffix in (".gz", ".xz", ".zst"):
        yield f"CSV, {suffix}", put(f"a.csv{suffix}", CSV), {}
    yield "CSV, Windows", put("crlf.csv", CSV.replace("\n", "\r\n")), {}
    yield "CSV, byte order mark", put("bom.csv", "\ufeff" + CSV), {}
    yield "CSV, no last line end", put("open.csv", CSV.rstrip("\n")), {}
    yield "CSV, format", put("a.data2", CSV), {"format": "csv"}
    yield "TSV", put("a.tsv", CSV.replace("a,b", "a;b").replace(",", "\t")), {}
    yield "CSV, semicolons", put("semicolons.csv", SEMICOLONS.replace("0,5", "0.5").replace("1,25", "1.25")), {}
    yield "CSV, semicolons, decimal commas", put("commas.csv", SEMICOLONS), {}
    yield "CSV, delimiter=pipe", put("pipes.csv", CSV.replace("a,b", "ab").replace(",", "|")), {"delimiter": "pipe"}
    yield "CSV, delimiter found", put("pipes2.csv", CSV.replace("a,b", "ab").replace(",", "|")), {}
    yield (
        "CSV, delimiter=semicolon",
        put("semicolons2.csv", CSV.replace("a,b", "ab").replace(",", ";")),
        {"delimiter": "semicolon"},
    )
    yield "CSV, wrong delimiter", table, {"delimiter": "tab"}
    yield "CSV, features", table, {"features": ["clicks", "bm25"]}
    yield "CSV, features by pattern", table, {"features": "*l*"}
    yield "CSV, ignore by pattern", table, {"ignore": ["url*", "b?25"]}
    yield "CSV, unknown feature", table, {"features": ["bm52"]}
    yield "CSV, rename", table, {"rename": {"url length": "length", "grade": "label"}}
    yield "CSV, roles named", put("roles.csv", CSV.replace("qid", "session", 1).replace("grade", "bought", 1)), {
        "qid": "session", "grades": "bought", "weight": "weight", "batch": "batch", "doc_id": "doc_id",
    }  # fmt: skip
    yield "CSV, no batch", table, {"ignore": "batch"}
    yield "CSV, weights as values", table, {"weight": [1, 1, 2, 2, 2, 3]}
    yield "CSV, positions", table, {"positions": "clicks"}
    shown = CSV.replace(",clicks,", ",p,").replace("-3,,", "-3,3,").replace(",0,0.5", ",4,0.5").replace("1,,0.5", "1,2,0.5")
    yield "CSV, positions, ok", put("p.csv", shown), {"positions": "p"}
    words = put("words.csv", WORDS)
    grades = {"Good": 2, "Fair": 1, "Bad": 0}
    yield "CSV, categories of text", words, {"map_grades": grades}
    yield "CSV, categories named", words, {"map_grades": grades, "categories": ["site"]}
    yield "CSV, one_hot", words, {"map_grades": grades, "one_hot": ["kind", "site"]}
    yield (
        "CSV, one_hot like",
        words,
        {"map_grades": grades, "one_hot": ["kind"], "like": rk.read(words, map_grades=grades, one_hot="kind")},
    )
    yield "CSV, categories like", put("words2.csv", WORDS.replace("wiki", "forum")), {
        "map_grades": grades, "like": rk.read(words, map_grades=grades)
    }  # fmt: skip
    yield "CSV, grades of text", words, {}
    yield "CSV, map_grades without one", words, {"map_grades": {"Good": 1, "Bad": 0}}
    for choice in ("error", "missing", "clip", "keep"):
        yield f"CSV, infinite={choice}", put(f"odd-{choice}.csv", ODD), {"infinite": choice}
    for choice in ("error", "drop", "keep"):
        yield f"CSV, unjudged={choice}", put(f"empty-{choice}.csv", EMPTY_GRADES), {"unjudged": choice}
    yield "CSV, no grades", put("ungraded.csv", "qid,a\n1,2\n1,3\n2,1\n"), {"unjudged": "keep"}
    yield "CSV, scattered", put("scattered.csv", SCATTERED), {}
    yield "CSV, no header", put("bare.csv", NO_HEADER), {"group": [1, 3]}
    yield "CSV, several", [put("one.csv", CSV), put("two.csv", CSV.replace("7,", "8,").replace("c,", "d,"))], {}
    yield "CSV, several with other columns", [put("one2.csv", CSV), put("two2.csv", WORDS)], {}
    yield "CSV, booleans", put("flags.csv", "qid,grade,a,b\n1,1,true,x\n1,0,false,y\n2,1,,x\n"), {}
    yield "CSV, ids of whole numbers", put("whole.csv", "qid,grade,doc_id,a\n007,1,01,1\n007,0,2,2\n08,1,03,3\n"), {}
    for name, lines in {
        "no number": "qid,grade,a\n1,1,1\n1,x,1", "cells": "qid,grade,a\n1,1\n", "twice": "qid,grade,a,a\n1,1,1,1\n",
        "empty": "", "header alone": "qid,grade,a\n", "no qid": "grade,a\n1,2\n", "two grades": "qid,grade,label,a\n1,1,1,1\n",
        "empty qid": "qid,grade,a\n,1,1\n", "quote": 'qid,grade,a\n"1,1,1\n',
        "weights": "qid,grade,weight,a\n1,1,1,1\n1,0,2,1\n", "negative weight": "qid,grade,weight,a\n1,1,-1,1\n",
    }.items():  # fmt: skip
        yield f"CSV, flaw: {name}", put(f"flaw {name}.csv", lines), {"weight": "weight"} if "weight" in name else {}
    yield "qrels", put("a.qrels", QRELS), {}
    yield "qrels, .gz", put("a.qrels.gz", QRELS), {}
    yield "qrels, format", put("judgements", QRELS), {"format": "qrels"}
    yield "qrels, flaw: twice", put("twice.qrels", QRELS + "1 0 a 1\n"), {}
    yield "a folder", here, {}
    yield "no file", here / "none.csv", {}


def frame() -> pd.DataFrame:
    rows = 20
    return pd.DataFrame(
        {
            "qid": [f"q{row // 4}" for row in range(rows)],
            "doc_id": [f"d{row}" for row in range(rows)],
            "grade": np.arange(rows) * 7 % 5,
            "a": mixed(rows, 3),
            "b": mixed(rows, 4).astype(np.float32),
            "whole": np.arange(rows) * 3 % 8,
            "flag": np.arange(rows) % 3 == 0,
            "kind": np.array(["news", "shop", "wiki"])[np.arange(rows) * 5 % 3],
            "weight": 1.0 + np.arange(rows) // 4 % 2,
        }
    )


def tables(here: Path) -> Iterator[Case]:
    pandas = frame()
    gaps = pandas.assign(
        a=pandas["a"].where(pandas.index % 4 != 1), whole=pandas["whole"].where(pandas.index % 5 != 2).astype("Int64")
    )
    arrow = pa.Table.from_pandas(pandas, preserve_index=False)
    chunked = pa.concat_tables([arrow.slice(0, 7), arrow.slice(7)])
    sets = arrow.set_column(7, "kind", arrow["kind"].dictionary_encode())
    for name, table in {
        "pandas": pandas, "pandas, gaps": gaps, "pandas, category": pandas.astype({"kind": "category"}),
        "pandas, scattered": pandas.iloc[(np.arange(20) * 7) % 20].reset_index(drop=True),
        "pandas, index": pandas.set_index("doc_id"), "polars": pl.DataFrame(arrow_columns(pandas)), "Arrow": arrow,
        "polars, category": pl.DataFrame(arrow_columns(pandas)).with_columns(pl.col("kind").cast(pl.Categorical)),
        "Arrow, chunks": chunked, "Arrow, dictionary": sets, "Arrow reader": chunked, "Arrow, gaps": pa.Table.from_pandas(gaps),
    }.items():  # fmt: skip
        yield name, table, {"weight": "weight"}
    yield "Arrow, decimals and halves", pa.table({
        "qid": ["1", "1", "2"], "grade": [1, 0, 2], "h": pa.array(np.array([0.5, 1.5, 2.5], np.float16)),
        "u": pa.array([1, 2, 3], pa.uint8()), "large": pa.array(["x", "y", "x"], pa.large_string()),
    }), {}  # fmt: skip
    yield "pandas, features", pandas, {"features": ["b", "a"], "grades": "grade"}
    yield "pandas, categories", pandas, {"categories": ["whole", "flag"], "ignore": "weight"}
    yield "pandas, one_hot", pandas, {"one_hot": "kind"}
    yield "pandas, values", pandas.drop(columns=["qid", "grade"]), {"qid": pandas["qid"], "grades": pandas["grade"] + 0.5}
    yield "pandas, rename", pandas, {"rename": {"a": "alpha"}}
    yield "pandas, positions", pandas.assign(shown=np.arange(20) % 4 + 1), {"positions": "shown"}
    yield "pandas, dates", pandas.assign(day=pd.Timestamp("2020-01-01")), {}
    for compression in ("none", "snappy", "zstd"):
        path = here / f"{compression}.parquet"
        pyarrow.parquet.write_table(arrow, path, compression=compression, row_group_size=6)
        yield f"Parquet, {compression}", path, {"weight": "weight"}
    pyarrow.parquet.write_table(sets, here / "sets.pq")
    yield "Parquet, dictionary", here / "sets.pq", {}
    pyarrow.parquet.write_table(pa.Table.from_pandas(gaps), here / "gaps.parquet", row_group_size=3)
    yield "Parquet, gaps", here / "gaps.parquet", {}
    yield "Parquet, features", here / "gaps.parquet", {"features": ["whole", "b"], "missing": "nan"}
    yield "Parquet, several", [here / "none.parquet", here / "zstd.parquet"], {"weight": "weight"}
    yield "Parquet, format", (here / "snappy.parquet").rename(here / "table.bin"), {"format": "parquet"}
    for compression in ("uncompressed", "lz4", "zstd"):
        path = here / f"{compression}.feather"
        pyarrow.feather.write_feather(chunked, path, compression=compression, chunksize=6)
        yield f"Feather, {compression}", path, {"weight": "weight"}
    with pa.ipc.new_file(here / "a.arrow", sets.schema) as writer:
        writer.write_table(sets, max_chunksize=5)
    yield "Arrow file, dictionary", here / "a.arrow", {}
    with pa.ipc.new_stream(here / "b.arrow", arrow.schema) as writer:
        writer.write_table(arrow, max_chunksize=5)
    yield "Arrow stream file", here / "b.arrow", {}
    (here / "broken.parquet").write_bytes(b"PAR1 nothing")
    yield "Parquet, broken", here / "broken.parquet", {}


def arrow_columns(pandas: pd.DataFrame) -> dict[str, Any]:
    return {str(name): pandas[name].tolist() for name in pandas.columns}


def arrays(_here: Path) -> Iterator[Case]:
    matrix = mixed(60, 8).reshape(20, 3)
    roles: dict[str, Any] = {"grades": np.arange(20) % 4, "qid": np.arange(20) // 5}
    for kind in (np.float64, np.float32, np.int32, np.float16, np.uint8):
        yield f"array of {kind.__name__}", (matrix * 9).astype(kind), roles
    yield "array, big-endian", matrix.astype(">f8"), roles
    yield "array, columns", np.asfortranarray(matrix.astype(np.float32)), roles
    yield "array, booleans", matrix > 0.5, roles
    yield "array, lists", matrix.tolist(), {name: value.tolist() for name, value in roles.items()}
    yield "array, scattered", matrix, roles | {"qid": np.arange(20) % 3}
    yield "array, group", matrix, {"grades": roles["grades"], "group": [5, 7, 8]}
    yield "array, no grades", matrix, {"qid": roles["qid"], "unjudged": "keep"}
    yield "array, weights, ids, batches", matrix, roles | {
        "weight": 1.0 + np.arange(20) // 5, "doc_id": [f"d{row}" for row in range(20)], "batch": np.arange(20) // 10,
    }  # fmt: skip
    yield "array, positions", matrix, roles | {"positions": np.arange(20) % 5 + 1}
    yield "array, categories", np.floor(matrix * 4), roles | {"categories": [1]}
    yield "array, categories by name", np.floor(matrix * 4), roles | {"categories": ["2"], "rename": None}
    yield "array, features", matrix, roles | {"features": [2, 0]}
    yield "array, map_grades", matrix, roles | {"map_grades": {0: 0, 1: 0, 2: 1, 3: 3}}
    gaps = np.where(matrix < 0.2, np.nan, matrix)
    yield "array, gaps", gaps, roles
    yield "array, infinite", np.where(matrix < 0.2, np.inf, matrix), roles | {"infinite": "clip"}
    yield "array, grades too few", matrix, roles | {"grades": [1, 2]}
    yield "array, one dimension", matrix[:, 0], roles
    sparse = np.where(matrix < 0.5, 0.0, matrix)
    for form in ("csr", "csc", "coo"):
        yield f"sparse, {form}", scipy.sparse.coo_matrix(sparse).asformat(form), roles
    yield "text array", matrix.astype(str), roles


def cases(here: Path) -> Iterator[Case]:
    for name, make in {"texts": text_files, "tables": tables, "arrays": arrays}.items():
        place = here / name
        place.mkdir()
        yield from make(place)


def digests() -> dict[str, str]:
    return dict(results())


def results() -> Iterator[tuple[str, str]]:
    with folder() as here:
        for number, (name, source, settings) in enumerate(cases(here)):
            anew: Callable[[], Any] = (lambda s=source: s.to_reader()) if name == "Arrow reader" else (lambda s=source: s)
            yield name, outcome(lambda a=anew, s=settings: of_data(rk.read(a(), **s)))
            if name != "Arrow reader":
                yield f"{name}: pieces", outcome(lambda a=anew, s=settings: " | ".join(map(of_piece, pieces(a(), 3, **s))))
            if not {"doc_id", "batch", "positions", "one_hot", "like"} & set(settings):
                out = here / f"{number}.bins"
                yield f"{name}: bins", outcome(lambda a=anew, s=settings, o=out: binned(a(), o, s))


def of_piece(data: rk.Dataset) -> str:
    """One digest of all the parts."""
    return of(of_data(data))[:6]


def binned(source: Any, path: Path, settings: dict[str, Any]) -> str:
    rk.bin(source, path, **settings)
    return of_bins(path)


def of_bins(path: Path) -> str:
    """Of the parts that a reader has to do with, and of the whole folder."""
    parts = {name: digest((path / f"{name}.npy").read_bytes()) for name in ("codes", "edges", "grades", "offsets", "qid_bytes")}
    manifest = json.loads((path / "manifest.json").read_text())
    del manifest["source"]
    return " ".join(f"{name}:{value[:8]}" for name, value in (parts | {"manifest": of(manifest)}).items())
