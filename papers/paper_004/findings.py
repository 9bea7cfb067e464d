"""Paper 004, what its text says of the twelve: augmented data (§2), bags (§4.3), and diversity (§4.3, §5)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from papers.claims import BETTER, MARGIN, Compared, Measured
from papers.differences import difference, mean_text
from papers.experiment import Floats, Outcomes
from papers.figure import Panel, PaperFigure
from papers.item import Item
from papers.paper_004.by_data_set import NONE, agreed, gain_grid, groups_of, mean_curve
from papers.paper_004.setup import ERR_NAME, NDCG_NAME
from papers.paper_004.twelve import (
    ALL,
    ALL_BAGGED,
    AS_IN_TABLE_2,
    EXPERIMENT,
    LAMBDAMARTS,
    LOWERED,
    MEMBERS,
    OPEN_BECAUSE,
    PLAIN_MODELS,
    SIZES,
    TWELVE,
    all_but,
    bag_of,
)
from rankinite.grid import Grid, number

# Augmented data.

PAPERS_GAINS = {
    ("M2", "M1"): ("+0.003", "+0.012"),
    ("M3", "M1"): ("+0.001", "+0.006"),
    ("M2", "M3"): ("+0.002", "+0.006"),
    ("M6", "M5"): ("+0.002", "+0.008"),
    ("M7", "M5"): ("+0.001", "+0.004"),
    ("M6", "M7"): ("+0.001", "+0.004"),
}
"""What one model gains over another in ERR and NDCG, from the paper's Table 2."""
PAPERS_QUERIES = {"plain": 19_944, "Aug50": 217_175, "Aug70": 119_305}


def augmentation_layout(results: Outcomes) -> list[Grid]:
    """The differences, of single models and of bags, and the sizes of the training data."""
    bags = {(bag_of(first), bag_of(second)): NONE for first, second in PAPERS_GAINS}
    return [
        gain_grid(results, PAPERS_GAINS, "Single models: what augmented data gain"),
        gain_grid(results, bags, "Bags of ten: what augmented data gain"),
        _sizes(results),
    ]


def _sizes(results: Outcomes) -> Grid:
    """Queries and documents of one division of every data set."""
    by_data = {name: next(iter(group))[1].facts["sizes"] for name, group in groups_of(results).items()}
    rows = tuple(
        (name, f"{papers:,}", *(f"{size:,}" for sizes in by_data.values() for size in sizes[name]))
        for name, papers in PAPERS_QUERIES.items()
    )
    header = ("data", "paper: queries", *(cell for name in by_data for cell in (f"{name}: queries", "documents")))
    return Grid(header, rows, title="Training data")


FEW_GRADES = """LETOR's queries have grades 0 to 2, most of them 0, so that samples of their documents probably say little that
is new. The challenge's data, with five grades, would decide."""


def _gives_more(text: str, first: str, second: str, measure: str) -> Compared:
    """A claim that is not refuted by less than the paper's own gain."""
    papers = float(PAPERS_GAINS[first, second][(ERR_NAME, NDCG_NAME).index(measure)])
    why = FEW_GRADES if measure == NDCG_NAME else ""
    return Compared(text, first, second, BETTER, measure, why=why, matters=min(MARGIN, papers))


AUGMENTATION = Item(
    "004", "augmentation", "Training data augmented by samples of each query's documents (§2, Table 2)",
    (
        _gives_more("Trained for ERR, Aug50 gives more ERR than the plain data", "M2", "M1", ERR_NAME),
        _gives_more("Trained for ERR, Aug70 gives more ERR than the plain data", "M3", "M1", ERR_NAME),
        _gives_more("Trained for ERR, Aug50 gives more ERR than Aug70", "M2", "M3", ERR_NAME),
        _gives_more("Trained for NDCG, Aug50 gives more NDCG than the plain data", "M6", "M5", NDCG_NAME),
        _gives_more("Trained for NDCG, Aug70 gives more NDCG than the plain data", "M7", "M5", NDCG_NAME),
        _gives_more("Trained for NDCG, Aug50 gives more NDCG than Aug70", "M6", "M7", NDCG_NAME),
    ),
    (EXPERIMENT,),
    augmentation_layout,
    f"""Aug70: the training queries and five samples of 70 % of their documents, without replacement; Aug50: with ten samples
    of 50 %. A sample of a query is a query of its own. M1 and M5 are LambdaMART on the plain data, for ERR and
    for NDCG; M2 and M6 on Aug50, M3 and M7 on Aug70. A claim is refuted by gains shown to be smaller than the paper's own.
    {LOWERED} {AS_IN_TABLE_2}""",
    OPEN_BECAUSE,
)  # fmt: skip


