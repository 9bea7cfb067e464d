"""Combined rankers come back from their files to the bit, as the format says, and damaged files are refused in words."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.model_files import without_checksum
from rankinite.models.files.container import Stored, write_model
from refusals import refused

WORLD = rk.World(features=4, documents=8, noise=0.3)
DATA, OTHER = (rk.synthesise(20, part=part, world=WORLD) for part in ("train", "test"))
TREES = rk.LambdaMART.plain(trees=3, leaves=4).fit(DATA)
NET = rk.LambdaRank(hidden=(3,), epochs=2, rate=0.01).fit(DATA)
COLUMN, SMALL = rk.Feature("2"), rk.Feature(3, ascending=True)
THREE = {"trees": TREES, "net": NET, "column": COLUMN}
TOP = rk.Linear(("a", "b"), [0.3, -5e-324], 0.1)
DEEP = rk.combine.stacked(THREE, DATA, hidden=(2,)).ranker
MEAN = rk.combine.average([DEEP, TREES, SMALL], DATA, scale="query").ranker

RANKERS = {
    "exact": rk.combine.exact(TREES, NET, DATA).ranker,
    "convex": rk.combine.exact(TREES, NET, DATA, form="convex", normalise=True).ranker,
    "negative": rk.combine.exact(TREES, COLUMN, DATA, range=(-2, -1)).ranker,
    "tree": rk.combine.exact((TREES, COLUMN), (NET, SMALL), DATA, "err", normalise=True).ranker,
    "greedy": rk.combine.greedy(THREE, DATA, normalise=True).ranker,
    "cyclic": rk.combine.cyclic(THREE, DATA, rounds=1).ranker,
    "average": rk.combine.average(THREE, DATA).ranker,
    "average by query": rk.combine.average(THREE, DATA, scale="query").ranker,
    "average by rank": rk.combine.average(THREE, DATA, scale="rank", weights=[1, 2, 4]).ranker,
    "powell": rk.combine.powell(THREE, DATA, most=20).ranker,
    "stacked": rk.combine.stacked(THREE, DATA).ranker,
    "stacked net": DEEP,
    "average of a stack": MEAN,
    "stack of averages": rk.combine.stacked([MEAN, 2.0 * DEEP + NET], DATA, hidden=(2,)).ranker,
    "stack in a stack": rk.Stack((DEEP, rk.Stack((SMALL, MEAN), TOP)), TOP),
    "scaled twice": rk.Normalised(rk.Normalised(0.5 * TREES + COLUMN, "rank"), "all", -0.1, 1e-100),
    "one column": rk.Normalised(COLUMN, "all", 5e-324, 0.1),
}
EACH = pytest.mark.parametrize("name", RANKERS)


def saved(ranker, folder, name="model.rankinite"):
    ranker.save(folder / name)
    return folder / name


@EACH
def test_combinations_come_back_to_the_bit(name, tmp_path):
    ranker = RANKERS[name]
    path = saved(ranker, tmp_path)
    again = rk.load(path)
    assert type(again) is type(ranker)
    assert repr(again) == repr(ranker)
    assert again.feature_names == ranker.feature_names
    assert again.needs_queries == ranker.needs_queries
    assert saved(again, tmp_path, "again").read_bytes() == path.read_bytes()
    assert again.score(OTHER).tobytes() == ranker.score(OTHER).tobytes()
    assert rk.load(saved(ranker, tmp_path, "model.gz")).score(OTHER).tobytes() == ranker.score(OTHER).tobytes()


@EACH
def test_they_come_back_inside_others(name, tmp_path):
    ranker = rk.Normalised(rk.Stack((0.3 * RANKERS[name] + SMALL, RANKERS[name]), TOP), "query")
    again = rk.load(saved(ranker, tmp_path))
    assert again.score(OTHER).tobytes() == ranker.score(OTHER).tobytes()


@settings(max_examples=60, deadline=None)
@given(centre=st.floats(-1e300, 1e300), spread=st.floats(5e-324, 1e300), scale=st.sampled_from(["all", "query", "rank"]))
def test_any_numbers_go_through_a_file(tmp_path_factory, centre, spread, scale):
    path = tmp_path_factory.getbasetemp() / "normalised"
    rk.Normalised(COLUMN, scale, centre, spread).save(path)
    again = rk.load(path)
    assert (again.scale, again.centre, again.spread) == (scale, centre, spread)
    assert repr(again.ranker) == repr(COLUMN)


def test_rankers_of_others_cannot_be_saved(tmp_path):
    class Other:
        def score(self, data):
            return np.zeros(data.rows)

    for ranker in (rk.Normalised(Other(), "query"), rk.Stack((COLUMN, Other()), TOP)):
        with refused(rk.ArgumentError, value="Other"):
            ranker.save(tmp_path / "model")
        assert list(tmp_path.iterdir()) == []


# ---- what docs/formats/model.md says suffices to compute the scores -------------------------------------------------------


def content(path):
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    about = json.loads(header.pop("__metadata__")["rankinite"])
    spans = {name: (start + entry["data_offsets"][0], start + entry["data_offsets"][1]) for name, entry in header.items()}
    return about, {name: np.frombuffer(raw[first:last], "<f8") for name, (first, last) in spans.items()}


def spec_scores(about, arrays, rows, query, prefix=""):
    """The scores of rows, as lists of numbers, as the format describes them."""
    match about["kind"]:
        case "feature":
            column = {"1": 0, "2": 1, "3": 2, "4": 3}.get(about["feature"], about["feature"])
            return [-row[column] if about["ascending"] else row[column] for row in rows]
        case "linear":
            weights, centre = arrays[f"{prefix}weights"], arrays[f"{prefix}centre"]
            return [about["bias"] + sum(w * (x - c) for w, x, c in zip(weights, row, centre, strict=True)) for row in rows]
        case "blend":
            parts = [
                [part["weight"] * score for score in spec_scores(part["ranker"], arrays, rows, query, f"{prefix}{number}/")]
                for number, part in enumerate(about["parts"])
            ]
            return [sum(scores) for scores in zip(*parts, strict=True)]
        case "stack":
            parts = [spec_scores(part, arrays, rows, query, f"{prefix}{i}/") for i, part in enumerate(about["parts"], 1)]
            return spec_scores(about["top"], arrays, list(zip(*parts, strict=True)), query, f"{prefix}0/")
    assert about["kind"] == "normalised"
    scores = spec_scores(about["ranker"], arrays, rows, query, f"{prefix}0/")
    return [scaled(about, score, [s for s, q in zip(scores, query, strict=True) if q == same])
            for score, same in zip(scores, query, strict=True)]  # fmt: skip


def scaled(about, score, beside):
    if about["scale"] == "all":
        return (score - about["centre"]) / about["spread"]
    if about["scale"] == "rank":
        place = sum(s < score for s in beside) + (sum(s == score for s in beside) - 1) / 2
        return place / (len(beside) - 1) if len(beside) > 1 else 0.0
    mean = sum(beside) / len(beside)
    return (score - mean) / np.sqrt(sum((s - mean) ** 2 for s in beside) / len(beside)) if len(set(beside)) > 1 else 0.0


@pytest.mark.parametrize("scale", ["all", "query", "rank"])
def test_scores_are_what_the_format_says(scale, tmp_path):
    random = np.random.default_rng(3)
    features, query = random.integers(0, 4, (40, 4)).astype(float), np.sort(random.integers(0, 9, 40))
    features[0], query[0] = 1.0, -1  # a query of its own
    features[query == query[5]] = 2.0  # one of equal documents
    line = rk.Linear(("1", "2", "3", "4"), [0.5, -1.0, 2.0, 0.25], 0.1, [1.0, 0.0, -1.0, 2.0])
    scaled = [rk.Normalised(part, scale, 0.4, 1.7) for part in (line, COLUMN, SMALL)]
    ranker = rk.Stack((0.3 * scaled[0] + 2.0 * scaled[1], rk.Normalised(rk.Stack((line, scaled[2]), TOP), scale)), TOP)
    expected = spec_scores(*content(saved(ranker, tmp_path)), features.tolist(), query.tolist())
    data = rk.read(features, grades=random.integers(0, 3, 40), qid=query)
    assert ranker.score(data) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert len(set(expected)) > 5


# ---- files that are damaged -------------------------------------------------------------------------------------------


def write(ranker, path, facts, arrays):
    """The file of a ranker with other facts and arrays; "left out" and None leave one out."""
    stored = ranker.stored()
    changed = {name: array for name, array in {**stored.arrays, **arrays}.items() if array is not None}
    facts = {name: fact for name, fact in {**stored.facts, **facts}.items() if fact != "left out"}
    write_model(path, Stored(stored.kind, facts, changed))


COLUMN_FACTS, TOP_FACTS = COLUMN.stored().described(), TOP.stored().described()
GOOD = RANKERS["one column"].stored().described()


def check_refused(ranker, path, facts, arrays, place, value):
    write(ranker, path, facts, arrays)
    with refused(rk.DataError, place=place, value=value) as caught:
        rk.load(path)
    assert caught.value.place.startswith(str(path))


@pytest.mark.parametrize(
    ("facts", "place", "value"),
    [
        ({"scale": "median"}, "model", "median"),
        ({"scale": "left out"}, "scale", None),
        ({"scale": ["query"]}, "scale", ["query"]),
        ({"centre": "0"}, "centre", "0"),
        ({"centre": True}, "centre", True),
        ({"centre": "left out"}, "centre", None),
        ({"spread": None}, "spread", None),
        ({"spread": 0.0}, "model", 0.0),
        ({"spread": -1.0}, "model", -1.0),
        ({"ranker": "left out"}, "0/", None),
        ({"ranker": [COLUMN_FACTS]}, "0/", [COLUMN_FACTS]),
        ({"ranker": {}}, "0/kind", None),
        ({"ranker": {"kind": "median"}}, "0/kind", "median"),
        ({"ranker": {"kind": "feature"}}, "feature", None),
        ({"ranker": {**GOOD, "spread": -1.0}}, "model", -1.0),
        ({"ranker": TOP_FACTS}, "array '0/weights'", None),
    ],
    ids=lambda value: str(value)[:40],
)
def test_damaged_normalised_rankers_are_refused(facts, place, value, tmp_path):
    check_refused(RANKERS["one column"], tmp_path / "model", facts, {}, place, value)


@pytest.mark.parametrize(
    ("facts", "arrays", "place", "value"),
    [
        ({"top": "left out"}, {}, "0/", None),
        ({"top": COLUMN_FACTS}, {}, "top", "Feature"),
        ({"top": {"kind": "blend", "parts": []}}, {}, "model", ()),
        ({"top": {**TOP_FACTS, "feature_names": ["a"]}}, {}, "weights", (2,)),
        ({}, {"0/weights": None}, "array '0/weights'", None),
        ({}, {"0/weights": np.zeros(2, np.float32)}, "array '0/weights'", (2,)),
        ({}, {"0/centre": np.full(2, np.inf)}, "centre", np.inf),
        ({"parts": "left out"}, {}, "parts", None),
        ({"parts": {"0": COLUMN_FACTS}}, {}, "parts", {"0": COLUMN_FACTS}),
        ({"parts": [COLUMN_FACTS, 3]}, {}, "2/", 3),
        ({"parts": [COLUMN_FACTS, {"weight": 1.0, "ranker": COLUMN_FACTS}]}, {}, "2/kind", None),
        ({"parts": [COLUMN_FACTS, {**GOOD, "scale": "x"}]}, {}, "model", "x"),
        ({"parts": [TOP_FACTS, COLUMN_FACTS]}, {}, "array '1/weights'", None),
    ],
    ids=lambda value: str(value)[:40],
)
def test_damaged_stacks_are_refused(facts, arrays, place, value, tmp_path):
    check_refused(rk.Stack((COLUMN, SMALL), TOP), tmp_path / "model", facts, arrays, place, value)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_stack_has_as_many_parts_as_its_top_has_features(count, tmp_path):
    write(rk.Stack((COLUMN, SMALL), TOP), tmp_path / "model", {"parts": [COLUMN_FACTS] * count}, {})
    with refused(rk.DataError, place=tmp_path / "model") as caught:
        rk.load(tmp_path / "model")
    assert isinstance(caught.value.value, type(TOP))


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "1" * 400, "0.0", "-0.5", "null", '"2"'])
def test_a_spread_that_is_no_number_above_0_is_refused(number, tmp_path):
    path = saved(rk.Normalised(COLUMN, "all", 0.0, 0.0625), tmp_path)
    raw = without_checksum(path.read_bytes())
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    described = header["__metadata__"]["rankinite"]
    assert "0.0625" in described
    header["__metadata__"]["rankinite"] = described.replace("0.0625", number)
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + raw[start:])
    with refused(rk.DataError) as caught:
        rk.load(path)
    assert caught.value.place.startswith(str(path))


@pytest.mark.parametrize("depth", [20, 100, 3000, 100_000])
def test_rankers_deep_inside_each_other_load_or_are_refused(depth, tmp_path):
    before, after = json.dumps({**GOOD, "ranker": None}).split("null")
    about = before * depth + json.dumps(COLUMN_FACTS) + after * depth
    text = json.dumps({"__metadata__": {"rankinite": about.replace("{", '{"format": 1, ', 1)}}).encode()
    path = tmp_path / "model"
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    if depth > 100:
        with refused(rk.DataError) as caught:
            rk.load(path)
        assert caught.value.place.startswith(str(path))
    else:
        assert rk.load(path).feature_names == COLUMN.feature_names


@given(
    st.sampled_from(["average", "stacked net", "average of a stack", "stack in a stack", "one column"]),
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 255)), max_size=4),
)
@settings(max_examples=250, deadline=None)
def test_files_with_other_bytes_load_or_are_refused(tmp_path_factory, name, flips):
    path = tmp_path_factory.getbasetemp() / "fuzzed"
    RANKERS[name].save(path)
    raw = bytearray(without_checksum(path.read_bytes()))
    for place, mask in flips:
        raw[min(int(place * len(raw)), len(raw) - 1)] ^= mask
    path.write_bytes(raw)
    try:
        again = rk.load(path)
    except rk.DataError:
        return
    assert isinstance(again, rk.Blend | rk.Normalised | rk.Stack)


@EACH
def test_files_that_are_cut_off_are_refused(name, tmp_path):
    raw = saved(RANKERS[name], tmp_path).read_bytes()
    for length in np.linspace(0, len(raw) - 1, 20).astype(int):
        (tmp_path / "cut").write_bytes(raw[:length])
        with refused(rk.DataError) as caught:
            rk.load(tmp_path / "cut")
        assert caught.value.place.startswith(str(tmp_path / "cut"))
