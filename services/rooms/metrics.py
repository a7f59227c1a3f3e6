"""All metrics of rooms.  No room and no player is ever a label."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class RoomsMetrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._calls = Counter(
            "snatch_rooms_calls", "Calls, by their answer.", ["call", "answer"], registry=self.registry
        )
        self._seconds = Histogram(
            "snatch_rooms_call_seconds", "From call to answer.", ["call"], buckets=_SECONDS, registry=self.registry
        )
        self._rooms = Gauge("snatch_rooms_open", "Rooms there are, as this worker last saw.", registry=self.registry)
        self._capacity = Gauge(
            "snatch_rooms_capacity", "Rooms that there may be at once; +Inf: no bound is known.", registry=self.registry
        )
        self._refused = Counter(
            "snatch_rooms_refused",
            "Rooms and bots refused because all places are taken.",
            ["what"],
            registry=self.registry,
        )
        self._conflicts = Counter(
            "snatch_rooms_write_conflicts", "Writes that found another's and began again.", registry=self.registry
        )
        self._published = Counter("snatch_rooms_lobbies_published", "Lobby frames sent.", registry=self.registry)
        self._starts = Counter(
            "snatch_rooms_tables_asked_for", "Tables asked for, by outcome.", ["outcome"], registry=self.registry
        )
        self._closed = Counter(
            "snatch_rooms_tables_closed", "Tables that ended, by why.", ["why"], registry=self.registry
        )
        self._hosts = Counter("snatch_rooms_hosts_passed", "Rooms passed on in the lobby.", registry=self.registry)
        self._expired = Counter("snatch_rooms_expired", "Rooms gone with nobody in them.", registry=self.registry)
        self._news = Counter("snatch_rooms_news", "Engines' news, by what.", ["what"], registry=self.registry)
        self._reconciled = Counter(
            "snatch_rooms_reconciled",
            "Rooms and tables that disagreed, by what was done.",
            ["what"],
            registry=self.registry,
        )
        self._looked = Gauge(
            "snatch_rooms_reconciled_time_seconds",
            "When this worker last held all rooms against all tables, Unix time.",
            registry=self.registry,
        )
        self._away_seconds = Counter(
            "snatch_rooms_redis_away_seconds", "Seconds without an answer of Redis.", registry=self.registry
        )
        self._away = Gauge("snatch_rooms_redis_away", "1 while Redis doesn't answer.", registry=self.registry)

    def call_answered(self, call: str, answer: str, seconds: float) -> None:
        self._calls.labels(call, answer).inc()
        self._seconds.labels(call).observe(seconds)

    def rooms_counted(self, count: int) -> None:
        self._rooms.set(count)

    def watch_capacity(self, most: Callable[[], float]) -> None:
        """Asked when it is scraped."""
        self._capacity.set_function(most)

    def no_place_for(self, what: str) -> None:
        """`room` or `bot`."""
        self._refused.labels(what).inc()

    def write_conflicted(self) -> None:
        self._conflicts.inc()

    def lobby_published(self) -> None:
        self._published.inc()

    def table_asked_for(self, outcome: str) -> None:
        self._starts.labels(outcome).inc()

    def table_closed(self, why: str) -> None:
        self._closed.labels(why).inc()

    def host_passed(self) -> None:
        self._hosts.inc()

    def room_expired(self) -> None:
        self._expired.inc()

    def news_heard(self, what: str) -> None:
        self._news.labels(what).inc()

    def reconciled(self, what: str) -> None:
        """`relisted`, `table_gone`, `adopted`, `orphan` or `foreign`: see operations.md."""
        self._reconciled.labels(what).inc()

    def reconciled_all(self) -> None:
        self._looked.set_to_current_time()

    def redis_is_away(self, away: bool) -> None:
        self._away.set(away)

    def redis_was_away(self, seconds: float) -> None:
        self._away_seconds.inc(seconds)
