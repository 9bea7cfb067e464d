"""Nothing that users rely on changes unnoticed; the changelog explains each change of what is pinned here on purpose."""

from __future__ import annotations

import json

import pytest

from determinism.everything import results
from pinned.surface import PINNED, public_names, verbs


def pinned(name: str) -> dict:
    return json.loads((PINNED / f"{name}.json").read_text())


def test_public_names_and_what_they_take():
    assert public_names() == pinned("names")


def test_verbs_and_their_options():
    assert verbs() == pinned("verbs")


@pytest.mark.filterwarnings("ignore")
def test_bytes_of_a_model_of_each_learner_its_scores_and_the_measures():
    assert dict(results()) == pinned("bytes")
