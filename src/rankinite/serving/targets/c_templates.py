"""C templates: the functions of an exported source file that are the same for all rankers.

``NAME`` stands for the model's name, ``REAL`` for the type of features, ``_AS`` for what is added to the names of functions
on such rows: everything that looks at rows is there for ``double`` and for ``float``. All arithmetic is in double.
"""

from __future__ import annotations

IN_STEP = 8
"""Trees that walk down together: each waits for its own memory, so their waits overlap. ``WALK`` spells them out."""
BLOCK = 64
"""Rows that a part of a ranker scores at a time."""
ROOM = 8192
"""Numbers of rows that are copied for trees at a time, on the stack and beside the trees in the cache."""

GUARDS = """\
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math and -ffinite-math-only: they change sums and lose missing values"
#endif
#if defined(FLT_EVAL_METHOD) && (FLT_EVAL_METHOD < 0 || FLT_EVAL_METHOD == 2)
#error "doubles are not computed as doubles here: on 32-bit x86 compile with -msse2 -mfpmath=sse"
#endif
"""
"""Without which the bits would not be ours."""

NO_CONTRACTION = """\
/* A product and a sum must be rounded one after the other, not by one fused instruction. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize ("fp-contract=off")
#elif defined(_MSC_VER)
#pragma fp_contract (off)
#else
#pragma STDC FP_CONTRACT OFF
#endif
"""

NODE = """\
/* A row goes left where the number in its slot is at most the threshold; the right child follows the left one. A leaf is its
   own left child and compares 0 with infinity, so that walking on from it changes nothing. */
struct NAME_node {
    double threshold;
    uint32_t slot;
    uint32_t left;
};
"""

COPY = """\
/* The slots of rows: features as nodes ask for them. A missing value goes right in the first ones, since NaN is not at most
   anything, and left in the others, as minus infinity; behind them comes the 0 of leaves. */
static void NAME_copy_AS(const uint32_t *columns, size_t to_right, size_t slots, const REAL *rows, size_t count, size_t stride,
                         double *room, size_t width)
{
    for (size_t i = 0; i < count; i++, rows += stride, room += width) {
        for (size_t slot = 0; slot < to_right; slot++)
            room[slot] = rows[columns[slot]];
        for (size_t slot = to_right; slot < slots; slot++)
            room[slot] = isnan(rows[columns[slot]]) ? -INFINITY : rows[columns[slot]];
        room[slots] = 0.0;
    }
}
"""

WALK = """\
#define NAME_STEP(at) at = nodes[at].left + !(row[nodes[at].slot] <= nodes[at].threshold)
#define NAME_LEVEL \\
    NAME_STEP(a); NAME_STEP(b); NAME_STEP(c); NAME_STEP(d); NAME_STEP(e); NAME_STEP(f); NAME_STEP(g); NAME_STEP(h)

/* Eight trees walk down together, and their values are added in order; the number of trees is a multiple of eight. */
static void NAME_walk(const struct NAME_node *nodes, const double *values, const uint32_t *roots, size_t trees,
                      const double *room, size_t width, size_t count, double *sums)
{
    for (const uint32_t *root = roots; root < roots + trees; root += 8)
        for (size_t i = 0; i < count; i++) {
            const double *row = room + i * width;
            uint32_t a = root[0], b = root[1], c = root[2], d = root[3], e = root[4], f = root[5], g = root[6], h = root[7];
            uint32_t walking;
            do {
                NAME_LEVEL;
                NAME_LEVEL;
                NAME_LEVEL;
                walking = (nodes[a].left ^ a) | (nodes[b].left ^ b) | (nodes[c].left ^ c) | (nodes[d].left ^ d)
                          | (nodes[e].left ^ e) | (nodes[f].left ^ f) | (nodes[g].left ^ g) | (nodes[h].left ^ h);
            } while (walking);
            double sum = sums[i] + values[a];
            sum += values[b];
            sum += values[c];
            sum += values[d];
            sum += values[e];
            sum += values[f];
            sum += values[g];
            sums[i] = sum + values[h];
        }
}
"""

BOUNDED = """\
/* A sum beyond all doubles is the largest of them, as missing features, which are the lowest, must not become lower. */
static double NAME_bounded(double x)
{
    return x > DBL_MAX ? DBL_MAX : x < -DBL_MAX ? -DBL_MAX : x;
}
"""

