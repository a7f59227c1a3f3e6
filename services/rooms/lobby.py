"""What people do in a lobby, as changes of a room.  Pure: the time and new ids come in.

Rules: up to 16 people, 3 of them bots; names are clean and unlike each other; of the
first eight no two have the same colour.  The host alone adds, sets and removes bots,
removes players, and starts.  While a table is live the engine owns names, colours and
host: the lobby then only lists who is there.
"""

from __future__ import annotations

from services.rooms import presence
from services.rooms.presence import settle_host
from services.rooms.room import COLOURS, MAX_BOTS, MAX_PEOPLE, VERSION, LobbyError, Player, Room, Times
from wire import client_in
from wire.client_out import Level
from wire.places import NAME_LENGTH, clean_name

MAX_TYPED = 64
MAX_REMOVED = 256
MAX_ACTS = 8
BOT_NAMES = ("Ada", "Bix", "Cleo", "Dot", "Eddy", "Fay", "Gus", "Hal", "Ivy", "Juno", "Kit", "Lux", "Milo", "Nell")


def name_of(text: str) -> str:
    """A name as typed, cleaned.  Raises LobbyError `name` when nothing is left, or far too much was typed."""
    name = clean_name(text) if len(text) <= MAX_TYPED else None
    if name is None:
        raise LobbyError("name")
    return name


def unlike(room: Room, name: str, but: str = "") -> str:
    """The name, with the first number that sets it apart from everybody else's.

    Ann, Ann 2, Ann 3; a long name makes room for its number.
    """
    taken = {p.name.casefold() for p in room.players if p.player != but}
    if name.casefold() not in taken:
        return name
    for number in range(2, MAX_PEOPLE + 2):
        ending = f" {number}"
        other = name[: NAME_LENGTH - len(ending)].rstrip() + ending
        if other.casefold() not in taken:
            return other
    raise LobbyError("name")


def free_colour(room: Room) -> int:
    """The lowest colour nobody has; with all taken, the one that fewest have."""
    count = [0] * COLOURS
    for p in room.players:
        count[p.colour] += 1
    return count.index(min(count))


def found(code: str, birth: str, player: str, name: str, now: int) -> Room:
    """A new room with its host, who has not come yet."""
    host = Player(player=player, name=name, colour=0, joined=now, away=now)
    return Room(v=VERSION, room=code, birth=birth, host=player, players=[host], made=now)


def repeated(room: Room, request: str, now: int, times: Times) -> Player | None:
    """The player that this very join made before, in the last ten minutes."""
    if not request:
        return None
    return next((p for p in room.players if p.request == request and now - p.joined < times.request), None)


def join(room: Room, player: str, name: str, request: str, now: int, times: Times) -> Player:
    """Somebody new comes in.  Raises LobbyError `full`."""
    if len(room.players) >= MAX_PEOPLE:
        raise LobbyError("full")
    new = Player(
        player=player, name=unlike(room, name), colour=free_colour(room), joined=now, request=request, away=now
    )
    room.players.append(new)
    settle_host(room, now, times)
    return new


def come_back(room: Room, player: str, typed: str, now: int, times: Times) -> Player:
    """Somebody with a token of this room: still listed, or one who left.

    Raises LobbyError `removed`, `full`, or `name` when the room has forgotten theirs.
    """
    if player in room.removed:
        raise LobbyError("removed")
    here = room.find(player)
    if here is not None:
        return here
    if len(room.players) >= MAX_PEOPLE:
        raise LobbyError("full")
    old = next((p for p in room.left if p.player == player), None)
    name = name_of(typed) if typed or old is None else old.name
    taken = {p.colour for p in room.players}
    colour = old.colour if old is not None and old.colour not in taken else free_colour(room)
    back = Player(player=player, name=unlike(room, name), colour=colour, joined=now, away=now)
    room.left = [p for p in room.left if p.player != player]
    room.players.append(back)
    settle_host(room, now, times)
    return back


def arrive(room: Room, player: str, socket: str, now: int, times: Times) -> None:
    """A socket of this player is open.  A new one brings back a player who left; the one they left by doesn't.

    Raises LobbyError `removed`, `bad_token`, `full`.
    """
    if player in room.removed:
        raise LobbyError("removed")
    if room.find(player) is None:
        old = next((p for p in room.left if p.player == player), None)
        if old is None:
            raise LobbyError("bad_token")
        if socket in old.sockets:
            return
        come_back(room, player, "", now, times)
    presence.here(room, player, socket, now, times)


def leave(room: Room, player: str, now: int, times: Times) -> None:
    """Off the list, and welcome back.  A host who leaves the lobby passes it on at once."""
    here = room.find(player)
    if here is None:
        return
    here.away = now
    presence.take_off(room, here)
    settle_host(room, now, times)


def act_once(
    room: Room, player: str, do: client_in.LobbyAct, bot_id: str, request: str, now: int, times: Times
) -> None:
    """As `act`, but nothing when this very request was done before."""
    me = room.find(player)
    if me is None or not request:
        act(room, player, do, bot_id, now, times)
    elif request not in me.acts:
        act(room, player, do, bot_id, now, times)
        me.acts = [*me.acts, request][-MAX_ACTS:]


def act(room: Room, player: str, do: client_in.LobbyAct, bot_id: str, now: int, times: Times) -> None:
    """One act, Start apart.  Raises LobbyError with the code the player is shown."""
    me = room.find(player)
    if me is None:
        raise LobbyError("bad_token")
    if isinstance(do, client_in.LeaveRoom):
        leave(room, player, now, times)
        return
    if isinstance(do, client_in.AddBot | client_in.SetBotLevel | client_in.RemovePlayer) and room.host != player:
        raise LobbyError("not_host")
    if room.table is not None or room.opening is not None:
        raise LobbyError("table_live")
    match do:
        case client_in.SetName(name=typed):
            me.name = unlike(room, name_of(typed), but=player)
        case client_in.SetColour(colour=colour):
            if any(p.colour == colour for p in room.players if p is not me):
                raise LobbyError("colour_taken")
            me.colour = colour
        case client_in.AddBot(level=level):
            _add_bot(room, bot_id, level, now)
        case client_in.SetBotLevel(level=level, player=which):
            _set_bot_level(room, which, level)
        case client_in.RemovePlayer(player=whom):
            _remove(room, whom, now, times)
        case _:
            raise LobbyError("unknown")


def _add_bot(room: Room, bot_id: str, level: Level, now: int) -> None:
    if sum(not p.human for p in room.players) >= MAX_BOTS:
        raise LobbyError("bots_full")
    if len(room.players) >= MAX_PEOPLE:
        raise LobbyError("full")
    taken = {p.name.casefold() for p in room.players}
    name = next((n for n in BOT_NAMES if n.casefold() not in taken), BOT_NAMES[0])
    room.players.append(Player(player=bot_id, name=unlike(room, name), colour=free_colour(room), bot=level, joined=now))


def _set_bot_level(room: Room, which: str | None, level: Level) -> None:
    bots = [p for p in room.players if not p.human and (which is None or p.player == which)]
    if which is not None and not bots:
        raise LobbyError("unknown")
    for bot in bots:
        bot.bot = level


def _remove(room: Room, whom: str, now: int, times: Times) -> None:
    them = room.find(whom)
    if them is None or whom == room.host:
        raise LobbyError("unknown")
    room.players.remove(them)
    if them.human:
        room.removed = [*room.removed, whom][-MAX_REMOVED:]
    settle_host(room, now, times)
