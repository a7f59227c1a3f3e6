"""Rooms in Redis.  A write finds the document as it was read, or doesn't happen.

Keys: `room:<code>` a document; `rooms:due` a sorted set of codes by when each must be
looked at; `made:<request id> <name>` what a create call made; `probe:<worker>` shows that
Redis takes writes; `workers:clock`, `workers:reconciling` and `workers:reconciled` say below
what they are.  Every key but the set expires by itself, and the set forgets a room with it.
The scripts touch several keys: one Redis, or a cluster with one hash slot for them.

All times are the lobbies' own: Redis' clock, so that workers' clocks don't matter, less
the time in which no worker reached Redis.  A host's grace, and everything else that a
lobby waits for, has after such a time what it had left.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeVar, cast

import msgspec
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from servicekit.settings import Credentials
from services.rooms.room import BadRoom, Room, Seen, Times, decode, encode

DUE = "rooms:due"
TTL_SLACK = 3_600_000
"""ms that a document outlives its idle time: for a worker to close its table first, and for times without workers."""
LEASE = 5_000
"""ms after which a room that was taken up and not settled is due again."""
AWAY_PATIENCE = 0.3
"""Seconds for an answer of a Redis that gave none when it was asked last: who waits is told so soon."""
SOME = 100
"""Rooms that are read at once when all are looked through."""
PROBE_EVERY, PROBE_KEPT = 1.0, 60_000
"""Seconds between two trial writes, and ms that Redis keeps one."""

CLOCK, CLOCK_KEPT = "workers:clock", 86_400_000
"""When some worker last came (`beat`), how much time lobbies were spared until then (`skipped`), and until when
they will be (`hold`); ms kept."""
STOOD, HOLD = 2_000, 3_000
"""ms without any worker after which lobbies' time stands still, and for which it still does when one is back.

Gateways say again within 2 s who is there.
"""
RECONCILED, RECONCILED_KEPT = "workers:reconciled", 3_600_000
"""There since the rooms were last held against the engines' tables: a Redis without it may have lost rooms."""
RECONCILING, RECONCILING_KEPT = "workers:reconciling", 10_000
"""The ticket of the worker that does it, for so many ms; empty until it is to be done again."""

_TAKE_DUE = """
local t = redis.call('TIME')
local real = t[1] * 1000 + math.floor(t[2] / 1000)
local clock = redis.call('HMGET', KEYS[2], 'beat', 'skipped', 'hold')
local beat, skipped, hold = tonumber(clock[1] or real), tonumber(clock[2] or 0), tonumber(clock[3] or 0)
local held = math.max(0, math.min(hold, real) - beat)
local stood = math.max(0, real - beat - held - ARGV[4])
if stood > 0 then hold = real + ARGV[5] end
skipped = skipped + held + stood
local now = real - skipped
redis.call('HSET', KEYS[2], 'beat', real, 'skipped', skipped, 'hold', hold)
redis.call('PEXPIRE', KEYS[2], ARGV[3])
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
for _, code in ipairs(due) do redis.call('ZADD', KEYS[1], 'XX', now + ARGV[2], code) end
return {stood, due}
"""
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
local most = tonumber(ARGV[7])
if most >= 0 and redis.call('ZCARD', KEYS[3]) >= most then return {'full'} end
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
_MAY_RECONCILE = """
local held = redis.call('GET', KEYS[1])
if held and (held ~= '' or ARGV[3] == '') then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""
_HAS_RECONCILED = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], '', 'PX', ARGV[2])
if tonumber(ARGV[3]) > 0 then redis.call('SET', KEYS[2], '', 'PX', ARGV[3]) end
return 1
"""


class StoreAway(Exception):
    """Redis can't be reached, or doesn't answer in time.  Nothing is known of a write under way."""


class Full(Exception):
    """There are as many rooms as there may be."""


