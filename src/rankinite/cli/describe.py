"""``rankinite describe``: what is in judged data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rankinite.cli import options

if TYPE_CHECKING:
    from rankinite.data.description import Description
    from rankinite.grid import Grid


@options.with_options(reading=options.Reading(infinite=options.Infinite.keep, unjudged=options.Unjudged.keep))
def describe(
    data: options.DataArgument,
    features: Annotated[int, typer.Option("--features", min=0, help="How many features to list; 0: all of them.")] = 12,
    layout: options.LayoutOption = options.Layout.text,
    json: options.JsonOption = False,
    *,
    reading: options.Reading,
) -> None:
    """Show queries, documents, grades and features of each file, and what is odd: duplicates, constant features, and
    queries that teach nothing. Several files must have the same features, as train and test data do.

    Examples:

      rankinite describe train.txt.gz

      rankinite describe train.txt valid.txt test.txt --features 0
    """
    from rankinite.cli.printing import echo, laid_out
    from rankinite.data.description import describe as describe_data
    from rankinite.data.joining import check_same_features

    read = [reading.read([path]) for path in data]
    for other in read[1:]:
        check_same_features(read[0], other)
    found = [describe_data(judged) for judged in read]
    if json or layout is options.Layout.json:
        import json as writer

        echo(writer.dumps([description.to_dict() for description in found], indent=2, allow_nan=False))
        return
    for number, description in enumerate(found):
        if number:
            print()
        tables = (overview(description), grade_grid(description), feature_grid(description, features or None))
        for grid in tables[2:] if layout is options.Layout.csv else tables:  # CSV: one table a stream
            echo(laid_out(grid, layout) + "\n\n")
        if layout in {options.Layout.text, options.Layout.markdown}:
            print("\n".join(oddities(description)))


def overview(description: Description) -> Grid:
    """The counts."""
    from rankinite.grid import Grid

    fewest, median, most = description.documents
    rows = (
        ("queries", f"{description.queries:,}"),
        ("documents", f"{description.rows:,}"),
        ("documents a query", f"{fewest} … {median:g} … {most}"),
        ("features", f"{len(description.features):,}"),
    )
    return Grid(("", ""), rows, title=description.source)


def grade_grid(description: Description) -> Grid:
    """The grades with their shares."""
    from rankinite.grid import Grid

    most = max(description.grades.values())
    rows = tuple(
        (f"{grade:g}", f"{count:,}", f"{count / description.rows:.1%}", "█" * max(1, round(30 * count / most)))
        for grade, count in description.grades.items()
    )
    notes = (f"… and {description.other_grades:,} documents of other grades",) if description.other_grades else ()
    return Grid(("grade", "documents", "share", ""), rows, align="rrrl", notes=notes)


def feature_grid(description: Description, most: int | None) -> Grid:
    """The features' ranges; ``most`` of them."""
    from rankinite.grid import Grid

    shown = description.features[:most]
    rows = tuple(
        (
            f.name,
            f"{f.lowest:.6g}",
            f"{f.mean:.6g}",
            f"{f.highest:.6g}",
            f"{f.missing / description.rows:.1%}",
            f"{f.zeros / description.rows:.1%}",
        )
        for f in shown
    )
    hidden = len(description.features) - len(shown)
    notes = (f"… and {hidden} more (--features 0 lists all)",) if hidden else ()
    return Grid(("feature", "lowest", "mean", "highest", "missing", "zero"), rows, notes=notes)


def oddities(description: Description) -> list[str]:
    """Sentences about what a user would want to know."""
    found: list[str] = []
    if description.one_grade_queries:
        found.append(
            f"{description.one_grade_queries:,} queries have documents of one grade only "
            f"({description.one_document_queries:,} of them one document): "
            "every ranker does equally well on them, and none learns from them."
        )
    if description.duplicate_rows:
        found.append(
            f"{description.duplicate_rows:,} rows repeat the features of an earlier row of their query, "
            f"{description.contradicting_rows:,} of them with another grade."
        )
    constant = description.constant_features
    if constant:
        listed = ", ".join(constant[:20]) + (" …" if len(constant) > 20 else "")
        found.append(f"{len(constant):,} features are constant and say nothing: {listed}.")
    infinite = [feature.name for feature in description.features if feature.infinite]
    if infinite:
        found.append(
            f"{len(infinite):,} features have infinite values ({', '.join(infinite[:20])}): "
            "read them with --infinite missing or --infinite clip."
        )
    if description.lowest_grade < 0:
        found.append("Some grades are negative: read such rows with --unjudged drop if that marks unjudged documents.")
    return found or ["Nothing odd: no one-grade queries, no duplicates, no constant features."]
