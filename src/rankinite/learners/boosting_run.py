"""The boosting loop that all tree learners share (papers 002 §5 and §7, 000 §3).

Each round asks the objective where every row's score should go, grows a tree towards it, and adds the tree's shrunken Newton
steps to the scores. Starting from the scores of another ranker, the ``base``, is LambdaSMART (000 §3).
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from rankinite.binned.data import Binned
from rankinite.binned.folder import bins_key
from rankinite.data.dataset import Dataset
from rankinite.data.identity import QuerySketch, arrays_key, fingerprint, query_keys, row_keys, unite_sketches
from rankinite.engine.kernel import Floats
from rankinite.engine.over_members import is_any
from rankinite.engine.parallel import Team
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.evaluation.scorers import Scorer
from rankinite.evaluation.values import mean_value
from rankinite.gradients.base import weight_of_rows
from rankinite.gradients.debiased import Debiased
from rankinite.gradients.pointwise import Multiclass
from rankinite.learners.base import Callback, ResumableCallback
from rankinite.learners.boosting import Boosting, StepSettings
from rankinite.learners.checkpoint import check_continues, check_not_shortened
from rankinite.learners.monitor import ClickValue, Monitor, train_rounds
from rankinite.learners.step_search import StepSearch
from rankinite.learners.training_bins import bins_and_codes, codes_in, with_categories_of
from rankinite.learners.training_checks import starting_scores
from rankinite.models.blend import Blend
from rankinite.models.forest import Forest
from rankinite.models.history import MISSING_VALUES
from rankinite.plurals import counted
from rankinite.trees._state import Keys
from rankinite.trees.growth import Grower, GrownTree, NotFiniteError, add_known_trees, add_tree
from rankinite.trees.structure import Trees, join
from rankinite.trees.walk import expected_grades


class HeldOut(NamedTuple):
    """What held-out queries said of each number of rounds: the fields of :class:`History` of the same names."""

    held_out: Floats
    held_out_parts: int


def boost(
    learner: Boosting, train: Dataset, valid: Dataset | None, base: Scorer | None, callbacks: Sequence[Callback],
    held_out: HeldOut | None = None,
) -> Forest | Blend:  # fmt: skip
    """Train on data that were checked; the result includes the base. ``held_out``: what has chosen the number of trees."""
    with Team() as team:
        forest = BoostingRun(learner, train, valid, base, callbacks, team, held_out).boost()
    return with_base(base, forest)


def with_base(base: Scorer | None, forest: Forest) -> Forest | Blend:
    """The complete ranker: the base, then the trees trained from it; one forest where both are trees of a kind."""
    if base is None:
        return forest
    if not isinstance(base, Forest) or base.categories.keys() != forest.categories.keys():
        return Blend(((1.0, base), (1.0, forest)))
    if base.feature_names == forest.feature_names and base.outputs == forest.outputs:
        return base.extended(forest)
    return Blend(((1.0, base), (1.0, forest)))


class BoostingRun:
    """One training run: the state of the loop."""

    def __init__(
        self, learner: Boosting, train: Dataset, valid: Dataset | None, base: Scorer | None,
        callbacks: Sequence[Callback], team: Team, held_out: HeldOut | None = None,
    ) -> None:  # fmt: skip
        as_named, valid = valid, None if valid is None else with_categories_of(train, valid)
        self.learner, self.train, self.valid, self.base = learner, train, valid, base
        self.callbacks, self.team, self.members, self.held_out = callbacks, team, train.members, held_out
        self.objective = learner.objective(train)
        self.click_values: dict[Dataset, ClickValue] = {}
        self.watch = Monitor(
            learner, train, valid,
            rounds=learner.most_trees, patience=learner.patience, based=base is not None, callbacks=callbacks,
            value=self._click_value if isinstance(self.objective, Debiased) else None,
        )  # fmt: skip
        self.outputs = self.objective.outputs
        self.grades = self.objective.grades if isinstance(self.objective, Multiclass) else None
        self.scores = starting_scores(base, train, self.objective)
        self.valid_scores = None if as_named is None else starting_scores(base, as_named, self.objective)
        self.bins, codes = bins_and_codes(train, learner.bins, learner.bin_sample, learner.category_rows)
        self.words = codes.words
        self.valid_words = None if valid is None else codes_in(self.bins, valid).words
        keys = row_keys(train) if learner.draws else None
        self.grower = Grower(
            learner,
            self.bins,
            codes,
            learner.signs(train.feature_names, train.categories),
            team,
            keys,
            None if keys is None else np.repeat(query_keys(keys, train), np.diff(train.offsets)),
            None if train.weights is None else weight_of_rows(train),
            self.members,
        )
        self.reoptimises = learner.reoptimise if isinstance(learner, StepSettings) else 0
        """Rounds between two improvements of all weights; 0: never."""
        self.first_scores = [scores.copy() for _, scores in self._summed()] if self.reoptimises else []
        self.search = self._step_search()
        self.sketch, self.facts = self._sketch(as_named), learner.facts(train)  # of all members: not to be asked for by one
        self.kept: list[Trees] = []
        self.push = self.grower.room_for_pushes() if self.outputs == 1 else np.empty_like(self.scores)
        self.curvature = np.empty_like(self.scores)

    # ---- the loop

    def boost(self) -> Forest:
        """Train to the end; the forest without the base."""
        self.begin()
        forest = self._forest(train_rounds(self))
        if self.base is None and not forest.trees.tell_rows_apart():
            raise DataError(
                "no tree could be split, so there is nothing to rank by",
                place=self.train.source,
                value=self.train.rows,
                rule=f"{counted(self.train.rows, 'row')} cannot be cut into leaves of `min_rows={self.learner.min_rows}` and "
                f"`min_curvature={self.learner.min_curvature:g}` that gain anything",
                remedy="Lower these, or check that the features vary",
            )
        return forest.truncate(self.watch.best(self.done))

    def begin(self) -> None:
        """Take up what an interrupted run has left, or note what training starts from: entry 0 of the history."""
        if not self._resume():
            self._measure()

    @property
    def most_rounds(self) -> int:
        return self.learner.most_trees

    @property
    def done(self) -> int:
        """Rounds whose trees are kept."""
        return len(self.kept) // self.outputs

    def is_over(self) -> bool:
        return self.watch.waited_long_enough(self.done)

    def tell(self) -> bool:
        return self.watch.tell(self.done, lambda: self._forest("unfinished"))

    def take_round(self) -> bool:
        """A tree for each output; whether there was anything left to split."""
        self.objective.gradients(self.scores, self.push, self.curvature)
        trees = [self._grow(self.push[k], self.curvature[k], k) for k in range(self.outputs)]
        if all(len(tree.feature) == 1 for tree in trees) and not self.learner.is_random:
            return False
        kept = [*self.kept, *trees]
        if self.search is not None and self.reoptimises and len(kept) % self.reoptimises == 0:
            kept = self.search.reoptimised(kept, self._added_by)
            self._sum_again(kept)
        self._measure()  # before the trees are kept: a round that is interrupted here is not counted at all
        self.kept = kept
        return True

    def _grow(self, push: Floats, curvature: Floats, output: int) -> Trees:
        """One tree, its shrunken Newton steps added to the scores."""
        try:
            grown = self.grower.grow(push, curvature, self.done * self.outputs + output)
        except NotFiniteError:
            raise self._not_finite(push, curvature) from None
        steps = self.learner.rate * (grown.values() if self.search is None else self.search.values(grown))
        self.grower.add(grown, steps, self.scores[output])
        if self.valid_words is not None and self.valid_scores is not None:
            add_tree(self.valid_words, grown, steps, self.valid_scores[output], self.team)
        return self.grower.trees_of(grown, steps)

    def _not_finite(self, push: Floats, curvature: Floats) -> DataError:
        """The error of the first row whose gradient is not finite: that of the first member who has one."""
        rows = np.flatnonzero(~(np.isfinite(push) & np.isfinite(curvature) & (curvature >= 0.0)))
        here: tuple[str, str, float, float] | None = None
        if len(rows):
            row = int(rows[0])
            qid = str(self.train.qids[np.searchsorted(self.train.offsets, row, side="right") - 1])
            here = self.train.source, f"row {row} (query {quoted(qid)})", float(push[row]), float(curvature[row])
        everywhere = [here] if self.members is None else map(pickle.loads, self.members.gather(pickle.dumps(here)))
        source, place, pushed, curved = next(one for one in everywhere if one is not None)
        return DataError(
            f"{self.objective} gives the gradient {pushed:g} and the curvature {curved:g}",
            place=f"{source}, {place}",
            value=(pushed, curved),
            rule="Both must be finite and the curvature not negative",
            remedy="Check the measure's changes, or lower `rate`",
        )

    def _measure(self) -> None:
        """Note the watched measure as things stand."""
        self.watch.take(lambda: self._final(self.scores), lambda: self._final(self.valid_scores))

    def _final(self, outputs: Floats | None) -> Floats:
        """What outputs, shape (outputs, rows), come to as scores."""
        assert outputs is not None
        return outputs[0] if self.grades is None else expected_grades(outputs, self.grades)

    def _click_value(self, scores: Floats, data: Dataset) -> float:
        """The watched measure on debiased clicks, where it is known at which positions documents were shown."""
        if data.positions is None or self.watch.measure.pooled or not isinstance(self.objective, Debiased):
            return mean_value(scores, data, self.watch.measure)
        if data not in self.click_values:
            self.click_values[data] = ClickValue(data, self.watch.measure)
        return self.click_values[data](scores, self.objective.examination)

    # ---- exact weights of trees: the search looks at what a tree adds to the rows that weights are chosen on

    def _step_search(self) -> StepSearch | None:
        learner = self.learner
        if not isinstance(learner, StepSettings) or (learner.step == "newton" and not learner.reoptimise):
            return None
        if learner.step_data == "train":
            return StepSearch(learner, self.watch.measure, self.train, self.scores[0], self.grower, self._added_to_train)
        if self.valid is None or self.valid_scores is None:
            raise ArgumentError(
                "chooses weights on validation data, but there are none",
                owner=type(learner).__name__,
                setting="step_data",
                value=learner.step_data,
                remedy="Give some, or leave it at 'train'",
            )
        return StepSearch(learner, self.watch.measure, self.valid, self.valid_scores[0], self.grower, self._added_to_valid)

    def _added_to_train(self, grown: GrownTree, values: Floats) -> Floats:
        added = np.zeros(self.train.rows)
        self.grower.add(grown, values, added)
        return added

    def _added_to_valid(self, grown: GrownTree, values: Floats) -> Floats:
        assert self.valid is not None
        assert self.valid_words is not None
        added = np.zeros(self.valid.rows)
        add_tree(self.valid_words, grown, values, added, self.team)
        return added

    def _added_by(self, tree: Trees) -> Floats:
        words = self.words if self.search is None or self.search.data is self.train else self.valid_words
        assert words is not None
        added = np.zeros((1, words.shape[1]))
        add_known_trees(self.bins, words, tree, added, self.team)
        return added[0]

    def _summed(self) -> list[tuple[Keys, Floats]]:
        """The codes of the rows whose scores are kept up to date, and these scores."""
        summed = [(self.words, self.scores)]
        if self.valid_words is not None and self.valid_scores is not None:
            summed.append((self.valid_words, self.valid_scores))
        return summed

    def _sum_again(self, kept: list[Trees]) -> None:
        """The scores of trees whose values have changed: the same sums in the same order as those of the forest."""
        trees = join(kept)
        for (words, scores), first in zip(self._summed(), self.first_scores, strict=True):
            scores[:] = first
            add_known_trees(self.bins, words, trees, scores, self.team)

    # ---- what an interrupted run has left

    def _resume(self) -> bool:
        """Take up what an interrupted run had trained; the scores are the same sums in the same order."""
        forest = self._kept_forest()
        if forest is None:
            return False
        assert forest.history is not None  # it was checked
        rounds = min(forest.rounds, self.learner.most_trees)
        if isinstance(self.objective, Debiased) and forest.history.examination is not None:
            check_not_shortened(forest, rounds)
            self.objective.take_up(forest.history.examination)
        trees = forest.truncate(rounds).trees
        self.kept = [trees.take(t, t + 1) for t in range(len(trees))]
        self.watch.take_up(forest.history, rounds)
        if self.search is not None:
            self.search.taken = forest.history.steps[:rounds].tolist()
        for words, scores in self._summed():
            add_known_trees(self.bins, words, trees, scores, self.team)
        return True

    def _kept_forest(self) -> Forest | None:
        """What callbacks have kept of an interrupted run; of several members the first has them, and tells the others."""
        resuming = [callback for callback in self.callbacks if isinstance(callback, ResumableCallback)]
        if not is_any(self.members, resuming):
            return None
        keys = {"train": run_key(self.train, self.scores), "bins": bins_key(self.bins)}
        if self.valid is not None and self.valid_scores is not None:
            keys["valid"] = run_key(self.valid, self.valid_scores)
        kept = [(callback, callback.resume(self.learner.settings(), keys)) for callback in resuming]
        callback, forest = next((pair for pair in kept if pair[1] is not None), (None, None))
        if forest is not None:
            check_continues(forest, str(getattr(callback, "path", callback)), self.train, self.valid, self.outputs)
        if self.members is None:
            return forest
        return pickle.loads(self.members.gather(pickle.dumps(forest))[0])  # noqa: S301 - members run each other's code anyway

    # ---- the forest

    def _forest(self, stopped: str) -> Forest:
        steps = () if self.search is None else self.search.taken
        examination = self.objective.examination if isinstance(self.objective, Debiased) else None
        history = self.watch.history(self.done, stopped, steps, examination)
        return Forest(
            trees=join(self.kept),
            feature_names=self.train.feature_names,
            start=np.zeros(self.outputs) if self.base is not None else self.objective.start,
            grades=self.grades,
            settings={**self.learner.settings(), **self.facts, MISSING_VALUES: bool(self.bins.has_missing.any())},
            history=history if self.held_out is None else replace(history, **self.held_out._asdict()),
            sketch=self.sketch,
            categories=self.train.categories,
        )

    def _sketch(self, valid: Dataset | None) -> QuerySketch | None:
        """The queries learnt from: also the validation data's, where these choose the weights of trees."""
        sketch = QuerySketch.of(self.train)
        if self.members is not None:
            return reduce(unite_sketches, map(pickle.loads, self.members.gather(pickle.dumps(sketch))))
        if valid is None or self.search is None or self.search.data is self.train:
            return sketch
        return unite_sketches(sketch, QuerySketch.of(valid))


def run_key(data: Dataset, start: Floats) -> str:
    """A hash of the data and of the scores, shape (outputs, rows), that training starts from.

    Folders of bins are hashed one by one, so that members who have some each get the key of all.
    """
    if not isinstance(data, Binned):
        return arrays_key({"start": start}, fingerprint(data))
    ends = np.cumsum([0, *(data.manifests[number].rows for number in data.mine)])
    keys_here: dict[int, str] = {}
    for place, number in enumerate(data.mine):
        scores = np.ascontiguousarray(start[:, ends[place] : ends[place + 1]])
        keys_here[number] = arrays_key({"start": scores}, data.manifests[number].fingerprint)
    parts = [json.dumps(keys_here).encode()] if data.members is None else data.members.gather(json.dumps(keys_here).encode())
    keys = {int(number): key for part in parts for number, key in json.loads(part).items()}
    return keys[0] if len(keys) == 1 else arrays_key({}, [keys[number] for number in sorted(keys)])
