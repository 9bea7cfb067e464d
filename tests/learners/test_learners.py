"""Each learner learns what it says: grades, classes, pairs or a measure, as well as another library does on the same data."""

from __future__ import annotations

from dataclasses import replace

import lightgbm
import numpy as np
import pytest

import rankinite as rk
from rankinite.data.dataset import Dataset

WORLD = rk.World(features=10, documents=30, terms=8, noise=0.2)
TRAIN, TEST = rk.synthesise(150, world=WORLD), rk.synthesise(150, part="test", world=WORLD)
LEARNERS = {
    "LambdaMART": rk.LambdaMART.plain(trees=60, leaves=15, train_history=False),
    "symmetric": rk.LambdaMART.plain(trees=60, leaves=16, shape="symmetric", train_history=False),
    "normalised": rk.LambdaMART.plain(trees=60, leaves=15, normalise=True, train_history=False),
    "MART squared": rk.MART(trees=60, leaves=15, train_history=False),
    "MART graded": rk.MART(trees=60, leaves=15, loss="graded", train_history=False),
    "McRank": rk.McRank(trees=25, leaves=15, train_history=False),
    "RankNetTrees": rk.RankNetTrees(trees=60, leaves=15, train_history=False),
}


def ndcg(ranker, data=TEST):
    return rk.evaluate(ranker, data, "ndcg@10")["ndcg@10"].mean


@pytest.fixture(scope="module")
def peer():
    """LightGBM's lambdarank with the same trees."""
    model = lightgbm.LGBMRanker(
        n_estimators=60, num_leaves=15, learning_rate=0.1, min_child_samples=20, min_child_weight=0.0, n_jobs=1, verbose=-1,
        deterministic=True,
    )  # fmt: skip
    model.fit(TRAIN.features, TRAIN.grades.astype(int), group=np.diff(TRAIN.offsets))
    return ndcg(model.booster_.predict(TEST.features, validate_features=False))


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_are_as_good_as_another_library(name, peer):
    best_feature = max(ndcg(rk.Feature(feature)) for feature in TRAIN.feature_names)
    value = ndcg(LEARNERS[name].fit(TRAIN))
    assert value > best_feature + 0.1
    assert value > peer - 0.03


@pytest.mark.parametrize("measure", ["ndcg@1", "err", "map", "mrr", "dcg@5", "ndcg"])
def test_a_measure_is_climbed(measure):
    forest = replace(LEARNERS["LambdaMART"], trees=25, measure=measure, train_history=True).fit(TRAIN)
    assert forest.history.measure == str(rk.parse_measure(measure))
    for data in (TRAIN, TEST):
        start, reached, most = (rk.evaluate(s, data, measure)[measure].mean for s in (np.zeros(data.rows), forest, data.grades))
        assert reached - start > 0.5 * (most - start)
    assert forest.history.train[0] < forest.history.train[-1]


# ---- MART -------------------------------------------------------------------------------------------------------------


