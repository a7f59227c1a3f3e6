"""A seat at a table, as a gateway's socket or a bot drives it: attach, send, resend, hear.

    session = SeatSession(feeds, request, sink)
    await session.attach()          # sink.on_snapshot has been called when this returns
    session.send(17, message)       # answered by a frame, or by sink.on_answer
    session.close()

Commands stay here until they are answered, so that they can be sent again in order;
ids are contiguous per tab, so a doubled one is answered again and never decided twice.
The question for the answer to a decided one is kept in the same way.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Protocol

import msgspec

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit.audience import Audience
from servicekit.engines import EngineAway, EngineRefusal
from servicekit.feed import Feeds, RoomFeed
from wire.client_out import Error, Expect
from wire.frames import Frame
from wire.places import partition_of

MAX_UNANSWERED = 256
"""Moves of one session that may wait for their answers; as many decided ones may be asked about."""
EXPECT_PAUSE = 0.1
"""Seconds in which the same EXPECT again changes nothing: one comes for each command behind a gap."""


class Sent(Enum):
    """What became of a move that was given to a session."""

    TAKEN = "taken"
    """On its way, or there already."""
    GAP = "gap"
    """An id is missing before it: the sink was told `expect`."""
    FULL = "full"
    """Too many wait for their answers."""
    OVER = "over"
    """This session doesn't play any more."""


class SeatSink(Protocol):
    """Who sits here.  None of these may wait.  Bodies are the bytes that browsers get."""

    def on_snapshot(self, body: bytes) -> None: ...

    def on_frame(self, kind: int, body: bytes) -> None:
        """`kind`: frames.TABLE or frames.SEAT."""
        ...

    def on_answer(self, body: bytes) -> None:
        """A client_out.Answer, Expect or Error about one of the own moves."""
        ...

    def on_waiting(self) -> None:
        """The engine can't be reached just now; a snapshot ends it.  Moves may still be sent: they are kept."""
        ...

    def on_taken_over(self) -> None:
        """Another tab or driver has the seat.  Final."""
        ...

    def on_superseded(self) -> None:
        """A socket of the same tab that said hello later has the seat.  Final for this one."""
        ...

    def on_no_table(self) -> None:
        """The table is gone.  Final."""
        ...


class MakeSeat(Protocol):
    """As SeatSession is made."""

    def __call__(
        self,
        feeds: Feeds,
        request: pb.AttachRequest,
        sink: SeatSink,
        *,
        timed: Callable[[float], None] | None = None,
    ) -> SeatSession: ...


class _SeenMember(msgspec.Struct):
    seat: int
    present: bool = False


class _SeenTable(msgspec.Struct):
    members: list[_SeenMember]


class _Seen(msgspec.Struct):
    """What is read of a snapshot here: who is present."""

    table: _SeenTable


