"""Paper 001, Model adaptation via model interpolation and boosting: Tables 3 to 12, Figure 4, and LambdaSMART's settings."""

from papers.paper_001.languages import TABLES_5_TO_12
from papers.paper_001.leaves import FIGURE_4
from papers.paper_001.names import TABLE_3, TABLE_4
from papers.paper_001.settings import SETTINGS

ITEMS = (TABLE_3, TABLE_4, *TABLES_5_TO_12, FIGURE_4, SETTINGS)
