"""The rooms service, as gateways and watch ask it: any of several workers, round robin.

Every call may be sent twice, to two workers: they are all made for that.  One that gives
no answer in a moment costs whoever asked it that moment: another is asked as well.  From
then on it is passed over, until it answers when it is looked at.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import grpc

from generated.snatch.rooms.v1 import rooms_pb2 as pb
from generated.snatch.rooms.v1.rooms_pb2_grpc import RoomsServiceStub
from servicekit import logs, rpc
from servicekit.call_counts import CallCounts

if TYPE_CHECKING:  # of the stubs alone, not of the generated code
    from generated.snatch.rooms.v1.rooms_pb2_grpc import RoomsServiceAsyncStub

R = TypeVar("R")

HEDGE = 0.5
"""Seconds without an answer until another worker is asked as well."""
LOOK, LOOK_WITHIN = 0.5, 1.0
"""Seconds between looks at a worker that gave no answer, and for its answer to one."""
PAUSE = 0.05
"""Seconds until the next worker is asked when one can't be reached."""
START_WITHIN = 7.0
"""Seconds for a start: an engine opens the table.  The page gives up after 8."""
LOBBY_WITHIN = 1.5
"""Seconds for a lobby: who waits for it can sit down at the table without."""
READY_WITHIN = 1.0

_NO_ANSWER = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)
_AWAY = ("lobby_away", "engine_away")


class LobbyAway(Exception):
    """No worker answers, or Redis is away."""


class LobbyRefusal(Exception):
    """`code` is one of client_out.Error's."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class _Worker:
    """An address and whether it answers."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.channel = rpc.channel(address)
        self.stub: RoomsServiceAsyncStub = RoomsServiceStub(self.channel)
        self.looking: asyncio.Task[None] | None = None
        """While it gives no answer."""


