"""Options of other programs, and letters of former versions, are answered at the command line; letters mean one thing."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from pathlib import Path

import pytest

from rankinite.cli.app import VERBS
from rankinite.cli.commands import loaded
from rankinite.errors import ArgumentError


def letters():
    """Every short letter with the options that it stands for in some verb."""
    meanings = defaultdict(set)
    for verb in VERBS:
        for parameter in loaded(verb).params:
            if parameter.param_type_name == "option":
                (long, *_) = (text for text in parameter.opts if text.startswith("--"))
                for letter in (text for text in parameter.opts if not text.startswith("--")):
                    meanings[letter].add(long)
    return dict(meanings)


def test_a_short_letter_means_the_same_option_in_every_verb():
    assert {"-d", "-t", "-v", "-o"} <= set(letters())
    assert not {letter: options for letter, options in letters().items() if len(options) > 1}


def test_the_guide_lists_the_letters():
    page = (Path(__file__).parents[2] / "docs" / "guide" / "command-line.md").read_text()
    listed = dict(re.findall(r"\| `(-\w)` \| `(--[\w-]+)` ", page))
    assert {letter: {option} for letter, option in listed.items()} == letters() | {"-h": {"--help"}}


@pytest.mark.parametrize(
    ("words", "answers"),
    [
        ("train x.txt --learning-rate 0.1", "--learning-rate is --rate here. Give --rate 0.1."),
        ("train x.txt --learning_rate=0.1", "--learning_rate is --rate here. Give --rate 0.1."),
        ("train x.txt --n-estimators 300", "--n-estimators is --trees here. Give --trees 300."),
        ("train x.txt --num-leaves 63", "--leaves 63"),
        ("train x.txt --max-depth 6", "--leaves 64"),
        ("train x.txt --max-depth -1", "Leave it out"),
        ("train x.txt --early-stopping-rounds 20", "--patience 20"),
        ("train x.txt --objective lambdarank", "--learner lambdamart, --measure ndcg@10"),
        ("train x.txt --objective rank:pairwise", "--learner ranknet-trees"),
        ("train x.txt --objective mine", "--learner"),
        ("train x.txt --metric err", "--measure err"),
        ("train x.txt --min_rows 5", "--min_rows is --min-rows here. Give --min-rows 5."),
        ("train x.txt --reg-alpha 1", "no L1 penalty"),
        ("train x.txt --num-threads 2", "--threads 2"),
        ("train x.txt --n-jobs=-1", "Leave --threads out"),
        ("--num-threads 2 train x.txt", "--threads 2"),
        ("evaluate feature:1 x.txt --eval-metric ndcg@5", "--measure ndcg@5"),
        ("describe x.txt --label-column rating", "--grades rating"),
        ("train x.txt --learning-rate 0.1 --lambda-l2 1 --subsample 0.5", "--rate 0.1, --l2 1, --row-share 0.5"),
        ("train x.txt --learning-rate", "Give --rate."),
        ("train x.txt --label-gain 0,1,3", "Give --measure ndcg@10:gains=0/1/3."),
        ("train x.txt --label-gain=0,1,many", "Give --measure."),
        ("cross-validate x.txt -S 'mart num_leaves=63'", "num_leaves is leaves here"),
    ],
)
def test_options_of_other_programs_are_answered(run, letor, words, answers):
    done = run(*shlex.split(words.replace("x.txt", str(letor))))
    assert (done.code, done.out) == (2, "")
    assert isinstance(done.error, ArgumentError)
    assert answers in done.err


def test_what_is_answered_can_be_given(run, letor, tmp_path):
    """The remedy, typed instead of the foreign options, trains."""
    out = ("--out", tmp_path / "model.rankinite")
    refused = run("train", letor, "--num-iterations", 2, "--eta", 0.5, "--min-child-samples", 1, "--max-leaves", 4, *out)
    remedy = refused.err.strip().rpartition("Give ")[2].removesuffix(".").replace(",", "")
    assert run("train", letor, *remedy.split(), *out).code == 0


def test_options_that_nobody_has_are_typers_own_error(run, letor):
    done = run("train", letor, "--nonsense", 1)
    assert done.code == 2
    assert done.error is None
    assert "No such option: --nonsense" in done.err
    assert "No such option: --learning-rate" in run("describe", letor, "--learning-rate", 1).err


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("learning_rate = 0.1", "learning_rate is rate here. Give rate = 0.1."),
        ('objective = "rank:map"', "objective is learner here. Give learner = 'lambdamart', measure = 'map'."),
        ("colsample-bytree = 0.5", "colsample-bytree is feature-share here. Give feature-share = 0.5."),
        ("lambdarank_norm = true", "normalise = true"),
        ("max_depth = 5", "leaves = 32"),
        ("label_gain = [0, 1.5, 4]", "Give measure = 'ndcg@10:gains=0/1.5/4'."),
        ("min_split_gain = 1", "min_split_gain is no setting here"),
    ],
)
def test_keys_of_other_programs_are_answered_in_settings_files(run, letor, tmp_path, line, answer):
    settings = tmp_path / "web.toml"
    settings.write_text(f"[train]\n{line}\n")
    done = run("train", letor, "--config", settings, "--out", tmp_path / "model.rankinite")
    assert (done.code, done.error.value) == (2, line.partition(" =")[0])
    assert done.error.place == f"{settings}: [train]"
    assert answer in done.err