EXPONENTIAL = """\
/* exp(x) for |x| <= 700 by sums and products alone, so that the bits are the same everywhere: 2^n exp(r), where n is found in
   the last bits of a sum with a large number and exp(r) by its series. */
static double NAME_exponential(double x)
{
    static const double series[] = {
        1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0,
        1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5
    };
    const double whole = 0x1.8p+52;
    const double shifted = x * 0x1.71547652b82fep+0 + whole;
    const double n = shifted - whole;
    const double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    double sum = series[0];
    uint64_t bits;
    double power;
    for (size_t k = 1; k < sizeof series / sizeof *series; k++)
        sum = sum * r + series[k];
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    memcpy(&power, &bits, sizeof power);
    return (1.0 + (r + r * r * sum)) * power;
}
"""

TANH = """\
static double NAME_tanh(double x)
{
    const double size = fabs(x);
    const double small = NAME_exponential(-2.0 * (size < 20.0 ? size : 20.0));
    const double value = (1.0 - small) / (1.0 + small);
    return x >= 0.0 ? value : x < 0.0 ? -value : x;
}
"""

SIGMOID = """\
static double NAME_sigmoid(double x)
{
    const double size = fabs(x);
    const double small = NAME_exponential(-(size < 700.0 ? size : 700.0));
    return x >= 0.0 ? 1.0 / (1.0 + small) : x < 0.0 ? small / (1.0 + small) : x;
}
"""

MEAN_GRADE = """\
/* The mean of grades under the probabilities that sums stand for; outputs[k * BLOCK] is the sum of grade k. */
static double NAME_mean_grade(const double *outputs, const double *grades, size_t count)
{
    double largest = outputs[0], total = 0.0, weighted = 0.0;
    for (size_t k = 1; k < count; k++)
        largest = outputs[k * BLOCK] > largest ? outputs[k * BLOCK] : largest;
    for (size_t k = 0; k < count; k++) {
        const double less = outputs[k * BLOCK] - largest;
        const double share = NAME_exponential(less > -700.0 ? less : -700.0);
        total += share;
        weighted += share * grades[k];
    }
    return weighted / total;
}
"""

LAYERS = """\
/* All layers of a net from its inputs: units has room for those of all layers, and begins with the inputs. */
static double NAME_layers(const uint32_t *sizes, size_t layers, const double *weights, double *units)
{
    for (size_t layer = 0; layer < layers; layer++) {
        const size_t inputs = sizes[layer], outputs = sizes[layer + 1];
        const double *biases = weights + inputs * outputs;
        double *above = units + inputs;
        for (size_t unit = 0; unit < outputs; unit++) {
            double sum = biases[unit];
            size_t k = 0;
            for (; k + 4 <= inputs; k += 4)
                sum += (weights[k] * units[k] + weights[k + 1] * units[k + 1])
                       + (weights[k + 2] * units[k + 2] + weights[k + 3] * units[k + 3]);
            for (; k < inputs; k++)
                sum += weights[k] * units[k];
            above[unit] = layer + 1 < layers ? TANH(sum) : sum;
            weights += inputs;
        }
        weights += outputs;
        units = above;
    }
    return *units;
}
"""
"""Products are added in fours, as our own nets add them. ``TANH`` is the function, or nothing where no net has hidden units."""

HEAD = """\
#ifndef NAME_MODEL_H
#define NAME_MODEL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A row has NAME_FEATURES numbers in the order of NAME_features. MISSING
   No function allocates memory or keeps a state: all may be called from any thread at once. */
#define NAME_FEATURES COUNT
extern const char *const NAME_features[];

/* The score of one row. */
double NAME_score(const double *row);
double NAME_score_float(const float *row);

/* The scores of count rows; row i begins at rows + i * stride. The bits are those of one row at a time. */
void NAME_score_many(const double *rows, size_t count, size_t stride, double *scores);
void NAME_score_many_float(const float *rows, size_t count, size_t stride, double *scores);

/* The columns by name. */
@COLUMNS@
#ifdef __cplusplus
}
#endif

#endif
"""

ENTRY = f"""\
double NAME_score_AS(const REAL *row)
{{
    double score;
    WHOLE_AS(row, 1, 0, &score);
    return score;
}}

void NAME_score_many_AS(const REAL *rows, size_t count, size_t stride, double *scores)
{{
    for (size_t first = 0; first < count; first += {BLOCK})
        WHOLE_AS(rows + first * stride, count - first < {BLOCK} ? count - first : {BLOCK}, stride,
                 scores + first);
}}
"""


def helper_text(template: str, *, hidden: bool) -> str:
    """A function that does not look at rows; ``hidden``: whether some net has hidden units."""
    return template.replace("BLOCK", str(BLOCK)).replace("TANH(", "NAME_tanh(" if hidden else "(")


def for_rows(template: str, real: str, end: str) -> str:
    """A function for rows of a type, with this end of its name."""
    return template.replace("REAL", real).replace("_AS", end)