class RoomsClient:
    """`addresses`: `host:port`, comma-separated."""

    def __init__(self, addresses: str, *, timeout: float = 3.0) -> None:
        self.timeout = timeout
        self._addresses = [a.strip() for a in addresses.split(",") if a.strip()]
        self.counts = CallCounts()
        self._workers: list[_Worker] = []
        self._next = 0
        self._log = logs.logger(__name__)

    def start(self) -> None:
        self._workers = [_Worker(address) for address in self._addresses]

    async def stop(self) -> None:
        workers, self._workers = self._workers, []
        looking = [w.looking for w in workers if w.looking is not None]
        for task in looking:
            task.cancel()
        await asyncio.gather(*looking, *(w.channel.close() for w in workers), return_exceptions=True)

    async def create(self, name: str, request_id: str) -> pb.CreateRoomResponse:
        """Raises LobbyRefusal or LobbyAway, as all below do."""
        request = pb.CreateRoomRequest(name=name, request_id=request_id)
        return await self._ask(lambda stub, t: stub.CreateRoom(request, timeout=t), patient=True)

    async def join(self, room: str, name: str, token: str, request_id: str) -> pb.JoinRoomResponse:
        request = pb.JoinRoomRequest(room=room, name=name, token=token, request_id=request_id)
        return await self._ask(lambda stub, t: stub.JoinRoom(request, timeout=t), patient=True)

    async def lobby(self, room: str, token: str = "") -> pb.GetLobbyResponse:
        request = pb.GetLobbyRequest(room=room, token=token)
        return await self._ask(lambda stub, t: stub.GetLobby(request, timeout=t), LOBBY_WITHIN)

    async def act(self, token: str, act: bytes, *, timeout: float | None = None) -> pb.ActResponse:
        request = pb.ActRequest(token=token, act=act, request_id=secrets.token_hex(8))
        return await self._ask(lambda stub, t: stub.Act(request, timeout=t), timeout, patient=True)

    async def presence(self, token: str, socket: str, *, here: bool) -> None:
        kind = pb.PRESENCE_KIND_HERE if here else pb.PRESENCE_KIND_GONE
        request = pb.PresenceRequest(token=token, socket=socket, kind=kind)
        await self._ask(lambda stub, t: stub.Presence(request, timeout=t))

    async def still_here(self, sockets: Sequence[tuple[str, str]]) -> list[str] | None:
        """Tokens and sockets, 64 at most; of each "" or a refusal's code.

        None: those who answer are of a release that must be told one by one.  Raises LobbyAway.
        """
        request = pb.StillHereRequest(sockets=[pb.OpenSocket(token=t, socket=s) for t, s in sockets])
        response = await self._ask(lambda stub, t: _still_here(stub, request, t))
        return list(response.refusals) if len(response.refusals) == len(sockets) else None

    async def ready(self) -> str | None:
        """None when lobbies can be read and written, else why not."""
        try:
            answer = await self._ask(_ask_ready, READY_WITHIN)
        except LobbyRefusal as refusal:
            return f"rooms says {refusal.code}"
        except LobbyAway as away:
            return f"rooms can't be asked: {away}"
        return f"rooms: {answer.missing}" if answer.missing else None

    # ---- asking ----

    async def _ask(
        self,
        call: Callable[[RoomsServiceAsyncStub, float], Awaitable[R]],
        timeout: float | None = None,
        *,
        patient: bool = False,
    ) -> R:
        """The first answer of any.  `patient`: not given up before `timeout`, though nobody can be reached."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + (timeout or self.timeout)
        running: dict[asyncio.Task[R], _Worker] = {}
        tries, why = 0, "no address is set"
        try:
            while self._workers and (left := deadline - loop.time()) > 0:
                if not running and not patient and tries >= 2 * len(self._workers):
                    break
                worker = self._pick(running.values())
                running[asyncio.create_task(_coroutine(call(worker.stub, left)))] = worker
                tries += 1
                while running and (left := deadline - loop.time()) > 0:
                    hedge = len(running) == 1
                    done, _ = await asyncio.wait(
                        running, timeout=min(left, HEDGE) if hedge else left, return_when=asyncio.FIRST_COMPLETED
                    )
                    if not done:
                        why = "no answer in time"
                        for slow in running.values():
                            self._doubt(slow)
                        break  # another as well
                    for task in done:
                        asked = running.pop(task)
                        error = task.exception()
                        if error is None:
                            return task.result()
                        why = self._failed(asked, error)
                if not running:
                    await asyncio.sleep(min(PAUSE, max(0.0, deadline - loop.time())))
        finally:
            for task in running:
                task.cancel()
                task.add_done_callback(lambda t: t.cancelled() or t.exception())
        raise LobbyAway(why)

    def _pick(self, asked: Iterable[_Worker]) -> _Worker:
        """The next in turn: before others one that answers, and one that isn't being asked already."""
        turn = self._next % len(self._workers)
        self._next += 1
        in_turn = self._workers[turn:] + self._workers[:turn]
        taken = list(asked)
        return min(in_turn, key=lambda w: (w in taken, w.looking is not None))

    def _failed(self, worker: _Worker, error: BaseException) -> str:
        """Why there is no answer, for another try.  Raises what was answered."""
        if not isinstance(error, grpc.aio.AioRpcError):
            raise error
        code, detail = error.code(), error.details() or ""
        if detail in _AWAY and code is grpc.StatusCode.UNAVAILABLE:
            raise (LobbyAway(detail) if detail == "lobby_away" else LobbyRefusal(detail)) from None
        if code not in _NO_ANSWER:
            raise LobbyRefusal(detail if detail.isidentifier() else "unknown") from None
        self.counts.failures[code.name] += 1
        self._doubt(worker)
        return code.name.lower()

    # ---- who answers ----

    def _doubt(self, worker: _Worker) -> None:
        """It is passed over from now on, until it answers a look."""
        if worker.looking is None:
            worker.looking = asyncio.create_task(self._look(worker), name=f"rooms-look-{worker.address}")

    async def _look(self, worker: _Worker) -> None:
        silent = False
        while not await _answers(worker.stub):
            if not silent:
                silent = True
                self._log.warning("a rooms worker does not answer, others are asked", rooms=worker.address)
            await asyncio.sleep(LOOK)
        worker.looking = None
        if silent:
            self.counts.reconnects += 1
            self._log.info("a rooms worker answers again", rooms=worker.address)


async def _answers(stub: RoomsServiceAsyncStub) -> bool:
    try:
        await stub.Ready(pb.ReadyRequest(), timeout=LOOK_WITHIN)
    except grpc.aio.AioRpcError as error:
        return error.code() not in _NO_ANSWER or error.details() in _AWAY
    return True


async def _coroutine(call: Awaitable[R]) -> R:
    return await call


async def _still_here(
    stub: RoomsServiceAsyncStub, request: pb.StillHereRequest, timeout: float
) -> pb.StillHereResponse:
    try:
        return await stub.StillHere(request, timeout=timeout)
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.UNIMPLEMENTED:
            return pb.StillHereResponse()
        raise


async def _ask_ready(stub: RoomsServiceAsyncStub, timeout: float) -> pb.ReadyResponse:
    try:
        return await stub.Ready(pb.ReadyRequest(), timeout=timeout)
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.UNIMPLEMENTED:
            return pb.ReadyResponse()  # Of a release that isn't asked so: it answers, and that must do.
        raise
