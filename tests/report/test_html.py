"""The file: one piece, the same bytes for the same data, and nothing in it that data could break out of."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pytest

import rankinite as rk
from rankinite.errors import ArgumentError, DataError
from rankinite.report import Report, of_comparison, page, write
from refusals import refused


class Elements(HTMLParser):
    """The elements of a page, and the text of its scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.inside = False

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.scripts[-1] += data


def elements(content: bytes) -> Elements:
    parser = Elements()
    parser.feed(content.decode())
    return parser


def test_hostile_names_stay_inside_the_data(hostile):
    content = page(hostile)
    plain = elements(page(Report(title="plain", verdict=("nothing",))))
    parsed = elements(content)
    assert [tag for tag, _ in parsed.found] == [tag for tag, _ in plain.found]
    assert json.loads(parsed.scripts[0]) == json.loads(hostile.to_json())
    inside = re.search(rb'id="data">(.*?)</script>', content, re.DOTALL)[1].decode()
    assert not set(inside) & set("<>&\u2028\u2029")


def test_the_program_is_the_one_the_policy_allows(hostile):
    parsed = elements(page(hostile))
    policy = next(attributes["content"] for tag, attributes in parsed.found if "http-equiv" in attributes)
    assert f"script-src 'sha256-{b64encode(sha256(parsed.scripts[1].encode()).digest()).decode()}'" in policy
    assert {"default-src 'none'", "base-uri 'none'", "form-action 'none'"} <= set(policy.split("; "))


def test_nothing_is_loaded_from_anywhere(adapted):
    parsed = elements(page(adapted))
    links = [value for _, attributes in parsed.found for name, value in attributes.items() if name in {"src", "href"}]
    assert links == ["data:,", "#content"]
    assert "url(" not in page(adapted).decode().split('id="data"')[0]
    assert "innerHTML" not in parsed.scripts[1]


def test_the_same_data_give_the_same_bytes(hostile, hostile_data, tmp_path):
    assert page(hostile) == page(hostile)
    systems = {"a": rk.Feature(0), "b": rk.Feature(1)}
    made = [of_comparison(rk.compare(systems, hostile_data, "ndcg", resamples=100), hostile_data, systems) for _ in range(2)]
    assert page(made[0]) == page(made[1])


def test_letters_that_are_none_are_written_as_json_has_them(tmp_path):
    write(Report(title="\udc80 half", verdict=("a \ud800 letter",)), tmp_path / "odd.html")
    assert json.loads((tmp_path / "odd.json").read_bytes())["title"] == "\udc80 half"
    (tmp_path / "odd.html").read_text(encoding="utf-8")


def test_the_data_stand_beside_the_page(hostile, tmp_path):
    assert write(hostile, tmp_path / "report.html") == tmp_path / "report.html"
    assert json.loads((tmp_path / "report.json").read_text()) == json.loads(hostile.to_json())
    assert {path.name for path in tmp_path.iterdir()} == {"report.html", "report.json"}


def test_paths_that_cannot_be_written_are_refused(hostile, tmp_path):
    with refused(ArgumentError, place="report.json", value=".json"):
        write(hostile, tmp_path / "report.json")
    (tmp_path / "taken.json").write_text("{}")
    with refused(ArgumentError, place="taken.json", value=str(tmp_path / "taken.json")):
        write(hostile, tmp_path / "taken.html")
    with pytest.raises(DataError):
        write(hostile, tmp_path / "absent" / "report.html")


def test_large_data_stay_small():
    data = rk.synthesise(600, world=rk.World(documents=50, features=3), doc_ids=True)
    rng = np.random.default_rng(0)
    systems = {name: rng.normal(size=data.rows) for name in "ab"}
    report = of_comparison(rk.compare(systems, data, "ndcg@10", resamples=100), data, systems)
    assert len(page(report)) * 5000 / 600 < 15e6


def test_a_result_is_answered_with_the_report_to_make_of_it(tmp_path):
    data = rk.synthesise(5)
    found = rk.compare({"a": rk.Feature(0), "b": rk.Feature(1)}, data, "ndcg", resamples=100)
    uses = (
        lambda: write(found),
        lambda: write(found, tmp_path / "a.html"),
        lambda: page(found),
        lambda: rk.report.summary(found),
        lambda: rk.report.write_summary(found, tmp_path / "a.md"),
    )
    for use in uses:
        with refused(ArgumentError, value="Comparison") as caught:
            use()
        assert "of_comparison" in caught.value.remedy
    with refused(ArgumentError, owner="write", setting="path", value=None):
        write(of_comparison(found, data, {"a": rk.Feature(0), "b": rk.Feature(1)}))
    assert not list(tmp_path.iterdir())
