"""What a move costs where it is decided, over recorded bot hands: `python -m benchmarks.rules --json FILE`.

Bots play whole hands at each of `--seats`, over a line that takes 20 to 120 ms, so that
races are lost as in life.  What they sent is then decided again, move by move, each a
record of its own (the dearest way), and timed.  One process, no I/O, no gRPC.

Keys of the JSON; times in µs, each as `{"p50", "p99", "mean", "best"}`, the last one the
median of each move's fastest round, which a busy machine changes least:

- `decide_evolve_encode`: from a decoded move to the bytes for both audiences: `decide`,
  `evolve`, `follow`, `redact`, frames, and the events as logged
- `decode`: the client's message; `record`: the record's bytes, of one chunk
- `path`: all of it as the engine's batch does it, from the command to record and frames
- `kinds`: per kind of move `count`, `share`, `decide_evolve_encode`; a refused one is
  `<kind>:<code>`
- `game`: `decide`, `evolve`, `follow`, `redact` alone: the game's own part, without any table
- `hands_per_s`: whole hands decided a second by one core, by seats; `moves` of one
- `played_per_s`: the same with the bots' looks and views, as they were recorded
- `python`, `machine`, `rounds`, `seed`, `levels`
"""

from __future__ import annotations

import argparse
import gc
import heapq
import os
import platform
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from games.contract import Refusal
from games.registry import GAMES, MINDS
from generated.snatch.engine.v1 import engine_pb2 as pb
from services.engine import frames, table_moves
from services.engine import records as r
from services.engine import table_store as store
from services.engine.batch import Batch
from services.engine.items import CommandItem
from services.engine.ledger import Ledger, Room
from services.engine.sitting import Sitting
from services.engine.table import COUNTDOWN_MS, Table

GAME = "snatch_solitaire"
ROOM = "BCDFG"
LEVELS = ("easy", "medium", "hard")
LINE_MS = (20, 120)
EPOCH = 3
now_ns = time.perf_counter_ns


@dataclass
class Sent:
    """A move as it arrived: room time, seat, the client's bytes."""

    at: int
    seat: int
    id: int
    body: bytes
    kind: str = ""


@dataclass
class Hand:
    """A hand that was played: the table as it went live, and all that was sent."""

    seats: int
    table: bytes
    start: int
    sent: list[Sent] = field(default_factory=list)
    played_s: float = 0.0


class Nobody:
    """Replies go nowhere."""

    def reply(self, reply: pb.Reply) -> None:
        raise AssertionError(f"a move was not decided: {reply}")


NOBODY = Nobody()


def dealt(seats: int, seed: int) -> Table:
    """A table just gone live, everyone attached."""
    game = GAMES[GAME]
    members = [r.Newcomer(f"player-{seat}", f"Player {seat}", seat) for seat in range(seats)]
    options = {"length": "one"}
    table = Table.open(game, r.Opened("t1", ROOM, GAME, 0, members, options, 0), 0)
    for seat in range(seats):
        table.evolve(r.Attached(seat, 1, 1, via="gateway"), 0)
    table.evolve(r.GameOpened(list(range(seats))), 0)
    table.evolve(r.DealAsked(1), 0)
    table.play(game.deal(range(seats), table.options(), Random(seed)))
    table.evolve(r.CountdownBegun(COUNTDOWN_MS), 0)
    table.evolve(r.WentLive(), COUNTDOWN_MS)
    return table


def ledger_of(table: Table, now: int) -> Ledger:
    ledger = Ledger(GAMES)
    ledger.now = now
    ledger.rooms[ROOM] = Room(table, 1, now)
    return ledger


def decided(ledger: Ledger, now: int, sent: Sent | None) -> tuple[Batch, bytes]:
    """One record, as the engine makes it of what is due and of one command."""
    batch = Batch(ledger, EPOCH, now)
    batch.wake()
    if sent is not None:
        kind = pb.COMMAND_KIND_MOVE
        command = pb.Command(room=ROOM, seat=sent.seat, session=1, id=sent.id, body=sent.body, kind=kind)
        batch.take(CommandItem(command, NOBODY))
    batch.finish()
    record = r.Record(r.VERSION, 0, EPOCH, "data", now, batch.snapshots, batch.chunks)
    body = r.encode(record)
    ledger.committed(record, ledger.last + 1)
    return batch, body


