"""SettingsSearch: generations of proposals, each judged fold by fold, those that surely lose dropped on the way."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from uuid import uuid4

from rankinite.engine.parallel import threads
from rankinite.engine.work import ProgressCallback, WorkProgress
from rankinite.tuning.evaluator import Evaluator, FoldValue
from rankinite.tuning.proposals import Journal, Proposer
from rankinite.tuning.trials import State, Trial, losers
from rankinite.workers.cluster import in_force


@dataclass(frozen=True)
class Budget:
    """How long a search may go on."""

    trials: int
    seconds: float | None = None
    """After which nothing new is begun."""
    start: float = field(default_factory=monotonic)

    @property
    def is_over(self) -> bool:
        """Whether time is up."""
        return self.seconds is not None and monotonic() >= self.start + self.seconds

    def share(self, trials: float) -> float:
        """How much of it is used."""
        time = 0.0 if self.seconds is None else (monotonic() - self.start) / self.seconds
        return min(1.0, max(trials / self.trials, time))


class SettingsSearch:
    """The loop over trials."""

    def __init__(
        self,
        proposer: Proposer,
        evaluator: Evaluator,
        budget: Budget,
        journal: Journal | None = None,
        *,
        generation: int = 8,
        race: bool = True,
        watch: ProgressCallback | None = None,
    ) -> None:
        self._proposer, self._evaluator, self._budget, self._journal = proposer, evaluator, budget, journal
        self._generation, self._race, self._watch = generation, race, watch
        self.tried: list[Trial] = []
        """All trials that are finished, in the order of their numbers."""
        self._identities: dict[str, int] = {}
        self._lock, self._ended = threading.RLock(), False

    # ---- generations: the same result with any number of workers ---------------------------------------------------

    def run(self) -> list[Trial]:
        """Try settings, generation by generation, until the budget is used."""
        for generation, first in enumerate(range(0, self._budget.trials, self._generation)):
            if self._budget.is_over and self.complete():
                break
            numbers = range(first, min(first + self._generation, self._budget.trials))
            proposed = self._proposer.propose(generation, numbers)
            if not proposed:
                break
            for tried in self._judged(proposed):
                self._finish(tried, str(tried.number))
        return self.tried

    def _judged(self, proposed: Mapping[int, Mapping[str, Any]]) -> list[Trial]:
        """A generation, fold by fold: after each, those that surely lose are dropped."""
        done: dict[int, list[FoldValue]] = {number: [] for number in proposed}
        states: dict[int, State] = {}
        incumbent = self._incumbent()
        for fold in range(len(self._evaluator.folds)):
            alive = [number for number in proposed if number not in states]
            if self._budget.is_over and self.complete():
                states |= dict.fromkeys(alive, "unfinished")
            found = self._evaluator.values([(proposed[number], fold) for number in alive if number not in states])
            for number, value in zip([number for number in alive if number not in states], found, strict=True):
                done[number].append(value)
                if value.refusal:
                    states[number] = "refused"
            states |= dict.fromkeys(self._losers(done, states, fold, incumbent), "dropped")
            self._tell_fold(proposed, fold)
        return [Trial(n, settings, tuple(done[n]), states.get(n, "complete")) for n, settings in proposed.items()]

    def _tell_fold(self, proposed: Mapping[int, Any], fold: int) -> None:
        """Report that a generation has finished a fold; after the last fold its trials are reported one by one."""
        folds, numbers = len(self._evaluator.folds), list(proposed)
        if self._watch is not None and fold < folds - 1:
            done = len(self.tried) + len(numbers) * (fold + 1) / folds
            text = f"trials {numbers[0] + 1}–{numbers[-1] + 1}, fold {fold + 1} of {folds}"
            self._watch(WorkProgress(text, self._budget.share(done)))

    def _losers(
        self, done: Mapping[int, Sequence[FoldValue]], states: Mapping[int, State], fold: int, incumbent: Trial | None
    ) -> set[int]:
        if not self._race or fold == len(self._evaluator.folds) - 1:
            return set()
        alive = {number: [one.values for one in values] for number, values in done.items() if number not in states}
        return losers(alive, None if incumbent is None else [one.values for one in incumbent.folds])

    # ---- eager: nobody waits, and the result depends on who is quicker ----------------------------------------------

    def run_eagerly(self) -> list[Trial]:
        """Try settings on all workers, each beginning the next trial at once."""
        with ThreadPoolExecutor(self._evaluator.at_once) as pool:
            loops = [pool.submit(contextvars.copy_context().run, self._go_on) for _ in range(self._evaluator.at_once)]
            try:
                for loop in loops:
                    loop.result()
            except BaseException:
                self._ended = True  # the other loops end with the fit that they are at
                raise
        self.tried.sort(key=lambda tried: tried.number)
        return self.tried

    def _go_on(self) -> None:
        while True:
            with self._lock:
                self._take_in_others()
                number, identity = len(self._identities), uuid4().hex
                if self._ended or number >= self._budget.trials or (self._budget.is_over and self.complete()):
                    return
                self._identities[identity] = number
                proposed = self._proposer.propose(int(identity[:7], 16), [number])
            if not proposed:
                return
            tried = self._judged_alone(number, proposed[number])
            with self._lock:
                self._finish(tried, identity)

    def _judged_alone(self, number: int, settings: Mapping[str, Any]) -> Trial:
        done: list[FoldValue] = []
        for fold in range(len(self._evaluator.folds)):
            if self._ended or (self._budget.is_over and self.complete()):
                return Trial(number, settings, tuple(done), "unfinished")
            if in_force() is None:
                with threads(1):
                    done += self._evaluator.values([(settings, fold)])
            else:
                done += self._evaluator.values([(settings, fold)])
            if done[-1].refusal:
                return Trial(number, settings, tuple(done), "refused")
            if self._losers({number: done}, {}, fold, self._incumbent()):
                return Trial(number, settings, tuple(done), "dropped")
        return Trial(number, settings, tuple(done), "complete")

    def _take_in_others(self) -> None:
        """Learn from trials that other processes have written to the journal."""
        if self._journal is None:
            return
        for identity, params in self._journal.others(set(self._identities)):
            settings = self._proposer.settings_of(params)
            pieces = [(settings, fold) for fold in range(len(self._evaluator.folds))]
            found = [value for piece in pieces if (value := self._evaluator.known(piece)) is not None]
            self._identities[identity] = number = len(self._identities)
            refused = any(value.refusal for value in found)
            state: State = "refused" if refused else "complete" if len(found) == len(pieces) else "dropped"
            tried = Trial(number, settings, tuple(found), state)
            self._proposer.tell(tried)
            self.tried.append(tried)

    # ---- both ---------------------------------------------------------------------------------------------------------

    def complete(self) -> list[Trial]:
        """The trials that were judged on all folds."""
        return [tried for tried in self.tried if tried.state == "complete"]

    def _incumbent(self) -> Trial | None:
        """The best trial so far."""
        with self._lock:
            return max(self.complete(), key=lambda tried: tried.mean, default=None)

    def _finish(self, tried: Trial, identity: str) -> None:
        self._proposer.tell(tried)
        self.tried.append(tried)
        if self._journal is not None and tried.state != "unfinished":
            self._journal.add(tried, identity, self._proposer)
        if self._watch is not None:
            self._watch(self._step(tried))

    def _step(self, tried: Trial) -> WorkProgress:
        best = self._incumbent()
        value = f"{abs(tried.mean):.4f}" if tried.folds and not tried.refusal else ""
        words = [f"trial {tried.number + 1}", tried.state if tried.state != "complete" else "", value]
        leading = "" if best is None else f", best {abs(best.mean):.4f} in trial {best.number + 1}"
        text = " ".join(word for word in words if word) + leading
        return WorkProgress(text, self._budget.share(len(self.tried)), finished=True, seconds=tried.seconds)
