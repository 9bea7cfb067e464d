"""Paper 004, an ensemble of λ-gradient models: Figure 1, Tables 1 to 4, and what its text says of data, bags and diversity."""

from papers.paper_004.figure_1 import FIGURE_1
from papers.paper_004.findings import AUGMENTATION, BAGGING, DIVERSITY
from papers.paper_004.table_1 import TABLE_1
from papers.paper_004.tables_2_to_4 import TABLE_2, TABLE_3, TABLE_4

ITEMS = (FIGURE_1, TABLE_1, TABLE_2, TABLE_3, TABLE_4, AUGMENTATION, BAGGING, DIVERSITY)
