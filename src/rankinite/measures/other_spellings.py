"""Names of measures in other tools, put into our own spelling: ``ndcg_cut_10``, ``P.10``, ``AP(rel=2)``, ``RBP(p=0.5)@10``.

trec_eval joins a name and a cutoff by ``_`` or ``.``; ir-measures puts settings between parentheses, before ``@``. Where a tool
means something else by a name, its settings are added: trec_eval's ``ndcg_cut`` has linear gains. Names that are our own keep
our own meaning, whatever their case: ``nDCG@10`` is ``ndcg@10``, which has exponential gains; a warning says so.
"""

from __future__ import annotations

import re

ALIASES = {
    "map": "ap",
    "mrr": "rr",
    "precision": "p",
    "prec": "p",
    "r": "recall",
    "recip_rank": "rr",
    "set_p": "p",
    "set_recall": "recall",
    "set_f": "f1",
    "setp": "p",
    "setr": "recall",
    "setf": "f1",
    "hit": "success",
    "hit_rate": "success",
    "r-precision": "rprec",
    "q-measure": "q",
    "qmeasure": "q",
}
"""Other names, in lower case → ours."""

_WITH_CUTOFF = {
    "ndcg_cut": "ndcg@{}:gains=linear",
    "map_cut": "ap@{}",
    "p": "p@{}",
    "recall": "recall@{}",
    "success": "success@{}",
}
_CUT = re.compile(rf"({'|'.join(_WITH_CUTOFF)})[_.]([0-9]+)", re.IGNORECASE)
_CALL = re.compile(r"\s*([A-Za-z][\w-]*)\s*\(([^()]*)\)\s*(@[^:]*)?")
_SETTINGS = {"rel": "relevant", "dcg": "gains"}
_VALUES = {("dcg", "log2"): "linear", ("dcg", "exp-log2"): "exponential"}


def respelled(text: str) -> str | None:
    """A measure as trec_eval or ir-measures writes it, in our own spelling; None where it is written otherwise.

    >>> respelled("ndcg_cut_10"), respelled("AP(rel=2)@20")
    ('ndcg@10:gains=linear', 'AP@20:relevant=2')
    """
    if cut := _CUT.fullmatch(text.strip()):
        return _WITH_CUTOFF[cut[1].lower()].format(cut[2])
    if call := _CALL.fullmatch(text):
        name, arguments, cutoff = call.groups("")
        settings = ""
        for argument in filter(None, map(str.strip, arguments.split(","))):
            key, equals, value = (part.strip(" '\"") for part in argument.partition("="))
            if key == "cutoff" or not equals:  # NDCG(10), as one would write it in Python
                cutoff += f"@{value or key}"
            else:
                settings += f":{_SETTINGS.get(key, key)}={_VALUES.get((key, value), value)}"
        return f"{name}{cutoff}{settings}"
    return None
