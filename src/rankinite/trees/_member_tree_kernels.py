"""One tree of several members from start to end. Apart from the trees of one, so that these wait for no compilation of it."""

from __future__ import annotations

from rankinite.engine.kernel import Floats, lean_kernel
from rankinite.trees._member_grow_kernels import grow_best_first_together
from rankinite.trees._member_symmetric_kernels import grow_symmetric_together
from rankinite.trees._state import DONE, Coded, Growth, Nodes, Workspace
from rankinite.trees._tree_kernels import plant


@lean_kernel
def grow_best_first_tree(
    push: Floats, curvature: Floats, coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, worker: int, workers: int
) -> int:
    """Grow a tree leaf by leaf; its number of nodes, or why there is none."""
    status = plant(push, curvature, growth, nodes, work, worker, workers)
    if status != DONE:
        return status
    return grow_best_first_together(coded, growth, nodes, work, worker, workers)


@lean_kernel
def grow_symmetric_tree(
    push: Floats, curvature: Floats, coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, worker: int, workers: int
) -> int:
    """Grow a tree level by level; its number of nodes, or why there is none."""
    status = plant(push, curvature, growth, nodes, work, worker, workers)
    if status != DONE:
        return status
    return grow_symmetric_together(coded, growth, nodes, work, worker, workers)
