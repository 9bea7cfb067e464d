"""The summary: what it says follows from the results, and names in it stay text."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pytest

import rankinite as rk
from rankinite.adapt.choice import size_of
from rankinite.errors import ArgumentError, DataError
from rankinite.report import Report, of_choice, of_comparison, of_training, summary, write_summary
from rankinite.report.handover import COMPARE_ONLINE
from rankinite.report.verdicts import FLATTERED
from refusals import refused


class Page(HTMLParser):
    """The tags of a page, and its text without the style."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        if self.tags[-1:] != ["style"]:
            self.text.append(data)


def seen(content: str) -> Page:
    parser = Page()
    parser.feed(content)
    return parser


def numbers(sentence: str) -> list[float]:
    """The numbers of a sentence, one after the other."""
    return [float(text) for text in re.findall(r"[+-]?\d+(?:\.\d+)?", sentence)]


def rendered(markdown: str) -> str:
    """The text that Markdown shows of one that has no markup but headings, lists, strong text and escapes."""
    return re.sub(r"\\([\\`*_\[\]|~])", r"\1", markdown)


def test_an_adaptation_leads_with_its_verdict_and_says_what_serving_takes(adapted, choice, market):
    deployed = replace(choice, verdict=replace(choice.verdict, decision="deploy"), ranker=choice.models[choice.name])
    made = summary(of_choice(deployed, market[2], test=market[4]))
    assert (made.verdict, made.number) == deployed.recommendation()[:2]
    assert made.title == f"{choice.name} · {market[2].source} · Adaptation"
    pair = choice.unseen.pair(choice.name, "background", choice.measure)
    counted = f"{pair.wins} of {pair.wins + pair.ties + pair.losses} queries get better than with background"
    assert any(one.startswith(counted) and f"{pair.losses} get" in one for one in made.sure)
    assert numbers(made.number.partition(": ")[2])[:4] == pytest.approx([pair.difference, 10, *pair.interval], abs=0.006)
    assert not any("could be from" in one for one in made.sure)  # the number has its interval
    assert set(deployed.recommendation()[2:]) <= set(made.sure)
    cost = choice.costs[choice.name]
    for fact in (
        size_of(deployed.ranker),
        f"{cost.microseconds:.1f}",
        f"{cost.times_background:.1f} times",
        *list(cost.served_by)[:3],
    ):
        assert fact in " ".join(made.cost)
    assert "rankinite export" in made.next_steps[0]
    untested = summary(of_choice(replace(deployed, test=None), market[2]))
    assert any("test data" in step for step in untested.next_steps)
    assert not any("test data" in step for step in made.next_steps)


def test_a_ranker_to_try_online_is_exported_and_compared_there(choice, market):
    tried = replace(choice, verdict=replace(choice.verdict, decision="try online"), ranker=choice.models[choice.name])
    made = summary(of_choice(tried, market[2], test=market[4]))
    assert made.verdict.startswith("Try ")
    assert "rankinite export" in made.next_steps[0]
    assert made.next_steps[1] == COMPARE_ONLINE
    assert size_of(tried.ranker) in " ".join(made.cost)


def test_where_the_background_stays_nothing_is_to_be_exported(choice, market):
    kept = replace(choice, verdict=replace(choice.verdict, decision="keep"), ranker=choice.models["background"])
    made = summary(of_choice(kept, market[2], test=market[4]))
    assert made.cost == ("Nothing changes.",)
    assert not any("export" in step for step in made.next_steps)


@pytest.mark.parametrize(("name", "step"), [("grades", "Deploy grades."), ("noise", "Keep other.")])
def test_a_comparison_has_both_means_and_the_worst_query(name, step):
    data = rk.synthesise(30, world=rk.World(documents=6, features=3))
    noise = np.random.default_rng(0).normal(size=data.rows)
    before = data.grades if name == "noise" else noise
    after = noise if name == "noise" else data.grades
    comparison = rk.compare({"other": before, name: after}, data, "ndcg@5", resamples=500)
    report = of_comparison(comparison, data, {"other": before, name: after})
    made, (old, new) = summary(report), (comparison[one]["ndcg@5"] for one in ("other", name))
    assert (made.verdict, made.number) == report.verdict[:2]
    assert numbers(made.number.partition(": ")[2])[0] == pytest.approx(new.mean - old.mean, abs=0.006)
    assert made.next_steps[0] == step
    change = new.per_query - old.per_query
    worst = str(data.qids[int(np.nanargmin(change))])
    assert any(f"'{worst}'" in one for one in made.next_steps) == bool(np.nanmin(change) < -0.0005)
    assert made.cost == ()


