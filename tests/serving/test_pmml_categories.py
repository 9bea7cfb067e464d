"""Categories in PMML: fields of words, sets of them, and PMML4S, which evaluates them; unknown words go right."""

from __future__ import annotations

import runpy

import numpy as np
import pytest

import rankinite as rk
from oracles.trees import random_forest
from rankinite.data.categories import Vocabulary
from rankinite.errors import ArgumentError
from rankinite.serving.proof import WrongExportError, prove
from refusals import refused
from serving.category_stumps import EVERY, WORDS, asking
from serving.parity import case_of, differing
from serving.random_rankers import with_sets

pytestmark = [pytest.mark.slow, pytest.mark.tools("a Java runtime")]

BLANKS = Vocabulary(("", " ", " lead", "a\tb", "a\rb", "two  blanks"))


def document_of(ranker):
    return case_of("pmml", ranker, served_missing="nan").files["model.pmml"].decode()


def test_sets_are_listed_and_the_right_child_takes_what_is_left():
    text = document_of(asking([[0, 3], [1, 4, 5]]))
    start = '<DataField name="a" optype="categorical" dataType="string"><Value value="A"/>'
    assert start in text
    assert text.count('<MiningField name="a" invalidValueTreatment="asMissing"/>') == 3
    field = '<SimpleSetPredicate field="a" booleanOperator="isIn"><Array'
    assert f'{field} n="2" type="string">"A" "it\'s"</Array></SimpleSetPredicate>' in text
    assert f"""{field} n="3" type="string">"a" "say ''&#10;" "特"</Array></SimpleSetPredicate>""" in text
    assert text.count('<Node id="0" defaultChild="2">') == 2
    assert all(f'<Node id="2" score="{score}"><True/></Node>' in text for score in (-1.0, -2.0))


def test_words_with_quotes_and_backslashes_are_asked_for_one_by_one():
    odd = Vocabulary(('"', "\\", 'a\\"b', "plain"))
    forest = asking([[0], [0, 1], [2, 3], [0, 1, 2]], odd)
    assert "&quot;" not in "".join(document_of(forest).split("<Array")[1:]).split("</Array>")[0]
    assert differing([case_of("pmml", forest, rows=100, served_missing="nan")], "pmml") == []


@pytest.mark.parametrize("vocabulary", [WORDS, BLANKS], ids=["words", "blanks"])
def test_stumps_are_evaluated_as_ours(vocabulary):
    every = EVERY[: len(vocabulary)]
    forest = asking([[0, 3], [1, 2], every, [5]], vocabulary)
    assert differing([case_of("pmml", forest, rows=100, served_missing="nan")], "pmml") == []


@pytest.mark.parametrize("missing", ["nan", "zero"])
def test_categories_beside_numbers(missing):
    sets = {0: WORDS, 2: Vocabulary(("-3", "7", "400"), numeric=True)}
    forests = [with_sets(random_forest(seed, trees=6), sets, np.random.default_rng(seed)) for seed in range(5)]
    assert differing([case_of("pmml", forest, rows=100, served_missing=missing) for forest in forests], "pmml") == []


@pytest.mark.parametrize(
    ("written", "changed"),
    [
        ('"A" "it\'s"', '"A" "特"'),
        ("value='a \"b\"'/></Comp", "value='A'/></Comp"),
        ('defaultChild="2"', 'defaultChild="1"'),
        ('<Value value="A"/>', ""),
        ('"isIn"', '"isNotIn"'),
    ],
)
def test_a_wrong_document_is_found_out(written, changed):
    case = case_of("pmml", asking([[0, 2, 3]]), served_missing="nan")
    text = case.files["model.pmml"].decode()
    assert text.count(written) == 1
    with pytest.raises((WrongExportError, AssertionError, KeyError)):
        prove(case.target, {"model.pmml": text.replace(written, changed).encode()}, case.plan)


def test_the_program_scores_a_sample_of_words(tmp_path, monkeypatch):
    forest = with_sets(random_forest(3, trees=6), {0: WORDS}, np.random.default_rng(3))
    rk.export(forest, tmp_path / "made", to="pmml", served_missing="nan")
    monkeypatch.chdir(tmp_path / "made")
    runpy.run_path("check.py")
    assert rk.check_served(".", np.loadtxt("served.txt", ndmin=1)).as_expected


@pytest.mark.parametrize("word", ["a\x01b", "\ud800"])
def test_a_word_that_xml_cannot_hold_is_refused(word, tmp_path):
    with refused(ArgumentError, value=word):
        rk.export(asking([[0]], Vocabulary((word,))), tmp_path / "made", to="pmml")
