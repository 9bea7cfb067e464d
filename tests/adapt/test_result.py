"""Choice: its tables, gains, refusals and JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

import rankinite as rk
from oracles.adapting import target
from oracles.choices import choice_by_hand, choice_of, noisy, redecided
from rankinite.adapt.choice import Refusals, reasons, size_of
from rankinite.cli.error_text import shell_text

NDCG = rk.NDCG(10)
RIGHT = {"background": (10,), "smart": (40,), "target": (5,)}
NOISES = {"background": 3.0, "smart": 0.1, "target": 5.0}


def test_the_table_has_every_method_and_marks_the_chosen_one():
    choice = choice_by_hand(RIGHT, measures=(NDCG, rk.PairwiseErrors()))
    grid = choice.grid()
    assert [row[0] for row in grid.rows] == ["background", "smart", "target"]
    assert grid.strong == {(1, 0)}
    assert grid.rows[0][3] == grid.rows[2][4] == ""  # nothing is compared with itself
    assert [row[1].split()[0] for row in grid.rows] == ["0.7232", "1.0000", "0.6771"]  # 30 and 35 of 40 queries lose 0.3691
    assert (grid.rows[1][3].split()[0], grid.rows[1][4].split()[0]) == ("+0.2768", "+0.3229")
    assert "method" in grid.markdown()
    refusing = replace(choice, refused={"pool": "It needs data."})
    assert "pool: not tried. It needs data." in str(refusing)
    assert "pool" in refusing._repr_html_()


def test_gains_are_sorted_by_what_was_gained():
    choice = choice_of(noisy(NOISES, target()), target(), test=(target(30), noisy(NOISES, target(30))))
    for seen in (choice.test, choice.unseen):
        gains = choice.gains(seen)
        differences = [new - old for _, old, new in gains]
        assert differences == sorted(differences, reverse=True)
        assert {qid for qid, _, _ in gains} == set(seen["smart"].qids.tolist())
    assert choice.gains() == choice.gains(choice.test)


def test_json_holds_all_without_nan_even_of_one_query():
    others = {name: (data, noisy(NOISES, data)) for name, data in (("test", target(1)), ("shifted", target(2)))}
    choice = choice_of(noisy(NOISES, target()), target(), **others)
    found = json.loads(json.dumps(choice.to_dict(), allow_nan=False))
    assert (found["chosen"], found["recommended"], found["measure"]) == (choice.name, choice.verdict.recommended, "ndcg@10")
    assert list(found["methods"]) == list(found["unseen"]["systems"]) == ["background", "smart", "target"]
    assert found["recommendation"] == list(choice.recommendation())
    assert found["curve"] is None
    assert found["test"]["pairs"][0]["low"] == -1.0  # one query proves nothing
    assert len(str(choice)) > 1000


OLD_KEYS = {
    *("chosen", "best", "recommended", "expected_gain", "loss_chance", "risk", "tolerate", "better_than_random_orders"),
    *("concentration", "queries_needed", "measure", "recommendation", "explanation", "methods", "not_tried", "unseen"),
    *("test", "shifted", "curve"),
}
"""Those of schema 1, which had no version."""


def test_json_of_schema_2_says_what_the_verdict_says_and_keeps_the_keys_of_schema_1():
    choice = choice_by_hand(RIGHT, risk=0.2, tolerate=0.005, shift=0.3)
    found, verdict = json.loads(json.dumps(choice.to_dict(), allow_nan=False)), choice.verdict
    assert found["schema"] == 2
    assert set(found) >= OLD_KEYS
    assert (found["chosen"], found["best"], found["recommended"], found["verdict"]) == ("smart", "smart", "smart", "deploy")
    assert (found["expected_gain"], found["loss_chance"]) == (verdict.gain.expected, verdict.gain.chance_below(-0.005))
    assert (found["risk"], found["tolerate"], found["shift"]) == (0.2, 0.005, 0.3)
    assert tuple(found["expected_interval"]) == verdict.gain.interval()
    assert found["gain_chance"] + verdict.gain.chance_below(0.0) == 1.0
    assert found["clear_on_target"] is found["better_than_random_orders"] is True
    assert found["noise_chance"] == verdict.noise_chance
    for decision, recommended in (("try online", "smart"), ("keep", "background")):
        told = redecided(choice, decision=decision).to_dict()
        assert (told["verdict"], told["recommended"], told["chosen"]) == (decision, recommended, "smart")


def test_sizes_count_what_is_inside():
    forest = rk.LambdaMART.plain(trees=3, leaves=3, min_rows=2).fit(target())
    linear = rk.Linear(target().feature_names, np.ones(5))
    assert size_of(forest) == "3 trees"
    assert size_of(0.5 * (forest + linear) + 0.5 * forest + rk.Feature(0)) == "6 trees + 1 linear + 1 feature"


# ---- refusals ------------------------------------------------------------------------------------------------------

NO_RATE = {"place": "web", "value": 1, "remedy": "Give `rate`", "shell_remedy": "Give `background_rate`"}
ERRORS = {
    "trada": rk.ArgumentError("it has no rate", **NO_RATE),
    "pool": rk.DataError("It needs data", remedy="Give `background_data=…`"),
}
PYTHON = {"trada": "web: it has no rate. Give rate.", "pool": "It needs data. Give background_data=…."}
SHELL = {"trada": "web: it has no rate. Give --background-rate.", "pool": "It needs data. Give --background-data."}


def test_refusals_are_texts_for_python_or_for_the_shell():
    python, shell = Refusals(ERRORS), Refusals(ERRORS, shell_text)
    assert (dict(python), dict(shell)) == (PYTHON, SHELL)
    assert repr(python) == repr(PYTHON)
    choice = replace(choice_by_hand(RIGHT), refused=shell)
    assert choice.refusals == ERRORS
    assert choice.to_dict()["not_tried"] == SHELL


def test_reasons_are_spelled_by_the_error_that_they_become_part_of():
    remedies = {"remedy": reasons(ERRORS), "shell_remedy": reasons(ERRORS, at_shell=True)}
    error = rk.ArgumentError("cannot be tried", setting="methods", value=[], **remedies)
    for text, expected in ((str(error), PYTHON), (shell_text(error), SHELL)):
        assert text.endswith(f" trada: {expected['trada']} pool: {expected['pool']}")
