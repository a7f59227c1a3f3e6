"""The gateway's metrics, by what happened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from servicekit.engines import Counts
from servicekit.feed import FeedCounts
from servicekit.feed_metrics import count_feeds
from servicekit.meters import SECONDS
from servicekit.socket_metrics import SocketMetrics
from wire.client_in import FELT_MS

MOVE_SECONDS = (0.001, 0.002, 0.004, 0.006, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10)
"""What a move takes here: 0.1 is what the objective is about."""
SEEN_SECONDS = tuple(ms / 1000 for ms in FELT_MS)
"""What it takes for those who make it, their network's way included."""
STATUSES = (200, 201, 400, 403, 404, 405, 409, 413, 415, 429, 500, 503)
COMMANDS = {
    "sent": "Commands sent to engines.",
    "sent_again": "Commands sent once more, for want of an answer.",
    "not_owner": "Commands that came to an engine without their partition.",
    "overdue": "Commands that had no answer in time, so that their owner was looked for anew.",
    "queue_full": "Commands kept back because an engine's stream took no more.",
    "broken_streams": "Streams to engines that broke: an engine ended, or the way to it did.",
    "busy": "Commands that an engine didn't take, its queue being full.",
}
"""Fields of `Counts`."""


class SentCounts(msgspec.Struct):
    """Plain numbers: counted for every frame and socket."""

    frames_sent: int = 0
    frame_bytes: int = 0


class ReceivedCounts(msgspec.Struct):
    """Messages from browsers by what they are."""

    move: int = 0
    ping: int = 0
    lobby: int = 0
    felt: int = 0
    bad: int = 0


class GatewayMetrics(SocketMetrics):
    def __init__(self) -> None:
        super().__init__("gateway", "Players'")
        meters = self.meters
        self._seats = meters.level("seats", "Sockets that are attached to a seat: players at tables.")
        self.received = ReceivedCounts()
        kinds = ReceivedCounts.__struct_fields__
        received = meters.counts("received", "Messages from browsers, by what they are.", kind=kinds)
        received.read = lambda: {(kind,): getattr(self.received, kind) for kind in kinds}
        self.sent = SentCounts()
        meters.count("frames_sent", "Frames and snapshots written to sockets.").read = lambda: self.sent.frames_sent
        meters.count("frame_bytes", "Their bytes.").read = lambda: self.sent.frame_bytes
        self._throttled = meters.count("throttled", "Messages that had to wait for their turn.")
        self.move_answered = meters.spread(
            "move_seconds", "From a move's arrival to its answer written to the socket.", MOVE_SECONDS
        ).observe
        """Told the seconds of each."""
        self._unanswered = meters.count("moves_unanswered", "Moves whose socket was gone before their answer.")
        self._pending = meters.level("moves_pending", "Moves that wait for their answer now.")
        self._attached = meters.spread("attach_seconds", "From wanting a seat to its snapshot.", SECONDS)
        self._http = meters.counts(
            "http_requests",
            "Calls of the HTTP API, by status.",
            call=("create", "join", "look", "schema", "qr"),
            status=map(str, STATUSES),
        )
        self._commands = {field: meters.count(f"commands_{field}", text) for field, text in COMMANDS.items()}
        self._feeds = count_feeds(meters)
        self._seen = meters.spread(
            "felt_move_seconds", "From a player's move to its being seen done, as their page reports it.", SEEN_SECONDS
        )
        self._felt = meters.counts(
            "felt_events",
            "What pages report to have befallen them: connections lost and had again, errors of scripts.",
            what=("reconnect", "script_error"),
        )
        self._reports = meters.counts(
            "felt_reports", "Reports of pages, by what came of them.", result=("taken", "ignored")
        )

    def seat_taken(self, seconds: float) -> None:
        self._seats.value += 1
        self._attached.observe(seconds)

    def seat_given_up(self) -> None:
        self._seats.value -= 1

    def message_throttled(self) -> None:
        self._throttled.value += 1

    def moves_unanswered(self, moves: int) -> None:
        self._unanswered.value += moves

    def called(self, call: str, status: int) -> None:
        self._http.add(call, str(status))

    def moves_seen(self, counts: Sequence[int], seconds: float) -> None:
        """How many took up to each of SEEN_SECONDS, and longer; the seconds of all of them together."""
        seen = self._seen
        for at, count in enumerate(counts):
            seen.counts[at] += count
        seen.sum += seconds

    def befell(self, what: str, times: int) -> None:
        """`reconnect`, `script_error`."""
        self._felt.add(what, by=times)

    def reported(self, *, taken: bool) -> None:
        self._reports.add("taken" if taken else "ignored")

    def watch_counts(self, engines: Counts, feeds: FeedCounts) -> None:
        """Export what the engines' and feeds' clients count."""
        for field, count in self._commands.items():
            count.read = partial(getattr, engines, field)
        self._feeds(feeds)

    def watch_pending(self, moves: Callable[[], int]) -> None:
        self._pending.read = moves
