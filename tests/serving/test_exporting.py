"""Folders of exports: complete, proved, and never in the place of anything else."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.datasets import random_dataset
from oracles.trees import random_forest
from rankinite.errors import ArgumentError, DataError
from rankinite.serving import proof
from rankinite.serving.exporting import plan_for
from rankinite.serving.folder import read_manifest
from rankinite.serving.proof import WrongExportError
from rankinite.serving.target import TARGETS, target_named
from refusals import refused

FOREST = random_forest(1)


def test_an_export_says_what_it_is(tmp_path):
    made = rk.export(FOREST, tmp_path / "shop", to="lightgbm", sample=random_dataset(2))
    assert (made.name, made.target, made.exactness) == ("shop", "lightgbm", "exact")
    assert (made.served_missing, made.shift) == ("nan", 0.0)
    assert made.check.sample_rows == random_dataset(2).rows
    assert made.check.largest_difference == 0.0
    assert sorted(made.files) == sorted(path.name for path in (tmp_path / "shop").iterdir())
    manifest = read_manifest(tmp_path / "shop")
    for name, digest in manifest["files"].items():
        assert hashlib.sha256((tmp_path / "shop" / name).read_bytes()).hexdigest() == digest
    assert "ndcg@10" in (tmp_path / "shop" / "model-card.md").read_text()


def test_the_model_itself_and_the_scores_of_the_sample_are_beside_it(tmp_path):
    data = random_dataset(2)
    rk.export(FOREST, tmp_path / "shop", to="lightgbm", sample=data)
    np.testing.assert_array_equal(rk.load(tmp_path / "shop" / "model.rankinite").score(data), FOREST.score(data))
    scores = np.loadtxt(tmp_path / "shop" / "sample-scores.txt")
    np.testing.assert_array_equal(scores, FOREST.score(data)[: len(scores)])
    rows = np.genfromtxt(tmp_path / "shop" / "sample.csv", delimiter=",", skip_header=1)
    np.testing.assert_array_equal(rows.astype(np.float32), data.features[: len(scores)])


def test_the_same_ranker_gives_the_same_model_file(tmp_path):
    for name in ("a", "b"):
        rk.export(FOREST, tmp_path / name, to="lightgbm", name="shop")
    for name in ("model.txt", "sample.csv", "sample-scores.txt", "export.json"):
        first, second = ((tmp_path / folder / name).read_bytes() for folder in "ab")
        if name == "export.json":
            first, second = (json.dumps({**json.loads(one), "files": None}) for one in (first, second))
        assert first == second


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with refused(ArgumentError, setting="folder"):
        rk.export(FOREST, tmp_path, to="lightgbm")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_earlier_export_is_replaced_only_if_asked_for(tmp_path):
    rk.export(FOREST, tmp_path / "shop", to="lightgbm")
    before = (tmp_path / "shop" / "model.txt").read_bytes()
    with refused(ArgumentError, setting="folder"):
        rk.export(random_forest(2), tmp_path / "shop", to="lightgbm")
    assert (tmp_path / "shop" / "model.txt").read_bytes() == before
    rk.export(random_forest(2), tmp_path / "shop", to="lightgbm", overwrite=True)
    assert (tmp_path / "shop" / "model.txt").read_bytes() != before


def test_a_manifest_that_names_files_elsewhere_is_refused(tmp_path):
    rk.export(FOREST, tmp_path / "shop", to="lightgbm")
    (tmp_path / "precious").write_text("precious")
    manifest = read_manifest(tmp_path / "shop")
    manifest["files"]["../precious"] = ""
    (tmp_path / "shop" / "export.json").write_text(json.dumps(manifest))
    with refused(DataError, place="export.json"):
        rk.export(FOREST, tmp_path / "shop", to="lightgbm", overwrite=True)
    assert (tmp_path / "precious").exists()


def test_a_file_that_scores_otherwise_is_not_written(tmp_path, monkeypatch):
    target = type(target_named("lightgbm"))
    write = target.write
    wrong = {"model.txt": moved_thresholds(write(target(), proof_plan())["model.txt"].decode()).encode()}
    monkeypatch.setattr(target, "write", lambda self, plan: wrong)
    with pytest.raises(WrongExportError, match="instead of"):
        rk.export(proof_plan().ranker, tmp_path / "shop", to="lightgbm")
    assert not (tmp_path / "shop").exists()


def test_a_sample_with_other_features_is_refused(tmp_path):
    other = random_dataset(2, features=2)
    with refused(DataError, place=other.source, value="f2"):
        rk.export(FOREST, tmp_path / "shop", to="lightgbm", sample=other)
    assert not (tmp_path / "shop").exists()


def test_unknown_targets_list_the_known(tmp_path):
    with refused(ArgumentError, setting="to", value="lucene") as caught:
        rk.export(FOREST, tmp_path / "shop", to="lucene")
    assert all(name in caught.value.remedy for name in TARGETS)


def test_rankers_that_are_not_ours_are_refused(tmp_path):
    class Theirs:
        feature_names = ()

        def score(self, features):
            return np.zeros(len(features))

    with refused(ArgumentError, value="Theirs"):
        rk.export(Theirs(), tmp_path / "shop", to="lightgbm")


def test_adversarial_rows_find_a_comparison_that_is_not_ours():
    """The rows are worth something: a copy that asks < instead of <=, or sends missing values right, is caught."""
    target = target_named("lightgbm")
    plan = proof_plan()
    files = target.write(plan)
    text = files["model.txt"].decode()
    right = {"model.txt": text.replace("decision_type=8", "decision_type=10").encode()}
    for wrong in (right, {"model.txt": moved_thresholds(text).encode()}):
        assert wrong != files
        with pytest.raises(WrongExportError):
            proof.prove(target, wrong, plan)


def proof_plan():
    return plan_for(random_forest(7, trees=12, features=4), target_named("lightgbm"), name="model")


def moved_thresholds(text: str) -> str:
    lines = []
    for line in text.split("\n"):
        name, equals, values = line.partition("=")
        if name == "threshold":
            values = " ".join(repr(float(np.nextafter(float(word), -np.inf))) for word in values.split())
        lines.append(name + equals + values)
    return "\n".join(lines)


# ---- offers -----------------------------------------------------------------------------------------------------------


def test_every_target_says_what_it_can_do_for_a_forest():
    offers = {offer.target: offer for offer in rk.targets(FOREST)}
    assert list(offers) == list(TARGETS)
    assert all(offer.exactness for offer in offers.values())
    assert offers["lightgbm"].exactness == "exact"
    assert {offer.target: offer.exactness for offer in rk.targets(0.5 * FOREST + random_forest(2))}["lightgbm"] == "last bits"
    assert {offer.target: offer.exactness for offer in rk.targets(rk.Normalised(FOREST, "query"))}["es-ltr"] == "same order"


def test_refusals_say_why_and_what_to_do():
    blend = FOREST + rk.Normalised(random_forest(2), "query")
    offers = {offer.target: offer for offer in rk.targets(blend)}
    assert {name for name, offer in offers.items() if offer.exactness} == {"mlflow"}
    for name, offer in offers.items():
        if name != "mlflow":
            assert offer.why
            assert "distil" in offer.remedy


# ---- served scores ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports") / "shop"
    rk.export(FOREST, folder, to="lightgbm")
    return folder


def expected(shop):
    return np.loadtxt(shop / "sample-scores.txt")


def test_served_scores_that_are_equal(shop):
    found = rk.check_served(shop, expected(shop))
    assert found.as_expected
    assert (found.equal, found.near, found.largest_difference) == (found.rows, 0, 0.0)


def test_digits_that_were_not_printed_are_no_difference(shop):
    rounded = [float(f"{score:.7g}") for score in expected(shop)]
    found = rk.check_served(shop, rounded)
    assert found.as_expected
    assert found.near > 0


def test_a_score_that_differs_is_named(shop):
    wrong = expected(shop)
    wrong[3] += 0.5
    found = rk.check_served(shop, wrong)
    assert not found.as_expected
    assert found.first_difference == 3
    assert "row 4" in found.text()
    assert found.reasons == ()


def test_a_constant_difference_is_explained(shop):
    [reason] = rk.check_served(shop, expected(shop) + 2.0).reasons
    assert "shift" in reason


def test_missing_values_taken_for_0_are_explained(shop):
    rows = np.genfromtxt(shop / "sample.csv", delimiter=",", skip_header=1)
    assert np.isnan(rows).any()
    reasons = rk.check_served(shop, FOREST.score(np.nan_to_num(rows))).reasons
    assert any("served-missing zero" in reason for reason in reasons)


def test_scores_of_ones_own_data(shop):
    data = random_dataset(5)
    in_source_order = np.empty(data.rows)
    in_source_order[data.input_row] = FOREST.score(data)
    assert rk.check_served(shop, in_source_order, data).equal == data.rows
    assert not rk.check_served(shop, in_source_order[::-1], data).as_expected


def test_too_few_scores_are_refused(shop):
    with refused(DataError, value=3):
        rk.check_served(shop, [1.0, 2.0, 3.0])


def test_a_folder_without_an_export_is_refused(tmp_path):
    with refused(DataError, place=tmp_path):
        rk.check_served(tmp_path, [1.0])


# ---- features that are computed wrongly -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judged():
    return rk.synthesise(10, world=rk.World(features=4, noise=0.3))


@pytest.fixture(scope="module")
def with_sample(tmp_path_factory, judged):
    """An export with a sample; its second feature is missing there, so that it may be missing anywhere."""
    ranker = rk.LambdaMART(trees=5, leaves=6, min_rows=2).fit(judged)
    features = judged.features.copy()
    features[:, 1] = np.nan
    sample = replace(judged, features=features)
    folder = tmp_path_factory.mktemp("exports") / "shop"
    rk.export(ranker, folder, to="es-ltr", sample=sample, served_missing="zero")
    return folder, sample


def served_as_exported(folder, data):
    """What an engine returns that makes no mistake with the features that it is given."""
    scores = rk.load(folder / "model.rankinite").score(np.nan_to_num(data.features))
    return data.to_input_order((scores + read_manifest(folder)["shift"]).astype(np.float32))


def test_a_sound_deployment_has_no_findings(with_sample):
    folder, sample = with_sample
    found = rk.check_served(folder, served_as_exported(folder, sample), sample)
    assert (found.as_expected, found.findings) == (True, ())


def test_a_deployment_that_computes_no_feature_is_found(with_sample):
    folder, sample = with_sample
    nothing = replace(sample, features=np.full_like(sample.features, np.nan))
    found = rk.check_served(folder, served_as_exported(folder, nothing), nothing)
    assert found.first_difference is None
    assert not found.as_expected
    missing, constant = found.findings
    assert missing in found.text()
    assert "'1', '3', '4'" in missing  # the sample has no value of 2 either
    assert "same score" in constant


def test_a_feature_of_another_scale_is_found_and_named(with_sample):
    folder, sample = with_sample
    features = sample.features.copy()
    features[0, 2] = sample.features[:, 2].max() + 1.0
    scaled = replace(sample, features=features)
    [finding] = rk.check_served(folder, served_as_exported(folder, scaled), scaled).findings
    assert "'3'" in finding
    assert "'4'" not in finding


def test_a_model_that_gives_one_score_to_all_may_do_so(tmp_path, judged):
    flat = rk.Linear(judged.feature_names, np.zeros(4))
    rk.export(flat, tmp_path / "flat", to="c", sample=judged)
    assert rk.check_served(tmp_path / "flat", flat.score(judged), judged).as_expected


def test_ranges_are_of_the_whole_sample_and_of_numbers_that_json_has(tmp_path, judged):
    features = np.full((400, 2), np.inf, np.float32)
    features[:, 1] = np.arange(400)
    wide = rk.Dataset(features, np.arange(400) % 2.0, np.asarray([0, 400]), np.asarray(["q"]), ("f0", "f1"))
    rk.export(random_forest(1, features=2), tmp_path / "wide", to="lightgbm", sample=wide)
    text = (tmp_path / "wide" / "export.json").read_text()
    assert "Infinity" not in text
    assert json.loads(text)["ranges"]["f1"] == [0.0, 399.0]
