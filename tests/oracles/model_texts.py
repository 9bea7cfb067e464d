"""Texts written by ``ranker.text()``, read line by line and scored in plain Python."""

from __future__ import annotations

import ast
import math
import re

from oracles.model_files import mean_grade

NODE = re.compile(
    r"(?P<indent> *)(?P<answer>yes: |no: )?(?:leaf (?P<leaf>\S+) \[rows (?P<leafrows>\d+)\]"
    r"|(?P<name>'.*'|\".*\"|[\w.\-]+) (?:<= (?P<threshold>\S+)|in \{(?P<set>.*)\})(?P<missing> or missing)?"
    r" \[rows (?P<rows>\d+), value (?P<value>\S+), gain (?P<gain>\S+)\])"
)


def name_of(shown):
    """A feature's name, unquoted."""
    return ast.literal_eval(shown) if shown[0] in "'\"" else shown


def walk(lines, at, row, names):
    """The value of a row in the tree written in these lines, from line ``at`` on."""
    node = NODE.fullmatch(lines[at])
    if node["leaf"]:
        return float(node["leaf"])
    x = row[names.index(name_of(node["name"]))]
    if node["set"]:
        inside = [name_of(one) for one in re.findall(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"|[\w.\-]+", node["set"])]
        left = x in inside if x else bool(node["missing"])
    else:
        left = bool(node["missing"]) if math.isnan(x) else x <= float(node["threshold"])
    indent = node["indent"] + "  "
    wanted = indent + ("yes: " if left else "no: ")
    child = next(i for i in range(at + 1, len(lines)) if lines[i].startswith(wanted))
    return walk(lines, child, row, names)


def forest_sums(text, row, names):
    """The sums of a row, one per output."""
    head, *trees = text.split("\n\ntree ")
    sums = [float(number) for number in head.splitlines()[1].removeprefix("start: ").split()]
    for number, tree in enumerate(trees):
        lines = tree.rstrip("\n").split("\n")
        assert lines[0] == str(number)
        sums[number % len(sums)] += walk(lines, 1, row, names)
    return sums


def score(text, row, names):
    """The score of a row by the text of a forest, a linear ranker or a net."""
    kind, _, _ = text.partition(":")
    return {"forest": _forest_score, "linear": _linear_score, "net": _net_score}[kind](text, row, names)


def _forest_score(text, row, names):
    sums = forest_sums(text, row, names)
    grades = re.search("^grades: (.*)$", text, re.MULTILINE)
    return sums[0] if grades is None else mean_grade(sums, [float(grade) for grade in grades[1].split()])


def _linear_score(text, row, names):
    total = float(re.search("^bias: (.*)$", text, re.MULTILINE)[1])
    for shown, weight, centre in re.findall(r"^(.+): (\S+) \[centre (\S+)\]", text, re.MULTILINE):
        x = row[names.index(name_of(shown))]
        total += 0.0 if math.isnan(x) else float(weight) * (x - float(centre))
    return total


def _net_score(text, row, names):
    _, standardised, *units = text.rstrip("\n").split("\n\n")
    below = {}
    for shown, centre, scale in re.findall(r"^(.+): \(x - (\S+)\) \* (\S+)$", standardised, re.MULTILINE):
        x = row[names.index(name_of(shown))]
        below[shown] = 0.0 if math.isnan(x) else (x - float(centre)) * float(scale)
    above, layer = {}, "1"
    for unit in units:
        title, bias, *weights = unit.split("\n")
        at = re.fullmatch(r"layer (\d+), unit (\d+) \(tanh\)", title)
        if at is None or at[1] != layer:
            below, above, layer = above, {}, "" if at is None else at[1]
        terms = (line.strip().rsplit(": ", 1) for line in weights)
        total = float(bias.strip().removeprefix("bias: ")) + math.fsum(float(weight) * below[name] for name, weight in terms)
        if at is None:
            return total
        above[f"unit {at[2]}"] = math.tanh(total)
    raise AssertionError(text)
