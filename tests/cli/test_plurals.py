"""Numbers agree with what they count: one query, one row, one feature, one tree, whatever prints them."""

from __future__ import annotations

import re

import pytest

import rankinite as rk
from rankinite.models.files.matching import match_features

DATA = "2 qid:a 1:1 #docid = a1\n1 qid:a 1:2 #docid = a2\n"
"""One query with one feature."""
PLURAL = re.compile(
    r"(?<![\w.,@:/…–-])(?<!… )1 (?:[a-z-]+ )?"
    r"(queries|rows|features|trees|documents|leaves|rounds|rankers|folds|files|members|methods|columns|outputs|parts|scores|"
    r"pairs|levels|trials|positions|have|are|were|gain|lose)\b"
)
"""What must not be read; not "0 … 1", "1,000" or "ndcg@1"."""


def test_the_pattern_finds_what_is_wrong_and_leaves_the_rest():
    for text in ("1 queries", "x.txt: 1 rows, 3 features", "of 1 symmetric trees", "there are 1 columns"):
        assert PLURAL.search(text), text
    for text in ("1 query", "11 queries", "1,001 rows", "0.1 rows", "ndcg@1 queries", "1 query, 2 rows"):
        assert not PLURAL.search(text), text


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with one query, another one, and a ranker of one tree that was trained on the first."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.txt").write_text(DATA)
    (tmp_path / "same.txt").write_text("1 qid:b 1:1\n0 qid:b 1:2\n0 qid:b 1:2\n")
    (tmp_path / "alone.txt").write_text("1 qid:c 1:1\n")
    (tmp_path / "two.txt").write_text("1 qid:d 1:1 2:5\n0 qid:d 1:2 2:6\n")
    rk.RankNet(hidden=(), epochs=1).fit(rk.read("two.txt")).save("two.rankinite")
    rk.MART(trees=1, leaves=2, min_rows=1).fit(rk.read("one.txt")).save("tree.rankinite")


VERBS = {
    "describe": "describe one.txt",
    "describe-odd": "describe same.txt",
    "describe-one-document": "describe alone.txt",
    "convert": "convert one.txt -o one.csv",
    "synth": "synth --queries 1 --documents 1 --features 3 --out made.txt",
    "bin": "bin one.txt -o one.bins",
    "train": "train one.txt -l mart --trees 1 --leaves 2 --min-rows 1 --valid same.txt -o new.rankinite",
    "train-rounds": "train one.txt -l lambdaboost --rounds 1 -o new.rankinite",
    "inspect": "inspect tree.rankinite",
    "inspect-trees": "inspect tree.rankinite --trees 1",
    "evaluate": "evaluate tree.rankinite same.txt --verbose",
    "evaluate-trained": "evaluate tree.rankinite one.txt",
    "compare": "compare feature:1 tree.rankinite --data same.txt",
    "combine": "combine feature:1 tree.rankinite -d same.txt -o both.rankinite",
    "explain": "explain tree.rankinite same.txt --all-queries",
    "explain-query": "explain tree.rankinite same.txt --query b",
    "evaluate-short": "evaluate two.rankinite one.txt",
    "combine-one": "combine feature:1 -d same.txt -o both.rankinite",
    "score": "score tree.rankinite one.txt --verbose",
    "export": "export tree.rankinite --to lightgbm -o served",
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.usefixtures("here")
def test_verbs_count_one_as_one(run, verb):
    done = run(*VERBS[verb].split())
    assert done.code == (2 if verb == "combine-one" else 0)
    for line in (done.out + done.err).splitlines():
        assert not PLURAL.search(line), line


@pytest.mark.usefixtures("here")
def test_objects_count_one_as_one():
    data, ranker = rk.read("one.txt"), rk.load("tree.rankinite")
    shown = [data, ranker, rk.evaluate(ranker, data, ["ndcg"]), rk.describe(data), ranker.contributions(data), ranker.text()]
    for thing in shown:
        for text in (repr(thing), str(thing)):
            assert not PLURAL.search(text), text


@pytest.mark.usefixtures("here")
def test_errors_count_one_as_one():
    data, ranker = rk.read("one.txt"), rk.load("tree.rankinite")
    wrong = (
        lambda: rk.evaluate([1.0], data, ["ndcg"]),
        lambda: rk.k_folds(data, 2),
        lambda: ranker.score([[1.0, 2.0]]),
        lambda: rk.read([[1.0]], grades=[1, 2], group=[1]),
        lambda: ranker.plot_tree(1),
        lambda: rk.combine.exact([ranker], data, "ndcg"),
        lambda: rk.LambdaMART(max_depth=1),
        lambda: rk.read("one.txt", positions=[1]),
    )
    for call in wrong:
        with pytest.raises(rk.RankiniteError) as refused:
            call()
        assert not PLURAL.search(str(refused.value)), str(refused.value)


@pytest.mark.usefixtures("here")
def test_one_feature_that_a_file_lacks_is_one(run):
    (line,) = [text for text in run("evaluate", "two.rankinite", "one.txt").err.splitlines() if "'2'" in text]
    assert line.endswith("one.txt: the model's feature '2' is not in it and counts as zero")


@pytest.mark.usefixtures("here")
def test_one_feature_that_is_found_by_its_position_is_one():
    _, note = match_features(rk.load("tree.rankinite").renamed(["f0"]), ("bm25",), "a.csv")
    assert note == "the model's feature 'f0' is taken for 'bm25' of a.csv, by position"
