"""Remedies: what to give here instead of a foreign setting with its value."""

from __future__ import annotations

import re
from dataclasses import dataclass

DEEPEST = 20
"""The deepest trees whose leaves are counted in a remedy."""
SHAPES = {"symmetrictree": "symmetric", "oblivious": "symmetric", "lossguide": "best-first", "leafwise": "best-first"}
"""How trees are grown elsewhere → ``shape``."""


def same(name: str, value: str) -> str:
    """The value as it is."""
    return f"Give `{name}={value}`" if value else f"Give `{name}`"


def no_value(name: str, _value: str) -> str:
    """Our name alone: the value means something else here."""
    return f"Give `{name}`"


def nothing(_name: str, _value: str) -> str:
    """The note says what to do."""
    return ""


def gains(name: str, value: str) -> str:
    """The gains in the measure's name."""
    found = re.findall(r"[^\s,;/()\[\]'\"]+", value)
    if not found or not all(re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text, re.IGNORECASE) for text in found):
        return f"Give `{name}`"
    return f"Give `{name}='ndcg@10:gains={'/'.join(found)}{'/' if len(found) == 1 else ''}'`"


def flag(name: str, value: str) -> str:
    """A flag that the value sets or not."""
    return f"Give `{name}={_plain(value) not in ('false', '0', 'no', 'off')}`"


def depth(_name: str, value: str) -> str:
    """The leaves of trees that are as deep: symmetric trees are as large as their leaves say, whatever their depth."""
    text = _plain(value)
    if not text.isdecimal() or not 0 < int(text) <= DEEPEST:
        return "Leave it out for no limit; `leaves` says how large trees are"
    leaves = 1 << int(text)
    return f"Give `leaves={leaves}`, as a symmetric tree of depth {text} has; with `shape='best-first'` also `depth={text}`"


def threads(name: str, value: str) -> str:
    """A number of threads; elsewhere 0 and less stand for all cores."""
    text = _plain(value)
    return same(name, value) if text.isdecimal() and int(text) > 0 else f"Leave `{name}` out to use all cores"


def shape(name: str, value: str) -> str:
    """How trees are grown."""
    known = SHAPES.get(_plain(value))
    return f"Give `{name}={known!r}`" if known else f"Give `{name}='symmetric'` or `{name}='best-first'`"


def random_thresholds(name: str, _value: str) -> str:
    """Thresholds that are drawn."""
    return f"Give `{name}='random'`"


def pairwise(name: str, _value: str) -> str:
    """The way to debias clicks that needs the least."""
    return f"Give `{name}='pairwise'`, and data with positions"


def signs(name: str, _value: str) -> str:
    """Features with their signs instead of a list of numbers."""
    return f"Name features with their signs, as in `{name}='+bm25'`"


@dataclass(frozen=True)
class Goal:
    """What trains for a foreign objective: a learner, and perhaps one of its settings."""

    learner: str
    """Its class."""
    shell: str
    """Its name at the command line."""
    setting: str = ""
    value: str = ""

    @property
    def python(self) -> str:
        """As it is written in Python."""
        return f"rk.{self.learner}({f'{self.setting}={self.value!r}' if self.setting else ''})"

    @property
    def options(self) -> str:
        """As settings, which the command line spells as options."""
        return f"`learner={self.shell!r}`" + (f", `{self.setting}={self.value!r}`" if self.setting else "")


NDCG_TREES = Goal("LambdaMART", "lambdamart", "measure", "ndcg@10")
GRADE_TREES, PAIR_TREES = Goal("MART", "mart"), Goal("RankNetTrees", "ranknet-trees")
CLASS_TREES, TWO_CLASSES = Goal("McRank", "mcrank"), Goal("MART", "mart", "loss", "binary")
GOALS: dict[str, Goal] = {
    **dict.fromkeys(("lambdarank", "rank_xendcg", "rank:ndcg", "yetirank", "stochasticrank", "lambdamart"), NDCG_TREES),
    **dict.fromkeys(("rank:map",), Goal("LambdaMART", "lambdamart", "measure", "map")),
    **dict.fromkeys(("rank:pairwise", "pairlogit", "pairlogitpairwise", "ranknet"), PAIR_TREES),
    **dict.fromkeys(("regression", "rmse", "mse", "queryrmse", "squared_error", "reg:squarederror"), GRADE_TREES),
    **dict.fromkeys(("binary", "binary:logistic", "logloss", "log_loss"), TWO_CLASSES),
    **dict.fromkeys(("multiclass", "multi:softprob", "multi:softmax"), CLASS_TREES),
}
"""The objectives of other libraries, in small letters → what trains for them here."""


def goal(_name: str, value: str) -> str:
    """The learner for an objective, as options."""
    found = _goal(value)
    return f"Give {found.options}" if found else "Choose one with `learner`, and with `measure` what it trains for"


def goal_in_python(value: str) -> str:
    """The learner for an objective, in Python."""
    found = _goal(value)
    return f"Use {found.python}" if found else "Use rk.LambdaMART for a measure, rk.MART for grades, rk.RankNetTrees for pairs"


def _goal(value: str) -> Goal | None:
    text = _plain(value)
    return GOALS.get(text) or GOALS.get(text.partition(":")[0])


def _plain(value: str) -> str:
    return value.strip("'\"").lower()