class SeatSession:
    """One attach of one tab.  `request` names room, table, player and tab.

    Closed while it attaches, it detaches as soon as it may: don't cancel `attach`.

    `timed` is told the seconds from each move's `send` to its answer.
    """

    def __init__(
        self,
        feeds: Feeds,
        request: pb.AttachRequest,
        sink: SeatSink,
        *,
        timed: Callable[[float], None] | None = None,
    ) -> None:
        self.room = request.room
        self.partition = partition_of(request.room)
        self.seat = -1
        self.session = 0
        self.answered = 0
        self.last = 0
        """The highest id taken from the sink."""
        self.sent_to = ""
        self.oldest = math.inf
        self.stalled = False
        self.over = False
        self._detach = True
        self._leaving = False
        self._feeds = feeds
        self._loop = asyncio.get_running_loop()  # asked once: each question is a system call
        self._engines = feeds.engines
        self.request = request
        self._sink = sink
        self._feed: RoomFeed | None = None
        self._audience = Audience(self, self._view)
        self._unanswered: deque[pb.Command] = deque()
        self._sent_at: deque[float] = deque()
        self._timed = timed
        self._attempt = 0
        self._attaching_again = False
        self._questions: dict[int, pb.Command] = {}
        """Decided moves that came again, by id: the engine is asked for their answers until it gives them."""
        self._repeated: dict[int, pb.Command] = {}
        """Moves that came again before their answers, by id: a snapshot settles them and doesn't say how."""
        self._expected = (0, -math.inf)

    # ---- coming and going ----

    async def attach(self, timeout: float | None = None) -> None:
        """Take the seat.  Raises EngineRefusal (`no_table`, …) or EngineAway; then close and, later, try anew.

        `over` afterwards: a newer tab had come already, and the sink was told.
        """
        feed = await self._feeds.enter(self.room)
        if self.over:
            self._feeds.leave(feed)
            raise EngineAway("closed while attaching")
        self._feed = feed
        self._audience.unseated = True
        self._feed.audiences.append(self._audience)
        self.request.attempt = self._attempt = self._engines.new_attempt()
        try:
            response = await self._engines.attach(self.request, timeout)
        except BaseException as error:
            given_up = self.over
            self.close(detach=False)
            if not isinstance(error, EngineRefusal):
                # Perhaps it is attached all the same: nobody would ever hear of that.
                self._engines.detach_attempt(self.room, self._attempt)
            if given_up or not isinstance(error, EngineRefusal) or error.detail not in ("taken_over", "superseded"):
                raise
            if error.detail == "superseded":
                self._sink.on_superseded()
            else:
                self._sink.on_taken_over()
            return
        if self.over:
            if self._detach:
                self._engines.detach(self.room, response.seat, response.session)
            raise EngineAway("closed while attaching")
        self.seat, self.session = response.seat, response.session
        self.answered = self.last = response.snapshot.answered
        self._audience.seat = response.seat
        self._engines.register(self)
        self._audience.release(response.snapshot)

    def close(self, *, detach: bool = True) -> None:
        """Stop hearing.  `detach`: the socket is gone; an older session's detach changes nothing."""
        if self.over and self._feed is None:
            return
        self.over, self._detach = True, detach
        self._audience.close()
        if self.session:
            self._engines.unregister(self)
            if detach:
                self._engines.detach(self.room, self.seat, self.session)
        self._unanswered.clear()
        self._sent_at.clear()
        self._questions.clear()
        self._repeated.clear()
        if self._feed is not None:
            if self._audience in self._feed.audiences:
                self._feed.audiences.remove(self._audience)
            self._feeds.leave(self._feed)
            self._feed = None

    # ---- moves ----

    def send(self, id: int, body: bytes) -> Sent:
        """Send a move message, whole.  Ids count up by one; one that was answered is answered again."""
        if self.over or not self.session:
            return Sent.OVER
        if id > self.last + 1:
            self._sink.on_answer(msgspec.json.encode(Expect(self.last + 1)))
            return Sent.GAP
        command = pb.Command(
            room=self.room, seat=self.seat, session=self.session, id=id, body=body, kind=pb.COMMAND_KIND_MOVE
        )
        if id <= self.answered:
            if id in self._questions:
                return Sent.TAKEN
            if len(self._questions) >= MAX_UNANSWERED:
                return Sent.FULL
            self._questions[id] = command
            self._put(command)
            return Sent.TAKEN
        if id <= self.last:
            # The client may be ahead of us: a table frame showed it the move, and the seat's own is missing here.
            self._repeated[id] = command
            return Sent.TAKEN
        if len(self._unanswered) >= MAX_UNANSWERED:
            return Sent.FULL
        self.last = id
        if b'"leave"' in body:  # it may be gone at its own wish from now on
            self._leaving = True
        self._unanswered.append(command)
        self._sent_at.append(self._loop.time())
        self._put(command)
        return Sent.TAKEN

    def _put(self, command: pb.Command) -> None:
        if self.oldest == math.inf:
            self.oldest = self._loop.time()
        self._engines.send(self, command)

    @property
    def waiting_for_answers(self) -> int:
        return len(self._unanswered) + len(self._questions)

    def outstanding(self) -> Iterator[pb.Command]:
        """By id: whatever is decided has lower ones than what isn't."""
        return iter((*(self._questions[id] for id in sorted(self._questions)), *self._unanswered))

    def on_reply(self, reply: pb.Reply) -> None:
        if self.over:
            return
        if reply.kind == pb.REPLY_KIND_ANSWERED:
            asked = self._questions.pop(reply.id, None)
            repeated = self._repeated.pop(reply.id, None)
            wanted = reply.id > self.answered or asked is not None or repeated is not None
            self._settle(reply.id)
            if asked is not None:
                self._clock()
            if wanted:
                self._sink.on_answer(reply.body)
        elif reply.kind == pb.REPLY_KIND_EXPECT:
            self._rewind(reply.id)
        elif reply.kind == pb.REPLY_KIND_BAD:
            self._bad(reply)
        elif reply.kind == pb.REPLY_KIND_TAKEN_OVER:
            self._end(self._sink.on_taken_over)
        elif reply.kind == pb.REPLY_KIND_NO_TABLE:
            self._end(self._sink.on_no_table)

    def _rewind(self, id: int) -> None:
        now = self._loop.time()
        if self._expected[0] == id and now - self._expected[1] < EXPECT_PAUSE:
            return
        self._expected = (id, now)
        self._settle(id - 1)
        if not self._unanswered or self._unanswered[0].id > id:
            if id <= self.last:  # what is missing was never here: the client has it
                self._unanswered.clear()
                self._sent_at.clear()
                self._free(id)
                self._clock()
                self._sink.on_answer(msgspec.json.encode(Expect(id)))
        elif not self.stalled:
            self._engines.stall(self)

    def _bad(self, reply: pb.Reply) -> None:
        """The id is free again: what followed it is dropped here, since the engine won't take it."""
        if not self._unanswered or not self._unanswered[0].id <= reply.id <= self.last:
            return
        followed = self.last > reply.id
        while self._unanswered and self._unanswered[-1].id >= reply.id:
            self._unanswered.pop()
            self._sent_at.pop()
        self._free(reply.id)
        self._clock()
        body = reply.body or msgspec.json.encode(Error("bad_message", id=reply.id))
        self._sink.on_answer(body)
        if followed:
            self._sink.on_answer(msgspec.json.encode(Expect(reply.id)))

    def _free(self, id: int) -> None:
        """This id and those above are another move's from now on."""
        self.last = id - 1
        self._repeated = {i: command for i, command in self._repeated.items() if i < id}

    def _settle(self, id: int) -> None:
        """Everything up to `id` has been decided."""
        settled = False
        while self._unanswered and self._unanswered[0].id <= id:
            self._unanswered.popleft()
            sent_at = self._sent_at.popleft()
            settled = True
            if self._timed is not None:
                self._timed(self._loop.time() - sent_at)
        if id > self.answered:
            self.answered = id
            self.last = max(self.last, id)
        if settled and not self._questions:  # else moves that are answered would put off a lost question
            self._clock()

    def _clock(self) -> None:
        self.oldest = self._loop.time() if self.waiting_for_answers else math.inf

    def _end(self, tell: Callable[[], None]) -> None:
        if self.over:
            return
        self.close(detach=False)
        tell()

    # ---- frames ----

    async def _view(self, timeout: float) -> pb.Snapshot:
        request = pb.ViewRequest(room=self.room, table=self.request.table, seat=self.seat, session=self.session)
        if not self._attaching_again:
            snapshot = (await self._engines.view(request, timeout)).snapshot
            if not self._given_up(snapshot):
                return snapshot
        # Our beats were lost for too long.  No newer tab has the seat, or View had said so.
        # Once tried, a View won't do any more: the session that it names may be an older one of our own.
        self._attaching_again = True
        self.request.attempt = self._attempt
        response = await self._engines.attach(self.request, timeout)
        self._attaching_again = False
        self._become(response.session)
        return response.snapshot

    def _given_up(self, snapshot: pb.Snapshot) -> bool:
        """The engine has detached this session by itself, though its socket is here."""
        if self.request.worker or self._leaving:
            return False
        try:
            members = msgspec.json.decode(snapshot.body, type=_Seen).table.members
        except msgspec.DecodeError:
            return False
        return any(m.seat == self.seat and not m.present for m in members)

    def _become(self, session: int) -> None:
        """The same tab in a newer session: what has no answer is sent again as of that one."""
        self._engines.unregister(self)
        self.session = session
        for command in self.outstanding():
            command.session = session
        self.stalled = False
        self._engines.register(self)
        if self.waiting_for_answers:
            self._engines.stall(self)

    def on_frame(self, frame: Frame) -> None:
        for seat, session, id in frame.answered:
            if seat != self.seat:
                continue
            if session > self.session:
                self._end(self._sink.on_taken_over)
                return
            if session == self.session:
                self._settle(id)
                self._repeated.pop(id, None)  # a lower one's frame is on its way, or missing: a snapshot comes then
        if frame.body:
            self._sink.on_frame(frame.kind, frame.body)

    def on_snapshot(self, snapshot: pb.Snapshot) -> None:
        self._feeds.counts.snapshots += 1
        self._settle(snapshot.answered)
        self._sink.on_snapshot(snapshot.body)
        for id in sorted(i for i in self._repeated if i <= snapshot.answered):
            command = self._questions[id] = self._repeated.pop(id)
            command.session = self.session
            self._put(command)

    def on_waiting(self) -> None:
        self._sink.on_waiting()

    def on_refused(self, detail: str) -> None:
        self._end(self._sink.on_taken_over if detail == "taken_over" else self._sink.on_no_table)
