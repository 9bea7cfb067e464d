"""Coded data on disk: the same models as from data in memory, whatever they were read from, and nothing half-written."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import rankinite as rk
from rankinite.binned.folder import MANIFEST, is_bins
from rankinite.binned.room import BYTES_A_ROW
from rankinite.binned.sampling import LowestRows
from rankinite.binned.streaming import cuts
from rankinite.binned.writing import new_folder
from rankinite.data.identity import contents_of, fingerprint, row_keys
from rankinite.engine.memory import Allowance
from rankinite.models.files.container import model_bytes
from rankinite.trees.bins import fit_bins
from refusals import refused

WORLD = rk.World(features=70, documents=12, noise=0.3)
LEARNER = rk.LambdaMART.plain(trees=5, leaves=6, min_rows=3, row_share=0.8, bin_sample=300)


def saved(ranker) -> bytes:
    return model_bytes(ranker.stored())


def gappy(part: str = "train", queries: int = 50) -> rk.Dataset:
    drawn = rk.synthesise(queries, part=part, world=WORLD)
    features = np.round(np.array(drawn.features), 3)
    features[::5, 2] = np.nan
    return replace(drawn, features=features)


DATA, VALID = gappy(), gappy("valid", 20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("bins")
    rk.bin(DATA, root / "train.bins", bin_sample=300)
    rk.bin(VALID, root / "valid.bins", like=root / "train.bins")
    return root


def test_a_folder_knows_of_the_data_what_learning_needs(folder):
    coded = rk.Binned(folder / "train.bins", verify=True)
    bins = fit_bins(DATA.features, sample=300, keys=row_keys(DATA))
    for name in ("edges", "starts", "has_missing"):
        assert np.array_equal(getattr(coded.bins, name), getattr(bins, name))
    assert np.array_equal(coded.codes().blocks, bins.code(DATA.features).blocks)
    for name in ("grades", "offsets", "qids"):
        assert np.array_equal(getattr(coded, name), getattr(DATA, name))
    assert np.array_equal(row_keys(coded), row_keys(DATA))
    for mine, theirs in zip(contents_of(coded), contents_of(DATA), strict=True):
        assert np.array_equal(mine, theirs)
    assert fingerprint(coded) == fingerprint(DATA)
    assert (coded.rows, coded.queries, coded.feature_names) == (DATA.rows, DATA.queries, DATA.feature_names)


@pytest.mark.parametrize("suffix", [".txt.gz", ".parquet", ".arrow", ".csv"])
def test_any_source_gives_the_same_folder(suffix, folder, tmp_path):
    """LETOR writes all its features here, with NaN as such."""
    rk.write(DATA, tmp_path / f"data{suffix}")
    made = rk.bin(tmp_path / f"data{suffix}", tmp_path / "made.bins", bin_sample=300)
    wanted = rk.Binned(folder / "train.bins").manifests[0]
    hashes = {name: hashed for name, (_, hashed) in made.manifests[0].files.items()}
    assert hashes == {name: hashed for name, (_, hashed) in wanted.files.items()}
    assert made.manifests[0].fingerprint == wanted.fingerprint


def test_several_files_are_one_stream_and_zeros_may_be_left_out(tmp_path):
    sparse = replace(DATA, features=np.where(np.abs(DATA.features) < 0.5, 0, np.nan_to_num(DATA.features)))
    lines = []
    for row, query in enumerate(sparse.query_of_row().tolist()):
        values = " ".join(f"{f + 1}:{value!r}" for f, value in enumerate(sparse.features[row].tolist()) if value)
        lines.append(f"{sparse.grades[row]:g} qid:{sparse.qids[query]} {values}\n")
    half = int(sparse.offsets[20]) + 5  # in the middle of a query
    (tmp_path / "a.txt").write_text("".join(lines[:half]))
    (tmp_path / "b.txt").write_text("".join(lines[half:]))
    made = rk.bin([tmp_path / "a.txt", tmp_path / "b.txt"], tmp_path / "made.bins", bin_sample=300)
    assert saved(LEARNER.fit(made)) == saved(LEARNER.fit(sparse))


@pytest.mark.parametrize(
    "learner", [LEARNER, rk.MART(trees=4, bin_sample=300, reoptimise=2), rk.McRank(trees=2, bin_sample=300)]
)
def test_training_gives_the_bytes_of_data_in_memory(learner, folder):
    train, valid = rk.Binned(folder / "train.bins"), rk.Binned(folder / "valid.bins")
    wanted = saved(learner.fit(DATA, VALID))
    assert saved(learner.fit(train, valid)) == wanted
    assert saved(learner.fit(train, VALID)) == wanted  # coded with the training data's edges as it comes


def test_a_checkpoint_of_data_in_memory_is_gone_on_from(folder, tmp_path):
    train, valid = rk.Binned(folder / "train.bins"), rk.Binned(folder / "valid.bins")
    LEARNER.fit(DATA, VALID, callbacks=[rk.Checkpoint(tmp_path / "kept", every=2), lambda progress: progress.round == 3])
    assert saved(LEARNER.fit(train, valid, callbacks=[rk.Checkpoint(tmp_path / "kept", every=2)])) == saved(
        LEARNER.fit(DATA, VALID)
    )


def test_queries_of_weight_0_are_left_out_of_training_data_alone(tmp_path):
    weights = np.resize([1.0, 0.0, 2.0], DATA.queries)
    weighted = DATA.with_weights(weights)
    train = rk.bin(weighted, tmp_path / "w.bins", bin_sample=300)
    assert train.queries == np.count_nonzero(weights)
    assert saved(LEARNER.fit(train)) == saved(LEARNER.fit(weighted)) == saved(LEARNER.fit(weighted.select_queries(weights > 0)))
    valid = rk.bin(weighted, tmp_path / "v.bins", like=train)  # to be judged on, where every query counts once
    assert valid.queries == DATA.queries
    with refused(rk.DataError, place=valid.source, value=0.0):
        LEARNER.fit(valid)


def test_weights_and_rows_without_grades_are_kept(tmp_path):
    weighted = DATA.with_weights(np.resize([1.0, 2.0, 0.25], DATA.queries))
    assert saved(LEARNER.fit(rk.bin(weighted, tmp_path / "w.bins", bin_sample=300))) == saved(LEARNER.fit(weighted))
    bare = rk.bin(DATA.without_grades(), tmp_path / "u.bins", bin_sample=300)
    assert fingerprint(bare) == fingerprint(DATA.without_grades())
    with refused(rk.DataError, value=False):
        LEARNER.fit(bare)


def test_the_scores_of_a_base_are_kept_as_features_are_not(tmp_path):
    base, other = rk.Feature("10"), rk.Feature("11")
    coded = rk.bin(DATA, tmp_path / "b.bins", bin_sample=300, base=base)
    assert saved(LEARNER.fit(coded, base=base)) == saved(LEARNER.fit(DATA, base=base))
    with refused(rk.DataError, value="Feature"):
        LEARNER.fit(coded, base=other)


# ---- shards -------------------------------------------------------------------------------------------------------------


def test_shards_are_whole_queries_of_about_equal_rows_in_order(tmp_path):
    shards = rk.bin(DATA, tmp_path / "shards", shards=3, bin_sample=300)
    assert [manifest.folder.name for manifest in shards.manifests] == ["00.bins", "01.bins", "02.bins"]
    assert sum(manifest.rows for manifest in shards.manifests) == DATA.rows
    assert max(manifest.rows for manifest in shards.manifests) - min(manifest.rows for manifest in shards.manifests) <= 24
    assert shards.qids.tolist() == DATA.qids.tolist()
    wanted = saved(LEARNER.fit(DATA))
    assert saved(LEARNER.fit(shards)) == wanted
    backwards = rk.Binned([manifest.folder for manifest in shards.manifests[::-1]])
    forest, expected = LEARNER.fit(backwards), LEARNER.fit(DATA)
    assert np.array_equal(forest.trees.value, expected.trees.value)


@pytest.mark.parametrize("sizes", [[1, 1, 1], [100, 1, 1, 1], [1, 1, 1, 100], [5] * 20, [1, 50, 1, 50, 1]])
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_no_shard_is_empty(sizes, parts):
    ends = cuts(np.asarray(sizes), parts)
    assert ends[0] == 0
    assert ends[-1] == len(sizes)
    assert all(first < last for first, last in pairwise(ends))


def test_a_shard_is_appended_with_the_edges_of_the_others(tmp_path):
    first, second = DATA.select_queries(range(30)), DATA.select_queries(range(30, 50))
    old = rk.bin(first, tmp_path / "00.bins", bin_sample=300)
    new = rk.bin(second, tmp_path / "01.bins", like=old)
    both = rk.Binned([tmp_path / "00.bins", tmp_path / "01.bins"])
    assert both.queries == 50
    assert np.array_equal(new.codes().blocks, old.bins.code(second.features).blocks)
    LEARNER.fit(both)
    with refused(rk.DataError, value=str(first.qids[0])):
        rk.bin(first, tmp_path / "02.bins", like=old)
        LEARNER.fit(rk.Binned([tmp_path / "00.bins", tmp_path / "02.bins"]))


def test_a_binned_travels_as_its_paths(folder):
    coded = rk.Binned(folder / "train.bins")
    sent = pickle.dumps(coded)
    assert len(sent) < 1000
    assert fingerprint(pickle.loads(sent)) == fingerprint(DATA)


# ---- samples ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 7, 100, 1000])
@pytest.mark.parametrize("piece", [1, 13, 400])
def test_the_lowest_rows_of_a_stream_are_those_of_the_whole(count, piece):
    rng = np.random.default_rng(count + piece)
    keys = rng.permutation(800).astype(np.uint64)
    features = rng.normal(size=(800, 3)).astype(np.float32)
    sample = LowestRows(count)
    for start in range(0, 800, piece):
        wide = 2 if start < 300 else 3  # a feature that comes up later is 0 before
        sample.show(keys[start : start + piece], features[start : start + piece, :wide])
    ends = np.where(np.arange(800) // piece * piece < 300, 2, 3)
    whole = np.where(np.arange(3) < ends[:, None], features, 0)
    expected = whole[np.argsort(keys)[:count]]
    found = sample.rows(3)
    assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, expected.tolist()))


# ---- refusals -----------------------------------------------------------------------------------------------------------


def test_what_needs_features_is_told_that_there_are_none(folder):
    coded = rk.Binned(folder / "train.bins")
    for use in (
        lambda: rk.LambdaRank(epochs=1).fit(coded),
        lambda: rk.Feature(0).score(coded),
        lambda: coded.select_queries([0]),
    ):
        with refused(rk.DataError, place="train.bins") as caught:
            use()
        assert "coded data have no features" in caught.value.problem


def test_other_settings_of_bins_and_other_edges_are_refused(folder, tmp_path):
    coded = rk.Binned(folder / "train.bins")
    with refused(rk.ArgumentError, setting="bin_sample", value=100_000):
        rk.LambdaMART.plain(trees=2).fit(coded)
    with refused(rk.ArgumentError, setting="bins", value=31):
        replace(LEARNER, bins=31).fit(coded)
    other = rk.bin(VALID, tmp_path / "other.bins", bin_sample=300)
    with refused(rk.DataError, place="other.bins"):
        LEARNER.fit(coded, other)
    with refused(rk.DataError, place="other.bins"):
        rk.Binned([folder / "train.bins", tmp_path / "other.bins"])


def test_a_folder_is_never_written_over(folder, tmp_path):
    with refused(rk.DataError, place="train.bins"):
        rk.bin(DATA, folder / "train.bins")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with refused(rk.DataError, value="thesis.tex"):
        rk.bin(DATA, tmp_path / "mine")
    (tmp_path / "file").write_text("x")
    with refused(rk.DataError, place="file"):
        rk.bin(DATA, tmp_path / "file")


def test_a_fault_in_the_data_leaves_an_unfinished_folder_that_can_be_made_anew(tmp_path):
    rk.write(DATA, tmp_path / "good.txt")
    lines = (tmp_path / "good.txt").read_text().splitlines(keepends=True)
    (tmp_path / "bad.txt").write_text("".join([*lines, "x qid:new 1:1\n"]))
    with refused(rk.DataError, place=f"bad.txt:{len(lines) + 1}"):
        rk.bin(tmp_path / "bad.txt", tmp_path / "made.bins")
    assert not (tmp_path / "made.bins" / MANIFEST).exists()
    assert is_bins(tmp_path / "made.bins")
    with refused(rk.DataError, place="made.bins"):
        rk.Binned(tmp_path / "made.bins")
    made = rk.bin(tmp_path / "good.txt", tmp_path / "made.bins")
    assert made.rows == DATA.rows
    assert sorted(path.name for path in made.manifests[0].folder.iterdir()) == sorted([MANIFEST, *made.manifests[0].files])


def test_a_query_that_comes_back_is_named(tmp_path):
    (tmp_path / "mixed.txt").write_text("1 qid:a 1:1\n0 qid:b 1:2\n0 qid:a 1:3\n")
    with refused(rk.DataError, place="mixed.txt:3", value="a"):
        rk.bin(tmp_path / "mixed.txt", tmp_path / "made.bins")


@pytest.mark.parametrize("name", ["codes.npy", "grades.npy", "edges.npy", "offsets.npy", "qid_bytes.npy"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_a_damaged_folder_is_noticed(name, damage, tmp_path):
    path = rk.bin(DATA, tmp_path / "made.bins", bin_sample=300).manifests[0].folder / name
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:-1] if damage == "cut" else content[:-1] + bytes([content[-1] ^ 1]))
    with refused(rk.DataError, place=str(path)):
        rk.Binned(tmp_path / "made.bins", verify=True)
    if damage != "changed" or name not in {"codes.npy", "grades.npy"}:  # these are mapped, not read, unless one asks
        with refused(rk.DataError, place=str(path)):
            LEARNER.fit(rk.Binned(tmp_path / "made.bins"))


@pytest.mark.parametrize(
    "change", [{"rows": -1}, {"format": "x"}, {"version": 9}, {"missing": [700]}, {"files": 3}, {"rows": "x"}]
)
def test_a_manifest_that_makes_no_sense_is_refused(change, tmp_path):
    rk.bin(DATA, tmp_path / "made.bins")
    path = tmp_path / "made.bins" / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with refused(rk.DataError, place=str(path)):
        rk.Binned(tmp_path / "made.bins")


def test_too_little_room_is_said_before_anything_is_coded(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _path: type("Usage", (), {"free": 10_000}))
    with refused(rk.DataError, place="made.bins"):
        rk.bin(DATA, tmp_path / "made.bins")
    assert not Path(tmp_path / "made.bins" / "codes.npy").exists()


def test_a_training_that_would_not_fit_is_refused_before_it_starts(folder, monkeypatch):
    monkeypatch.setattr("rankinite.binned.room.memory_left", lambda: Allowance(0, "a test"))
    monkeypatch.setattr("rankinite.binned.room.BESIDES", 0)
    with refused(rk.DataError, place="train.bins", value=DATA.rows * (2 * 64 + BYTES_A_ROW)):
        LEARNER.fit(rk.Binned(folder / "train.bins"))


def test_two_writers_of_one_folder_are_kept_apart(tmp_path):
    with new_folder(tmp_path / "made.bins"), refused(rk.DataError, place="made.bins"):
        rk.bin(DATA, tmp_path / "made.bins")


def test_a_finished_folder_beside_an_unfinished_one_stays(tmp_path):
    whole = rk.bin(DATA, tmp_path / "shards", shards=2)
    (tmp_path / "shards" / "02.bins").mkdir()
    (tmp_path / "shards" / "02.bins" / "unfinished").touch()
    with refused(rk.DataError, place="00.bins"):
        rk.bin(VALID, tmp_path / "shards", shards=3)
    assert rk.Binned([manifest.folder for manifest in whole.manifests], verify=True).rows == DATA.rows


def test_parts_of_files_that_were_not_completed_are_no_strangers(tmp_path):
    """As a kill between the part and its name leaves them."""
    (tmp_path / "made.bins").mkdir()
    for name in ("unfinished", "manifest.json", "qid_bytes.part", ".rankinite-0123456789abcdef-0123456789abcdef.part"):
        (tmp_path / "made.bins" / name).touch()
    made = rk.bin(DATA, tmp_path / "made.bins")
    assert sorted(path.name for path in made.manifests[0].folder.iterdir()) == sorted([MANIFEST, *made.manifests[0].files])


def test_a_checkpoint_of_other_edges_is_refused(folder, tmp_path):
    other = rk.bin(VALID, tmp_path / "other.bins", bin_sample=300)
    same_rows = rk.bin(DATA, tmp_path / "same.bins", like=other)
    LEARNER.fit(rk.Binned(folder / "train.bins"), callbacks=[rk.Checkpoint(tmp_path / "kept", every=2)])
    with refused(rk.DataError, place="kept"):
        LEARNER.fit(same_rows, callbacks=[rk.Checkpoint(tmp_path / "kept", every=2)])