def test_a_difference_that_may_be_chance_changes_nothing():
    data = rk.synthesise(12, world=rk.World(documents=6, features=3))
    noise = np.random.default_rng(0).normal(size=(2, data.rows))
    systems = {"a": data.grades + noise[0], "b": data.grades + noise[1]}
    comparison = rk.compare(systems, data, "ndcg@5", resamples=200)
    assert comparison.pairs[0].p(comparison.test).holm > comparison.alpha
    better = comparison.pairs[0].better
    worse = ({"a", "b"} - {better}).pop()
    for old, new, step in ((worse, better, COMPARE_ONLINE), (better, worse, f"Keep {better}.")):
        made = summary(of_comparison(comparison, data, systems, before=old, after=new))
        assert made.verdict == f"We cannot tell whether {new} is better than {old}."
        assert made.next_steps[0] == step
    same = {"a": systems["a"], "b": systems["a"]}
    equal = summary(of_comparison(rk.compare(same, data, "ndcg@5", resamples=200), data, same))
    assert equal.next_steps[0] == "Keep a."


def test_a_training_says_what_is_still_to_know(market):
    background, _, _, valid, test = market
    judged = summary(of_training(background, test, ["ndcg@5"]))
    assert judged.number == f"ndcg@5 is {rk.evaluate(background, test, 'ndcg@5').results[0].mean:.3f} on test.txt."
    assert judged.cost == (judged.verdict,)
    assert "rankinite compare" in judged.next_steps[0]
    for one in (of_training(background), of_training(background, valid, note=FLATTERED)):
        assert "test data" in summary(one).next_steps[0]
    assert summary(of_training(background)).number == ""


def test_lower_is_better_for_errors():
    data = rk.synthesise(30, world=rk.World(documents=6, features=3))
    systems = {"grades": data.grades, "noise": np.random.default_rng(0).normal(size=data.rows)}
    comparison = rk.compare(systems, data, rk.PairwiseErrors(), resamples=200)
    made = summary(of_comparison(comparison, data, systems))
    change = comparison["noise"].results[0].per_query - comparison["grades"].results[0].per_query
    assert any(f"'{data.qids[int(np.nanargmax(change))]}'" in step for step in made.next_steps)


def test_markdown_and_html_have_the_same_sentences_without_a_formula(adapted):
    made = summary(adapted)
    sentences = (made.title, made.verdict, made.number, *made.sure, *made.cost, *made.next_steps)
    markdown, page = rendered(made.to_markdown()), seen(made.to_html())
    assert [line for line in sentences if line not in markdown] == []
    assert [line for line in sentences if line.replace("`", "") not in "".join(page.text)] == []
    assert not set(" ".join(sentences)) & set("±<>=·") - set("·")
    assert page.tags.count("h1") == markdown.count("\n# ") + markdown.startswith("# ") == 1
    assert "`rankinite export`" in made.to_markdown() or "export" not in markdown
    assert len(markdown.split()) < 350  # half a page


def test_hostile_names_stay_text(hostile):
    made = summary(hostile)
    page, plain = seen(made.to_html()), seen(summary(Report(title="plain", verdict=("nothing",))).to_html())
    assert set(page.tags) <= {*plain.tags, "p", "h2", "ul", "li", "code"}
    assert made.verdict in "".join(page.text)
    assert not re.search(r"(?<!\\)[<>]", made.to_markdown())
    assert "\u2028" not in made.to_markdown()
    style = re.search(r"<style>(.*?)</style>", made.to_html(), re.DOTALL)[1]
    assert f"sha256-{b64encode(sha256(style.encode()).digest()).decode()}" in made.to_html()
    assert "script-src" not in made.to_html()


def test_files_end_in_what_they_are_and_are_written_whole_or_not(adapted, tmp_path, monkeypatch):
    for name in ("s.md", "s.markdown", "s.html", "s.HTM"):
        path = write_summary(adapted, tmp_path / name)
        content = path.read_text(encoding="utf-8")
        assert content == (summary(adapted).to_html() if "htm" in name.lower() else summary(adapted).to_markdown())
    for name in ("s.txt", "s", "s.json"):
        with refused(ArgumentError, place=name, value=name[1:]):
            write_summary(adapted, tmp_path / name)
    with pytest.raises(DataError):
        write_summary(adapted, tmp_path / "absent" / "s.md")
    before = (tmp_path / "s.md").read_bytes()

    def broken(_handle):
        raise OSError("the disk is full")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(DataError):
        write_summary(replace(adapted, verdict=("another", "verdict")), tmp_path / "s.md")
    assert (tmp_path / "s.md").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"s.md", "s.markdown", "s.html", "s.HTM"}
