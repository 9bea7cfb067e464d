"""Pickles outlive moves of modules: they name public modules alone, load to the same content, or are refused in a sentence."""

from __future__ import annotations

import copy
import pickle
import pickletools
import warnings

import numpy as np
import pytest

import rankinite as rk
from kept.make_kept import HERE, PICKLES, content_of, json_of, numbers
from rankinite.errors import DataError
from refusals import refused

EXPECTED = json_of(HERE / "expected.json")
STABLE = {"rankinite.pickles", "rankinite.sklearn"}
"""The modules of ours that may be in a pickle."""
MODELS = sorted((HERE.parent / "model_files").glob("*.rankinite"))
MEASURES = (
    *("ndcg@5", "dcg:gains=linear", "avendcg", "err@3", "ap:relevant=2", "rr", "precision@5", "recall@5", "success@1"),
    *("f1@5", "rprec", "auc", "bpref", "judged@10", "rbp:p=0.5", "q", "pairwise-errors", "balanced-error"),
)


def loaded(content):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of another version of scikit-learn
        return pickle.loads(content)


def modules_in(content):
    """The modules of ours that a pickle names."""
    texts = [argument for _, argument, _ in pickletools.genops(content) if isinstance(argument, str)]
    return {name for name in (text.split(" ")[0] for text in texts) if name == "rankinite" or name.startswith("rankinite.")}


@pytest.mark.parametrize("name", PICKLES)
def test_what_was_pickled_loads_with_the_same_content(name):
    content = (HERE / f"pickle-{name}.pickle").read_bytes()
    assert modules_in(content) <= STABLE
    assert content_of(loaded(content), name) == EXPECTED[f"pickle-{name}"]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("name", PICKLES)
def test_what_is_pickled_today_names_public_modules_alone(name, protocol):
    made = PICKLES[name]()
    content = pickle.dumps(made, protocol=protocol)
    assert modules_in(content) <= STABLE
    assert content_of(loaded(content), name) == content_of(copy.deepcopy(made), name) == EXPECTED[f"pickle-{name}"]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_rankers_of_every_kind_are_the_same_after_pickling(path, tmp_path):
    ranker = rk.load(path)
    ranker.save(tmp_path / "expected")
    content = pickle.dumps(ranker)
    assert modules_in(content) <= STABLE
    for other in (loaded(content), copy.copy(ranker), copy.deepcopy(ranker)):
        assert type(other) is type(ranker)
        other.save(tmp_path / "found")
        assert (tmp_path / "found").read_bytes() == (tmp_path / "expected").read_bytes()


@pytest.mark.parametrize("text", MEASURES)
def test_measures_are_equal_after_pickling(text):
    measure = rk.parse_measure(text)
    content = pickle.dumps(measure)
    assert modules_in(content) <= STABLE
    assert loaded(content) == copy.copy(measure) == measure


def test_arrays_stay_read_only():
    data, forest = (loaded((HERE / f"pickle-{name}.pickle").read_bytes()) for name in ("dataset", "lambdamart-held-out"))
    for array in (data.features, data.grades, data.qids, data.input_row, data.preferences.better, forest.trees.threshold):
        assert not array.flags.writeable


def test_folders_of_bins_travel_by_their_path():
    binned = rk.Binned(HERE / "bins")
    content = pickle.dumps(binned)
    assert modules_in(content) <= STABLE
    assert len(content) < 500
    assert [str(one) for one in loaded(content).manifests] == [str(one.resolved()) for one in binned.manifests]


class Shifted(rk.Blend):
    """A ranker of users, with an attribute that is no field."""

    def score(self, features):
        return super().score(features) + self.shift


def test_classes_of_users_are_pickled_as_python_does():
    ranker = Shifted(((2.0, rk.Feature("bm25")),))
    object.__setattr__(ranker, "shift", 1.5)
    again = loaded(pickle.dumps(ranker))
    assert type(again) is Shifted
    np.testing.assert_array_equal(again.score(numbers()), ranker.score(numbers()))


@pytest.mark.parametrize(
    ("before", "after", "kind"), [(b"Feature", b"Further", "Further"), (b"ascending", b"ascendin9", "Feature")]
)
def test_a_pickle_of_another_version_is_refused_with_what_to_do(before, after, kind):
    content = pickle.dumps(rk.Feature("bm25"))
    assert before in content
    with refused(DataError, value=kind) as caught:
        loaded(content.replace(before, after))
    assert "`ranker.save`" in caught.value.remedy
    assert "`rankinite.write`" in caught.value.remedy
