"""What engines count of tables, hands and partitions is what happened to them."""

from __future__ import annotations

import signal

from services.engine.app import Engine
from services.engine.table import GRACE_MS
from services.engine.tables_seen import QUIET, TablesLook
from tests.services.engine_stack import Driver, EngineStack, bots_table, seated
from tests.services.engine_table import Play
from tests.waiting import reach
from wire.places import PARTITIONS, partition_of

ROOM = "BCDFG"
GAME = "snatch_solitaire"


def told(engine: Engine, name: str, **labels: str) -> float:
    value = engine.registry.get_sample_value(f"snatch_engine_{name}", labels)
    assert value is not None, name
    return value


# ---- tables and hands, without an engine ----


def test_tables_are_counted_by_how_far_they_are_and_who_is_there() -> None:
    look, play = TablesLook(), Play(bots=1, players=3)
    seen = look.look([play.ledger], 0.0)
    assert (seen.tables, seen.players, seen.bots) == ({("twin", "setup"): 1}, {("twin",): 0}, {("twin",): 1})
    play.start()
    assert look.look([play.ledger], 1.0).tables == {("twin", "live"): 1}
    assert look.look([play.ledger], 1.0).players == {("twin",): 3}
    play.phones[1].drop()
    play.phones[0].move("pause")
    seen = look.look([play.ledger], 2.0)
    assert (seen.tables, seen.players) == ({("twin", "paused"): 1}, {("twin",): 2})
    play.phones[0].move("leave")
    assert look.look([play.ledger], 3.0).tables == {}


def test_a_live_hand_in_which_nothing_was_done_for_long_is_quiet() -> None:
    look, play = TablesLook(), Play().start()
    assert look.look([play.ledger], 0.0).quiet == 0
    assert look.look([play.ledger], QUIET - 1).quiet == 0
    assert look.look([play.ledger], QUIET).quiet == 1
    assert play.phones[0].move("take") is None
    assert look.look([play.ledger], QUIET + 1).quiet == 0
    assert look.look([play.ledger], 2 * QUIET + 1).quiet == 1
    play.phones[0].move("pause")
    assert look.look([play.ledger], 9 * QUIET).quiet == 0, "whoever pauses wants it quiet"
    play.phones[0].move("resume")
    for phone in play.phones:
        phone.drop()
    assert look.look([play.ledger], 99 * QUIET).quiet == 0, "nobody is there to wait"


def test_a_hand_that_is_played_out_ends_as_played() -> None:
    play = Play().start()
    play.finish_hand(play.phones[0])
    assert play.hand_ends == ["played"]
    play.phones[0].move("leave")
    assert play.hand_ends == ["played"], "between hands none ends"


def test_a_host_who_leaves_ends_the_hand_and_so_does_one_who_does_not_come_back() -> None:
    play = Play().start()
    play.phones[0].move("leave")
    assert play.hand_ends == ["host_left"]
    play = Play(players=3).start()
    play.phones[0].drop()
    play.wait(GRACE_MS + 5)
    assert play.hand_ends == ["host_left"]


# ---- partitions and moves, by real engines ----


async def test_a_move_is_counted_by_its_result_and_timed_to_its_record_and_its_frame(stack: EngineStack) -> None:
    one = await stack.start("one")
    ann = await seated(stack, ROOM)
    assert await ann.move("options", options={"length": "to25"}) is None
    assert await ann.move("resume") == "not_live"
    await reach(lambda: told(one, "move_frame_seconds_count") == 2, "told")
    assert told(one, "moves_total", game=GAME, result="done") == 1
    assert told(one, "moves_total", game=GAME, result="not_live") == 1
    assert told(one, "move_commit_seconds_count") == 2
    assert 0 <= told(one, "move_commit_seconds_sum") <= told(one, "move_frame_seconds_sum")
    assert told(one, "tables", game=GAME, phase="setup") == 1
    assert told(one, "players", game=GAME) == 1
    assert told(one, "bots", game=GAME) == 1
    assert one.registry.get_sample_value("snatch_nats_connected") == 1


async def test_partitions_that_are_given_away_are_counted_by_who_gives_and_who_takes(stack: EngineStack) -> None:
    one = await stack.start("one")
    await reach(lambda: told(one, "claims_total") == PARTITIONS, "it has all")
    assert told(one, "partitions_open") == PARTITIONS
    epoch = told(one, "partition_epoch", partition=str(partition_of(ROOM)))
    two = await stack.start("two")
    await reach(lambda: told(two, "peers_alive") == 1, "they know each other")
    await stack.stop("one")
    await reach(lambda: told(two, "claims_total") == PARTITIONS, "the other has all")
    assert told(one, "handovers_total", result="offered") == PARTITIONS
    assert told(one, "partitions_lost_total") == 0
    assert told(two, "partition_epoch", partition=str(partition_of(ROOM))) > epoch
    assert told(two, "recovery_seconds_count") == 0, "what is given is nothing to recover from"


async def test_partitions_of_an_engine_that_died_are_recovered_and_how_long_that_took_is_told(
    stack: EngineStack,
) -> None:
    doomed = await stack.process("doomed")
    try:
        await stack.engines.open_table(bots_table(ROOM))
        ann = Driver(stack, ROOM, "p0")
        await ann.attach()
        survivor = await stack.start("survivor")
        await reach(lambda: told(survivor, "peers_alive") == 1, "they know each other")
        doomed.send_signal(signal.SIGKILL)
        await reach(lambda: told(survivor, "partitions_open") == PARTITIONS, "all taken over")
        given = told(survivor, "claims_total") - told(survivor, "recovery_seconds_count")
        assert told(survivor, "recovery_seconds_count") > 0
        assert given >= 0
    finally:
        if doomed.returncode is None:
            doomed.kill()
        await doomed.wait()
