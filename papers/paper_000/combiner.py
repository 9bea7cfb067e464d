"""Paper 000, Figures 3 and 4 (§5.6): trees weighed by Newton's steps or by the exact optimal combiner."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from papers.claims import ALIKE, BETTER, Compared, Measured
from papers.data import RECOVERED, fold_cases
from papers.experiment import Case, Experiment, Outcome, Outcomes, Points, RunContext, judged
from papers.figure import Panel, PaperFigure
from papers.item import Item
from papers.paper_000.accuracy import ARTIFICIAL, MEASURE, WEB, fold_of, goal_of, trees_needed
from rankinite import Dataset, Fold, Forest, LambdaMART, Progress, evaluate

TRAIN, TEST, ALPHA = "training", "test", "α"
NEWTON, EXACT, CONSTANT = "Newton", "OC", "constant α"
SLOW, SHRUNK, WIDE = "Newton, rate 0.1", "OC, rate 0.1", "OC, α up to 20"
"""Where the paper can be read in another way."""
LOW, HIGH, WIDER = 0.1, 5.0, 20.0
"""The range of α that the paper gives for its web data, and a wider one."""


def learner(
    context: RunContext, leaves: int, rate: float, *, low: float = LOW, high: float | None = None
) -> LambdaMART:  # fmt: skip
    """LambdaMART with Newton's steps; or, with a range, leaves of the mean λ times the α best on the validation queries."""
    step: dict[str, Any] = {"step": "newton"}
    if high is not None:
        step = {"step": "exact", "step_low": low, "step_high": high, "step_data": "valid"}
    return LambdaMART.paper(
        measure=MEASURE, trees=context.size(300, 20), leaves=leaves, rate=rate, patience=None, seed=0, **step
    )


def contenders(context: RunContext, *, real: bool) -> dict[str, LambdaMART]:
    """10 leaves without shrinkage on artificial data; 15 leaves on web data, where Newton's steps are shrunk by 0.1."""
    if real:
        return {
            NEWTON: learner(context, 15, 0.1),
            EXACT: learner(context, 15, 1.0, high=HIGH),
            SHRUNK: learner(context, 15, 0.1, high=HIGH),
        }
    return {
        NEWTON: learner(context, 10, 1.0),
        SLOW: learner(context, 10, 0.1),
        EXACT: learner(context, 10, 1.0, high=HIGH),
        WIDE: learner(context, 10, 1.0, high=WIDER),
    }


def cases(context: RunContext) -> Sequence[Case]:
    """The artificial data, and LETOR's folds in place of the paper's web data."""
    return [Case(ARTIFICIAL, ARTIFICIAL, seconds=150.0), *fold_cases(WEB, context, 12.0)]


def run(case: Case, context: RunContext) -> Outcome:
    """Follow NDCG@10 on training and test queries tree by tree, and judge forests cut where validation queries say."""
    fold = fold_of(case, context)
    curves: dict[str, dict[str, Points]] = {TRAIN: {}, TEST: {}, ALPHA: {}}
    cut: dict[str, Forest] = {}
    for name, contender in contenders(context, real=case.real).items():
        cut[name], whole = _trained(contender, fold)
        history = cut[name].history
        assert history is not None
        rounds = range(1, contender.most_trees + 1)
        curves[TRAIN][name] = rounds, history.train[1:].tolist()
        curves[TEST][name] = rounds, _staged(whole, fold.test)
        if len(history.steps):
            curves[ALPHA][name] = rounds, history.steps.tolist()
    mean = float(np.mean(curves[ALPHA][EXACT][1]))
    constant = learner(context, 15 if case.real else 10, 1.0, low=mean * 0.999, high=mean * 1.001)
    cut[CONSTANT] = _trained(constant, fold)[0]
    return Outcome({TEST: judged(cut, fold.test, [MEASURE])}, curves)


def _trained(contender: LambdaMART, fold: Fold) -> tuple[Forest, Forest]:
    """The forest cut where it is best on the validation queries, and all of it."""
    whole: list[Forest] = []

    def keep(progress: Progress) -> None:
        if progress.round == progress.rounds:
            ranker = progress.ranker()
            assert isinstance(ranker, Forest)
            whole.append(ranker)

    cut = contender.fit(fold.train, fold.valid, callbacks=[keep])
    assert isinstance(cut, Forest)
    return cut, whole[0]


