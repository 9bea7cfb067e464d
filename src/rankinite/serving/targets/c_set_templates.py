"""C templates for trees with sets of categories; see ``c_templates``."""

from __future__ import annotations

from functools import reduce

from rankinite.serving.targets.c_templates import WALK

CATEGORY = """\
/* A column of categories: how many there are, where their groups begin, and the group of what is missing or unknown. */
struct NAME_category {
    uint32_t column;
    uint32_t count;
    uint32_t first;
    uint32_t missing;
};
"""

COPY_GROUPS = """\
/* The groups of categories, which come behind the slots of numbers: those that no set tells apart share one. */
static void NAME_copy_groups_AS(const struct NAME_category *categories, size_t slots, const uint32_t *groups,
                                const REAL *rows, size_t count, size_t stride, double *room, size_t width)
{
    for (size_t i = 0; i < count; i++, rows += stride, room += width)
        for (size_t slot = 0; slot < slots; slot++) {
            const double x = rows[categories[slot].column];
            room[slot] = x > -1.0 && x < categories[slot].count ? groups[categories[slot].first + (uint32_t)x]
                                                                : categories[slot].missing;
        }
}
"""

NEXT = """\
/* The child of a node for a row. Slots from numbers on hold groups: there a row goes left where the bit of its group is set in
   the node's set, which begins at the threshold. */
static uint32_t NAME_next(const struct NAME_node *node, const double *row, const uint32_t *sets, uint32_t numbers)
{
    uint32_t group;
    if (node->slot < numbers)
        return node->left + !(row[node->slot] <= node->threshold);
    group = (uint32_t)row[node->slot];
    return node->left + !(sets[(uint32_t)node->threshold + (group >> 5)] >> (group & 31) & 1);
}
"""

_CHANGES = {
    "NAME_STEP": "NAME_SET_STEP",
    "NAME_LEVEL": "NAME_SET_LEVEL",
    "NAME_walk(": "NAME_walk_sets(",
    "nodes[at].left + !(row[nodes[at].slot] <= nodes[at].threshold)": "NAME_next(nodes + at, row, sets, numbers)",
    "size_t count, double *sums)": "size_t count, const uint32_t *sets,\n                      uint32_t numbers, double *sums)",
}
WALK_SETS = reduce(lambda text, change: text.replace(*change), _CHANGES.items(), WALK)
"""The walk with another step."""
