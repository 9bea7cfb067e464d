"""Odd values, and ways to damage text, JSON trees and bytes a little: most inputs stay close to valid ones."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

NUMBERS = (
    *("0", "1", "-1", "2", "0.5", "1e-3", "-0", "+3", "007", "1.", ".5", "nan", "NaN", "inf", "-inf", "Infinity", "1e308"),
    *("1e309", "-1e400", "1e-400", "3.4028236e38", "16777217", "2147483647", "2147483648", "4294967296", "-2147483649"),
    *("9223372036854775807", "9223372036854775808", "18446744073709551616", "1e23", "300000000", "0x10", "1_000", "١٢"),
    *("9" * 400, "1" + "0" * 5000, "0." + "0" * 400 + "1", "1e", "e5", "--1", "1-", "", " "),
)
TEXTS = (
    *("", " ", "a", "qid", "qid:", ":", "::", "#", "\t", "\r", "\x00", "\x1b[31m", "\u202e", "é", "😀", "=1+1", "@x", "-"),
    *("null", "true", "[]", "{}", "weight", "docid", "fold", "Unnamed: 0", "label", "feature", "../x", "/", "\\", '"', "'"),
    *("x" * 300, "y" * 70_000, "\ufeff"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 255, 256, 2**31, -(2**31) - 1, 2**53, 2**63, 10**23, -0.0, 0.5, 1e308, 1e-320),
    *(float("inf"), float("nan"), "", "0", "1", "x", "[5E-1]", "300000000", [], [0], [[]], {}, {"a": 1}, [None], ["x"]),
)


def number(rng: Random) -> str:
    """A number as text, mostly a plain one."""
    if rng.random() < 0.8:
        return rng.choice([str(rng.randrange(5)), f"{rng.uniform(-2, 2):.4g}", str(rng.randrange(-3, 100))])
    return rng.choice(NUMBERS)


def text(rng: Random) -> str:
    """A name, mostly a plain one."""
    if rng.random() < 0.8:
        return "".join(rng.choices("abcdefgh_0123456789", k=rng.randrange(1, 9)))
    return rng.choice(TEXTS)


def damaged_bytes(rng: Random, content: bytes) -> bytes:
    """The same bytes with a few of them changed, left out, repeated or cut off."""
    found = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        at = rng.randrange(len(found) + 1)
        end = min(len(found), at + rng.choice([1, 1, 4, 8, 64]))
        match rng.randrange(6):
            case 0 if at < len(found):
                found[at] ^= 1 << rng.randrange(8)
            case 1:
                found[at:end] = rng.randbytes(end - at)
            case 2:
                del found[at:end]
            case 3:
                found[at:at] = found[at:end]
            case 4:
                found[at:end] = rng.choice([b"\xff" * 8, b"\x00" * 8, b"\x7f" + b"\xff" * 7, b"\n", b" ", b"0"])
            case _:
                del found[at:]
    return bytes(found)


def damaged_lines(rng: Random, content: str, separator: str = " ") -> str:
    """The same lines with tokens replaced, moved, repeated or left out."""
    lines = content.split("\n")
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(lines))
        tokens = lines[at].split(separator)
        place = rng.randrange(len(tokens))
        match rng.randrange(8):
            case 0:
                tokens[place] = number(rng)
            case 1:
                tokens[place] = rng.choice(NUMBERS)
            case 2:
                tokens[place] = text(rng)
            case 3:
                del tokens[place]
            case 4:
                tokens.insert(place, tokens[place])
            case 5:
                head, mark, _ = tokens[place].partition(rng.choice([":", "="]))
                tokens[place] = f"{head}{mark or ':'}{rng.choice(NUMBERS)}"
            case 6:
                lines.insert(rng.randrange(len(lines)), lines[at])
                continue
            case _:
                del lines[at]
                if not lines:
                    return ""
                continue
        lines[at] = separator.join(tokens)
    return "\n".join(lines)


def damaged_tree(rng: Random, tree: Any) -> Any:
    """The same JSON value with a few parts replaced, left out or repeated."""
    found = copy.deepcopy(tree)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        places = list(_places(found))
        if not places:
            return rng.choice(VALUES)
        holder, key = rng.choice(places)
        match rng.randrange(6):
            case 0 | 1:
                holder[key] = copy.deepcopy(rng.choice(VALUES))
            case 2:
                del holder[key]
            case 3 if isinstance(holder, list):
                holder.insert(key, holder[key])
            case 4 if isinstance(holder[key], list):
                holder[key] = holder[key] * rng.choice([2, 3, 50])
            case 5 if rng.random() < 0.1:
                holder[key] = nested(holder[key], rng.choice([50, 1500, 30_000]))
            case _:
                holder[key] = rng.choice([number(rng), text(rng)])
    return found


def json_text(tree: Any) -> str:
    """JSON of any tree; one too deep for the encoder is written by hand, as an attacker would."""
    try:
        return json.dumps(tree)
    except RecursionError:
        return "[" * 100_000 + "]" * 100_000


def nested(value: Any, depth: int) -> Any:
    """A value inside many lists."""
    for _ in range(depth):
        value = [value]
    return value


def _places(tree: Any) -> Any:
    """Every holder and key of a tree, without recursion, as trees may be deep."""
    waiting = [tree]
    while waiting:
        holder = waiting.pop()
        entries = (
            list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder)) if isinstance(holder, list) else ()
        )
        for key, value in entries:
            yield holder, key
            waiting.append(value)