def _staged(forest: Forest, test: Dataset) -> list[float]:
    """NDCG@10 after every tree."""
    return [evaluate(scores, test, MEASURE)[MEASURE].mean for scores in forest.staged_scores(test)]


STEPS = Experiment("000-steps", cases, run)


# Figure 3: NDCG@10 by trees.

ASKED = (10, 40, 160)
"""Trees after which the curves on artificial data are compared."""
FEWER = 0.5
"""Far fewer trees: at most this share. In the paper it is 80 of 250."""


def curve(results: Outcomes, which: str, name: str) -> Points | None:
    """A system's curve, the mean over the folds."""
    lines = [outcome.curves[which][name] for _, outcome in results if name in outcome.curves[which]]
    return (lines[0][0], np.mean([ys for _, ys in lines], axis=0).tolist()) if lines else None


def faster(results: Outcomes, rival: str) -> tuple[str, bool | None]:
    """Whether the combiner is ahead early and late, on training and on test queries of the artificial data."""
    artificial = results.where(unit=ARTIFICIAL)
    texts: list[str] = []
    ahead: list[bool] = []
    for which in (TRAIN, TEST):
        newton, exact = (dict(zip(*(curve(artificial, which, name) or ((), ())), strict=True)) for name in (rival, EXACT))
        for trees in ASKED:
            if trees in newton:
                texts.append(f"{which}, {trees} trees: {exact[trees]:.4f} against {newton[trees]:.4f}")
                ahead.append(exact[trees] > newton[trees])
    return "; ".join(texts) or "not run", all(ahead) if ahead else None


def fewer(results: Outcomes) -> tuple[str, bool | None]:
    """The trees that the combiner needs for Newton's best NDCG@10 on web test queries, less 0.001."""
    web = results.where(unit=WEB)
    newton = curve(web, TEST, NEWTON)
    if newton is None:
        return "not run", None
    goal = goal_of(newton[1])
    needed = trees_needed(newton, goal) or 0.0
    texts = [f"{goal:.4f} with {needed:.0f} trees of Newton's steps"]
    shares: list[float] = []
    for name in (EXACT, SHRUNK):
        points = curve(web, TEST, name)
        ours = None if points is None else trees_needed(points, goal)
        texts.append(f"{name}: never" if ours is None else f"{name}: {ours:.0f}")
        shares.append(float("inf") if ours is None else ours / needed)
    return "; ".join(texts), min(shares) <= FEWER


def figure_3_layout(results: Outcomes) -> list[PaperFigure]:
    """Panel a, artificial data, and panel b, web data."""
    panels: list[Panel] = []
    for letter, unit in zip("ab", (ARTIFICIAL, WEB), strict=True):
        chosen = results.where(unit=unit)
        wanted = [(TRAIN, NEWTON), (TEST, NEWTON), (TRAIN, EXACT), (TEST, EXACT), (TEST, SLOW), (TEST, WIDE), (TEST, SHRUNK)]
        known = {f"{name}, {which}": curve(chosen, which, name) for which, name in wanted}
        lines = {label: points for label, points in known.items() if points is not None}
        if lines:
            panels.append(Panel(f"({letter}) {unit}", "trees", "NDCG@10", lines))
    return [PaperFigure("000-figure-3", "NDCG@10 by trees with Newton's steps and with the optimal combiner (OC)", panels)]