def grouped(grades=(0.0, 1.0, 4.0), each=8):
    """Groups of rows with equal features, whose grades scatter around a mean."""
    random = np.random.default_rng(0)
    group = np.repeat(np.arange(len(grades)), each)
    noise = np.tile([-0.5, 0.5], len(group) // 2)
    return rk.read(
        np.stack((group, random.integers(0, 3, len(group)) * 0), axis=1).astype(np.float32),
        grades=np.asarray(grades)[group] + noise,
        qid=np.arange(len(group)) % 4,
        unjudged="keep",
    )


def test_squared_loss_converges_to_the_means_of_groups():
    data = grouped()
    forest = rk.MART(trees=200, leaves=3, min_rows=1, rate=0.1).fit(data)
    assert forest.start.tolist() == pytest.approx([data.grades.mean()])
    means = [data.grades[data.features[:, 0] == group].mean() for group in range(3)]
    assert forest.score(np.asarray([[0, 0], [1, 0], [2, 0]], np.float32)).tolist() == pytest.approx(means, abs=1e-6)


def test_squared_loss_falls_by_the_rate_each_round():
    """One feature that tells the groups apart: every round takes the share ``rate`` off what is left."""
    data = grouped()
    forest = rk.MART(trees=5, leaves=3, min_rows=1, rate=0.25).fit(data)
    means = np.asarray([data.grades[data.features[:, 0] == group].mean() for group in data.features[:, 0]])
    distance = np.abs(forest.start[0] - means).max()
    for scores in forest.staged_scores(data):
        distance *= 0.75
        assert np.abs(scores - means).max() == pytest.approx(distance, rel=1e-6)


def test_logistic_loss_gives_the_log_odds_of_groups():
    grades = np.concatenate((np.repeat([1, 0], [3, 9]), np.repeat([1, 0], [8, 4])))
    data = rk.read(np.repeat([0.0, 1.0], 12)[:, None], grades=grades, qid=np.arange(24) % 4)
    forest = rk.MART(loss="binary", trees=150, leaves=2, min_rows=1, rate=0.2, sigma=0.5).fit(data)
    odds = np.log([3 / 9, 8 / 4])  # P = 1/(1 + exp(−2σs))
    assert forest.score(np.asarray([[0.0], [1.0]])).tolist() == pytest.approx(odds.tolist(), rel=1e-4)


def test_mcrank_gives_the_mean_grade_of_groups():
    grades = np.concatenate((np.repeat([0, 1, 3], [4, 6, 2]), np.repeat([0, 1, 3], [1, 3, 8])))
    data = rk.read(np.repeat([0.0, 1.0], 12)[:, None], grades=grades, qid=np.arange(24) % 4)
    forest = rk.McRank(trees=150, leaves=2, min_rows=1, rate=0.2).fit(data)
    assert forest.score(np.asarray([[0.0], [1.0]])).tolist() == pytest.approx([(6 + 6) / 12, (3 + 24) / 12], rel=1e-3)
    assert len(forest) == 3 * forest.rounds


# ---- pairs ------------------------------------------------------------------------------------------------------------


def all_pairs(data: Dataset) -> rk.Preferences:
    """Every pair of documents of different grades, the better one surely better."""
    better, worse = [], []
    for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        i, j = np.nonzero(data.grades[start:end, None] > data.grades[None, start:end])
        better.append(start + i)
        worse.append(start + j)
    better, worse = np.concatenate(better), np.concatenate(worse)
    return rk.Preferences(better, worse, np.ones(len(better)))


def test_preferences_that_say_what_grades_say_give_the_same_ranker():
    data = TRAIN.select_queries(range(30))
    learner = rk.RankNetTrees(trees=10, leaves=6, train_history=False)
    graded, preferred = learner.fit(data), learner.fit(data.with_preferences(all_pairs(data)))
    assert np.allclose(preferred.score(TEST), graded.score(TEST), atol=1e-6)


def test_preferences_speak_against_grades():
    """Where there are preferences, they are what is learnt: turned round, they give the opposite ranker."""
    data = TRAIN.select_queries(range(30))
    pairs = all_pairs(data)
    learner = rk.RankNetTrees(trees=10, leaves=6, train_history=False)
    right = learner.fit(data.with_preferences(pairs))
    turned = learner.fit(data.with_preferences(rk.Preferences(pairs.worse, pairs.better, pairs.probability)))
    assert np.allclose(turned.score(TEST), -right.score(TEST), atol=1e-6)
    doubted = learner.fit(data.with_preferences(rk.Preferences(pairs.better, pairs.worse, 0.75 * np.ones(len(pairs)))))
    assert np.corrcoef(doubted.score(TEST), right.score(TEST))[0, 1] > 0.9
    assert np.abs(doubted.score(TEST)).mean() < 0.8 * np.abs(right.score(TEST)).mean()


# ---- weights of queries -----------------------------------------------------------------------------------------------

POINTWISE = {
    "squared": rk.MART(trees=6, leaves=6, min_rows=1, train_history=False),
    "graded": rk.MART(trees=6, leaves=6, min_rows=1, loss="graded", train_history=False),
    "ranknet": rk.RankNetTrees(trees=6, leaves=6, min_rows=1, train_history=False),
    "mcrank": rk.McRank(trees=4, leaves=3, min_rows=1, train_history=False),  # few leaves: rare grades make cuts that tie
}


def rounded(data: Dataset) -> Dataset:
    """Features of few values, so that bins are exact and do not depend on how often a row occurs."""
    return replace(data, features=np.round(data.features, 1).astype(np.float32))


@pytest.mark.parametrize("name", POINTWISE)
def test_a_weight_of_two_is_the_query_twice(name):
    data = TRAIN.select_queries(range(20))
    twice = rk.concat([data, data.select_queries(range(5, 15))], prefixes=("", "again:"))
    weighted = data.with_weights(np.where((np.arange(20) >= 5) & (np.arange(20) < 15), 2.0, 1.0))
    learner = POINTWISE[name]
    first, second, plain = (learner.fit(one).score(TEST) for one in map(rounded, (twice, weighted, data)))
    assert np.allclose(first, second, atol=1e-6)
    assert not np.allclose(first, plain, atol=1e-3)


SMALL = {"leaves": 6, "min_rows": 1, "train_history": False}
WEIGHED = {
    **POINTWISE,
    "binary": rk.MART(trees=6, loss="binary", **SMALL),
    "balanced": rk.MART(trees=6, loss="balanced", **SMALL),
    "lambdamart": rk.LambdaMART.plain(trees=6, **SMALL),
    "symmetric": rk.LambdaMART.plain(trees=6, shape="symmetric", **(SMALL | {"leaves": 8})),
}


EXACT = {"trees": 6, "leaves": 6, "min_rows": 5}
NOTHING_LEARNT = {
    "mart": rk.MART(trees=4, leaves=6),
    "mcrank": rk.McRank(trees=3, leaves=3),
    "rows drawn": rk.LambdaMART(trees=6, leaves=8),
    "number of trees": rk.LambdaMART(patience=3, leaves=8),
    "exact": rk.LambdaMART.plain(**EXACT, step="exact"),
    "leaves": rk.LambdaMART.plain(**EXACT, step="leaves"),
    "reoptimised": rk.LambdaMART.plain(**EXACT, reoptimise=2),
    "net": rk.LambdaRank(epochs=3),
    "linear": rk.RankNet(hidden=(), epochs=3),
    "lambdaboost": rk.LambdaBoost(rounds=5),
    "lambdaboost, exact": rk.LambdaBoost(rounds=5, step="exact"),
    "bag": rk.Bag(rk.LambdaMART.plain(trees=3, leaves=4), parts=2),
}


@pytest.mark.parametrize("name", NOTHING_LEARNT)
def test_nothing_is_learnt_from_a_query_of_weight_0(name, tmp_path):
    """The ranker is that of the other queries alone: in its history, its bins and its sketch too."""
    kept = np.arange(40) % 3 > 0
    data = TRAIN.select_queries(range(40)).with_weights(np.where(kept, 1.5, 0.0))
    files = []
    for number, train in enumerate((data, data.select_queries(kept))):
        NOTHING_LEARNT[name].fit(train, TEST if name == "mart" else None).save(tmp_path / f"{number}.rankinite")
        files.append((tmp_path / f"{number}.rankinite").read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize("criterion", ["newton", "mse"])
@pytest.mark.parametrize("name", WEIGHED)
@pytest.mark.parametrize("seed", range(2))
def test_weights_are_numbers_of_copies(name, criterion, seed):
    """Whole weights and ½: each query so often as it weighs, or all twice and those of ½ once, gives the same forest."""
    random, data = np.random.default_rng(seed), rounded(TRAIN.select_queries(range(12)))
    weights = random.choice([1.0, 2.0, 3.0] if seed else [0.5, 1.0, 1.5], data.queries)
    copies = [data.select_queries((weights if seed else 2.0 * weights) > copy) for copy in range(3)]
    often = rk.concat(copies, prefixes=("", "second:", "third:"))
    # Ties are broken by content, of which the qid is part: copies of a query are ranked alike only where no scores tie.
    tied = isinstance(WEIGHED[name], rk.LambdaMART)
    learner = replace(WEIGHED[name], criterion=criterion)
    unweighted, counted, weighed = (
        learner.fit(one, base=UNTIED if tied else None) for one in (data, often, data.with_weights(weights))
    )
    assert np.allclose(weighed.score(TEST), counted.score(TEST), atol=1e-5)
    assert not np.allclose(weighed.score(TEST), unweighted.score(TEST), atol=1e-3)


class Untied:
    """A ranker under which no two documents tie, whatever features are rounded to."""

    def score(self, data):
        return np.asarray([np.random.default_rng(row.view(np.uint32)).random() for row in data.features])


UNTIED = Untied()


@pytest.mark.parametrize("criterion", ["newton", "mse"])
@pytest.mark.parametrize(
    "learner", [*POINTWISE.values(), rk.LambdaMART.plain(trees=6, leaves=6, min_rows=1, train_history=False)]
)
def test_a_weight_of_zero_leaves_the_query_out(learner, criterion):
    learner = replace(learner, criterion=criterion)
    data, weights = rounded(TRAIN.select_queries(range(20))), (np.arange(20) % 3 > 0).astype(float)
    without, weighed = learner.fit(data.select_queries(weights > 0)), learner.fit(data.with_weights(weights))
    assert np.allclose(weighed.score(TEST), without.score(TEST))
