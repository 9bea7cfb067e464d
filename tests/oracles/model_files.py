"""Model files read as docs/formats/model.md specifies, and scored row by row, without any code of rankinite."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

DTYPES = {"BOOL": "?", "U8": "u1", "I32": "<i4", "I64": "<i8", "F32": "<f4", "F64": "<f8"}
LOWEST = -np.finfo(np.float64).max


def read(path):
    """The description and the arrays of a file."""
    content = Path(path).read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    about = json.loads(header.pop("__metadata__")["rankinite"])
    assert about["format"] in {1, 2}
    body = content[start:]
    return about, {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], DTYPES[entry["dtype"]]) for name, entry in header.items()
    }


def without_checksum(content):
    """The same file without a checksum, as earlier versions wrote it, so that damage reaches the checks that follow."""
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header["__metadata__"] = {"rankinite": header["__metadata__"]["rankinite"]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + content[start:]


def scores(about, arrays, names, rows, qids):
    """One score per row; ``rows``: one list of values per row, in the order of ``names``."""

    def inside(facts, number):
        own = {name.removeprefix(f"{number}/"): array for name, array in arrays.items() if name.startswith(f"{number}/")}
        return scores(facts, own, names, rows, qids)

    match about["kind"]:
        case "feature":
            return [feature(about, names, row) for row in rows]
        case "blend":
            parts = [inside(part["ranker"], number) for number, part in enumerate(about["parts"])]
            weights = [part["weight"] for part in about["parts"]]
            return [added(weight * one for weight, one in zip(weights, row, strict=True)) for row in zip(*parts, strict=True)]
        case "normalised":
            return normalised(about, inside(about["ranker"], 0), qids)
        case "stack":
            parts = [inside(facts, number) for number, facts in enumerate(about["parts"], 1)]
            top = {name.removeprefix("0/"): array for name, array in arrays.items() if name.startswith("0/")}
            numbers = about["top"]["feature_names"]
            return scores(about["top"], top, numbers, list(map(list, zip(*parts, strict=True))), qids)
        case "query-summaries":
            sources = [inside(facts, number) for number, facts in enumerate(about["sources"], 1)]
            top = {name.removeprefix("0/"): array for name, array in arrays.items() if name.startswith("0/")}
            further = zip(*(summaries(values, qids) for values in sources), strict=True)
            longer = [[*row, *(value for four in every for value in four)] for row, every in zip(rows, further, strict=True)]
            added_names = about["top"]["feature_names"][-4 * len(sources) :]
            return scores(about["top"], top, [*names, *added_names], longer, qids)
        case kind:
            columns = [names.index(name) for name in about["feature_names"]]
            own = {"forest": forest, "net": net, "linear": linear}[kind]
            return [own(about, arrays, [row[column] for column in columns]) for row in rows]


def added(values):
    """A sum in order."""
    total, *rest = values
    for value in rest:
        total += value
    return total


def forest(about, arrays, row):
    row = with_codes(about, row)
    sums = arrays["start"].tolist()
    starts, codes = arrays.get("set_starts"), arrays.get("set_codes")
    for tree, root in enumerate(arrays["offsets"][:-1].tolist()):
        node = root
        while arrays["feature"][node] >= 0:
            x = row[arrays["feature"][node]]
            known = () if starts is None else codes[starts[node] : starts[node + 1]].tolist()
            found = x in known if known else x <= arrays["threshold"][node]
            left = arrays["missing_left"][node] if math.isnan(x) else found
            node = root + int((arrays["left"] if left else arrays["right"])[node])
        sums[tree % len(sums)] += arrays["value"][node].item()
    return mean_grade(sums, arrays["grades"].tolist()) if about["graded"] else sums[0]


def with_codes(about, row):
    """A row with the codes of its categories, which are given as texts: none where missing, −1 where unknown."""
    known = {name: facts["names"] for name, facts in about.get("categories", {}).items()}

    def code(names, x):
        return math.nan if not x else float(names.index(x)) if x in names else -1.0

    named = zip(about["feature_names"], row, strict=True)
    return [code(known[name], x) if name in known else x for name, x in named]


def mean_grade(sums, grades):
    """The expected grade, for a forest with one sum per grade."""
    shares = [math.exp(one - max(sums)) for one in sums]
    return added(share * grade for share, grade in zip(shares, grades, strict=True)) / added(shares)


def linear(about, arrays, row):
    terms = zip(arrays["weights"].tolist(), row, arrays["centre"].tolist(), strict=True)
    return about["bias"] + math.fsum(0.0 if math.isnan(x) else weight * (x - centre) for weight, x, centre in terms)


def net(about, arrays, row):
    units = np.nan_to_num((np.asarray(row) - arrays["centre"]) * arrays["scale"], nan=0.0)
    rest, sizes = arrays["weights"], [*about["hidden"], 1]
    for number, outputs in enumerate(sizes):
        weights, biases, rest = np.split(rest, (outputs * len(units), outputs * (len(units) + 1)))
        units = weights.reshape(outputs, -1) @ units + biases
        units = units if number == len(sizes) - 1 else np.tanh(units)
    return float(units[0])


def feature(about, names, row):
    asked = about["feature"]
    x = row[asked if isinstance(asked, int) else names.index(asked)]
    return LOWEST if math.isnan(x) else -x if about["ascending"] else x


def normalised(about, values, qids):
    shifted = [(value - about["centre"]) / about["spread"] for value in values]
    if about["scale"] == "all":
        return shifted
    if about["scale"] == "probability":
        return [1 / (1 + math.exp(-2 * value)) for value in shifted]
    found = []
    for value, qid in zip(values, qids, strict=True):
        query = [other for other, own in zip(values, qids, strict=True) if own == qid]
        if about["scale"] == "query":
            mean = math.fsum(query) / len(query)
            spread = math.sqrt(math.fsum((other - mean) ** 2 for other in query) / len(query))
            found.append((value - mean) / spread if max(query) > min(query) else 0.0)
        elif about["scale"] == "peak":
            found.append(max(query) * (1 + value - max(query)))
        else:
            lower = sum(other < value for other in query) + (query.count(value) - 1) / 2
            found.append(lower / max(len(query) - 1, 1))
    return found


def summaries(values, qids):
    """Of each row's query: the highest and the mean score, and those of the three highest, as float32."""
    found = []
    for qid in qids:
        query = sorted((other for other, own in zip(values, qids, strict=True) if own == qid), reverse=True)
        top = query[:3]
        four = query[0], math.fsum(query) / len(query), top[0], math.fsum(top) / len(top)
        found.append([float(np.float32(one)) for one in four])
    return found
