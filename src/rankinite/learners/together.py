"""One model trained by several processes: which of them has which folders of bins, and whether they are alike.

Alone, over MPI, or on the workers of a Dask cluster, the trees are grown by the same :class:`BoostingRun`, to the same bytes.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence

from rankinite.binned.data import Binned
from rankinite.binned.folder import Manifest
from rankinite.data.dataset import Dataset
from rankinite.engine.parallel import chosen_threads, threads
from rankinite.errors import DataError
from rankinite.evaluation.scorers import Scorer
from rankinite.learners.base import Callback
from rankinite.learners.boosting import Boosting
from rankinite.learners.boosting_run import boost
from rankinite.learners.function_cost import warn_of_calls
from rankinite.learners.shares import check_alike, check_all_have_some, check_joint, facts_of_member, shared_out, threads_of
from rankinite.learners.tree_count import with_tree_count
from rankinite.models.blend import Blend
from rankinite.models.forest import Forest
from rankinite.plurals import counted
from rankinite.workers.cluster import in_force
from rankinite.workers.mpi_group import MpiGroup, mpi_in_force


def boost_anywhere(
    learner: Boosting, train: Dataset, valid: Dataset | None, base: Scorer | None, callbacks: Sequence[Callback]
) -> Forest | Blend:
    """Train on data that were checked: together with others where a group is in force and the data are coded, else alone."""
    warn_of_calls(learner, train)
    group, cluster = mpi_in_force(), in_force()
    if group is not None and group.members.count > 1:
        return _over_mpi(group, learner, train, valid, base, callbacks)
    learner, held_out = with_tree_count(learner, train, valid, base, callbacks)
    if isinstance(train, Binned) and cluster is not None and cluster.client is not None:
        from rankinite.learners.dask_run import DaskRun

        return DaskRun(cluster, learner, *check_joint(learner, train, valid), base, callbacks).fit()
    return boost(learner, train, valid, base, callbacks, held_out)


def _over_mpi(
    group: MpiGroup,
    learner: Boosting,
    train: Dataset,
    valid: Dataset | None,
    base: Scorer | None,
    callbacks: Sequence[Callback],
) -> Forest | Blend:
    shards, judges = check_joint(learner, train, valid)
    learner, _ = with_tree_count(learner, shards, judges, base, callbacks)
    members = group.members
    first: tuple[list[Manifest], ...] = _first_sees(group, shards, judges)
    known = [json.loads(part) for part in members.gather(json.dumps(facts_of_member(*first)).encode())]
    check_alike(known)
    if members.count > len(shards.manifests):
        raise DataError(
            f"{counted(members.count, 'member')} cannot share {counted(len(shards.manifests), 'folder')} of bins",
            place=shards.source,
            value=len(shards.manifests),
            rule="Every member has at least one folder",
            remedy=f"Start fewer, or make more folders: rankinite bin … --shards {members.count}",
        )
    owners = shared_out(first[0], known)
    check_all_have_some(owners, known, shards.source)
    part = shards.part(members, members.number, owners)
    valid_part = None if judges is None else judges.part(members, members.number, shared_out(first[1], known, 1))
    own = [*callbacks, group.end_if_interrupted] if group.is_first else ()
    with threads(threads_of(known, chosen_threads())[members.number]):
        return boost(learner, part, valid_part, base, own)


def _first_sees(group: MpiGroup, train: Binned, valid: Binned | None) -> tuple[list[Manifest], ...]:
    """The folders as the first process sees them: one that sees others there does not count as able to read them."""
    own = [list(data.manifests) for data in (train, valid) if data is not None]
    return tuple(pickle.loads(group.members.gather(pickle.dumps(own))[0]))  # noqa: S301 - members run each other's code anyway
