"""A room's table, seen from the lobby: it opens, it is live, it closes.  Pure.

The id is chosen and written down before an engine is asked, so that asking again
asks for the same table.  It names the room's birth: should Redis lose the room, its table
still says whose it is.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Literal, get_args

import msgspec

from services.rooms.presence import settle_host
from services.rooms.room import VERSION, LobbyError, Opening, Player, Room, Times
from wire.client_out import Level

_LEVELS: dict[str, Level] = {level: level for level in get_args(Level)}


class Seated(msgspec.Struct, frozen=True):
    """A member of a table, as rooms may list one."""

    player: str
    name: str
    colour: int
    bot: Level | None = None
    left: bool = False


class Live(msgspec.Struct, frozen=True):
    """A table that is there, the player who is its host, and everyone at it; `present`: humans with a device there."""

    table: str
    host: str
    members: tuple[Seated, ...] = ()
    phase: str = ""
    present: int = 0


Stray = Literal["known", "adopted", "orphan", "foreign"]


def new_id(birth: str) -> str:
    """For the next table of the room born so."""
    return f"t{birth}-{secrets.token_hex(4)}"


def birth_of(table: str) -> str | None:
    """The birth of the room that it was opened for; None of a table from before ids told."""
    birth, dash, _ = table[1:].partition("-")
    return birth if dash else None


def open_with(room: Room, player: str, table: str, game: str, now: int) -> Opening | None:
    """The host starts.  None: a table is live already, which is what was asked for.

    A start that is under way is joined in, not doubled.  Raises LobbyError `not_host`.
    """
    if room.find(player) is None:
        raise LobbyError("bad_token")
    if room.host != player:
        raise LobbyError("not_host")
    if room.table is not None:
        return None
    if room.opening is None:
        room.opening = Opening(table, game, now)
    return room.opening


def opened(room: Room, asked: str, live: str, now: int) -> None:
    """The engine has it: `live` is `asked`, or the table it had from before."""
    if room.table is None and room.opening is not None and room.opening.table == asked:
        room.table, room.opening, room.notice, room.checked = live, None, None, now
        room.lost = None


def not_opened(room: Room, asked: str) -> None:
    """No engine opened it: the lobby is as it was."""
    if room.opening is not None and room.opening.table == asked:
        room.opening = None


def seen(room: Room, live: Live, now: int, times: Times) -> bool:
    """The table is there, with its host, and its bots at their levels.

    True: its game has been over for so long that the table is to be closed.
    """
    if room.table != live.table:
        return False
    room.checked = now
    room.finished = (room.finished or now) if live.phase == "standings" else 0
    host_is(room, live.table, live.host)
    bots_are(room, {m.player: m.bot for m in live.members if m.bot is not None})
    return room.finished > 0 and now - room.finished >= times.finished


def to_check(room: Room, now: int, times: Times) -> bool:
    """It is time to look whether the table is there, or whether its game is over still."""
    return now - room.checked >= times.check or (room.finished > 0 and now - room.finished >= times.finished)


def stray(room: Room, live: Live, now: int) -> Stray:
    """A live table that the room may not know of.  With somebody at it, it becomes the room's.

    `orphan`, `foreign`: nobody wants it, it is to be closed.
    """
    if birth_of(live.table) not in (None, room.birth):
        return "foreign"
    if room.table is not None or room.opening is not None:
        return "known"
    if not live.present:
        return "orphan"
    room.table, room.notice, room.checked, room.lost = live.table, None, now, None
    host_is(room, live.table, live.host)
    return "adopted"


def bots_are(room: Room, levels: Mapping[str, str]) -> None:
    """Bots stay as they were set at the table."""
    for bot in room.players:
        if not bot.human:
            bot.bot = _LEVELS.get(levels.get(bot.player, ""), bot.bot)


def closed(room: Room, table: str, host: str, why: str, now: int, times: Times) -> None:
    """Everyone is in the lobby again; a host who is away has the whole grace from now.

    With nobody there the grace is for nobody, and the room's idle time must not begin anew.
    """
    if room.opening is not None and room.opening.table == table:
        room.opening = None
    notice = why if why in ("host_left", "lost") else None
    if room.table != table:
        if room.lost == table and room.table is None:  # its end was seen before it was heard of
            room.notice, room.lost = notice, None
        return
    host_is(room, table, host)
    room.table, room.finished = None, 0
    room.notice, room.lost = notice, table if why == "lost" else None
    me = room.find(room.host)
    if me is not None and not me.present and any(p.present for p in room.humans):
        me.away = now
    settle_host(room, now, times)


def host_is(room: Room, table: str, host: str) -> None:
    """The engine says who is host while the table is live."""
    who = room.find(host)
    if room.table == table and who is not None and who.human:
        room.host = host


def revived(code: str, birth: str, live: Live, now: int) -> Room:
    """A room that Redis lost while its table was played, listed anew from the table.

    `rev` begins above all that the lost one can have shown, so that screens take it.
    """
    everyone = [
        Player(player=m.player, name=m.name, colour=m.colour, bot=m.bot, joined=now, away=now) for m in live.members
    ]
    gone = {m.player for m in live.members if m.left and m.player != live.host}
    return Room(
        v=VERSION,
        room=code,
        birth=birth,
        host=live.host,
        players=[p for p in everyone if p.player not in gone],
        left=[p for p in everyone if p.player in gone],
        made=now,
        rev=now // 1000,
        table=live.table,
        checked=now,
    )
