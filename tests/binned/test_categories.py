"""Categories in folders of bins: the same models as from data in memory, whichever piece or shard has which categories."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rankinite as rk
from rankinite.binned import making
from rankinite.binned.description import describe_bins
from rankinite.binned.tally import CategoryTally
from rankinite.data.categories import drop_unused_categories
from rankinite.data.identity import contents_of, fingerprint, row_keys
from rankinite.data.io.pieces import open_pieces
from rankinite.learners.training_bins import with_categories
from rankinite.models.files.container import model_bytes
from rankinite.trees.bins import centred_grades, count_categories, fit_bins
from refusals import refused

LEARNER = rk.LambdaMART.plain(trees=4, leaves=8, min_rows=3, row_share=0.8, bin_sample=400, category_rows=2)
SETTINGS = {"bin_sample": 400, "category_rows": 2}


def saved(ranker) -> bytes:
    return model_bytes(ranker.stored())


def drawn(words: int = 40, *, rows: int = 960, seed: int = 0, new: str = "") -> rk.Dataset:
    """A number, words and whole numbers that all matter; some are missing, and some are in a few rows of the end alone.

    The largest grade is in the last query alone, so that what is counted before is in other units. ``new``: how words
    begin that other data do not have.
    """
    random = np.random.default_rng(seed)
    number, word, shop = random.normal(size=rows), random.integers(words, size=rows), random.integers(12, size=rows)
    effect = np.random.default_rng(7).normal(size=(2, words))
    worth = number + effect[0][word] + effect[1][shop]
    features = np.column_stack((number, word, shop)).astype(np.float32)
    features[random.random((rows, 3)) < 0.05] = np.nan
    features[-3:, 1] = words
    names = [f"{new if k % 7 == 0 else ''}wörd {k:03d}" for k in range(words)]
    grades = np.clip(np.round(worth) + 1, 0, 3)
    grades[-1] = 4
    return drop_unused_categories(
        rk.Dataset(
            features=features,
            grades=grades.astype(np.float32),
            offsets=np.arange(0, rows + 1, 12),
            qids=np.asarray([f"{seed}:{query}" for query in range(rows // 12)]),
            feature_names=("x", "word", "shop"),
            categories={
                "word": rk.Vocabulary((*sorted(names), "zuletzt")),
                "shop": rk.Vocabulary(tuple(str(3 * k) for k in range(12)), numeric=True),
            },
        )
    )


@pytest.fixture
def small_pieces(monkeypatch):
    """Pieces of a hundred rows: most have only some of the categories."""
    monkeypatch.setattr(making, "open_pieces", partial(open_pieces, rows=100))


def check_same(coded: rk.Binned, data: rk.Dataset) -> None:
    assert coded.categories == data.categories
    assert list(coded.categories) == list(data.categories)  # model files have them in this order
    keys = row_keys(data)
    bins = with_categories(fit_bins(data.features, sample=400, keys=keys), data, 2)
    for name in ("edges", "starts", "has_missing"):
        assert np.array_equal(getattr(coded.bins, name), getattr(bins, name))
    assert {place: codes.tolist() for place, codes in coded.bins.categories.items()} == {
        place: codes.tolist() for place, codes in bins.categories.items()
    }
    assert np.array_equal(coded.codes().blocks[:, :, :3], bins.code(data.features).blocks[:, :, :3])
    assert np.array_equal(row_keys(coded), keys)
    for mine, theirs in zip(contents_of(coded), contents_of(data), strict=True):
        assert np.array_equal(mine, theirs)


# ---- the same as in memory ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [40, 380])
@pytest.mark.parametrize("suffix", [None, ".parquet", ".csv"])
@pytest.mark.parametrize("shards", [None, 3])
def test_a_folder_has_what_training_in_memory_makes(words, suffix, shards, small_pieces, tmp_path):
    data = drawn(words)
    assert words < 255 or (np.bincount(data.features[:, 1][~np.isnan(data.features[:, 1])].astype(int)) >= 2).sum() > 255
    source = data
    if suffix is not None:
        rk.write(data, tmp_path / f"data{suffix}")
        source = tmp_path / f"data{suffix}"
        data = rk.read(source, categories=["shop"])
    coded = rk.bin(source, tmp_path / "made", shards=shards, **({} if suffix is None else {"categories": "shop"}), **SETTINGS)
    check_same(coded, data)
    assert saved(LEARNER.fit(coded)) == saved(LEARNER.fit(data))
    if shards is None:
        assert fingerprint(coded) == fingerprint(data)
        assert rk.Binned(tmp_path / "made", verify=True).categories == data.categories


def test_numbers_of_letor_files_are_categories_too(small_pieces, tmp_path):
    lines = [f"{k % 3} qid:{k // 10} 1:{k % 13} 2:{(k * 37 % 11) - 5}\n" for k in range(600)]
    (tmp_path / "data.txt").write_text("".join(lines))
    data = rk.read(tmp_path / "data.txt", categories=["2"])
    coded = rk.bin(tmp_path / "data.txt", tmp_path / "made", categories=["2"])
    assert coded.categories == data.categories
    assert coded.categories["2"].names[0] == "-5"
    learner = rk.LambdaMART.plain(trees=3, leaves=6, min_rows=3)
    forest = learner.fit(coded)
    assert forest.trees.has_sets
    assert saved(forest) == saved(learner.fit(data))


@pytest.mark.parametrize("size", [1, 50, 4000])
def test_counts_of_pieces_are_those_of_the_whole(size):
    """An oracle for every unit: the tally of pieces, with the largest grade known, is the count of all rows at once."""
    data = drawn(150)
    centred = centred_grades(data.grades, data.offsets, float(data.grades.max()))
    first = CategoryTally()
    pieces = [data.select_queries(range(k, min(k + size, data.queries))) for k in range(0, data.queries, size)]
    pieces = [drop_unused_categories(piece) for piece in pieces]
    for piece in pieces:
        first.take(piece)
    assert first.is_mixed == (size < 4000)  # the largest grade comes last
    again = CategoryTally(first.largest)
    for piece in pieces:
        again.take(piece)
    assert not again.is_mixed
    assert again.vocabularies() == data.categories
    for name, found in again.counts(data.categories).items():
        wanted = count_categories(data.features[:, data.feature_index(name)], len(data.categories[name]), centred)
        assert np.array_equal(found.rows, wanted.rows)
        assert np.array_equal(found.worth, wanted.worth)
        assert found.squares == wanted.squares


def test_data_are_counted_again_only_where_a_later_grade_changes_groups(small_pieces, tmp_path):
    for words, again in ((40, False), (380, True)):
        done = []
        rk.bin(drawn(words), tmp_path / str(words), tell=lambda what, _rows, done=done: done.append(what), **SETTINGS)
        assert ("counting categories" in done) is again


# ---- validation data, shards and bases ----------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [40, 380])
def test_validation_data_are_matched_by_name(words, tmp_path):
    data, valid = drawn(words), drawn(words, rows=240, seed=5, new="neues ")
    train = rk.bin(data, tmp_path / "train", **SETTINGS)
    coded = rk.bin(valid, tmp_path / "valid", like=train)
    assert coded.categories == data.categories
    for learner in (LEARNER, replace(LEARNER, step="exact", step_data="valid")):
        wanted = saved(learner.fit(data, valid))
        assert saved(learner.fit(train, coded)) == wanted
        assert saved(learner.fit(train, valid)) == wanted
    forest = LEARNER.fit(train, coded)
    assert forest.history.valid[forest.rounds] == rk.evaluate(forest, valid, "ndcg@10")[rk.NDCG(10)].mean


def test_a_base_with_other_categories_scores_by_name(tmp_path):
    data, valid = drawn(), drawn(rows=240, seed=5, new="neues ")
    base = rk.LambdaMART.plain(trees=3, leaves=6, min_rows=3).fit(drawn(seed=9, new="neues "))
    train = rk.bin(data, tmp_path / "train", base=base, **SETTINGS)
    coded = rk.bin(valid, tmp_path / "valid", like=train, base=base)
    forest = LEARNER.fit(data, valid, base=base)
    assert saved(LEARNER.fit(train, coded, base=base)) == saved(forest)
    rounds = forest.rounds - base.rounds
    assert forest.history.valid[rounds] == rk.evaluate(forest, valid, "ndcg@10")[rk.NDCG(10)].mean


def test_an_appended_shard_has_the_codes_of_the_first(tmp_path):
    first = drawn()
    old = rk.bin(first, tmp_path / "old", **SETTINGS)
    second = drawn(rows=240, seed=5, new="neues ")
    both = rk.Binned([tmp_path / "old", rk.bin(second, tmp_path / "new", like=old).manifests[0].folder])
    assert LEARNER.fit(both).categories == dict(first.categories)
    assert np.array_equal(contents_of(both).keys[-20:], contents_of(second).keys)  # its queries are known by their own words


def test_rare_words_of_an_appended_shard_count_as_missing(tmp_path):
    """No value of the first is missing: what the second brings must be seen by training."""
    full = drawn()
    full = drop_unused_categories(full.select_rows(~np.isnan(full.features).any(axis=1)))
    old = rk.bin(full, tmp_path / "old", bin_sample=400, category_rows=1)
    assert not old.bins.has_missing.any()
    rare = rk.bin(full, tmp_path / "rare", bin_sample=400, category_rows=4)
    assert rare.bins.has_missing[1]
    seen = full.select_queries([0, 1])
    assert not rk.bin(seen, tmp_path / "seen", like=old).bins.has_missing.any()
    last = full.select_queries([full.queries - 1])
    assert rk.bin(last, tmp_path / "last", like=rare).bins.has_missing[1]
    new = rk.bin(drawn(rows=24, seed=5, new="neues "), tmp_path / "new", like=old)
    assert new.bins.has_missing[1]
    assert rk.Binned([tmp_path / "old", tmp_path / "new"]).bins.has_missing[1]


# ---- what a folder says, and refusals -----------------------------------------------------------------------------------


def test_a_manifest_has_version_2_only_with_categories(tmp_path):
    data = drawn()
    rk.bin(data, tmp_path / "made", **SETTINGS)
    rk.bin(data.select_features(["x"]), tmp_path / "plain", **SETTINGS)
    found = json.loads((tmp_path / "made" / "manifest.json").read_text())
    assert found["version"] == 2
    assert found["categories"] == [[1, len(data.categories["word"]), False], [2, 12, True]]
    assert found["category_rows"] == 2
    plain = json.loads((tmp_path / "plain" / "manifest.json").read_text())
    assert plain["version"] == 1
    assert not {"categories", "category_rows"} & plain.keys()


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts["categories"][0].__setitem__(0, 7),
        lambda facts: facts["categories"][0].__setitem__(1, -1),
        lambda facts: facts["categories"].append(facts["categories"][0]),
        lambda facts: facts.__setitem__("categories", [1]),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(change, tmp_path):
    rk.bin(drawn(), tmp_path / "made", **SETTINGS)
    path = tmp_path / "made" / "manifest.json"
    facts = json.loads(path.read_text())
    change(facts)
    path.write_text(json.dumps(facts))
    with refused(rk.DataError, place="manifest.json"):
        rk.Binned(tmp_path / "made")


def test_other_settings_and_other_categories_are_refused(tmp_path):
    train = rk.bin(drawn(), tmp_path / "train", **SETTINGS)
    with refused(rk.ArgumentError, setting="category_rows", value=5):
        replace(LEARNER, category_rows=5).fit(train)
    other = rk.bin(drawn(seed=5, new="neues "), tmp_path / "other", **SETTINGS)
    with refused(rk.DataError, place="other"):
        LEARNER.fit(train, other)
    with refused(rk.DataError, place="other"):
        rk.Binned([tmp_path / "train", tmp_path / "other"])
    plain = replace(drawn(seed=5), categories={})
    with refused(rk.DataError, value="word"):
        rk.bin(drawn(seed=5), tmp_path / "new", like=rk.bin(plain, tmp_path / "numbers", **SETTINGS))


def test_text_in_one_part_and_codes_in_another_are_refused(tmp_path):
    rows = {"qid": [f"{k // 3}" for k in range(9)], "grade": [0, 1, 2] * 3}
    for name, values in (("text", list("abcabcabc")), ("codes", [0, 1, 2] * 3)):
        qids = {"qid": [f"{name} {qid}" for qid in rows["qid"]]}
        pq.write_table(pa.table({**rows, **qids, "brand": values}), tmp_path / f"{name}.parquet")
    files = [tmp_path / "text.parquet", tmp_path / "codes.parquet"]
    with refused(rk.DataError, place="codes.parquet, row 0", value=["brand"]):
        rk.bin(files, tmp_path / "both")
    named = rk.bin(files, tmp_path / "named", categories=["brand"])  # then they are one vocabulary, as in memory
    assert named.categories == rk.read(files, categories=["brand"]).categories
    text = rk.bin(files[0], tmp_path / "text.bins")
    with refused(rk.DataError, place="codes.parquet", value="0"):
        rk.bin(files[1], tmp_path / "codes.bins", like=text)
    with refused(rk.DataError, place="text.parquet", value="a"):
        rk.bin(files[0], tmp_path / "new", like=rk.bin(files[1], tmp_path / "numbers", categories=["brand"]))


def test_a_category_with_a_value_for_each_row_is_warned_of(tmp_path):
    data = drawn(rows=120)
    codes = np.arange(120, dtype=np.float32)
    features = np.column_stack((data.features[:, 0], codes))
    ids = replace(
        data,
        features=features,
        feature_names=("x", "id"),
        categories={"id": rk.Vocabulary(tuple(f"{k:03d}" for k in range(120)))},
    )
    with pytest.warns(UserWarning, match=r"'id' \(120 values\) in 120 rows"):
        rk.bin(ids, tmp_path / "made")


def test_a_description_tells_codes_and_categories(tmp_path):
    train = rk.bin(drawn(380), tmp_path / "train", **SETTINGS)
    found, codes = describe_bins(train), train.bins.categories[1]
    word = found.features[1]
    assert (word.categories, word.rare, word.missing) == (len(codes), int((codes == 255).sum()), True)
    assert word.bins == len(set(codes[codes != 255].tolist())) <= 255
    facts, features, categories = found.grids(2, "ask for more")
    assert ("rows for a category", "≥ 2") in facts.rows
    assert features.rows[-1][0] == "… 1 more: ask for more"
    assert [line[0] for line in categories.rows] == ["word", "shop"]
    assert len(describe_bins(rk.bin(drawn().select_features(["x"]), tmp_path / "x")).grids()) == 2
