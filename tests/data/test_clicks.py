"""Simulated clicks: frequencies as the click models say, the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from refusals import refused

SESSIONS = 40_000


def judged(queries=40, documents=6):
    """Queries whose documents all have grades from 0 to 2, and scores that show them in the order of their rows."""
    grades = np.tile([2, 0, 1, 2, 0, 1], queries)
    features = np.arange(queries * documents, dtype=np.float32)[:, None]
    return rk.read(features, grades=grades, group=np.full(queries, documents)), -np.tile(np.arange(documents), queries)


def near(share, expected, count):
    """Within five standard deviations of a binomial."""
    return abs(share - expected) <= 5 * np.sqrt(expected * (1 - expected) / count) + 1e-12


def rates(log):
    shares = [log.data.grades[log.data.positions == place] for place in range(1, int(log.data.positions.max()) + 1)]
    return [(float(share.mean()), len(share)) for share in shares]


ATTRACTION = 0.1 + 0.9 * np.asarray([1, 0, 1 / 3, 1, 0, 1 / 3])


@pytest.mark.parametrize("eta", [0.0, 1.0, 2.0])
def test_by_position(eta):
    log = rk.simulate_clicks(*judged(), SESSIONS, rk.ClickSettings(eta=eta, noise=0.1))
    interest = np.arange(1, 7) ** -eta
    np.testing.assert_allclose(log.examination, interest)
    assert all(near(rate, a, n) for (rate, n), a in zip(rates(log), interest * ATTRACTION, strict=True))


def test_a_cascade_ends_with_a_click():
    log = rk.simulate_clicks(*judged(), SESSIONS, rk.ClickSettings(model="cascade", eta=1.0, noise=0.1))
    clicks = np.add.reduceat(log.data.grades, log.data.offsets[:-1])
    assert clicks.max() == 1
    looked = np.cumprod([1.0, *((1 - ATTRACTION[:-1]) * np.arange(1, 6) / np.arange(2, 7))])
    assert all(near(share, expected, SESSIONS) for share, expected in zip(log.examination, looked, strict=True))
    assert all(near(rate, a, n) for (rate, n), a in zip(rates(log), looked * ATTRACTION, strict=True))


def test_trust_clicks_more_at_the_top_than_documents_deserve():
    log = rk.simulate_clicks(*judged(), SESSIONS, rk.ClickSettings(model="trust", eta=1.0, noise=0.2))
    attraction = 0.2 + 0.8 * np.asarray([1, 0, 1 / 3, 1, 0, 1 / 3])
    interest = 1 / np.arange(1, 7)
    expected = interest * (attraction + (1 - attraction) * 0.65 * interest)
    assert all(near(rate, a, n) for (rate, n), a in zip(rates(log), expected, strict=True))


def test_sessions_show_the_best_documents_of_queries_drawn_evenly():
    data, scores = judged()
    log = rk.simulate_clicks(data, -scores, SESSIONS, rk.ClickSettings(shown=4))
    assert set(np.diff(log.data.offsets)) == {4}
    assert log.data.positions[:8].tolist() == [1, 2, 3, 4] * 2
    rows = log.data.features[:, 0].astype(int)
    np.testing.assert_array_equal(rows % 6, np.tile([5, 4, 3, 2], SESSIONS))
    np.testing.assert_array_equal(data.qids[rows // 6], np.repeat(log.data.batches, 4))
    assert all(near(np.mean(log.data.batches == qid), 1 / 40, SESSIONS) for qid in data.qids[:5])
    assert log.data.qids[:2].tolist() == ["1~1", "1~2"]
    assert set(np.unique(log.data.grades)) == {0.0, 1.0}


def test_equal_seeds_give_equal_logs():
    one, same, other = (rk.simulate_clicks(*judged(), 500, rk.ClickSettings(seed=seed)).data for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.grades, same.grades)
    assert not np.array_equal(one.grades, other.grades)


def test_the_true_examination_is_written_apart(tmp_path):
    log = rk.simulate_clicks(*judged(), 50, rk.ClickSettings(shown=2))
    log.write_examination(tmp_path / "truth.csv")
    assert (tmp_path / "truth.csv").read_text() == "position,examination\n1,1.0\n2,0.5\n"


def test_what_cannot_be_simulated_is_refused():
    data, scores = judged()
    with refused(rk.DataError, place=data.source, value=(3,)):
        rk.simulate_clicks(data, scores[:3], 10)
    with refused(rk.DataError, place=data.source, value=(0.0, 0.0)):
        rk.simulate_clicks(data.map_grades(lambda grades: grades * 0), scores, 10)
    with refused(rk.ArgumentError, setting="sessions", value=0):
        rk.simulate_clicks(data, scores, 0)
    with refused(rk.ArgumentError, setting="model", value="bees"):
        rk.ClickSettings(model="bees")
    with refused(rk.ArgumentError, setting="noise", value=1.5):
        rk.ClickSettings(noise=1.5)
    with refused(rk.ArgumentError, setting="eta", value=-1):
        rk.ClickSettings(eta=-1)
