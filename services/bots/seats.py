"""The seats that this worker drives: taken when an engine says that one wants a driver."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from random import Random

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import logs
from servicekit.engines import EngineAway, EngineRefusal
from servicekit.feed import Feeds
from servicekit.seat import SeatSession
from services.bots.agenda import Agenda, Looker
from services.bots.driver import Driver
from services.bots.metrics import BotsMetrics
from services.bots.minds import playable
from services.bots.reading import reader
from wire import subjects
from wire.news import BotWanted

FRESH = 2.0
"""Seconds in which a seat taken just now is not taken again: what wants it was said before."""


class _Driven:
    def __init__(self, session: SeatSession, driver: Driver, taken_at: float) -> None:
        self.session, self.driver, self.taken_at = session, driver, taken_at


class Seats:
    """Hears `bots.wanted` in the workers' queue group while there is room for another seat, and offers by name."""

    def __init__(
        self,
        nc: Client,
        feeds: Feeds,
        worker: str,
        capacity: int,
        metrics: BotsMetrics,
        dice: Callable[[], Random] = Random,
    ) -> None:
        self._nc, self._feeds, self._worker, self._capacity = nc, feeds, worker, capacity
        self._metrics, self._dice = metrics, dice
        self._agenda = Agenda(self._look_failed)
        self._driven: dict[tuple[str, int], _Driven] = {}
        self._taking: dict[tuple[str, int], asyncio.Task[None]] = {}
        self._sub: Subscription | None = None
        self._own_sub: Subscription | None = None
        self._subscribing = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self._log = logs.logger(__name__)

    def __len__(self) -> int:
        return len(self._driven)

    async def start(self) -> None:
        self._metrics.seats_are(0, self._capacity)
        self._own_sub = await self._nc.subscribe(subjects.bots_wanted_of(self._worker), cb=self._on_wanted)
        await self._hear_or_not()

    async def stop(self) -> None:
        """Take no more, and let all go.  The worker's last beat says that others may drive them."""
        self._closing = True
        await self._hear_or_not()
        if self._own_sub is not None and not self._nc.is_closed:
            await self._own_sub.unsubscribe()
        for task in (*self._taking.values(), *self._tasks):
            task.cancel()
        await asyncio.gather(*self._taking.values(), *self._tasks, return_exceptions=True)
        for driven in list(self._driven.values()):
            driven.driver.end("stopping")
        self._agenda.close()

    # ---- wanted ----

    @property
    def free(self) -> int:
        """Seats that it could take besides those it has."""
        return max(0, self._capacity - len(self._driven.keys() | self._taking.keys()))

    def _full(self) -> bool:
        return len(self._driven) + len(self._taking) >= self._capacity

    async def _hear_or_not(self) -> None:
        """A full worker leaves the queue group, so that others get what it can't take."""
        async with self._subscribing:
            hear = not self._closing and not self._full()
            if hear and self._sub is None:
                self._sub = await self._nc.subscribe(
                    subjects.BOTS_WANTED, queue=subjects.BOTS_QUEUE, cb=self._on_wanted
                )
            elif not hear and self._sub is not None:
                sub, self._sub = self._sub, None
                if not self._nc.is_closed:
                    await sub.unsubscribe()

    async def _on_wanted(self, message: Msg) -> None:
        try:
            wanted = msgspec.json.decode(message.data, type=BotWanted)
            playable(wanted.game, wanted.level)
        except (msgspec.MsgspecError, KeyError) as error:
            self._metrics.seat_wanted("unknown")
            self._log.error("a seat wants a driver that there is not", why=repr(error))
            return
        key = (wanted.room, wanted.seat)
        driven = self._driven.get(key)
        if self._closing or key in self._taking or (driven is None and self._full()):
            self._metrics.seat_wanted("passed")
            return
        if driven is not None and asyncio.get_running_loop().time() - driven.taken_at < FRESH:
            self._metrics.seat_wanted("passed")
            return
        task = asyncio.create_task(self._take(key, wanted), name=f"bots:{wanted.room}:{wanted.seat}")
        self._taking[key] = task
        task.add_done_callback(lambda _: self._taken(key))

    def _taken(self, key: tuple[str, int]) -> None:
        self._taking.pop(key, None)
        self._count()

    async def _take(self, key: tuple[str, int], wanted: BotWanted) -> None:
        old = self._driven.get(key)
        if old is not None:
            # Its engine doesn't know of it: beats got lost, or the table is another.
            old.driver.end("wanted_again")
        log = self._log.bind(room=wanted.room, seat=wanted.seat)
        game, minds = playable(wanted.game, wanted.level)
        driver = Driver(
            game,
            minds,
            wanted.level,
            reader(wanted.game),
            self._agenda,
            self._dice(),
            self._metrics,
            lambda why: self._let_go(key, driver, why),
        )
        request = pb.AttachRequest(
            room=wanted.room,
            table=wanted.table,
            player=wanted.player,
            tab=secrets.randbelow(0xFFFFFFFF) + 1,
            worker=self._worker,
        )
        session = SeatSession(self._feeds, request, driver)
        driver.line = session
        self._driven[key] = _Driven(session, driver, asyncio.get_running_loop().time())
        try:
            await session.attach()
        except (EngineAway, EngineRefusal) as error:
            self._metrics.seat_wanted("not_taken")
            log.info("a bot could not sit down", why=str(error))
            driver.end("not_taken")
            return
        except BaseException:
            driver.end("failed")
            raise
        if session.over:
            self._metrics.seat_wanted("not_taken")
            return
        self._driven[key].taken_at = asyncio.get_running_loop().time()
        self._metrics.seat_wanted("taken")
        log.debug("a bot sits down", level=wanted.level)

    # ---- let go ----

    def _let_go(self, key: tuple[str, int], driver: Driver, why: str) -> None:
        driven = self._driven.get(key)
        if driven is None or driven.driver is not driver:
            return
        del self._driven[key]
        # An engine that hears of a seat without a driver wants another; a lost table or seat needs none.
        driven.session.close(detach=why in ("unreadable", "failed", "stumbled"))
        self._metrics.seat_let_go(why)
        self._count()

    def _look_failed(self, looker: Looker) -> None:
        self._log.exception("a bot stumbled")
        if isinstance(looker, Driver):
            looker.end("stumbled")

    def _count(self) -> None:
        self._metrics.seats_are(len(self._driven), self._capacity)
        if (self._sub is None) != self._full() and not self._closing:
            task = asyncio.create_task(self._hear_or_not())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
