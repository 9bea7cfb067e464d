"""The papers reproduced: every table and figure of five papers, ours beside theirs, with a verdict.

``python -m papers 000 table-1`` runs one, from the root of the repository. ``paper_000`` to ``paper_004`` read like the papers:
data, contenders, every setting, and an ``Item`` for each table or figure. What they share is read in this order: ``experiment``
(cases, and the outcomes they give), ``differences`` and ``claims`` (how two systems compare, and whether the paper's claim
holds), ``figure``, ``item``, ``results`` (finished cases in files), ``pages``, ``running``. ``data`` has the data sets and
pairs of domains, ``adaptation`` what papers 000 and 001 adapt, and with what.
"""

from papers.item import items
from papers.running import Reproduction, run

__all__ = ["Reproduction", "items", "run"]
