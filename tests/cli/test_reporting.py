"""The report of an adaptation, as verbs write it."""

from __future__ import annotations

import json

import rankinite as rk
from rankinite.cli.report_option import write_choice


def test_a_choice_is_written_with_the_command_and_all_data(files, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["rankinite", "adapt", "a file.txt"])
    target, test, other = rk.read(files.valid), rk.read(files.test), rk.read(files.train)
    choice = rk.adapt.choose(rk.load(files.model), target, test=test, methods=["trada"], curve=False)
    data = {"train": target, "test": test, "background_data": other}
    write_choice(choice, data, tmp_path / "report.html", {"seed": 0, "methods": ["trada"], "confidence": None})
    facts_of = {facts["title"]: dict(facts["entries"]) for facts in json.loads((tmp_path / "report.json").read_text())["facts"]}
    assert facts_of["Run"] == {"command": "rankinite adapt 'a file.txt'", "seed": "0", "methods": "trada"}
    assert set(facts_of["Data"]) == {"target", "test", "background data"}
