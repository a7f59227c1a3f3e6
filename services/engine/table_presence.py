"""Who is at the table: tabs that come and go, the grace, and who is host.

From the rules: a device that goes away makes its seat absent at once; screens say so after
15 s, or at once on the ×.  The host's × takes everyone back to the room.  The host's device
gone for 15 s: the room passes to another player, and the game is over; with nobody to pass
it to, the game stands paused until the host returns or the room expires.
"""

from __future__ import annotations

from games.contract import Refusal
from generated.snatch.engine.v1 import engine_pb2 as pb
from services.engine import records as r
from services.engine.sitting import Sitting
from services.engine.table import MAX_MEMBERS, STANDINGS_MS, Member, Table

MAX_SESSION = 0xFFFF
"""A frame's prefix has two bytes for it."""


class TableFull(Exception):
    """No more members at this table."""


def attach(sitting: Sitting, newcomer: r.Newcomer, how: pb.AttachRequest, via: str, writes: int) -> Member:
    """A tab takes its player's place; whoever is new at the table enters.  Raises TableFull."""
    table = sitting.table
    member = table.seat_of(newcomer.player)
    if member is None and len(table.state.members) >= MAX_MEMBERS:
        raise TableFull
    step = sitting.begin()
    if member is None:
        sitting.emit(r.Entered(newcomer))
        member = table.state.members[-1]
    was_gone = member.gone
    step.greeting = member.seat
    session = member.session % MAX_SESSION + 1
    back = writes >= 2 and any(f.tab == how.tab for f in member.former)
    sitting.emit(r.Attached(member.seat, session, how.tab, how.worker, via, how.attempt, how.hello_at, back))
    if was_gone and member.bot is None:
        sitting.tell("back", player=member.player)
    if member.seat == table.state.host and table.state.held_at is not None:
        sitting.emit(r.Released())
    _pass_host_outside_a_game(sitting)
    sitting.settle(STANDINGS_MS)
    return member


def detach(sitting: Sitting, seat: int, session: int) -> bool:
    """The socket of this session is gone; an older session's late close does nothing."""
    member = sitting.table.member(seat)
    if member is None or member.session != session or not member.attached:
        return False
    sitting.begin()
    sitting.emit(r.Detached(seat))
    sitting.settle(STANDINGS_MS)
    return True


def detach_attempt(sitting: Sitting, attempt: int) -> bool:
    """Whatever this try to attach came to, nobody is there to use it; a later one is left alone."""
    found = [m for m in sitting.table.state.members if m.attached and m.attempt == attempt]
    return any(detach(sitting, m.seat, m.session) for m in found)


def leave(sitting: Sitting, member: Member) -> None:
    """The ×, inside the step of its move."""
    table = sitting.table
    if member.seat == table.state.host:
        close(sitting, "host_left")
        return
    if member.gone:
        raise Refusal("not_allowed")
    sitting.emit(r.LeftTable(member.seat))
    sitting.tell("left", player=member.player)
    sitting.settle(STANDINGS_MS)


def close(sitting: Sitting, why: str) -> None:
    """Everyone goes back to the room."""
    table = sitting.table
    host = table.state.members[table.state.host]
    sitting.tell("closed", player=host.player, why=why, bots=table.bot_levels())
    sitting.emit(r.TableClosed(why))


def grace_over(sitting: Sitting, member: Member) -> None:
    """15 s without a device: screens say that this player left."""
    sitting.emit(r.GraceOver(member.seat))
    sitting.tell("left", player=member.player)
    table = sitting.table
    if member.seat != table.state.host:
        return
    if not table.game_on:
        _pass_host_outside_a_game(sitting)
        return
    heir = _heir(table)
    if heir is not None:
        _pass_host(sitting, heir)
        sitting.emit(r.BackToSetup("host_left"))
    elif table.state.held_at is None:
        sitting.emit(r.Held())


def _pass_host_outside_a_game(sitting: Sitting) -> None:
    """With no game to end, whoever is there becomes host as soon as the host is given up."""
    table = sitting.table
    if table.game_on or table.state.phase == "closed" or not table.state.members[table.state.host].gone:
        return
    heir = _heir(table)
    if heir is not None:
        _pass_host(sitting, heir)


def _pass_host(sitting: Sitting, heir: Member) -> None:
    sitting.emit(r.HostPassed(heir.seat))
    sitting.tell("host", player=heir.player)


def _heir(table: Table) -> Member | None:
    """Those who play come before those who watch, the longest at the table first."""
    there = [m for m in table.state.members if m.bot is None and m.attached and m.seat != table.state.host]
    return min(there, key=lambda m: (not m.playing, m.seat), default=None)
