"""A measure that is registered is known everywhere; one that is written as CONTRIBUTING.md says passes the tests of all."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

import rankinite as rk
from oracles.measures import DEFINITIONS, over_orders
from rankinite import cli
from rankinite.measures import binary, error_counts, gains
from rankinite.measures.base import FactoredMeasure
from rankinite.measures.registry import CUT_NAMES, OTHER_NAMES, default_measures, known_measures, usual_measures
from refusals import refused

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")
RANDOM = np.random.default_rng(5)
QUERIES = [(RANDOM.integers(0, 4, 6), RANDOM.integers(0, 3, 6)) for _ in range(40)]


def test_every_measure_has_an_oracle():
    """Balanced error is pooled: no single query has a value. Its tests are in test_values."""
    assert {measure.name for measure, _ in DEFINITIONS} == {name for name, _ in default_measures()} - {"balanced-error"}


def test_every_measure_is_public():
    public = {getattr(rk, name) for module in (gains, binary, error_counts) for name in module.__all__}
    assert public == {type(measure) for _, measure in default_measures()}


def test_names_of_other_tools_lead_to_measures():
    assert not set(OTHER_NAMES) & set(known_measures())
    for name, ours in OTHER_NAMES.items():
        assert rk.parse_measure(name).name == rk.parse_measure(name.upper()).name == ours
    for name, template in CUT_NAMES.items():
        assert rk.parse_measure(f"{name}_7") == rk.parse_measure(f"{name}.7") == rk.parse_measure(template.format(7))


def test_what_a_shell_offers_are_measures():
    rk.register_measure(rk.FunctionMeasure("top", lambda grades: float(grades[0]), cutoff=3))
    offered = usual_measures()
    assert {"top", "bpref", "ndcg@10", "map"} <= set(offered)
    for text in offered:
        rk.parse_measure(text)


def written_as_the_page_says() -> type:
    """The measure of the page, as if it were written in ``binary.py``."""
    section = PAGE[PAGE.index("## Add a measure") : PAGE.index("## Add a learner")]
    code = textwrap.dedent(re.search(r"```python\n(.*?)```", section, re.DOTALL)[1])
    names = dict(vars(binary))
    exec(code, names)
    (name,) = set(names) - set(vars(binary))
    return names[name]


def by_definition(grades, cutoff=None):
    relevant = sum(grade >= 1 for grade in grades)
    return sum(1 / rank for rank, grade in enumerate(grades[:cutoff], 1) if grade >= 1) / relevant if relevant else None


@pytest.mark.parametrize("cutoff", [None, 3])
def test_a_measure_written_as_the_page_says_needs_nothing_else(cutoff, tmp_path, monkeypatch, capsys):
    kind = written_as_the_page_says()
    measure = kind(cutoff)

    # its text, names and completion
    assert str(measure) == kind.name + ("" if cutoff is None else f"@{cutoff}")
    assert rk.parse_measure(str(measure)) == measure
    (other,) = (theirs for theirs, ours in OTHER_NAMES.items() if ours == kind.name)
    assert rk.parse_measure(other) == kind()
    assert {kind.name, f"{kind.name}@10", other} <= set(usual_measures())
    assert kind.name in known_measures()
    with refused(rk.MeasureError, value=kind.name[:-1]) as caught:
        rk.parse_measure(kind.name[:-1])
    assert kind.name in caught.value.remedy

    # its values, bounds and swaps
    for scores, grades in QUERIES:
        expected = over_orders(lambda ranked: by_definition(ranked, cutoff), scores, grades)
        value = measure.per_query(rk.rank(scores, grades, [0, len(grades)]))[0]
        assert value == pytest.approx(np.nan if expected[0] is None else np.mean(expected), nan_ok=True)
        assert not measure.bounds[0] > value
        assert not measure.bounds[1] < value
    changes = rk.swap_changes(measure, np.asarray([0.0, 2.0, 1.0, 0.0]))
    before, after = by_definition([0, 2, 1, 0], cutoff), by_definition([2, 0, 1, 0], cutoff)
    assert changes[0, 1] == pytest.approx(after - before)
    assert all(isinstance(measure, promise) for promise in (FactoredMeasure, rk.TrainableMeasure, rk.BoundedMeasure))

    # training, combining and the command line
    data = rk.synthesise(20, world=rk.World(documents=8, features=3))
    ranker = rk.LambdaMART.plain(measure=str(measure), trees=3, min_rows=3).fit(data)
    assert ranker.settings["measure"] == str(measure)
    curve = rk.combine.exact(rk.Feature(0), rk.Feature(1), data=data, measure=str(measure))
    assert curve.value == pytest.approx(rk.evaluate(curve.ranker, data, measure)[measure].mean)
    rk.write(data, tmp_path / "data.txt")
    monkeypatch.setattr(
        "sys.argv", ["rankinite", "evaluate", "feature:1", str(tmp_path / "data.txt"), "--measure", str(measure)]
    )
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 0
    assert str(measure) in capsys.readouterr().out
