"""Categories in Vespa's ranking expressions: lists of codes, in the twin, a slow reader and a stand-in of compiled forests."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from oracles import vespa
from oracles.trees import random_forest
from rankinite.data.categories import Vocabulary
from rankinite.serving.proof import WrongExportError, prove
from serving.category_stumps import EVERY, WORDS, asking
from serving.every_kind import linear_of
from serving.parity import case_of, differing
from serving.random_rankers import with_sets


def forest_text(case):
    """The expression of the forest."""
    profile = case.files["model.profile"].decode()
    return vespa.expression_of(vespa.blocks(profile, "function")["model_forest"]).strip()


def test_sets_are_lists_of_codes_that_missing_ones_are_not_on():
    case = case_of("vespa", asking([[0, 3], [1, 2], EVERY]), served_missing="nan")
    assert forest_text(case).split(" +\n") == [
        "if(feature_a in [0, 3], 1.0, -1.0)",
        "if(feature_a in [1, 2], 2.0, -2.0)",
        "if(feature_a in [0, 1, 2, 3, 4, 5], 3.0, -3.0)",
    ]


def test_unknown_codes_and_missing_ones_go_right():
    case = case_of("vespa", asking([[0, 3], [1, 2], EVERY]), served_missing="nan")
    rows = np.asarray([[0.0], [1.0], [4.0], [-1.0], [6.0], [np.nan]])
    found = vespa.scores_of(case.files["model.profile"].decode(), case.files["features.json"], ("a",), rows)
    assert found.tolist() == [1 - 2 + 3, -1 + 2 + 3, -1 - 2 + 3, *[-1 - 2 - 3] * 3]
    compiled = [vespa.compiled_forest(forest_text(case), {"feature_a": row[0]}) for row in rows]
    assert compiled == found.tolist()


@pytest.mark.parametrize("missing", ["nan", "zero"])
@pytest.mark.parametrize("seed", range(3))
def test_categories_beside_numbers_grades_and_other_rankers(seed, missing):
    sets = {0: WORDS, 2: Vocabulary(("-3", "7", "400"), numeric=True)}
    random = np.random.default_rng(seed)
    forest, grades = (
        with_sets(random_forest(seed), sets, random),
        with_sets(random_forest(seed, grades=(0.0, 1.0)), sets, random),
    )
    case = case_of("vespa", 0.5 * forest + grades + linear_of(seed, ("f1",)), rows=100, served_missing=missing)
    assert differing([case], "vespa") == []


@pytest.mark.parametrize(
    ("written", "changed"),
    [("in [0, 3]", "in [0, 2]"), ("in [0, 3]", "< 2.0"), ("in [0, 3], 1.0, -1.0", "in [0, 3], -1.0, 1.0"), ("[0, 3]", "[0 3]")],
)
def test_a_wrong_profile_is_found_out(written, changed):
    case = case_of("vespa", asking([[0, 3]]), served_missing="nan")
    profile = case.files["model.profile"].decode()
    assert profile.count(written) == 1
    wrong = {**case.files, "model.profile": profile.replace(written, changed).encode()}
    with pytest.raises((WrongExportError, AssertionError)):
        prove(case.target, wrong, case.plan)


def test_lists_that_are_too_long_for_compiled_forests_are_noted(tmp_path):
    many = Vocabulary(tuple(sorted(f"v{number}" for number in range(600))))
    long, short = (asking([list(range(size))], many) for size in (256, 255))
    assert any("256 categories" in note for note in rk.export(long, tmp_path / "long", to="vespa").notes)
    assert not any("more slowly" in note for note in rk.export(short, tmp_path / "short", to="vespa").notes)
