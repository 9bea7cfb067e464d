"""The report of an explanation shows what was found, and leads with what matters most."""

from __future__ import annotations

import json

import pytest

import rankinite as rk
from rankinite.report import of_explanation

DATA = rk.synthesise(20, world=rk.World(features=30, documents=8, noise=0.3), doc_ids=True)
QID = str(DATA.qids[3])


@pytest.fixture(scope="module")
def trees():
    return rk.LambdaMART.plain(trees=20, leaves=6, min_rows=3).fit(DATA)


@pytest.fixture(scope="module")
def documents(trees):
    """The documents of a query, the best first."""
    rows = DATA.select_queries([QID])
    order = trees.score(rows).argsort()[::-1]
    return rows.doc_ids[order].tolist()


@pytest.mark.parametrize("turned", [False, True])
def test_a_pair_has_what_every_feature_adds(trees, documents, turned):
    above, below = (documents[-1], documents[0]) if turned else (documents[0], documents[-1])
    found = trees.explain(DATA, QID, above=above, below=below)
    report = of_explanation(found, DATA, ranker=trees)
    counted = [one for one in found.features if one.above or one.below]
    shown = report.explained
    assert [(one.name, one.value) for one in shown.features] == [(one.feature, one.difference) for one in counted[:20]]
    assert len(shown.features) + shown.others == len(counted)
    assert shown.features[0].others[2:] == (found.features[0].above, found.features[0].below)
    helping = max(counted, key=lambda one: -one.difference if turned else one.difference)
    assert report.verdict[0].startswith(f"{documents[0]} is above {documents[-1]} mostly by {helping.feature}")
    assert set(found.sentences()) <= set(report.verdict)
    assert [one.label for one in report.figures] == [f"score of {above}", f"score of {below}", "difference"]
    assert "Settings of the models" in {one.title for one in report.facts}
    json.loads(report.to_json())


def test_documents_of_equal_scores_are_said_to_tie(trees):
    data = DATA.select_queries([QID])
    first, second = data.doc_ids[:2].tolist()
    report = of_explanation((0.0 * trees).explain(data, QID, above=first, below=second))
    assert report.verdict[0] == f"{first} and {second} have the same score."


def test_a_query_has_what_the_measure_loses(trees):
    found = trees.explain(DATA, QID, measure="ndcg@5")
    report = of_explanation(found)
    assert [(one.name, one.value, one.others[0]) for one in report.explained.features] == [
        (one.feature, one.taken_out, one.shuffled) for one in found.features[:20]
    ]
    best = found.features[0]
    assert best.taken_out > 0.0
    assert report.verdict[0].startswith(best.feature)
    assert f"would be {found.value - best.taken_out:.4f} instead of {found.value:.4f}" in report.verdict[1]
    assert any("better" in sentence for sentence in report.verdict) == (found.features[-1].taken_out < 0.0)


def test_one_shuffle_has_no_standard_error(trees):
    report = of_explanation(trees.explain(DATA, QID, repeats=1))
    assert {one.others[1] for one in report.explained.features} == {None}
    json.loads(report.to_json())


def test_all_queries_have_shares_of_what_ranks_them(trees):
    found = trees.explain(DATA)
    report = of_explanation(found, DATA)
    assert report.explained.subject == DATA.source
    shares = [float(one.others[0].rstrip("%")) for one in report.explained.features]
    total = sum(one.within for one in found.features)
    assert shares == pytest.approx([100 * one.within / total for one in found.features[:20]], abs=0.05)
    assert report.verdict[0].startswith(f"{found.features[0].feature} and {found.features[1].feature} do most")
    assert [one.title for one in report.facts] == ["Data", "Versions"]
