"""Paper 003, Trada: Figures 6 to 12 and Table 3, and the same for forests trained with λ-gradients."""

from papers.paper_003.figure_12 import FIGURE_12
from papers.paper_003.figures_6_to_11 import FIGURE_6, FIGURE_7, FIGURE_8, FIGURE_9, FIGURE_10, FIGURE_11, TABLE_3
from papers.paper_003.lambda_forests import LAMBDA_FORESTS

ITEMS = (FIGURE_6, FIGURE_7, FIGURE_8, FIGURE_9, FIGURE_10, TABLE_3, FIGURE_11, FIGURE_12, LAMBDA_FORESTS)
