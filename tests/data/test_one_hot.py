"""Categories as columns of 0 and 1: what the columns are, and that data with other words get those of the training data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rankinite as rk
from rankinite.data.categories import MOST_COLUMNS
from refusals import refused

WORDS = ["acme", "b & co", "c=d", "zed"]


def frame(words, seed=0, rows=60) -> pd.DataFrame:
    """Rows with a brand (some missing), a shop by number, and grades that follow the brand."""
    random = np.random.default_rng(seed)
    brand = random.integers(len(words), size=rows)
    return pd.DataFrame(
        {
            "qid": np.arange(rows) // 6,
            "grade": brand % 3,
            "first": random.normal(size=rows),
            "brand": [None if k % 11 == 0 else words[one] for k, one in enumerate(brand)],
            "shop": random.integers(2, 12, size=rows),
            "last": random.normal(size=rows),
        }
    )


def test_columns_stand_where_the_category_was_and_say_what_it_is():
    table = frame(WORDS)
    data = rk.read(table, categories=["shop"])
    hot = data.one_hot("brand")
    assert hot.feature_names == ("first", *(f"brand={word}" for word in WORDS), "shop", "last")
    assert list(hot.categories) == ["shop"]
    for word in WORDS:
        expected = (table["brand"] == word).to_numpy(float)
        assert np.array_equal(hot.features[:, hot.feature_index(f"brand={word}")], expected)
    assert np.array_equal(hot.features[:, -1], data.features[:, -1])
    every = data.one_hot()
    assert not every.categories
    shops = [name for name in every.feature_names if name.startswith("shop=")]
    assert shops == [f"shop={number}" for number in sorted(table["shop"].unique())]
    assert data.one_hot([]).feature_names == data.feature_names


def test_the_columns_of_others_are_kept_whatever_the_words():
    """Words that have no column are 0 in all of them, columns that have no word are 0 everywhere."""
    train = rk.read(frame(WORDS)).one_hot()
    other = frame(["new", "zed", "acme"], seed=1)
    test = rk.read(other).one_hot(like=train)
    assert test.feature_names == train.feature_names
    assert not test.features[:, test.feature_index("brand=b & co")].any()
    columns = [test.feature_index(f"brand={word}") for word in WORDS]
    known = other["brand"].isin(WORDS).to_numpy(float)
    assert np.array_equal(test.features[:, columns].sum(axis=1), known)
    net = rk.LambdaRank(epochs=3, hidden=(3,)).fit(train)
    assert np.array_equal(net.score(rk.read(other).one_hot(like=net)), net.score(test))


def test_read_makes_them_and_like_decides_which(tmp_path):
    frame(WORDS).to_csv(tmp_path / "train.csv", index=False)
    frame(["zed", "new"], seed=2).to_csv(tmp_path / "test.csv", index=False)
    train = rk.read(tmp_path / "train.csv", one_hot=["brand", "shop"])
    assert train.feature_names == rk.read(tmp_path / "train.csv", categories="shop").one_hot().feature_names
    test = rk.read(tmp_path / "test.csv", one_hot=["brand", "shop"], like=train)
    assert test.feature_names == train.feature_names
    shuffled = train.select_features(train.feature_names[::-1])
    again = rk.read(tmp_path / "test.csv", one_hot=["brand", "shop"], like=shuffled)
    assert again.feature_names == shuffled.feature_names
    assert np.array_equal(again.features[:, ::-1], test.features)


def test_features_of_letor_files_and_matrices(tmp_path):
    random = np.random.default_rng(3)
    features = random.integers(1, 4, size=(30, 3)).astype(np.float32)
    grades, qid = np.arange(30) % 2, np.arange(30) // 5
    matrix = rk.read(features, grades=grades, qid=qid)
    rk.write(matrix, tmp_path / "train.letor")
    hot = rk.read(tmp_path / "train.letor", one_hot="2")
    assert hot.feature_names == ("1", "2=1", "2=2", "2=3", "3")
    assert np.array_equal(hot.features, rk.read(features, grades=grades, qid=qid, one_hot="2").features)
    (tmp_path / "short.letor").write_text("1 qid:1 1:5 2:2\n0 qid:1 1:4 2:9\n")
    short = rk.read(tmp_path / "short.letor", one_hot="2", like=hot)
    assert short.feature_names == hot.feature_names
    assert short.features.tolist() == [[5, 0, 1, 0, 0], [4, 0, 0, 0, 0]]


def test_names_with_an_equals_sign_are_told_apart():
    table = frame(WORDS).rename(columns={"shop": "brand=x"}).astype({"brand=x": str})
    both = rk.read(table).one_hot(["brand", "brand=x"])
    again = rk.read(table).one_hot(["brand", "brand=x"], like=both)
    assert again.feature_names == both.feature_names
    assert np.array_equal(again.features, both.features)
    with refused(rk.DataError, value="brand=c=d"):
        rk.read(table.rename(columns={"brand=x": "brand=c"})).one_hot()


def test_what_cannot_be_columns_is_refused(tmp_path):
    many = rk.read(frame([f"w{k:04d}" for k in range(150)], rows=600))
    count = len(many.categories["brand"])
    assert count > MOST_COLUMNS
    with refused(rk.ArgumentError, setting="one_hot", value=["brand"]):
        many.one_hot()
    assert len(many.one_hot(most=count).feature_names) == count + 3
    with refused(rk.ArgumentError, setting="most", value=0):
        many.one_hot(most=0)
    few = rk.read(frame(WORDS)).one_hot()
    assert many.one_hot(like=few).feature_names == few.feature_names
    data = rk.read(frame(WORDS))
    with refused(rk.DataError, value="shop"):
        data.one_hot("shop")
    with refused(rk.DataError, value="colour"):
        data.one_hot(["colour"])
    with refused(rk.DataError, value="brand=acme"):
        data.rename_features({"last": "brand=acme"}).one_hot()
    frame(WORDS).to_csv(tmp_path / "train.csv", index=False)
    with pytest.raises(rk.RankiniteError, match="colour"):
        rk.read(tmp_path / "train.csv", one_hot="colour")


@pytest.mark.parametrize("learner", [rk.LambdaRank(epochs=2, hidden=(2,)), rk.LambdaBoost(rounds=3)], ids=str)
def test_learners_that_add_up_numbers_name_the_remedy(learner):
    data = rk.read(frame(WORDS))
    with refused(rk.DataError, value="brand") as caught:
        learner.fit(data)
    assert "one_hot=['brand']" in str(caught.value)
    ranker = learner.fit(data.one_hot())
    with refused(rk.DataError) as caught:
        ranker.score(data)
    assert "one_hot(like=" in str(caught.value)
