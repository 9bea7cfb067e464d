"""Nets and linear rankers come back from their files to the bit, and damaged files are refused in words."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.model_files import without_checksum
from rankinite.models.files.container import Stored, write_model
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from refusals import refused

WORLD = rk.World(features=4, documents=12, noise=0.3)
TRAIN, VALID = rk.synthesise(15, world=WORLD), rk.synthesise(10, part="valid", world=WORLD)
ODD_NAMES = ("naïve name", 'with "quotes"\n', "\ud800", "plain")


def trained(hidden, **settings):
    return rk.LambdaRank(hidden=hidden, epochs=2, rate=0.01, **settings).fit(TRAIN, VALID)


def made(seed=0, hidden=(3, 2), nan="mean"):
    random = np.random.default_rng(seed)
    sizes = (4, *hidden, 1)
    count = sum((a + 1) * b for a, b in pairwise(sizes))
    return Net(ODD_NAMES, hidden, random.normal(size=count), random.normal(size=4), np.asarray([0.0, 1e-300, 1e300, 2.0]), nan)


RANKERS = {
    "net": trained((3,)),
    "two layers": trained((4, 2), nan="mean"),
    "linear": trained(()),
    "made net": made(),
    "no hidden units": made(1, (), "refuse"),
    "made linear": Linear(ODD_NAMES, np.asarray([5e-324, -0.0, 1e300, 0.1]), -0.1),
    "centred": Linear(ODD_NAMES, np.ones(4), 0.5, np.asarray([1.0, 2.0, 3.0, 1e-310]), "mean", {"a": [1, None]}),
    "changed": Linear(ODD_NAMES, np.ones(4), before=np.asarray([1.0, -0.0, 5e-324, 1e300])),
}
EACH = pytest.mark.parametrize("name", RANKERS)


def saved(ranker, folder, name="model.rankinite"):
    ranker.save(folder / name)
    return folder / name


def same(first, second):
    assert type(first) is type(second)
    assert repr(first) == repr(second)
    assert first.feature_names == second.feature_names
    assert (first.nan, first.settings) == (second.nan, second.settings)
    for array in ("weights", "centre", "scale") if isinstance(first, Net) else ("weights", "centre"):
        assert getattr(first, array).tobytes() == getattr(second, array).tobytes()
        assert not getattr(second, array).flags.writeable
    if isinstance(first, Linear):
        assert first.bias == second.bias
        assert first.changes() == second.changes()
    else:
        assert first.hidden == second.hidden
    assert (first.history is None) == (second.history is None)
    assert first.history is None or first.history.to_dict() == second.history.to_dict()


@EACH
def test_rankers_come_back_to_the_bit(name, tmp_path):
    ranker = RANKERS[name]
    path = saved(ranker, tmp_path)
    again = rk.load(path)
    same(ranker, again)
    assert saved(again, tmp_path, "again").read_bytes() == path.read_bytes()
    assert again.score(TRAIN.features / 4).tobytes() == ranker.score(TRAIN.features / 4).tobytes()


def test_they_come_back_inside_blends(tmp_path):
    blend = 0.3 * RANKERS["net"] + 0.7 * RANKERS["linear"] + 2.0 * (RANKERS["two layers"] + rk.Feature("1"))
    again = rk.load(saved(blend, tmp_path))
    assert repr(again) == repr(blend)
    assert again.score(VALID).tobytes() == blend.score(VALID).tobytes()
    same(blend.parts[0][1], again.parts[0][1])
    same(blend.parts[1][1], again.parts[1][1])


@settings(max_examples=60, deadline=None)
@given(
    weights=st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=2),
    bias=st.floats(-1e300, 1e300),
    centre=st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=2),
)
def test_any_numbers_go_through_a_file(tmp_path_factory, weights, bias, centre):
    ranker = Linear(("a", "b"), np.asarray(weights), bias, np.asarray(centre))
    path = tmp_path_factory.getbasetemp() / "linear"
    ranker.save(path)
    same(ranker, rk.load(path))


# ---- what can be read off -----------------------------------------------------------------------------------------------


@EACH
def test_the_text_holds_every_number(name):
    ranker = RANKERS[name]
    text = ranker.text()
    arrays = [ranker.weights, ranker.centre] + ([ranker.scale] if isinstance(ranker, Net) else [np.asarray([ranker.bias])])
    numbers = re.findall(r"(?<=[ (])-?\d[\w.+-]*(?=[\]) \n])", text)
    for value in np.concatenate(arrays).tolist():
        assert repr(value) in numbers
        numbers.remove(repr(value))
    for feature in ranker.feature_names:
        assert feature in text or repr(feature) in text
    assert text.endswith("\n")


@pytest.mark.parametrize("name", [name for name, ranker in RANKERS.items() if isinstance(ranker, Net)])
def test_the_layers_rebuild_the_net(name):
    net = RANKERS[name]
    values = (VALID.features.astype(float) - net.centre) * net.scale
    if name in {"made net", "no hidden units"}:
        values = values / np.asarray([1.0, 1.0, 1e300, 1.0])
        net = replace(net, scale=net.scale / np.asarray([1.0, 1.0, 1e300, 1.0]))
    layers = net.layers()
    assert [weights.shape for weights, _ in layers] == list(zip((*net.hidden, 1), (4, *net.hidden), strict=True))
    for weights, biases in layers[:-1]:
        values = np.tanh(values @ weights.T + biases)
    weights, biases = layers[-1]
    np.testing.assert_allclose(net.score(VALID.features), (values @ weights.T + biases)[:, 0], rtol=0, atol=1e-12)


def test_a_linear_ranker_is_its_weighted_sum():
    linear = RANKERS["linear"]
    expected = linear.bias + (VALID.features.astype(float) - linear.centre) @ linear.weights
    np.testing.assert_allclose(linear.score(VALID), expected, rtol=0, atol=1e-12)
    assert linear.by_feature() == dict(zip(VALID.feature_names, linear.weights.tolist(), strict=True))
    plain = Linear(("a", "b"), np.asarray([2.0, -1.0]))
    assert plain.score([[1.0, 3.0], [0.0, 0.0]]).tolist() == [-1.0, 0.0]


def test_other_weights_make_another_net():
    net = RANKERS["net"]
    other = net.with_weights(net.weights * 0)
    assert (other.score(VALID) == 0).all()
    assert other.history is None
    assert net.score(VALID).any()
    assert np.array_equal(net.with_weights(net.weights).score(VALID), net.score(VALID))


def test_what_a_net_is_made_of_cannot_be_changed():
    weights = np.asarray([1.0, 2.0])
    linear = Linear(("a", "b"), weights)
    with pytest.raises(ValueError, match="read-only"):
        linear.weights[0] = 3.0
    with pytest.raises(ValueError, match="read-only"):
        RANKERS["net"].layers()[0][0][:] = 0.0


# ---- files that are damaged -------------------------------------------------------------------------------------------


def write(ranker, path, facts=None, arrays=None):
    """The file of a ranker with other facts and arrays; None leaves one out."""
    stored = ranker.stored()
    changed = {name: array for name, array in {**stored.arrays, **(arrays or {})}.items() if array is not None}
    kept = {name: fact for name, fact in {**stored.facts, **(facts or {})}.items() if fact != "left out"}
    write_model(path, Stored(stored.kind, kept, changed))


GOOD = {"measure": "err", "train": [], "valid": [], "best": 1, "stopped": ""}


@pytest.mark.parametrize(
    ("facts", "arrays", "place", "value"),
    [
        ({}, {"weights": np.zeros(3)}, "net: weights", (3,)),
        ({}, {"weights": np.zeros((19, 1))}, "array 'weights'", (19, 1)),
        ({}, {"weights": np.zeros(19, np.float32)}, "array 'weights'", (19,)),
        ({}, {"weights": np.full(19, np.inf)}, "net: weights", np.inf),
        ({}, {"weights": None}, "array 'weights'", None),
        ({}, {"centre": np.zeros(5)}, "net: centre", (5,)),
        ({}, {"centre": np.full(4, -np.inf)}, "net: centre", -np.inf),
        ({}, {"centre": None}, "array 'centre'", None),
        ({}, {"scale": np.zeros(0)}, "net: scale", (0,)),
        ({}, {"scale": None}, "array 'scale'", None),
        ({"nan": "zero"}, {}, "model", "zero"),
        ({"nan": None}, {}, "nan", None),
        ({"hidden": [3.0]}, {}, "model", 3.0),
        ({"hidden": ["3"]}, {}, "model", "3"),
        ({"hidden": [True, 3]}, {}, "model", True),
        ({"hidden": [[3]]}, {}, "model", [3]),
        ({"hidden": [0]}, {}, "model", 0),
        ({"hidden": [-3]}, {}, "model", -3),
        ({"hidden": [10**30]}, {}, "model", 10**30),
        ({"hidden": [2**31 - 1] * 4}, {}, "model", 2**31 - 1),
        ({"hidden": [4]}, {}, "net: weights", (19,)),
        ({"hidden": 3}, {}, "hidden", 3),
        ({"hidden": "left out"}, {}, "hidden", None),
        ({"feature_names": []}, {}, "net", ()),
        ({"feature_names": ["a"] * 4}, {}, "net", "a"),
        ({"feature_names": ["a", "b"]}, {}, "net: weights", (19,)),
        ({"feature_names": [1, 2, 3, 4]}, {}, "feature_names", 1),
        ({"settings": []}, {}, "settings", []),
        ({"history": 3}, {}, "history", 3),
        ({"history": {**GOOD, "best": -1}}, {}, "model", -1),
        ({"history": {**GOOD, "train": ["a"]}}, {}, "history: train", "a"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_damaged_nets_are_refused(facts, arrays, place, value, tmp_path):
    write(RANKERS["net"], tmp_path / "model", facts, arrays)
    with refused(rk.DataError, place=place, value=value) as caught:
        rk.load(tmp_path / "model")
    assert caught.value.place.startswith(str(tmp_path / "model"))


@pytest.mark.parametrize(
    ("facts", "arrays", "place", "value"),
    [
        ({}, {"weights": np.zeros(3)}, "linear ranker: weights", (3,)),
        ({}, {"weights": np.asarray([0, 0, 0, -np.inf])}, "linear ranker: weights", -np.inf),
        ({}, {"centre": None}, "array 'centre'", None),
        ({"bias": "0"}, {}, "bias", "0"),
        ({"bias": None}, {}, "bias", None),
        ({"bias": True}, {}, "bias", True),
        ({"nan": "refused"}, {}, "model", "refused"),
        ({"feature_names": []}, {"weights": np.zeros(0), "centre": np.zeros(0)}, "linear ranker", ()),
    ],
    ids=lambda value: str(value)[:40],
)
def test_damaged_linear_rankers_are_refused(facts, arrays, place, value, tmp_path):
    write(RANKERS["linear"], tmp_path / "model", facts, arrays)
    with refused(rk.DataError, place=place, value=value):
        rk.load(tmp_path / "model")


@pytest.mark.parametrize("name", ["weights", "centre"])
def test_an_array_with_nan_is_refused(name, tmp_path):
    write(RANKERS["net"], tmp_path / "model", {}, {name: np.full_like(getattr(RANKERS["net"], name), np.nan)})
    with refused(rk.DataError, place=f"net: {name}") as caught:
        rk.load(tmp_path / "model")
    assert np.isnan(caught.value.value)


@pytest.mark.parametrize("bias", ["1e999", "-1e999", "NaN", "10" * 400])
def test_a_bias_beyond_all_bounds_is_refused(bias, tmp_path):
    path = saved(replace(RANKERS["linear"], bias=0.0625, settings={}, history=None), tmp_path)
    content = without_checksum(path.read_bytes())
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    header["__metadata__"]["rankinite"] = header["__metadata__"]["rankinite"].replace("0.0625", bias)
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + int.from_bytes(content[:8], "little") :])
    with pytest.raises(rk.DataError):
        rk.load(path)


@given(st.sampled_from(["net", "linear"]), st.lists(st.tuples(st.floats(0, 1), st.integers(1, 255)), max_size=4))
@settings(max_examples=250, deadline=None)
def test_files_with_other_bytes_load_or_are_refused(tmp_path_factory, name, flips):
    path = tmp_path_factory.getbasetemp() / "fuzzed"
    RANKERS[name].save(path)
    content = bytearray(without_checksum(path.read_bytes()))
    for place, mask in flips:
        content[min(int(place * len(content)), len(content) - 1)] ^= mask
    path.write_bytes(content)
    try:
        scores = rk.load(path).score(np.zeros((2, 4)))
    except rk.DataError:  # also for weights so large that a score would overflow
        return
    assert np.isfinite(scores).all()
