"""Claims about one system against several: that none of them is better by what matters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rankinite.evaluation.significance import holm
from rankinite.reproduce.claims import MARGIN, SURE
from rankinite.reproduce.differences import Difference, difference
from rankinite.reproduce.experiment import Outcomes


def none_better(system: str, rivals: Sequence[str], measure: str) -> Callable[[Outcomes], tuple[str, bool | None]]:
    """Judge whether a system is as good as every rival, first on real data, and where these decide nothing on artificial ones.

    It holds where every rival is shown to be ahead by less than the margin, if at all, and fails where one is shown to be
    ahead by more, p-values of the latter being corrected for the number of rivals.
    """

    def judge(results: Outcomes) -> tuple[str, bool | None]:
        told: list[str] = []
        verdicts: list[bool | None] = []
        for kind, real in (("real", True), ("artificial", False)):
            own = results.where(real=real)
            found = {rival: difference(own, rival, system, measure) for rival in rivals}
            known = {rival: seen for rival, seen in found.items() if seen is not None}
            if known:
                best = max(known, key=lambda rival: known[rival].mean)
                told.append(f'{kind} {known[best]} of the best of {len(known)} others ("{best}")')
                verdicts.append(_settled(list(known.values())))
        return "; ".join(told), next((one for one in verdicts if one is not None), None)

    return judge


def _settled(ahead: Sequence[Difference]) -> bool | None:
    """Whether no difference reaches the margin; None where neither that nor its opposite is shown."""
    if max(one.p_below(MARGIN) for one in ahead) <= SURE:
        return True
    return False if min(holm([one.p_above(MARGIN) for one in ahead]).tolist()) <= SURE else None
