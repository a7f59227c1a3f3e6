"""Rooms in Redis.  A write finds the document as it was read, or doesn't happen.

Keys: `room:<code>` a document; `rooms:due` a sorted set of codes by when each must be
looked at; `made:<request id> <name>` what a create call made; `probe:<worker>` shows that
Redis takes writes.  Every key but the set expires by itself, and the set forgets a room
with it.  The scripts touch several keys: one Redis, or a cluster with one hash slot for them.

All times are Redis' own, so that workers' clocks don't matter.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

import msgspec
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError

from services.rooms.room import Room, Seen, Times, decode, encode

DUE = "rooms:due"
TTL_SLACK = 120_000
"""ms that a document outlives its idle time, for a worker to close its table first."""
LEASE = 5_000
"""ms after which a room that was taken up and not settled is due again."""
PROBE_EVERY, PROBE_KEPT = 1.0, 60_000
"""Seconds between two trial writes, and ms that Redis keeps one."""

_COMMIT = """
local now = redis.call('GET', KEYS[1])
if now == ARGV[2] then return 1 end
if now ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
redis.call('ZADD', KEYS[2], ARGV[4], ARGV[5])
return 1
"""
_CREATE = """
local made = redis.call('GET', KEYS[1])
if made then return {'repeated', made} end
if redis.call('EXISTS', KEYS[2]) == 1 then return {'taken'} end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[4])
if ARGV[6] ~= '0' then redis.call('SET', KEYS[1], ARGV[5], 'PX', ARGV[6]) end
return {'made'}
"""
_REMOVE = """
local now = redis.call('GET', KEYS[1])
if now and now ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[2])
return 1
"""
_TAKE_DUE = """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
for _, code in ipairs(due) do redis.call('ZADD', KEYS[1], 'XX', now + ARGV[2], code) end
return due
"""


class StoreAway(Exception):
    """Redis can't be reached, or doesn't answer in time.  Nothing is known of a write under way."""


class Made(msgspec.Struct):
    """What a create call made, kept to be answered again."""

    room: str
    birth: str
    player: str


T = TypeVar("T")
Told = Callable[[str | None], None]
"""Hears why Redis is away, and None when it is back; at every call, so it must not mind repetition."""


class Store:
    """The only place that speaks to Redis.  All its questions raise StoreAway."""

    def __init__(
        self, url: str, worker: str, times: Times, told: Told, *, patience: float = 1.0, connections: int = 32
    ) -> None:
        """`worker`: unlike any other's; `patience`: seconds for an answer, getting a connection included."""
        self._worker, self._times, self._told, self._patience = worker, times, told, patience
        self._unwritable: str | None = None
        self._probe_at = 0.0
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=connections,
            timeout=patience,
            # `_ask` has the only clock: redis-py's own is asyncio.wait_for, which may swallow a cancellation.
            socket_timeout=None,
            socket_connect_timeout=patience,
            # Once more, at once: a pooled connection may have died with an older Redis.
            retry=Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
        )
        self._redis: Redis = Redis(connection_pool=pool)
        self._commit = self._redis.register_script(_COMMIT)
        self._create = self._redis.register_script(_CREATE)
        self._remove = self._redis.register_script(_REMOVE)
        self._take_due = self._redis.register_script(_TAKE_DUE)

    async def close(self) -> None:
        await self._redis.aclose()
        await self._redis.connection_pool.aclose()

    async def _ask(self, what: Callable[[], Awaitable[Any]]) -> Any:
        try:
            async with asyncio.timeout(self._patience):
                answer = await what()
        except (RedisError, OSError, TimeoutError) as error:
            why = f"{type(error).__name__}: {error}".rstrip(": ")
            self._probe_at = 0.0
            self._told(why)
            raise StoreAway(why) from error
        self._told(self._unwritable)
        return answer

    async def probe(self) -> None:
        """Try to write, once a second or when something just failed: a full Redis, or one whose disk fails, reads on.

        Until a trial succeeds again, the store is told to be away whatever it answers.
        """
        now = asyncio.get_running_loop().time()
        if now < self._probe_at:
            return
        self._probe_at = now + PROBE_EVERY
        try:
            await self._ask(lambda: self._redis.set(f"probe:{self._worker}", b"", px=PROBE_KEPT))
        except StoreAway as away:
            # One that isn't there at all says nothing of writing: the trial after it is back will.
            if isinstance(away.__cause__, ResponseError):
                self._unwritable, self._probe_at = str(away), now + PROBE_EVERY
            raise
        self._unwritable = None
        self._told(None)

    async def now(self) -> int:
        """Redis' clock, ms."""
        seconds, micros = await self._ask(self._redis.time)
        return int(seconds) * 1000 + int(micros) // 1000

    async def read(self, code: str) -> Seen | None:
        """The room, or None.  Raises StoreAway, BadRoom."""

        async def both() -> Any:
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.get(f"room:{code}")
                pipe.time()
                return await pipe.execute()

        raw, (seconds, micros) = await self._ask(both)
        if raw is None:
            return None
        return Seen(decode(raw), cast(bytes, raw), int(seconds) * 1000 + int(micros) // 1000)

    async def write(self, raw: bytes, room: Room, due: int) -> bool:
        """Put `room` where `raw` was; False when somebody else wrote first.

        A repetition of a write that went through unheard is True as well: `room.write`
        must be new for each.
        """
        args: list[bytes | str | int] = [raw, encode(room), self._times.idle + TTL_SLACK, due, room.room]
        keys = [f"room:{room.room}", DUE]
        return bool(await self._ask(lambda: self._commit(keys=keys, args=args)))

    async def create(self, request: str, room: Room, due: int) -> Made | None:
        """The room that this request made, now or before; None when the code is taken."""
        made = Made(room.room, room.birth, room.host)
        keep = self._times.request if request else 0
        keys = [f"made:{request}", f"room:{room.room}", DUE]
        ttl = self._times.idle + TTL_SLACK
        args: list[bytes | str | int] = [encode(room), ttl, due, room.room, msgspec.json.encode(made), keep]
        answer = await self._ask(lambda: self._create(keys=keys, args=args))
        if answer[0] == b"taken":
            return None
        return made if answer[0] == b"made" else msgspec.json.decode(answer[1], type=Made)

    async def forget_request(self, request: str) -> None:
        """The room it made is gone: the request may make another."""
        await self._ask(lambda: self._redis.delete(f"made:{request}"))

    async def remove(self, code: str, raw: bytes | None) -> bool:
        """The room and its timer away, unless it was written since; with None, only a timer without a room."""
        keys = [f"room:{code}", DUE]
        return bool(await self._ask(lambda: self._remove(keys=keys, args=[raw or b"", code])))

    async def take_due(self, limit: int) -> list[str]:
        """Codes whose time has come, for this worker alone until LEASE is over."""
        codes = await self._ask(lambda: self._take_due(keys=[DUE], args=[limit, LEASE]))
        return [code.decode() for code in codes]

    async def count(self) -> int:
        """How many rooms there are."""
        return int(await self._ask(lambda: self._redis.zcard(DUE)))