FIGURE_3 = Item(
    "000", "figure-3", "NDCG@10 by trees with Newton's steps and with the exact optimal combiner",
    (
        Measured("Artificial data: with the combiner, training and test NDCG rise faster", partial(faster, rival=NEWTON),
                 """One α per tree does less than one full step per leaf: leaves of the mean λ ignore how settled pairs are.
                 A wider range of α does not change that."""),
        Measured("… if Newton's steps are shrunk by 0.1 as elsewhere in the paper (§5.2)", partial(faster, rival=SLOW)),
        Measured("Web data: the combiner needs far fewer trees for the same accuracy (80 against 250)", fewer,
                 """The paper chooses α on 5,000 validation queries; a fold of mq2007 has some 340, and α fits them. With as
                 many judged queries as the paper has it could be asked anew."""),
        Compared("Web data: the combiner's best is as good as Newton's", EXACT, NEWTON, ALIKE, test=TEST,
                 why="""Some 340 validation queries, which choose α tree by tree, are soon learnt by heart. With the paper's
                 5,000 it could be asked anew.""", at={"unit": WEB}),
    ),
    (STEPS,),
    figure_3_layout,
    f"""LambdaMART, 300 trees, plain λ and least-squares splits. Newton: its step in every leaf, rate 1 (the full step) and 10
    leaves on artificial data (10,000 training, 5,000 validation and 10,000 test queries), rate 0.1 and 15 leaves on web data.
    OC: leaves of the mean λ, one exact α per tree in [0.1, 5], the best on the validation queries, not shrunk. Where the paper
    can be read in another way there is a further line: Newton's steps shrunk by 0.1 and α up to 20 on artificial data, α shrunk
    by 0.1 on web data. NDCG is its expectation under ties. LETOR's five folds of mq2007 stand in for the web data (mean
    curves). {RECOVERED} Faster is: ahead after {", ".join(map(str, ASKED[:-1]))} and {ASKED[-1]} trees, on training and test
    queries. Fewer trees are counted to Newton's best on test queries, less 0.001, for the better of both readings; far fewer
    is at most half.""",
)  # fmt: skip


# Figure 4: the weight α of each tree.

LATE = 100
"""The last rounds, in which many trees are there already."""
TIMES = 2.0
"""α fluctuates if the third quartile of its values is at least so many times the first."""
SMALL = 1.0


def fluctuates(results: Outcomes) -> tuple[str, bool | None]:
    """How much α varies in the last rounds."""
    texts: list[str] = []
    ratios: list[float] = []
    for unit in results.units:
        late = [outcome.curves[ALPHA][EXACT][1][-LATE:] for _, outcome in results.where(unit=unit)]
        low, middle, high = np.mean([np.quantile(alphas, (0.25, 0.5, 0.75)) for alphas in late], axis=0).tolist()
        texts.append(f"{unit}: quartiles {low:.2f}, {middle:.2f} and {high:.2f} in the last {len(late[0])} rounds")
        ratios.append(high / low)
    return "; ".join(texts), min(ratios) >= TIMES


def small_ones(results: Outcomes) -> tuple[str, bool | None]:
    """How many trees get a small weight."""
    shares = {
        unit: float(np.mean([np.mean(np.asarray(o.curves[ALPHA][EXACT][1]) < SMALL) for _, o in results.where(unit=unit)]))
        for unit in results.units
    }
    return "; ".join(f"{unit}: {share:.0%} below {SMALL:g}" for unit, share in shares.items()), min(shares.values()) >= 0.05


def figure_4_layout(results: Outcomes) -> list[PaperFigure]:
    """α by rounds: of web data the first fold, as one training has one curve."""
    panels: list[Panel] = []
    for unit in results.units:
        case, outcome = next(iter(results.where(unit=unit)))
        panels.append(Panel(case.name, "boosting iteration", "α", {EXACT: outcome.curves[ALPHA][EXACT]}))
    return [PaperFigure("000-figure-4", "α of the optimal combiner at each boosting iteration", panels)]


FIGURE_4 = Item(
    "000", "figure-4", "The weight α of each tree, as the optimal combiner chooses it on validation queries",
    (
        Measured("α fluctuates from round to round even when there are many trees", fluctuates),
        Measured("Some trees get small weights: they hardly help", small_ones),
        Compared("Choosing α anew for each tree is much better than a constant one", EXACT, CONSTANT, BETTER, test=TEST,
                 why="Weights chosen on few validation queries follow their noise."),
    ),
    (STEPS,),
    figure_4_layout,
    f"""The trainings are those of Figure 3; α lies in [{LOW:g}, {HIGH:g}]. The constant is the mean of the α chosen, and
    both forests are cut where the validation queries are ranked best. The paper draws web data alone.""",
)  # fmt: skip