# Bags.

TRIFLE = 0.0005
"""What the paper's Table 3 decides by; of bags it gives no numbers."""
BAGS = {(bag_of(name), name): NONE for name in LAMBDAMARTS} | {(ALL_BAGGED, ALL): NONE}


def bagging_layout(results: Outcomes) -> list[Grid | PaperFigure]:
    """What every bag gains over its single models, and how many models are enough."""
    panels = [
        Panel(name, "models in the bag", "ERR", {line: mean_curve(group, MEMBERS, line) for line in PLAIN_MODELS.values()})
        for name, group in groups_of(results).items()
    ]
    return [
        gain_grid(results, BAGS, "Bags of ten less single models, on test queries"),
        PaperFigure("004-bagging", "ERR by the number of models in a bag", panels),
    ]


gains = partial(Compared, says=BETTER, matters=TRIFLE)
BAGGING = Item(
    "004", "bagging", "Ten-fold bags against single models (§4.3)",
    (
        gains("A bag of LambdaMARTs for ERR has more ERR than one of them", bag_of("M1"), "M1", measure=ERR_NAME),
        gains("A bag of LambdaMARTs for NDCG has more NDCG than one of them", bag_of("M5"), "M5", measure=NDCG_NAME),
        gains("A bag of LambdaMARTs for ERR on Aug50 has more ERR than one", bag_of("M2"), "M2", measure=ERR_NAME),
        gains("A bag of LambdaMARTs for NDCG on Aug50 has more NDCG than one", bag_of("M6"), "M6", measure=NDCG_NAME),
        gains("An ensemble with bags has more ERR than one of single models", ALL_BAGGED, ALL, measure=ERR_NAME),
        gains("An ensemble with bags has more NDCG than one of single models", ALL_BAGGED, ALL, measure=NDCG_NAME),
    ),
    (EXPERIMENT,),
    bagging_layout,
    f"""The paper takes bags to learn from all training data, though each model needs some to stop by; it gives no numbers,
    and only gains shown to be below 0.0005, by which its Table 3 decides, refute a claim. {LOWERED}
    {AS_IN_TABLE_2} A bag is the mean score of the ten. In the ensemble with bags M1 to M8 are bags, the others are not.""",
    OPEN_BECAUSE,
)  # fmt: skip


# Diversity.

NETS, MARTS = ("M9", "M10"), ("M11", "M12")
LINES = ("mean", "best", "worst")
STEPS = (1, 3, 6, 12)
"""Sizes of ensembles of which the claim about them is asked."""


def correlations(results: Outcomes) -> Floats:
    """The correlation of the errors of every two of the twelve, the mean over cases."""
    return np.mean([outcome.facts["errors"] for _, outcome in results], axis=0)


def mean_correlation(table: Floats, first: Sequence[str], second: Sequence[str]) -> float:
    """The mean over all pairs of two different models, one of each group."""
    pairs = [(TWELVE.index(a), TWELVE.index(b)) for a in first for b in second if a != b]
    return float(np.mean([table[pair] for pair in pairs]))


def unlike_errors(results: Outcomes) -> tuple[str, bool | None]:
    """Whether errors of LambdaMART correlate less with those of other kinds than with those of other LambdaMARTs."""
    texts: list[str] = []
    verdicts: list[bool] = []
    for name, group in groups_of(results).items():
        table = correlations(group)
        alike, *unlike = (mean_correlation(table, LAMBDAMARTS, others) for others in (LAMBDAMARTS, NETS, MARTS))
        texts.append(f"{name}: {alike:.2f} among LambdaMARTs, {unlike[0]:.2f} with nets, {unlike[1]:.2f} with MARTs")
        verdicts.append(max(unlike) < alike)
    return "; ".join(texts), agreed(verdicts)


