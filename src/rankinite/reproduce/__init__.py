"""Reproduce: every table and figure of the five papers, ours beside theirs, with a verdict.

Read ``item`` (a table or figure: claims, experiments, layout), ``experiment`` (the cases behind it), ``outcome`` (what a case
gives), ``differences`` and ``claims`` (how two systems compare, and whether the paper's claim holds), ``figure``, ``pages``,
``kept_outcomes`` and ``running``. ``paper_000`` to ``paper_004`` have one short module per item, and the experiments that
several items share; ``catalogue`` lists them, ``data_sets`` are the data.
"""

from rankinite.reproduce.catalogue import items
from rankinite.reproduce.running import Reproduction, run

__all__ = ["Reproduction", "items", "run"]