def played(seats: int, level: str, seed: int) -> Hand:
    """A hand of minds of this level, played out."""
    table = dealt(seats, seed)
    hand = Hand(seats, store.dump(table), COUNTDOWN_MS)
    dice = Random(seed)
    minds = [MINDS[GAME](level) for _ in range(seats)]
    ledger = ledger_of(table, COUNTDOWN_MS)
    ids = [0] * seats
    began = time.perf_counter()
    due: list[tuple[int, int, int, Sent | None]] = [(COUNTDOWN_MS + seat, seat, seat, None) for seat in range(seats)]
    heapq.heapify(due)
    count = seats
    while due and table.state.phase == "live":
        at, _, seat, sent = heapq.heappop(due)
        while (wake := table.wakes_at()) is not None and wake <= at and table.state.phase == "live":
            decided(ledger, wake, None)
        count += 1
        if sent is not None:
            decided(ledger, at, sent)
            hand.sent.append(sent)
            heapq.heappush(due, (at + dice.randint(*LINE_MS), count, seat, None))
            continue
        move, pause = minds[seat].look(table.game.view(table.cards, seat), at - COUNTDOWN_MS, dice)
        if move is None:
            heapq.heappush(due, (at + pause, count, seat, None))
            continue
        ids[seat] += 1
        at += dice.randint(*LINE_MS)
        body = msgspec.json.encode({"t": "move", "id": ids[seat], "basis": table.seq, "m": move})
        heapq.heappush(due, (at, count, seat, Sent(at, seat, ids[seat], body)))
    hand.played_s = time.perf_counter() - began
    return hand


