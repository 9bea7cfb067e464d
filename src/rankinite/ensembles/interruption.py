"""Ctrl-C in an ensemble: a learner keeps the rounds it has done, but an ensemble with a half-trained member is none."""

from __future__ import annotations

from rankinite.models.base import Fitted, trained_of


def check_whole(ranker: object) -> None:
    """Raise KeyboardInterrupt again where it ended the training of the ranker or of any of its parts."""
    trained = trained_of(ranker)
    if trained is not None and trained.history is not None and trained.history.stopped == "interrupted":
        raise KeyboardInterrupt
    for part in ranker.inside() if isinstance(ranker, Fitted) else ():
        check_whole(part.ranker)
