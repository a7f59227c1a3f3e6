"""All metrics of rooms.  No room and no player is ever a label."""

from __future__ import annotations

import time
from collections.abc import Callable

from servicekit.meters import Meters
from servicekit.ties import Ties
from services.rooms.store import Store
from wire.codes import ERRORS

CALLS = ("create", "join", "look", "act", "presence", "still_here")
CALL_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class RoomsMetrics:
    def __init__(self) -> None:
        self.meters = meters = Meters("snatch_rooms")
        self.registry = meters.registry
        self.ties = Ties(self.registry, calls=("engine",))
        self._calls = meters.counts(
            "calls", "Calls, by their answer.", call=CALLS, answer=("ok", *ERRORS, "bad_room", "failed", "cancelled")
        )
        self._seconds = meters.spreads("call_seconds", "From call to answer.", "call", CALLS, CALL_SECONDS)
        self._rooms = meters.level("open", "Rooms there are in all, as this worker last saw: not to be added up.")
        self._capacity = meters.level(
            "capacity", "Rooms that there may be at once, as this worker knows it; +Inf: it knows no bound."
        )
        self._no_place = meters.counts(
            "no_place", "Rooms and tables that were refused because the deployment is full.", what=("room", "bot")
        )
        self._conflicts = meters.count("write_conflicts", "Writes that found another's and began again.")
        self._published = meters.count("lobbies_published", "Lobby frames sent.")
        self._starts = meters.counts(
            "tables_asked_for",
            "Tables asked for, by outcome.",
            outcome=("opened", "was_live", "engine_away", "refused"),
        )
        self._closed = meters.counts(
            "tables_closed",
            "Tables that ended, by why; `lost`: no engine has it any more, and nobody closed it.",
            why=("host_left", "expired", "finished", "lost"),
        )
        self._hosts = meters.count("hosts_passed", "Rooms passed on in the lobby.")
        self._expired = meters.count("expired", "Rooms gone with nobody in them.")
        self._news = meters.counts("news", "Engines' news, by what.", what=("closed", "left", "back", "host"))
        self._reconciled = meters.counts(
            "reconciled",
            "Rooms and tables that disagreed, by what was done.",
            what=("relisted", "table_gone", "adopted", "orphan", "foreign"),
        )
        self._looked = meters.level(
            "reconciled_timestamp_seconds", "When this worker last held all rooms against all tables, Unix time."
        )
        self._away_seconds = meters.count("redis_away_seconds", "Seconds without an answer of Redis.")
        self._away = meters.level("redis_away", "1 while Redis doesn't answer.")
        self._returns = meters.count("redis_returns", "Times that Redis answered again.")
        self._failures = meters.counts(
            "redis_failures",
            "Questions that Redis gave no answer to, by why.",
            kind=("timeout", "refused", "connection"),
        )
        self._asked = meters.spread("redis_seconds", "From a question to Redis to its answer.", CALL_SECONDS)

    def call_answered(self, call: str, answer: str, seconds: float) -> None:
        self._calls.add(call, answer)
        self._seconds.of(call).observe(seconds)

    def rooms_counted(self, count: int) -> None:
        self._rooms.value = count

    def watch_capacity(self, most: Callable[[], float]) -> None:
        """Asked when it is scraped."""
        self._capacity.read = most

    def no_place_for(self, what: str) -> None:
        """`room`: a new one was refused; `bot`: a start, whose bots no worker could drive."""
        self._no_place.add(what)

    def write_conflicted(self) -> None:
        self._conflicts.value += 1

    def lobby_published(self) -> None:
        self._published.value += 1

    def table_asked_for(self, outcome: str) -> None:
        """`opened`, `was_live`, `engine_away` or `refused`."""
        self._starts.add(outcome)

    def table_closed(self, why: str) -> None:
        self._closed.add(why)

    def host_passed(self) -> None:
        self._hosts.value += 1

    def room_expired(self) -> None:
        self._expired.value += 1

    def news_heard(self, what: str) -> None:
        self._news.add(what)

    def reconciled(self, what: str) -> None:
        """`relisted`, `table_gone`, `adopted`, `orphan` or `foreign`: see operations.md."""
        self._reconciled.add(what)

    def reconciled_all(self) -> None:
        self._looked.value = time.time()

    def redis_is_away(self, away: bool) -> None:
        self._away.value = away

    def redis_is_back(self) -> None:
        self._returns.value += 1

    def redis_was_away(self, seconds: float) -> None:
        self._away_seconds.value += seconds

    def watch_store(self, store: Store) -> None:
        """Count its answers, and the want of them."""
        store.timed = self._asked.observe
        self._failures.read = lambda: {(kind,): times for kind, times in store.failures.items()}
