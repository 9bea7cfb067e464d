"""Ctrl-C while a member is trained: nothing half-trained is kept, and the next run ends in the same bytes."""

from __future__ import annotations

import pytest

import rankinite as rk
from rankinite.ensembles import Average

TRAIN = rk.synthesise(24, world=rk.World(features=4, documents=8, noise=0.3))
NET, TREES = rk.LambdaRank(hidden=(3,), epochs=4), rk.LambdaMART.plain(trees=6, leaves=4, min_rows=3)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_half_trained_member_is_not_kept(tmp_path, monkeypatch, threads):
    members = {"trees": TREES, "bag": rk.Bag(NET, 3, members=1)}
    Average(members).fit(TRAIN).save(tmp_path / "whole")
    fit = rk.LambdaRank.fit

    def interrupt(progress):
        if progress.round == 2:
            raise KeyboardInterrupt

    def interrupted(self, *data, callbacks=(), **settings):
        return fit(self, *data, callbacks=[*callbacks, interrupt], **settings)

    with rk.threads(threads):
        monkeypatch.setattr(rk.LambdaRank, "fit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Average(members, tmp_path / "keep").fit(TRAIN)
        assert [path.stem for path in (tmp_path / "keep").rglob("*.rankinite")] == ["trees"]
        monkeypatch.setattr(rk.LambdaRank, "fit", fit)
        Average(members, tmp_path / "keep").fit(TRAIN).save(tmp_path / "resumed")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()