class Times:
    """Nanoseconds by what was timed."""

    def __init__(self, rounds: int) -> None:
        """Every round times the same moves in the same order."""
        self.rounds = rounds
        self.of: dict[str, list[int]] = defaultdict(list)
        self.kinds: dict[str, list[int]] = defaultdict(list)

    def shown(self, values: list[int]) -> dict[str, float]:
        ordered = sorted(values)
        at, once = len(ordered) - 1, len(values) // self.rounds
        fastest = sorted(min(values[move::once]) for move in range(once))
        return {
            "p50": round(ordered[at // 2] / 1000, 2),
            "p99": round(ordered[at * 99 // 100] / 1000, 2),
            "mean": round(sum(ordered) / len(ordered) / 1000, 2),
            "best": round(fastest[once // 2] / 1000, 2),
        }


def again(hand: Hand) -> Iterator[tuple[Ledger, Table, Sent]]:
    """Each move, with the table as it was when it arrived; whoever iterates decides it."""
    table = store.load(hand.table, GAMES)
    ledger = ledger_of(table, hand.start)
    for sent in hand.sent:
        while (wake := table.wakes_at()) is not None and wake <= sent.at:
            decided(ledger, wake, None)
        yield ledger, table, sent
    assert table.state.phase != "live", "the hand was decided otherwise than it was played"


def time_parts(hand: Hand, times: Times) -> None:
    """Decode, decide and encode, each by itself."""
    of = times.of
    for ledger, table, sent in again(hand):
        t0 = now_ns()
        asked = table_moves.decode(table.game, sent.body, sent.id)
        t1 = now_ns()
        sitting = Sitting(table, sent.at)
        table_moves.move(sitting, table.state.members[sent.seat], sent.id, asked)
        told = frames.tell(sitting, EPOCH)
        t2 = now_ns()
        r.encode(r.Record(r.VERSION, 0, EPOCH, "data", sent.at, [], [told.chunk]))
        t3 = now_ns()
        ledger.changed(ROOM)
        ledger.last += 1
        of["decode"].append(t1 - t0)
        of["decide_evolve_encode"].append(t2 - t1)
        of["record"].append(t3 - t2)
        kind = type(asked.move).__name__
        times.kinds[f"{kind}:{told.refused[0]}" if told.refused else kind].append(t2 - t1)


def time_path(hand: Hand, times: Times) -> None:
    """The whole of it, by the engine's batch."""
    took = times.of["path"]
    for ledger, _, sent in again(hand):
        t0 = now_ns()
        decided(ledger, sent.at, sent)
        took.append(now_ns() - t0)


def time_game(hand: Hand, times: Times) -> None:
    """The game alone, each of its functions by itself."""
    of = times.of
    for ledger, table, sent in again(hand):
        game, cards = table.game, table.cards
        asked = table_moves.decode(game, sent.body, sent.id)
        now = table.play_now(sent.at)
        t0 = now_ns()
        try:
            events = list(game.decide(cards, sent.seat, asked.move, now, asked.basis))
        except Refusal:
            events = []
        t1 = now_ns()
        for event in events:
            game.evolve(cards, event)
        t2 = now_ns()
        while not game.hand_over(cards) and (following := game.follow(cards, now)):
            for event in following:
                game.evolve(cards, event)
        t3 = now_ns()
        for event in events:
            game.redact(event, None)
            game.redact(event, sent.seat)
        t4 = now_ns()
        for name, took in zip(
            ("decide", "evolve", "follow", "redact"), (t1 - t0, t2 - t1, t3 - t2, t4 - t3), strict=True
        ):
            of["game." + name].append(took)
        if game.hand_over(cards):
            table.evolve(r.HandOver(True, 0), sent.at)
        ledger.changed(ROOM)


def measured(seats: Sequence[int], hands: int, rounds: int, seed: int) -> dict[str, Any]:
    played_hands = [
        played(count, LEVELS[n % len(LEVELS)], seed + 1000 * count + n) for count in seats for n in range(hands)
    ]
    gc.collect()
    gc.freeze()
    times = Times(rounds)
    passes: list[Callable[[Hand, Times], None]] = [time_parts, time_path, time_game]
    for _ in range(rounds):
        for hand in played_hands:
            for one in passes:
                one(hand, times)
    per_s: dict[str, Any] = {}
    played_per_s: dict[str, Any] = {}
    for count in seats:
        of_count = [hand for hand in played_hands if hand.seats == count]
        began = time.perf_counter()
        for hand in of_count:
            for ledger, _, sent in again(hand):
                decided(ledger, sent.at, sent)
        took = (time.perf_counter() - began) / len(of_count)
        moves = round(sum(len(hand.sent) for hand in of_count) / len(of_count))
        per_s[str(count)] = {"hands_per_s": round(1 / took, 1), "moves": moves}
        played_per_s[str(count)] = round(len(of_count) / sum(hand.played_s for hand in of_count), 1)
    moves = sum(map(len, times.kinds.values()))
    shown = times.shown
    return {
        "decide_evolve_encode": shown(times.of["decide_evolve_encode"]),
        "decode": shown(times.of["decode"]),
        "record": shown(times.of["record"]),
        "path": shown(times.of["path"]),
        "kinds": {
            kind: {"count": len(took), "share": round(len(took) / moves, 3), "decide_evolve_encode": shown(took)}
            for kind, took in sorted(times.kinds.items(), key=lambda item: -len(item[1]))
        },
        "game": {name[5:]: shown(took) for name, took in times.of.items() if name.startswith("game.")},
        "hands_per_s": per_s,
        "played_per_s": played_per_s,
        "python": platform.python_version(),
        "machine": {"cpus": os.cpu_count(), "arch": platform.machine()},
        "rounds": rounds,
        "seed": seed,
        "levels": list(LEVELS),
    }


def shown_as_text(found: dict[str, Any]) -> str:
    lines = [f"{'µs':<28} {'p50':>7} {'p99':>7} {'mean':>7} {'best':>7}"]
    rows = [(name, found[name]) for name in ("decide_evolve_encode", "decode", "record", "path")]
    rows += [(f"game.{name}", took) for name, took in found["game"].items()]
    rows += [(f"{kind} ({of['share']:.1%})", of["decide_evolve_encode"]) for kind, of in found["kinds"].items()]
    lines += [
        f"{name:<28} {took['p50']:7.2f} {took['p99']:7.2f} {took['mean']:7.2f} {took['best']:7.2f}"
        for name, took in rows
    ]
    for seats, of in found["hands_per_s"].items():
        lines.append(f"{seats} seats: {of['hands_per_s']} hands of {of['moves']} moves a second and core")
    return "\n".join(lines)


def main(argv: Sequence[str]) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.rules", description=__doc__)
    p.add_argument("--seats", type=int, nargs="+", default=[2, 4, 8])
    p.add_argument("--hands", type=int, default=3, help="of each number of seats, levels in turn (3)")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--json", type=Path)
    told = p.parse_args(argv)
    found = measured(told.seats, told.hands, told.rounds, told.seed)
    print(shown_as_text(found))
    if told.json is not None:
        told.json.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
