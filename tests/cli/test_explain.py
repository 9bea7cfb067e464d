"""``rankinite explain``: what it prints, writes and refuses."""

from __future__ import annotations

import json

import pytest

import rankinite as rk

WORLD = rk.World(features=5, documents=8, terms=2, seed=1)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain")
    data = rk.synthesise(30, world=WORLD, doc_ids=True)
    rk.write(data, folder / "data.parquet")
    rk.write(rk.synthesise(30, world=WORLD), folder / "bare.txt")
    rk.LambdaMART.plain(trees=5).fit(data).save(folder / "trees.rankinite")
    rk.McRank(trees=2).fit(data).save(folder / "mcrank.rankinite")
    return folder


@pytest.fixture
def model(files):
    return rk.load(files / "trees.rankinite")


def asked(files, *options, data="data.parquet"):
    return ("explain", files / "trees.rankinite", files / data, *options)


def test_a_pair_is_what_python_gives(run, files, model, tmp_path):
    data, qid = rk.read(files / "data.parquet"), str(rk.read(files / "data.parquet").qids[2])
    first, second = data.select_queries([qid]).doc_ids.tolist()[:2]
    expected = model.explain(data, qid, above=first, below=second)
    pair = ("--query", qid, "--above", first, "--below", second)
    done = run(*asked(files, *pair, "--plot", tmp_path / "why.svg"))
    assert (done.code, done.out.strip()) == (0, str(expected))
    assert b"<svg" in (tmp_path / "why.svg").read_bytes()
    assert json.loads(run(*asked(files, *pair, "--json")).out) == json.loads(expected.to_json())
    assert expected.grid(2).markdown() in run(*asked(files, *pair, "--show-features", 2, "-f", "markdown")).out


def test_rows_are_named_by_number_where_documents_have_no_ids(run, files, model):
    data = rk.read(files / "bare.txt")
    qid = str(data.qids[0])
    done = run(*asked(files, "--query", qid, "--above", 3, "--below", 5, data="bare.txt"))
    assert done.out.strip() == str(model.explain(data, qid, above=3, below=5))


def test_a_query_and_all_queries_are_what_python_gives(run, files, model, tmp_path):
    data = rk.read(files / "data.parquet")
    qid = str(data.qids[4])
    found = run(
        *asked(files, "--query", qid, "-m", "err", "--repeats", 3, "-s", 2, "--show-features", 0, "--plot", tmp_path / "q.png")
    )
    assert found.out.strip() == model.explain(data, qid, measure="err", repeats=3, seed=2).grid(None).text()
    assert (tmp_path / "q.png").read_bytes().startswith(b"\x89PNG")
    done = run(*asked(files, "--all-queries", "--json", "--plot", tmp_path / "all.pdf"))
    assert json.loads(done.out) == json.loads(model.explain(data).to_json())
    assert (tmp_path / "all.pdf").read_bytes().startswith(b"%PDF")


def test_shuffled_features_are_what_python_gives_for_any_ranker(run, files, tmp_path):
    data = rk.read(files / "data.parquet")
    for name in ("trees", "mcrank"):  # the scores of the second cannot be split
        model = rk.load(files / f"{name}.rankinite")
        shuffled = (
            "explain",
            files / f"{name}.rankinite",
            files / "data.parquet",
            "--all-queries",
            "--shuffle",
            "--repeats",
            2,
        )
        found = rk.permutation_importance(model, data, "err", repeats=2, seed=3)
        done = run(*shuffled, "-m", "err", "-s", 3, "--show-features", 2, "--plot", tmp_path / "lost.svg")
        assert (done.code, done.out.strip()) == (0, found.grid(2).text())
        assert b"<svg" in (tmp_path / "lost.svg").read_bytes()
        assert json.loads(run(*shuffled, "-m", "err", "-s", 3, "--json").out) == found.to_dict()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--query", "1", "--shuffle"), ("--shuffle", "--all-queries")),
        (("--query", "1", "--above", "1-0", "--below", "nobody"), ("--below nobody", "'1-0', '1-1'")),
        (("--query", "nowhere"), ("--query nowhere", "The queries are '1'")),
        (("--query", "1", "--above", "1-0"), ("--above 1-0", "--below")),
        (("--query", "1", "--above", "1-0", "--below", "1-0"), ("--below", "same document")),
        ((), ("--query", "--all-queries")),
        (("--query", "1", "--all-queries"), ("--query 1", "--all-queries")),
        (("--all-queries", "--above", "1-0"), ("--above 1-0", "--query")),
        (("--query", "1", "--measure", "nonsense"), ("nonsense",)),
        (("--query", "1", "--plot", "why.txt"), ("why.txt", ".png")),
    ],
)
def test_bad_questions_end_with_code_2(run, files, options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*asked(files, *options))
    assert (done.code, done.out) == (2, "")
    for word in words:
        assert word in done.err
    assert not list(tmp_path.iterdir())


def test_rankers_that_cannot_be_explained_are_refused(run, files):
    done = run("explain", files / "mcrank.rankinite", files / "data.parquet", "--all-queries")
    assert done.code == 2
    assert "McRank" in done.err


def test_help_teaches_by_examples(run):
    text = run("explain", "--help").out
    assert "--query 17 --above d3 --below d9" in text
    assert "--all-queries" in text