def gains_with_size(results: Outcomes) -> tuple[str, bool | None]:
    """Whether averages of three models have more ERR than one, those of six more, and that of all twelve the most."""
    texts: list[str] = []
    verdicts: list[bool] = []
    for name, group in groups_of(results).items():
        known = dict(zip(*mean_curve(group, SIZES, "mean"), strict=True))
        values = [known[size] for size in STEPS]
        texts.append(f"{name}: " + ", ".join(f"{number(value)} of {size}" for size, value in zip(STEPS, values, strict=True)))
        verdicts.append(values == sorted(values))
    return "; ".join(texts), agreed(verdicts)


def diversity_layout(results: Outcomes) -> list[Grid | PaperFigure]:
    """Every member beside the others, the correlations of errors, and the curve of ensemble size."""
    panels = [
        Panel(name, "models in the ensemble", "ERR", {line: mean_curve(group, SIZES, line) for line in LINES})
        for name, group in groups_of(results).items()
    ]
    blocks: list[Grid | PaperFigure] = [_members(group, name) for name, group in groups_of(results).items()]
    blocks += [_correlations(group, name) for name, group in groups_of(results).items()]
    return [*blocks, PaperFigure("004-diversity", "ERR of averages by the number of models", panels)]


def _members(group: Outcomes, name: str) -> Grid:
    table = correlations(group)
    rows: list[tuple[str, ...]] = []
    for member in TWELVE:
        alike = np.mean([outcome.facts["scores"][member] for _, outcome in group])
        errors = mean_correlation(table, [member], TWELVE)
        adds = difference(group, ALL, all_but(member), ERR_NAME)
        rows.append((member, mean_text(group, member, ERR_NAME), number(errors, 2), number(float(alike), 2), str(adds)))
    header = ("member", "ERR alone", "errors correlate", "scores correlate", "adds to the others")
    together = mean_text(group, ALL, ERR_NAME)
    note = f"All twelve: {together}. Correlations are means over the other members: of errors over queries, of scores within."
    return Grid(header, tuple(rows), title=f"{name}: every member beside the others", notes=(note,))


def _correlations(group: Outcomes, name: str) -> Grid:
    table = correlations(group)
    rows = tuple((member, *(number(value, 2) for value in row)) for member, row in zip(TWELVE, table.tolist(), strict=True))
    return Grid(("errors correlate", *TWELVE), rows, title=f"{name}: correlation of what ERR lacks to the best, over queries")


WEAKER = """From few queries models trained for ERR learn less than those for NDCG (Table 2), and half of the twelve are such.
The challenge's data, on which both are alike, would decide."""
adds = partial(Compared, says=BETTER, measure=ERR_NAME)
DIVERSITY = Item(
    "004", "diversity", "What each of the twelve adds to the ensemble (§4.3, §5)",
    (
        adds("Nets and MARTs, though less accurate, add ERR", ALL, "LambdaMART only", matters=0.0005),
        adds("The two nets add ERR", ALL, "all minus LambdaRanks", matters=0.0004),
        adds("Models trained for ERR add ERR to those for NDCG", ALL, "just NDCG", matters=0.0005, why=WEAKER),
        Measured("Models of another kind make other errors", unlike_errors),
        Measured("The more models are averaged, the more ERR: 1, 3, 6, 12", gains_with_size),
    ),
    (EXPERIMENT,),
    diversity_layout,
    f"""The error of a model on a query is what its ERR lacks to the best. What a member adds is the average of all less that of
    the others; the paper's own differences are 0.0005 of ERR and less, and smaller ones refute. The curve is of at most 40
    subsets of each size; correlations and curve are of the first of the ten fits. The last two claims hold where all data
    sets agree. {LOWERED} {AS_IN_TABLE_2}""",
    OPEN_BECAUSE,
)  # fmt: skip
