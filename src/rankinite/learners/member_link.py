"""The link between the first member and the driver, who has the callbacks: a connection on which they take turns.

After every round the member tells how things stand and waits for the answer: go on, end, or send the ranker. So callbacks,
checkpoints and Ctrl-C are the driver's, who is no member and has no rows.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import fields
from multiprocessing.connection import Client, Listener
from typing import Any, NamedTuple

from rankinite.learners.base import Callback, Progress, Resuming
from rankinite.models.forest import Forest
from rankinite.workers.collectives import lost

_PLAIN = tuple(f.name for f in fields(Progress) if f.name != "ranker")


class LinkAddress(NamedTuple):
    """Where the driver listens, and the secret that its messages are signed with."""

    host: str
    port: int
    secret: bytes


class MemberLink:
    """At the first member: a callback that asks the driver."""

    def __init__(self, address: LinkAddress, path: str) -> None:
        self.path = path
        """What the driver's checkpoint is called, for messages."""
        self._connection: Any = Client((address.host, address.port), authkey=address.secret)

    def resume(self, settings: dict[str, Any], data: dict[str, str]) -> Forest | None:
        """What the driver has kept of this run."""
        self._send(("resume", settings, data))
        return self._receive()[1]

    def __call__(self, progress: Progress) -> bool:
        """Tell how things stand; whether training is to end."""
        self._send(("round", {name: getattr(progress, name) for name in _PLAIN}))
        while (answer := self._receive())[0] == "ranker":
            self._send(("ranker", progress.ranker()))
        if answer[0] == "interrupt":
            raise KeyboardInterrupt
        return bool(answer[1])

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def _send(self, message: Any) -> None:
        try:
            self._connection.send(message)
        except (OSError, ValueError) as problem:
            raise lost() from problem

    def _receive(self) -> Any:
        try:
            return self._connection.recv()
        except (OSError, EOFError) as problem:  # the driver is gone: so is who wanted the model
            raise lost() from problem


class DriverLink:
    """At the driver: answers the first member."""

    def __init__(self, listener: Listener, callbacks: Sequence[Callback]) -> None:
        self._listener, self._callbacks = listener, callbacks
        self._connection: Any = None
        self.is_interrupted = False

    def answer(self, seconds: float) -> None:
        """Answer a message, if one comes in this time. What a callback raises is raised, and the link hung up."""
        try:
            connection = self._accepted(seconds)
            if connection is None:
                return
            if connection.closed:
                time.sleep(seconds)  # the member has hung up, and its task will soon be done
                return
            if not connection.poll(seconds):
                return
            message = connection.recv()
            if message[0] == "resume":
                connection.send(("kept", self._kept(*message[1:])))
            elif message[0] == "round":
                said = self._told(connection, message[1])
                connection.send(("interrupt",) if self.is_interrupted else ("go", said))
        except (EOFError, ConnectionError, BrokenPipeError):
            self.close()  # the member is gone; its task says why

    def _accepted(self, seconds: float) -> Any:
        if self._connection is None:
            inner: Any = self._listener
            inner._listener._socket.settimeout(seconds)  # noqa: SLF001 - listeners have no timeout of their own
            try:
                self._connection = self._listener.accept()
            except TimeoutError:
                return None
        return self._connection

    def _kept(self, settings: dict[str, Any], data: dict[str, str]) -> Forest | None:
        found = [callback.resume(settings, data) for callback in self._callbacks if isinstance(callback, Resuming)]
        return max((forest for forest in found if forest is not None), key=lambda forest: forest.rounds, default=None)

    def _told(self, connection: Any, facts: dict[str, Any]) -> bool:
        def ranker() -> Any:
            connection.send(("ranker",))
            return connection.recv()[1]

        progress = Progress(**facts, ranker=ranker)
        ends = [callback(progress) for callback in self._callbacks]
        return any(ends)

    def close(self) -> None:
        """Hang up."""
        if self._connection is not None:
            self._connection.close()


class KeptForest:
    """A callback that keeps the forest at the driver every few rounds, so that a lost member costs a few rounds, not all."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._forest: Forest | None = None

    @property
    def rounds(self) -> int:
        """How many rounds it has."""
        return 0 if self._forest is None else self._forest.rounds

    def resume(self, settings: dict[str, Any], data: dict[str, str]) -> Forest | None:
        """What was kept; settings and data are those of the same fit."""
        del settings, data
        return self._forest

    def __call__(self, progress: Progress) -> None:
        """Keep the forest when it is time."""
        if progress.round % self._every == 0:
            found = progress.ranker()
            assert isinstance(found, Forest)
            self._forest = found
