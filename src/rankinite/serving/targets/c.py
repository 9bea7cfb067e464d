"""CSource: a header and a source file of C99 that scores rows without allocating, without a library and without state.

Trees are tables and one loop, in which several trees walk down together, so that a single row is scored as quickly per tree
as many. Numbers are hexadecimal, sums are taken in the order of ours, and exp and tanh are our own, made of sums and products
alone: every bit of every kind of ranker is the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from rankinite.errors import ArgumentError
from rankinite.installed import versions
from rankinite.models.base import Ranker
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.serving.categories import FILE as CATEGORIES
from rankinite.serving.flattening import Flat, Leaf, NetOfSums, flatten, leaves_of
from rankinite.serving.plan import ExportPlan
from rankinite.serving.target import Files, Target, Twin
from rankinite.serving.targets import c_set_templates as set_templates
from rankinite.serving.targets import c_templates as templates
from rankinite.serving.targets.c_program import SourceProgram
from rankinite.serving.targets.c_twin import twin_of
from rankinite.trees.structure import LEAF

HEADER, SOURCE = "model.h", "model.c"
HELPERS = (
    templates.BOUNDED, templates.NODE, templates.WALK, set_templates.CATEGORY, set_templates.NEXT, set_templates.WALK_SETS,
    templates.EXPONENTIAL, templates.TANH, templates.SIGMOID,
    templates.MEAN_GRADE, templates.LAYERS,
)  # fmt: skip
"""In the order in which they need each other."""
MOST_ON_STACK = 32_768
"""Numbers: a quarter of a megabyte."""
LONGEST_NAME = 250
"""Characters, each of up to four bytes, which are written with up to four characters each; C99 grants texts of 4095."""


class CSource(Target):
    """``model.h`` and ``model.c``."""

    name = "c"
    title = "C99 source without dependencies, about as fast as rankinite itself"
    categories = "codes"
    tells_unknown = True
    feature_names = rf"[^\0]{{0,{LONGEST_NAME}}}"

    def flattened(self, ranker: Ranker) -> Flat:
        """The ranker as a sum, with probabilities."""
        return flatten(ranker, probabilities=True)

    def check(self, flat: Flat) -> None:
        """Refuse what needs more of the stack than a thread may have."""
        for leaf in leaves_of(flat):
            needed = _on_stack(leaf)
            if needed > MOST_ON_STACK:
                raise ArgumentError(
                    f"scoring a row needs {needed:,} numbers: its features, and the units of a net",
                    value=needed,
                    rule=f"They are on the stack, so there may be {MOST_ON_STACK:,}",
                    remedy="Distil it into a forest of fewer features (rankinite distil), or export to onnx",
                )

    def write(self, plan: ExportPlan) -> Files:
        """Both files."""
        program = SourceProgram(plan.names, plan.missing)
        whole = program.add_sum(plan.flat)
        texts = ",\n".join(map(text_of, plan.names)) or '""'
        columns = ",\n".join(f"    NAME_column_{name} = {column}" for column, name in enumerate(columns_of(plan.names)))
        source = _named(_source(program, whole), plan).replace("@TEXTS@", texts)
        listed = _named(f"enum {{\n{columns}\n}};\n" if columns else "", plan)
        header = _named(_header(plan), plan).replace("@COLUMNS@", listed)
        return {SOURCE: source.encode(), HEADER: header.encode()}

    def twin(self, files: Mapping[str, bytes], plan: ExportPlan) -> Twin:
        """The tables and sums of the source file, evaluated by NumPy."""
        return twin_of(files[SOURCE].decode())

    def companions(self, plan: ExportPlan) -> Files:
        """A program that scores the sample, and how to run it."""
        return {"check.c": _named(CHECK, plan).encode(), "check.sh": CHECK_SHELL.encode()}

    def notes(self, plan: ExportPlan, files: Mapping[str, bytes]) -> list[str]:
        """What the functions are called, and what missing values do to nets that refuse them."""
        found = [f"the functions are {identifier(plan.name)}_score and {identifier(plan.name)}_score_many"]
        refusing = [leaf for leaf in leaves_of(plan.flat) if getattr(leaf, "nan", "mean") == "refuse"]
        if refusing and plan.missing == "nan":
            found.append("a missing feature makes the score NaN, because a part of the ranker refuses missing values")
        return found


def _on_stack(leaf: Leaf) -> int:
    """How many numbers of one row are kept at a time."""
    match leaf:
        case Forest():
            inner = leaf.trees.feature != LEAF
            return len(np.unique(2 * leaf.trees.feature[inner] + leaf.trees.missing_left[inner]))
        case Linear() | Net():
            return int(leaf.frame.sizes.sum())
        case NetOfSums():
            return int(leaf.top.frame.sizes.sum())
        case _:
            return 0


def identifier(name: str) -> str:
    """A name as C can have it: letters, digits and single underscores, a letter first."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    return plain if re.match(r"[A-Za-z]", plain) else f"model_{plain}".rstrip("_")