class Due(NamedTuple):
    """Rooms whose time has come, and for how many ms before that no worker was there."""

    codes: list[str]
    stood: int


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
        self,
        url: str,
        worker: str,
        times: Times,
        told: Told,
        *,
        patience: float = 1.0,
        connections: int = 32,
        credentials: Credentials | None = None,
    ) -> None:
        """`worker`: unlike any other's; `patience`: seconds for an answer, getting a connection included."""
        self._worker, self._times, self._told, self._patience = worker, times, told, patience
        self.failures: Counter[str] = Counter()
        """Questions without an answer, for metrics: `timeout`, `refused` or `connection`."""
        self.timed: Callable[[float], None] = lambda seconds: None
        """Told how long each answer took."""
        self._unwritable: str | None = None
        self._away = False
        self._probe_at = 0.0
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=connections,
            username=credentials.user if credentials is not None else None,
            password=credentials.password if credentials is not None else None,
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
        self._may_reconcile = self._redis.register_script(_MAY_RECONCILE)
        self._has_reconciled = self._redis.register_script(_HAS_RECONCILED)

    async def close(self) -> None:
        await self._redis.aclose()
        await self._redis.connection_pool.aclose()

    async def _ask(self, what: Callable[[], Awaitable[Any]]) -> Any:
        patience = min(self._patience, AWAY_PATIENCE) if self._away else self._patience
        began = time.perf_counter()
        try:
            async with asyncio.timeout(patience):
                answer = await what()
        except (RedisError, OSError, TimeoutError) as error:
            why = f"{type(error).__name__}: {error}".rstrip(": ")
            self._probe_at = 0.0
            # One that refuses is quick about it.
            self._away = isinstance(error, TimeoutError | RedisTimeoutError)
            if isinstance(error, ResponseError):  # no room left, a disk that fails
                self._unwritable = why
            self.failures[_kind(error)] += 1
            self._told(why)
            raise StoreAway(why) from error
        self._away = False
        self.timed(time.perf_counter() - began)
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
                self._probe_at = now + PROBE_EVERY
            raise
        self._unwritable = None
        self._told(None)

    async def now(self) -> int:
        """The lobbies' clock, ms."""
        return (await self._with_clock())[1]

    async def read(self, code: str) -> Seen | None:
        """The room, or None.  Raises StoreAway, BadRoom."""
        raw, now = await self._with_clock(code)
        return None if raw is None else Seen(decode(raw), raw, now)

    async def _with_clock(self, code: str = "") -> tuple[bytes | None, int]:
        async def all_at_once() -> Any:
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.time()
                pipe.hmget(CLOCK, ["beat", "skipped", "hold"])
                if code:
                    pipe.get(f"room:{code}")
                return await pipe.execute()

        (seconds, micros), (beat, skipped, hold), *raw = await self._ask(all_at_once)
        real = int(seconds) * 1000 + int(micros) // 1000
        gap = real - int(beat or real)
        held = max(0, min(int(hold or 0), real) - int(beat or real))
        now = real - int(skipped or 0) - held - max(0, gap - held - STOOD)
        return cast("bytes | None", raw[0]) if raw else None, now

    async def write(self, raw: bytes, room: Room, due: int) -> bool:
        """Put `room` where `raw` was; False when somebody else wrote first.

        A repetition of a write that went through unheard is True as well: `room.write`
        must be new for each.
        """
        args: list[bytes | str | int] = [raw, encode(room), self._times.idle + TTL_SLACK, due, room.room]
        keys = [f"room:{room.room}", DUE]
        return bool(await self._ask(lambda: self._commit(keys=keys, args=args)))

    async def create(self, request: str, room: Room, due: int, most: float = math.inf) -> Made | None:
        """The room that this request made, now or before; None when the code is taken.

        Raises Full when there are `most` rooms already, whoever of the workers made them.
        """
        made = Made(room.room, room.birth, room.host)
        keep = self._times.request if request else 0
        keys = [f"made:{request}", f"room:{room.room}", DUE]
        ttl = self._times.idle + TTL_SLACK
        bound = -1 if most == math.inf else int(most)
        args: list[bytes | str | int] = [encode(room), ttl, due, room.room, msgspec.json.encode(made), keep, bound]
        answer = await self._ask(lambda: self._create(keys=keys, args=args))
        if answer[0] == b"taken":
            return None
        if answer[0] == b"full":
            raise Full
        return made if answer[0] == b"made" else msgspec.json.decode(answer[1], type=Made)

    async def forget_request(self, request: str) -> None:
        """The room it made is gone: the request may make another."""
        await self._ask(lambda: self._redis.delete(f"made:{request}"))

    async def remove(self, code: str, raw: bytes | None) -> bool:
        """The room and its timer away, unless it was written since; with None, only a timer without a room."""
        keys = [f"room:{code}", DUE]
        return bool(await self._ask(lambda: self._remove(keys=keys, args=[raw or b"", code])))

    async def take_due(self, limit: int) -> Due:
        """Codes whose time has come, for this worker alone until LEASE is over.  Keeps the lobbies' clock going."""
        args = [limit, LEASE, CLOCK_KEPT, STOOD, HOLD]
        stood, codes = await self._ask(lambda: self._take_due(keys=[DUE, CLOCK], args=args))
        return Due([code.decode() for code in codes], int(stood))

    async def count(self) -> int:
        """How many rooms there are."""
        return int(await self._ask(lambda: self._redis.zcard(DUE)))

    # ---- held against the engines' tables ----

    async def codes(self, cursor: int = 0) -> tuple[int, list[str]]:
        """Some of all rooms' codes, and where the others are found: 0 when these were the last.  Some come twice."""
        cursor, found = await self._ask(lambda: self._redis.zscan(DUE, cursor, count=SOME))
        return int(cursor), [code.decode() for code, _ in found]

    async def rooms(self, codes: list[str]) -> list[Room]:
        """Those of them that are there and can be read."""
        if not codes:
            return []
        found = []
        for raw in await self._ask(lambda: self._redis.mget([f"room:{code}" for code in codes])):
            with contextlib.suppress(BadRoom):
                if raw is not None:
                    found.append(decode(raw))
        return found

    async def doubtful(self) -> bool:
        """Redis may have lost rooms whose tables are still played: nobody has looked since it was empty."""
        return not await self._ask(lambda: self._redis.exists(RECONCILED))

    async def may_reconcile(self, ticket: str, early: bool) -> bool:
        """Whether this worker is to do it now, and no other.  `early`: though it isn't time yet."""
        args: list[str | int] = [ticket, RECONCILING_KEPT, "early" if early else ""]
        return bool(await self._ask(lambda: self._may_reconcile(keys=[RECONCILING], args=args)))

    async def has_reconciled(self, ticket: str, wholly: bool, again: int) -> bool:
        """To be done again in `again` ms.  False: Redis lost its ticket meanwhile, and what else?"""
        args: list[str | int] = [ticket, again, RECONCILED_KEPT if wholly else 0]
        return bool(await self._ask(lambda: self._has_reconciled(keys=[RECONCILING, RECONCILED], args=args)))


def _kind(error: Exception) -> str:
    if isinstance(error, TimeoutError | RedisTimeoutError):
        return "timeout"
    return "refused" if isinstance(error, ResponseError) else "connection"
