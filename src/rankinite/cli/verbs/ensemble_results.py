"""Results of ``rankinite ensemble``: the tables of the choice, the comparison on test data, diversity, and the report."""

from __future__ import annotations

import json as writer
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from rankinite.cli import report_option as reporting
from rankinite.cli.messages import busy, say_all
from rankinite.cli.options import ResultFormat
from rankinite.cli.output import echo, echo_json, laid_out

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.ensembles import Diversity, MemberChoice
    from rankinite.evaluation.compare import Comparison
    from rankinite.evaluation.scorers import Scorer
    from rankinite.models.blend import Blend

ENSEMBLE = "ensemble"


@dataclass(frozen=True)
class Results:
    """What a run has found."""

    model: Blend
    members: Mapping[str, Scorer]
    """Those of the model, by name."""
    measures: list[Any]
    choice: MemberChoice | None
    tested: Comparison | None
    diversity: Diversity | None
    """On the queries held out, of all members; without a choice on the test data. None unless asked for."""

    @classmethod
    def of(
        cls,
        model: Blend,
        members: Mapping[str, Scorer],
        measures: list[Any],
        choice: MemberChoice | None,
        test: Dataset | None,
        *,
        diverse: bool,
    ) -> Results:
        """Compare ensemble and members on test data, if there are some."""
        from rankinite.ensembles import diversity
        from rankinite.evaluation.compare import compare

        found = choice.diversity if choice is not None and diverse else None
        if test is None:
            return cls(model, members, measures, choice, None, found)
        with busy("comparing"):
            tested = compare({**members, ENSEMBLE: model}, test, measures, against=[ENSEMBLE])
            if diverse and choice is None:
                found = diversity(members, test, tested.measures[0])
        return cls(model, members, measures, choice, tested, found)

    def echo(self, layout: ResultFormat, *, diversity: bool) -> None:
        """Print all tables; of CSV, which has one table per stream, the comparison on test data or else of combinations."""
        shown = self.diversity if diversity else None
        say_all(() if self.tested is None else self.tested.warnings)
        if layout == "json":
            content = self.content(shown)
            if content:
                echo_json(content)
            return
        final = self.tested or (None if self.choice is None else self.choice.combinations)
        if layout == "csv":
            if final is not None:
                echo(final.to_csv())
            return
        tables = {} if self.choice is None else self.choice.tables()
        grids = [replace(table.grid(), title=f"{title} on the queries held out") for title, table in tables.items()]
        if self.choice is not None:
            grids.append(self.choice.path_grid())
        grids += [] if self.tested is None else [self.tested.grid()]
        if shown is not None:
            grids += [shown.grid(), shown.correlations_grid(), shown.curve_grid()]
        texts = [laid_out(grid, layout).rstrip("\n") for grid in grids]
        if texts:
            echo("\n\n".join(texts))

    def content(self, diversity: Diversity | None) -> dict[str, Any]:
        """Everything as JSON has it: the comparison on test data, and beside it the choice and the diversity."""
        found: dict[str, Any] = {} if self.tested is None else writer.loads(self.tested.to_json())
        if self.choice is not None:
            choice = self.choice
            tables = {"members": choice.members, "combinations": choice.combinations, "subsets": choice.subsets}
            found["choice"] = {
                "name": choice.name,
                "verdict": choice.verdict,
                "gain": choice.gain,
                "standard_error": choice.error,
                "scale": choice.weighing.scale,
                "weights": dict(choice.weighing.weights),
                **{name: None if table is None else writer.loads(table.to_json()) for name, table in tables.items()},
                "path": [asdict(step) for step in choice.path],
            }
        if diversity is not None:
            from rankinite.report.diversity_section import diversity_section

            found["diversity"] = asdict(diversity_section(diversity))
        return found

    def write_report(
        self,
        report_files: reporting.ReportFiles,
        data: Mapping[str, Dataset | None],
        test: Dataset | None,
        facts: dict[str, Any],
    ) -> None:
        """Write the report and its summary, where they are asked for."""
        from rankinite.report.ensembles import of_ensemble

        with busy("making the report"):
            report = of_ensemble(
                self.model,
                self.members,
                choice=self.choice,
                test=test,
                measures=self.measures,
                diverse=self.diversity,
                data=data,
                facts={**reporting.run_facts(), **facts},
            )
        report_files.write(report)
