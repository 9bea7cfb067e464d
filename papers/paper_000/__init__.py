"""Paper 000, Adapting boosting for information retrieval measures: accuracy (§5.3–5.4), adaptation (§5.5), combiner (§5.6)."""

from papers.paper_000.accuracy import FIGURE_2, TABLE_1
from papers.paper_000.adaptation import TABLE_2, TABLE_3, TABLE_4
from papers.paper_000.combiner import FIGURE_3, FIGURE_4

ITEMS = (TABLE_1, FIGURE_2, TABLE_2, TABLE_3, TABLE_4, FIGURE_3, FIGURE_4)
