"""Paper 002, From RankNet to LambdaRank to LambdaMART: its figure, and what its sections say can be measured."""

from papers.paper_002.figure_1 import FIGURE_1
from papers.paper_002.section_2_1 import SECTION_2_1
from papers.paper_002.section_4_1 import SECTION_4_1
from papers.paper_002.section_4_2 import SECTION_4_2
from papers.paper_002.section_7 import SECTION_7

ITEMS = (FIGURE_1, SECTION_2_1, SECTION_4_1, SECTION_4_2, SECTION_7)