def columns_of(names: tuple[str, ...]) -> list[str]:
    """A name in C for the column of each feature, no two alike."""
    taken = dict[str, None]()
    for column, name in enumerate(names):
        plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or str(column)
        while plain in taken:
            plain = f"{plain}_{column}"
        taken[plain] = None
    return list(taken)


def text_of(name: str) -> str:
    """A text as C has it; all but plain characters by their bytes, for compilers that know no others."""
    plain = (chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in name.encode())
    return f'"{"".join(plain)}"'


def _named(text: str, plan: ExportPlan) -> str:
    return text.replace("NAME_", f"{identifier(plan.name)}_")


def _source(program: SourceProgram, whole: str) -> str:
    """All but names of features, which could look like what is replaced."""
    hidden = templates.TANH in program.helpers
    helpers = [templates.helper_text(helper, hidden=hidden) for helper in HELPERS if helper in program.helpers]
    copy = [helper for helper in (templates.COPY, set_templates.COPY_GROUPS) if helper in program.helpers]
    functions = [*copy, *program.functions, templates.ENTRY.replace("WHOLE", whole)]
    by_type = [templates.for_rows(text, real, end) for real, end in TYPES for text in functions]
    head = f"/* Written by rankinite {versions()['rankinite']}. What there is to call is in {HEADER}. */\n{INCLUDES}"
    names = "const char *const NAME_features[] = {\n@TEXTS@\n};\n"
    return "\n".join([head, templates.GUARDS, templates.NO_CONTRACTION, names, *helpers, *program.tables, *by_type])


def _header(plan: ExportPlan) -> str:
    missing = MISSING_ZERO if plan.missing == "zero" else MISSING_NAN
    if plan.categories:
        missing += (
            f"\n   A category is its place in {CATEGORIES}, from 0 on; NaN is a missing one, other numbers are unknown ones."
        )
    return templates.HEAD.replace("COUNT", str(len(plan.names))).replace("MISSING", missing)


TYPES = (("double", ""), ("float", "_float"))
INCLUDES = f'#include "{HEADER}"\n\n#include <float.h>\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n'
MISSING_NAN = "NaN is a missing value."
MISSING_ZERO = "NaN is a missing value, and counts as 0."

CHECK = r"""/* The scores of sample.csv, one per line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

/* The next field, without quotes; what ended it, or EOF. */
static int next_field(FILE *file, char *text, size_t room)
{
    int quoted = 0, character;
    size_t length = 0;
    for (;;) {
        character = getc(file);
        if (character == '"')
            quoted = !quoted;
        else if (character == EOF || (!quoted && (character == ',' || character == '\n')))
            break;
        else if (length + 1 < room)
            text[length++] = (char)character;
    }
    text[length] = '\0';
    return character;
}

int main(void)
{
    static double row[NAME_FEATURES + 1];
    char text[64];
    size_t column = 0;
    int end;
    FILE *file = fopen("sample.csv", "r");
    if (file == NULL)
        return 1;
    do
        end = next_field(file, text, sizeof text);
    while (end != '\n' && end != EOF);
    while ((end = next_field(file, text, sizeof text)) != EOF) {
        if (column < NAME_FEATURES)
            row[column++] = text[0] ? strtod(text, NULL) : NAN;
        if (end == '\n') {
            printf("%.17g\n", NAME_score(row));
            column = 0;
        }
    }
    return fclose(file);
}
"""

CHECK_SHELL = """\
#!/bin/sh
# Scores of the sample by the compiled model: run this, then: rankinite check . --scores served.txt
set -e
cd "$(dirname "$0")"
${CC:-cc} -std=c99 -O2 -o check-program check.c model.c
./check-program > served.txt
rm check-program
"""
