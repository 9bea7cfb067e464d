"""LightGBMText: LightGBM's model text, which treelite, lleaves and others read too.

LightGBM asks ``x <= threshold`` in float64 and adds leaves in float64 from the first tree on, so nothing is lost. It adds
nothing before the first tree, so the start is in that tree's leaves. Values up to 1e-35 count as 0 there.

A node that asks for a category has a set of codes that go left; missing ones, negative numbers and codes that are not in the
set go right. Nodes that send missing ones left are refused.

LightGBM divides by the counts of rows where it splits scores by feature, so a leaf that no row reached counts as one row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Flags, Reals
from rankinite.models.files.lightgbm import CATEGORICAL, DEFAULT_LEFT, NAN, NOTHING
from rankinite.serving.categories import bit_words
from rankinite.serving.node_table import sum_in_order
from rankinite.serving.plan import ExportPlan, positive_cover
from rankinite.serving.target import Files, Target, Twin
from rankinite.serving.targets.lightgbm_twin import table_of_text
from rankinite.trees.structure import LEAF, Trees

FILE = "model.txt"
END = "end of trees\n\nfeature_importances:\n\nparameters:\nend of parameters\n\npandas_categorical:"
"""The last line is what Vespa's reader asks for, and by which LightGBM finds the codes of a data frame's categories."""


class LightGBMText(Target):
    """A model text that ``lightgbm.Booster(model_file=…)`` loads."""

    name = "lightgbm"
    title = "LightGBM's text, which treelite, lleaves and Vespa read too"

    negligible = NOTHING
    categories = "codes"
    # Blanks end a name in the text, and LightGBM refuses characters of JSON.
    feature_names = r"""[^ \t\n\r"\\{}\[\]:,]+"""

    def write(self, plan: ExportPlan) -> Files:
        """The text: a head, one block per tree, an end."""
        trees = plan.trees_with_start
        blocks = [_block(trees.take(number, number + 1), number) for number in range(len(trees))]
        sizes = " ".join(str(len(block.encode())) for block in blocks)
        head = _head(plan, sizes)
        return {FILE: f"{head}\n{''.join(blocks)}{END}{_frame_categories(plan)}\n".encode()}

    def twin(self, files: Mapping[str, bytes], plan: ExportPlan) -> Twin:
        """The text read as LightGBM means it."""
        table = table_of_text(files[FILE].decode())

        def score(matrix: Reals) -> Reals:
            near_nothing = np.where(np.abs(matrix) <= NOTHING, 0.0, matrix)
            return sum_in_order(table.leaf_values(near_nothing))

        return score

    def companions(self, plan: ExportPlan) -> Files:
        """A program that compares LightGBM's scores of the sample with those expected."""
        return {"check.py": CHECK.encode()}


CHECK = '''"""Scores of the sample by LightGBM: run this, then: rankinite check . --scores served.txt"""

import lightgbm
import numpy as np
import numpy.typing as npt

rows = np.genfromtxt("sample.csv", delimiter=",", skip_header=1, ndmin=2)
np.savetxt("served.txt", lightgbm.Booster(model_file="model.txt").predict(rows), fmt="%.17g")
'''


def _head(plan: ExportPlan, sizes: str) -> str:
    names = plan.names
    ranges = [":".join(map(str, range(count))) or "[-inf:inf]" for count in plan.category_counts]
    lines = [
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={len(names) - 1}",
        "objective=lambdarank",
        f"feature_names={' '.join(names)}",
        f"feature_infos={' '.join(ranges)}",
        f"tree_sizes={sizes}",
        "",
    ]
    return "\n".join(lines)


def _frame_categories(plan: ExportPlan) -> str:
    """The categories of each column of categories that a data frame has, in the order of their codes."""
    lists = [list(map(int, one.names)) if one.numeric else list(one.names) for one in plan.categories.values()]
    return json.dumps(lists)


def _block(tree: Trees, number: int) -> str:
    """One tree: inner nodes and leaves are numbered separately, a leaf by −1 minus its number."""
    leaf: Flags = tree.feature == LEAF
    inner = np.flatnonzero(~leaf)
    place = np.where(leaf, -np.cumsum(leaf, dtype=np.int64), np.cumsum(~leaf) - 1)
    count = int(leaf.sum())
    has_set: Flags = tree.set_sizes[inner] > 0
    rows = positive_cover(tree, tree.rows, 1)
    lines = [f"Tree={number}", f"num_leaves={count}", f"num_cat={has_set.sum()}"]
    if len(inner):
        decisions = (NAN << 2) | np.where(tree.missing_left[inner], DEFAULT_LEFT, 0) | np.where(has_set, CATEGORICAL, 0)
        lines += [
            f"split_feature={_words(tree.feature[inner])}",
            f"split_gain={_words(tree.gain[inner])}",
            f"threshold={_words(np.where(has_set, np.cumsum(has_set) - 1, tree.threshold[inner]))}",
            f"decision_type={_words(decisions)}",
            f"left_child={_words(place[tree.left[inner]])}",
            f"right_child={_words(place[tree.right[inner]])}",
            *_sets(tree, inner[has_set].tolist()),
        ]
    lines += [f"leaf_value={_words(tree.value[leaf])}"]
    if len(inner):
        lines += [
            f"leaf_weight={_words(tree.curvature[leaf])}",
            f"leaf_count={_words(rows[leaf])}",
            f"internal_value={_words(tree.value[inner])}",
            f"internal_weight={_words(tree.curvature[inner])}",
            f"internal_count={_words(rows[inner])}",
        ]
    return "\n".join([*lines, "is_linear=0", "shrinkage=1", "", "", ""])


def _sets(tree: Trees, nodes: list[int]) -> list[str]:
    """The sets of these nodes: one bit per code, 32 in a word, and where the words of each set begin."""
    if not nodes:
        return []
    words = [bit_words(tree.set_of(node)) for node in nodes]
    starts = np.cumsum([0, *map(len, words)])
    return [f"cat_boundaries={_words(starts)}", f"cat_threshold={_words(np.concatenate(words))}"]


def _words(numbers: npt.NDArray[Any]) -> str:
    """Numbers with all their digits, separated by blanks."""
    return " ".join(map(repr, numbers.tolist()))
