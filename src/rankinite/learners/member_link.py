"""The link between the first member and the driver, who has the callbacks: a connection on which they take turns.

After every round the member tells how things stand and waits for the answer: go on, end, or send the ranker. So callbacks,
checkpoints and Ctrl-C are the driver's, who is no member and has no rows.
"""

from __future__ import annotations

import secrets
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, answer_challenge, deliver_challenge
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Self

from rankinite.learners.base import Callback, Progress, ResumableCallback
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
    """At the driver: answers the first member. A context: leaving it hangs up."""

    def __init__(self, host: str, callbacks: Sequence[Callback]) -> None:
        self._callbacks = callbacks
        self._secret, self._server = secrets.token_bytes(32), socket.create_server((host, 0))
        self.address = LinkAddress(host, self._server.getsockname()[1], self._secret)
        self._admitted: SimpleQueue[Connection] = SimpleQueue()
        self._connection: Connection | None = None
        self.is_interrupted = False
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_problem: object) -> None:
        self.close()
        self._server.close()

    def _listen(self) -> None:
        """Let whoever comes to the port prove that they know the secret; others must neither keep us waiting nor end us."""
        with suppress(OSError):  # the server is closed
            while True:
                caller, _ = self._server.accept()
                threading.Thread(target=self._admit, args=(caller,), daemon=True).start()

    def _admit(self, caller: socket.socket) -> None:
        connection = Connection(caller.detach())
        try:
            deliver_challenge(connection, self._secret)
            answer_challenge(connection, self._secret)
        except (AuthenticationError, OSError, EOFError, ValueError, AssertionError):
            connection.close()
        else:
            self._admitted.put(connection)

    def answer(self, seconds: float) -> None:
        """Answer a message, if one comes in this time. What a callback raises is raised."""
        message = self._message(seconds)
        if message is None:
            return
        if message[0] == "resume":
            self._send(("kept", self._kept(*message[1:])))
        elif message[0] == "round":
            said = self._call_back(message[1])
            self._send(("interrupt",) if self.is_interrupted else ("go", said))

    def _message(self, seconds: float) -> Any:
        """What the member says; None where it says nothing in this time, or has hung up, as its task will soon be done."""
        if self._connection is None:
            with suppress(Empty):
                self._connection = self._admitted.get(timeout=seconds)
            return None
        if self._connection.closed:
            time.sleep(seconds)
            return None
        try:
            return self._connection.recv() if self._connection.poll(seconds) else None
        except (OSError, EOFError):
            self.close()
            return None

    def _send(self, message: Any) -> None:
        with suppress(OSError):  # the member is gone; its task says why
            if self._connection is not None:
                self._connection.send(message)

    def _kept(self, settings: dict[str, Any], data: dict[str, str]) -> Forest | None:
        found = [callback.resume(settings, data) for callback in self._callbacks if isinstance(callback, ResumableCallback)]
        return max((forest for forest in found if forest is not None), key=lambda forest: forest.rounds, default=None)

    def _call_back(self, facts: dict[str, Any]) -> bool:
        progress = Progress(**facts, ranker=self._ranker)
        ends = [callback(progress) for callback in self._callbacks]
        return any(ends)

    def _ranker(self) -> Any:
        assert self._connection is not None  # the message came through it
        try:
            self._connection.send(("ranker",))
            return self._connection.recv()[1]
        except (OSError, EOFError) as problem:
            raise lost() from problem

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
