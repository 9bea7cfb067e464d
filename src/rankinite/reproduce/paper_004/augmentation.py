"""Paper 004, §2 and Table 2: LambdaMART on augmented data (Aug50, Aug70) against the plain data."""

from __future__ import annotations

from rankinite.grid import Grid
from rankinite.reproduce.claims import BETTER, MARGIN, Compared
from rankinite.reproduce.experiment import Outcomes
from rankinite.reproduce.item import Item
from rankinite.reproduce.paper_004.accuracy_grids import NONE, gain_grid
from rankinite.reproduce.paper_004.challenge_data import ERR_NAME, NDCG_NAME
from rankinite.reproduce.paper_004.groups import groups_of
from rankinite.reproduce.paper_004.twelve_runs import AS_IN_TABLE_2, EXPERIMENT, LOWERED, OPEN_BECAUSE, bag_of

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


def layout(results: Outcomes) -> list[Grid]:
    """The differences, of single models and of bags, and the sizes of the training data."""
    bags = {(bag_of(first), bag_of(second)): NONE for first, second in PAPERS_GAINS}
    return [
        gain_grid(results, PAPERS_GAINS, "Single models: what augmented data gain"),
        gain_grid(results, bags, "Bags of ten: what augmented data gain"),
        _sizes(results),
    ]


def _sizes(results: Outcomes) -> Grid:
    """Queries and documents of one division of every data set."""
    found = {name: next(iter(own))[1].facts["sizes"] for name, own in groups_of(results).items()}
    rows = tuple(
        (name, f"{papers:,}", *(f"{size:,}" for sizes in found.values() for size in sizes[name]))
        for name, papers in PAPERS_QUERIES.items()
    )
    header = ("data", "paper: queries", *(cell for name in found for cell in (f"{name}: queries", "documents")))
    return Grid(header, rows, title="Training data")


FEW_GRADES = """LETOR's queries have grades 0 to 2, most of them 0, so that samples of their documents probably say little that
is new. The challenge's data, with five grades, would decide."""


def _gives_more(text: str, first: str, second: str, measure: str) -> Compared:
    """A claim that is not refuted by less than the paper's own gain."""
    papers = float(PAPERS_GAINS[first, second][(ERR_NAME, NDCG_NAME).index(measure)])
    why = FEW_GRADES if measure == NDCG_NAME else ""
    return Compared(text, first, second, BETTER, measure, why=why, matters=min(MARGIN, papers))


ITEM = Item(
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
    layout,
    f"""Aug70: the training queries and five samples of 70 % of their documents, without replacement; Aug50: with ten samples
    of 50 %. A sample of a query is a query of its own. M1 and M5 are LambdaMART on the plain data, for ERR and
    for NDCG; M2 and M6 on Aug50, M3 and M7 on Aug70. A claim is refuted by gains shown to be smaller than the paper's own.
    {LOWERED} {AS_IN_TABLE_2}""",
    OPEN_BECAUSE,
)  # fmt: skip
