"""Who is thought to have a partition: heard by news, asked for in doubt, and not asked again for what was just said."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from servicekit import placement
from servicekit.placement import Placement
from tests.servers import NatsServer
from tests.services.test_feed_engines import HERE, World, world
from tests.services.twin_engine import bucket
from tests.waiting import reach
from wire import subjects

New = Callable[[], NatsServer]
NEVER = 1000.0


def counted(placement: Placement) -> list[str]:
    """The keys that its leader is asked for, from now on."""
    asked: list[str] = []
    ask = placement._js.get_last_msg

    async def get_last_msg(stream: str, key: str) -> object:
        asked.append(key)
        return await ask(stream, key)

    placement._js.get_last_msg = get_last_msg  # type: ignore[assignment, method-assign]
    return asked


async def put(w: World, owner: str, epoch: int) -> None:
    kv = await bucket(w.nc)
    entry = {"owner": owner, "addr": f"{owner}:1", "epoch": epoch, "state": "open"}
    await kv.put(subjects.placement_key(HERE), msgspec.json.encode(entry))


async def test_an_owner_that_the_leader_names_again_is_not_asked_for_at_each_doubt(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "READ_AGAIN", NEVER)
    async with world(new_nats) as w:
        p = w.client.placement
        await put(w, "a", 1)
        assert await p.find(HERE) is not None
        asked = counted(p)
        await reach(lambda: p.known(HERE) is not None, "it is heard of")
        p._readings.clear()
        p.doubt(HERE, "a:1")
        assert p.known(HERE) is None
        assert (await p.find(HERE)) is not None
        for _ in range(20):
            p.doubt(HERE, "a:1")
            assert await p.find(HERE) is None
        assert len(asked) == 1
        await put(w, "b", 2)
        await reach(lambda: p.known(HERE) is not None, "news ends the doubt")
        owner = p.known(HERE)
        assert owner is not None
        assert owner.engine == "b"
        p.doubt(HERE, "b:1")
        await p.find(HERE)
        assert len(asked) == 2  # of another owner nothing was asked yet


async def test_the_leader_is_asked_more_and_more_seldom_while_it_says_the_same(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "READ_AGAIN", 0.001)
    monkeypatch.setattr(placement, "READ_AGAIN_MOST", 0.004)
    async with world(new_nats) as w:
        p = w.client.placement
        pauses = []
        for _ in range(5):
            assert await p.read(HERE) is None
            pauses.append(p._readings[HERE].pause)
            p._readings[HERE].at += NEVER  # however long the machine took to come here
        assert pauses == [0.001, 0.002, 0.004, 0.004, 0.004]


async def test_a_doubted_owner_gives_way_to_what_a_wiped_bucket_says(new_nats: New) -> None:
    async with world(new_nats) as w:
        p = w.client.placement
        await put(w, "a", 7)
        await reach(lambda: p.known(HERE) is not None, "it is heard of")
        await w.nc.jetstream().purge_stream(f"KV_{subjects.OWN_BUCKET}")
        p.doubt(HERE, "a:1")
        assert await p.find(HERE) is None
        assert p.known(HERE) is None
        await put(w, "b", 1)
        await reach(lambda: p.known(HERE) is not None, "the new one is heard of")
        owner = p.known(HERE)
        assert owner is not None
        assert (owner.engine, owner.epoch) == ("b", 1)


async def test_a_doubted_owner_gives_way_to_one_of_a_lower_epoch_whose_news_was_passed_over(new_nats: New) -> None:
    async with world(new_nats) as w:
        p = w.client.placement
        await put(w, "a", 7)
        await reach(lambda: p.known(HERE) is not None, "it is heard of")
        asked = counted(p)
        await put(w, "b", 1)
        await w.nc.flush()
        p.doubt(HERE, "a:1")
        owner = await p.find(HERE)
        assert owner is not None
        assert (owner.engine, owner.epoch) == ("b", 1)
        assert len(asked) == 1
