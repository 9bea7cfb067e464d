"""Joint training: one model by several processes, each with some folders of bins.

Alone, over MPI, or on the workers of a Dask cluster (``dask_run``), the trees are grown by the same :class:`BoostingRun`, to
the same bytes (ADR 18). Here is who has which folders, and whether members are alike enough for that.
"""

from __future__ import annotations

import json
import pickle
import platform
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankinite.binned.data import Binned
from rankinite.binned.folder import Manifest, read_manifest
from rankinite.data.dataset import Dataset
from rankinite.engine.cores import available_cores
from rankinite.engine.parallel import chosen_threads, threads
from rankinite.errors import ArgumentError, DataError, RankiniteError, quoted
from rankinite.evaluation.scorers import Scorer
from rankinite.learners.base import Callback
from rankinite.learners.boosting import Boosting, StepSettings
from rankinite.learners.boosting_run import boost
from rankinite.learners.training_checks import warn_of_calls
from rankinite.learners.tree_count import with_tree_count
from rankinite.models.blend import Blend
from rankinite.models.forest import Forest
from rankinite.plurals import counted
from rankinite.workers.cluster import in_force
from rankinite.workers.mpi_group import MpiGroup, mpi_in_force
from rankinite.workers.orders import installed
from rankinite.workers.shared_data import worker_name


def train_where_configured(
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
    # One that sees other folders there than the first process does counts as unable to read them.
    seen_here = [list(data.manifests) for data in (shards, judges) if data is not None]
    seen_by_first: tuple[list[Manifest], ...] = pickle.loads(members.gather(pickle.dumps(seen_here))[0])  # noqa: S301 - members run each other's code anyway
    known = [json.loads(part) for part in members.gather(json.dumps(facts_of_member(*seen_by_first)).encode())]
    check_alike(known)
    if members.count > len(shards.manifests):
        raise DataError(
            f"{counted(members.count, 'member')} cannot share {counted(len(shards.manifests), 'folder')} of bins",
            place=shards.source,
            value=len(shards.manifests),
            rule="Every member has at least one folder",
            remedy=f"Start fewer, or make more folders: rankinite bin … --shards {members.count}",
        )
    owners = assign_shards(seen_by_first[0], known)
    check_all_have_some(owners, known, shards.source)
    part = shards.part(members, members.number, owners)
    valid_part = None if judges is None else judges.part(members, members.number, assign_shards(seen_by_first[1], known, 1))
    callbacks_here = [*callbacks, group.end_if_interrupted] if group.is_first else ()
    with threads(threads_of(known, chosen_threads())[members.number]):
        return boost(learner, part, valid_part, base, callbacks_here)


def check_joint(learner: Boosting, train: Dataset, valid: Dataset | None) -> tuple[Binned, Binned | None]:
    """The data, known to be folders that members can have some each of; refuses others, and learners that cannot train so."""
    for name, data in (("train", train), ("valid", valid)):
        if data is not None and not isinstance(data, Binned):
            raise DataError(
                f"its rows are in the memory of this process, where the other members cannot read them ({name})",
                place=data.source,
                value=type(data).__name__,
                rule="Members train together on folders of bins alone",
                remedy="Write them first with rankinite.bin(data, folder, shards=…)",
                shell_remedy="Make them first with `rankinite bin … --shards`",
            )
    settings = learner.settings()
    refused = {"step": "newton", "reoptimise": 0} if isinstance(learner, StepSettings) else {}
    for setting, plain in refused.items():
        if settings[setting] != plain:
            raise ArgumentError(
                "looks at all queries at once, which no single member has",
                owner=settings["learner"],
                setting=setting,
                value=settings[setting],
                remedy=f"Train on one machine, or with `{setting}={plain!r}`",
            )
    for setting in learner.functions():
        raise ArgumentError(
            "is a function, which the other members may not have",
            owner=settings["learner"],
            setting=setting,
            value=settings[setting],
            rule="Members train together with settings that a text can name",
            remedy="Train on one machine, or for a measure that is a class",
        )
    if settings["learner"] == "McRank":
        raise ArgumentError(
            "is not trained by several members", place="McRank", remedy="Train it on one machine, or LambdaMART"
        )
    assert isinstance(train, Binned)
    assert valid is None or isinstance(valid, Binned)
    return train, valid


def facts_of_member(*data: Sequence[Manifest]) -> dict[str, Any]:
    """What must be the same at all members, and which folders of each data set this one can read, as the asker knows them."""
    return {
        "name": worker_name(),
        "machine": platform.node(),
        "cores": available_cores(),
        "installed": installed(),
        "processor": _processor(),
        "readable": [[number for number, one in enumerate(manifests) if _sees(one)] for manifests in data],
    }


def threads_of(known: Sequence[dict[str, Any]], asked: int | None) -> list[int]:
    """The threads of each member: as many as were asked for, else the cores of a machine are shared by its members."""
    on_machine = Counter(facts["machine"] for facts in known)
    return [asked or max(1, facts["cores"] // on_machine[facts["machine"]]) for facts in known]


def _sees(manifest: Manifest) -> bool:
    try:
        manifest.codes()
        return read_manifest(Path(manifest.folder)).key == manifest.key
    except (RankiniteError, OSError):
        return False


def _processor() -> str:
    """The kind of processor that code is compiled for: others may round differently."""
    from llvmlite import binding

    return f"{platform.machine()} {binding.get_host_cpu_name()}"


def check_alike(known: Sequence[dict[str, Any]]) -> None:
    """Refuse, by name, a member that differs from the first in what decides the model's bytes."""
    first = known[0]
    for other in known[1:]:
        mine, theirs = ({**one["installed"], "processor": one["processor"]} for one in (first, other))
        for what in dict.fromkeys([*mine, *theirs]):
            if mine.get(what) != theirs.get(what):
                raise RankiniteError(
                    f"the member {other['name']} has {what} {theirs.get(what)}, but {first['name']} has {mine.get(what)}",
                    value=theirs.get(what),
                    rule="Members must be alike, or the model would depend on who has which rows",
                    remedy="Install the same versions everywhere, and take machines of one kind",
                )


def assign_shards(manifests: Sequence[Manifest], known: Sequence[dict[str, Any]], data: int = 0) -> list[int]:
    """The member that has each folder: the largest first, each to the one with the fewest rows among those that can read it.

    ``data``: which of the data sets these are that members were asked about.
    """
    loads = [0] * len(known)
    owners = [-1] * len(manifests)
    for number in sorted(range(len(manifests)), key=lambda number: (-manifests[number].rows, number)):
        able = [member for member, facts in enumerate(known) if number in facts["readable"][data]]
        if not able:
            raise DataError(
                "no member can read this folder as it is here: " + ", ".join(quoted(str(facts["name"])) for facts in known),
                place=manifests[number].folder,
                value=str(manifests[number].folder),
                rule="A folder must be seen under the same path by at least one member",
                remedy="Put it on storage that the machines share, or copy it to one of them",
            )
        owners[number] = min(able, key=lambda member: (loads[member], member))
        loads[owners[number]] += manifests[number].rows
    return owners


def check_all_have_some(owners: Sequence[int], known: Sequence[dict[str, Any]], source: str) -> None:
    """Refuse, by name, a member that gets no folder, as it sees none of them as the others do."""
    for member, facts in enumerate(known):
        if member not in owners:
            raise DataError(
                f"the member {facts['name']} does not see any of these folders as the first one does",
                place=source,
                value=facts["name"],
                rule="Every member has at least one folder",
                remedy="Put them on storage that the machines share, or copy them anew",
            )
