"""A child process that is started again when it dies, and never outlives us."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from stack.log_files import LogFile
from stack.probes import NO_ANSWER, Probe

State = Literal["waiting", "starting", "ready", "not ready", "down", "stopped"]

BACK_OFF = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Seconds before the first, second, … start after a death; the last one from then on."""
LIVED = 3.0
"""A child that got ready and lived so many seconds is back at the first: killed now and then, it never waits."""
HEIRS_FIRST = 3.0
"""Seconds that a dead child rests while others do its work: they take over just then, and a start costs much."""
HEIRS_LOOK = 0.1
HOPELESS = 5
"""Deaths in a row, none of them after being ready: it will not come up."""
HUNG, HUNG_LOOKS = 30.0, 6
"""A child that has answered nothing for so many seconds, so many times, is killed.

Both, since time alone would condemn a child that slept together with us; and a child that is
stopped for a while (a debugger, a laptop's lid, a test of ours) is to wake up and go on.
"""
LAST_WORDS = 1.0
"""Seconds for SIGABRT, at which Python, Go and Valkey write their stacks to the log, until SIGKILL."""

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


@dataclass(frozen=True)
class Part:
    """What is to run.  `stage` orders the end: lower ones are ended first."""

    name: str
    kind: str
    command: Sequence[str]
    probe: Probe
    stage: int
    env: Mapping[str, str] = field(default_factory=dict)
    ports: Mapping[str, int] = field(default_factory=dict)
    folder: Path | None = None
    nice: int = 0
    """Of Unix: who has more of it has less of a busy processor."""
    alive: Probe | None = None
    """Answered by whatever isn't hung, also when others on which it waits are; None: `probe` is."""


class Child:
    """One part, running.  `changed` is called at every change of its state; `has_heirs`: others do its work too."""

    def __init__(
        self,
        part: Part,
        log: LogFile,
        changed: Callable[[Child], None],
        has_heirs: Callable[[Child], bool] = lambda _: False,
    ) -> None:
        self.part = part
        self.log = log
        self.state: State = "waiting"
        self.why = ""
        self.pid: int | None = None
        self.restarts = 0
        self.was_ready = False
        """Ever."""
        self.hopeless = False
        self.killed = False
        self._changed, self._has_heirs = changed, has_heirs
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._ending = False
        self._got_ready = False
        self._silent_since = 0.0
        self._silent_looks = 0

    def start(self) -> None:
        self._ending = False
        self._keeper = asyncio.create_task(self._keep(), name=f"keep:{self.part.name}")

    def _is(self, state: State, why: str = "") -> None:
        if (state, why) != (self.state, self.why):
            self.state, self.why = state, why
            self._changed(self)

    async def _keep(self) -> None:
        quick_deaths = 0
        while not self._ending:
            began = time.monotonic()
            code = await self._live()
            if self._ending:
                return
            steady = self._got_ready and time.monotonic() - began >= LIVED
            quick_deaths = 1 if steady else quick_deaths + 1
            self.hopeless = not self.was_ready and (quick_deaths >= HOPELESS or code == 2)
            self._is("down", described(code))
            await asyncio.sleep(BACK_OFF[min(quick_deaths, len(BACK_OFF)) - 1])
            await self._leave_it_to_heirs()
            self.restarts += 1

    async def _leave_it_to_heirs(self) -> None:
        """For a while, as long as there are any."""
        until = time.monotonic() + HEIRS_FIRST
        while self._has_heirs(self) and time.monotonic() < until:  # noqa: ASYNC110 - a bounded wait, of the supervisor
            await asyncio.sleep(HEIRS_LOOK)

    async def _live(self) -> int:
        """From start to death; the exit code, negative for a signal."""
        me = os.getpid()
        self._got_ready = False
        self._silent_looks = 0
        with self.log.open() as out:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *self.part.command,
                    env={**os.environ, **self.part.env},
                    cwd=self.part.folder,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                    preexec_fn=lambda: self._begin(me),
                )
            except OSError as error:
                self.log.path.open("a").write(f"can't start: {error}\n")
                return 127
        self.pid = self._process.pid
        self._is("starting")
        code = await self._process.wait()
        # What it had started itself (the engine's dealers) must not outlive it.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self.pid = None
        return code

    def _begin(self, parent: int) -> None:
        """In the child, before it runs."""
        die_with_parent(parent)
        if self.part.nice:
            os.nice(self.part.nice)

    async def look(self) -> None:
        """Ask once whether it is ready."""
        pid = self.pid
        if pid is None or self._ending:
            return
        missing = await self.part.probe()
        if self.pid != pid or self._ending:
            return
        if missing is None:
            self.was_ready = self._got_ready = True
            self._is("ready")
        else:
            self._is("not ready" if self.state in ("ready", "not ready") else "starting", missing)
        if missing == NO_ANSWER and self.part.alive is not None:
            missing = await self.part.alive()
        if missing == NO_ANSWER and self.pid == pid:
            await self._suffer_silence(pid)
        else:
            self._silent_looks = 0

    async def _suffer_silence(self, pid: int) -> None:
        """For so long; then make room for a new one."""
        now = time.monotonic()
        if not self._silent_looks:
            self._silent_since = now
        self._silent_looks += 1
        if self._silent_looks < HUNG_LOOKS or now - self._silent_since < HUNG:
            return
        self._silent_looks = 0
        self._is("not ready", f"no answer for {now - self._silent_since:.0f} s: it is killed")
        self.signal(signal.SIGABRT)
        await asyncio.sleep(LAST_WORDS)
        if self.pid == pid:
            self.signal(signal.SIGKILL)

    def signal(self, number: signal.Signals) -> None:
        """To the child; SIGKILL to all that it started too."""
        if self.pid is None:
            return
        with contextlib.suppress(ProcessLookupError):
            if number == signal.SIGKILL:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)

    def ask_to_end(self) -> None:
        """SIGTERM, and no start any more."""
        self._ending = True
        if self.pid is not None:
            self.signal(signal.SIGTERM)
        elif self._keeper is not None:
            self._keeper.cancel()

    async def ended(self, patience: float) -> bool:
        """Whether it has ended, within so many seconds."""
        if self._keeper is not None:
            done, _ = await asyncio.wait({self._keeper}, timeout=max(0.0, patience))
            if not done:
                return False
            self._keeper = None
        self._is("stopped", self.why if self.killed else "")
        return True

    async def kill(self) -> None:
        """SIGKILL, to all that it started too."""
        if self._keeper is None:
            return
        self.killed = True
        self.why = "had to be killed"
        self.signal(signal.SIGKILL)
        await self.ended(1)

    async def stop(self, grace: float) -> None:
        """SIGTERM, and SIGKILL after `grace` seconds."""
        self.ask_to_end()
        if not await self.ended(grace):
            await self.kill()

    async def renew(self, part: Part, grace: float) -> None:
        """End it as `stop` does, and start it as this part; being killed for slowness is not held against it."""
        await self.stop(grace)
        self.killed, self.part = False, part
        self._is("waiting")
        self.start()


def described(code: int) -> str:
    """An exit code in words: `exit 1`, `SIGKILL`."""
    if code >= 0:
        return f"exit {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def die_with_parent(parent: int) -> None:
    """In the child, before it runs: Linux ends it when we die without a word (kill -9)."""
    if _libc is None:
        return
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)
