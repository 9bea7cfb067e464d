"""The report of a search of settings: those taken, what they are worth, and every trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankinite.data.dataset import Dataset
from rankinite.grid import number
from rankinite.measures.base import sign_of
from rankinite.plurals import counted
from rankinite.report import provenance as repeating
from rankinite.report.builders import CallerFacts, of_training
from rankinite.report.document import Figure, Report
from rankinite.report.queries import check_same_queries
from rankinite.report.search_section import search_section
from rankinite.report.verdicts import FLATTERED
from rankinite.tuning.result import Tuned, setting_text
from rankinite.tuning.space import Choices, Range


def of_tuning(
    tuned: Tuned,
    data: Dataset,
    *,
    test: Dataset | None = None,
    valid: Dataset | None = None,
    facts: CallerFacts | None = None,
    title: str = "Tuning",
) -> Report:
    """The report of what :func:`rankinite.tune` found on ``data``.

    The model's queries are shown one by one on the test data, if there are some, else on the validation data. ``valid``: those
    that :func:`rankinite.tune` had. ``facts``: what else should be known to repeat it, such as the command.

    >>> write(of_tuning(tune(LambdaMART(), train, test=test), train, test=test), "report.html")  # doctest: +SKIP
    """
    if test is not None and tuned.test is not None:
        check_same_queries(tuned.test, test, "test")
    known = {**(facts or {}), **_search_facts(tuned)}
    model = _model_report(tuned, {"train": data, "valid": valid, "test": test}, known, title)
    told = tuned if test is None else replace(tuned, test=None)  # the model's own sentence says it, with the data's name
    return replace(
        model,
        verdict=(*_choice_sentences(tuned), *told.honest_values(), *model.verdict),
        figures=(*_search_figures(tuned), *model.figures),
        figures_title="",
        search=search_section(tuned),
    )


def _model_report(tuned: Tuned, data: Mapping[str, Dataset | None], facts: CallerFacts, title: str) -> Report:
    """The final model as the report of a training has it; without a model, what is known of the data."""
    if tuned.ranker is None:
        entries = (*repeating.caller_facts(facts), repeating.data_facts(data), repeating.version_facts())
        return Report(title=title, verdict=(), facts=entries)
    name = "valid" if data["test"] is None and data["valid"] is not None else "test"
    judging = data[name]
    report = of_training(
        tuned.ranker,
        judging,
        [tuned.measure],
        note=FLATTERED if name == "valid" else "",
        trained_on={other: one for other, one in data.items() if other != name},
        facts=facts,
        title=title,
    )
    where = {"test": "on test data", "valid": "on validation data"}[name]
    figures = (replace(one, label=f"{one.label} {where}") if judging is not None else one for one in report.figures)
    return replace(report, figures=tuple(figures))


def _choice_sentences(tuned: Tuned) -> tuple[str, ...]:
    """The settings taken, why these, and by which value, which is too good."""
    best, chosen = tuned.best()[0], tuned.chosen
    settings = [f"{name} {setting_text(value)}" for name, value in tuned.settings.items()]
    left = tuned.not_complete()
    tried = f"{counted(len(tuned.trials), 'trial')}{f' ({left})' if left else ''}"
    if chosen is best:
        why = f"Trial {chosen.number + 1} of {tried} is the best, and no smaller model is within one standard error of it."
    else:
        value = number(sign_of(tuned.measure) * best.mean)
        why = (
            f"Trial {chosen.number + 1} of {tried} gave the smallest model within one standard error of the best, "
            f"trial {best.number + 1} with {value}."
        )
    value = f"{tuned.measure} {number(tuned.value)}"
    if tuned.folds:
        good = f"Its value over {tuned.folds} folds, {value}, is too good: it was chosen by it."
    else:
        good = f"Its value on the validation data, {value}, is too good twice over: they chose it, and said when to stop."
    return f"{type(tuned.learner).__name__} with {', '.join(settings)} was chosen.", why, good


def _search_figures(tuned: Tuned) -> tuple[Figure, ...]:
    figures = [Figure(f"{tuned.measure} chosen by", number(tuned.value), "too good")]
    if tuned.estimate is not None:
        sign = sign_of(tuned.measure)
        low, high = sorted((sign * tuned.estimate.low, sign * tuned.estimate.high))
        mean = number(sign * tuned.estimate.mean)
        figures.append(Figure(f"{tuned.measure} elsewhere, estimated", mean, f"{number(low)} to {number(high)}"))
    if tuned.nested is not None:
        found = tuned.nested[tuned.measure]
        figures.append(Figure(f"{tuned.measure} of outer folds", number(found.mean), found.spread))
    return (*figures, Figure("trials", str(len(tuned.trials)), tuned.not_complete()))


def _search_facts(tuned: Tuned) -> dict[str, dict[str, Any]]:
    """What was searched, and how it was judged."""
    about = {
        "learner": type(tuned.learner).__name__,
        "measure": str(tuned.measure),
        "judged by": counted(tuned.folds, "fold") if tuned.folds else "validation data",
    }
    return {"Search": about, "Settings searched": {name: _values(one) for name, one in tuned.space.items()}}


def _values(searched: Choices | Range) -> str:
    if isinstance(searched, Choices):
        return ", ".join(map(setting_text, searched.values))
    step = "" if searched.step is None else f" in steps of {setting_text(searched.step)}"
    ratios = ", drawn by ratio" if searched.log else ""
    return f"{setting_text(searched.low)} to {setting_text(searched.high)}{step}{ratios}"
