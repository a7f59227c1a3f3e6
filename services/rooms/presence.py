"""Who is there, who is host, and when a room must be looked at again.  Pure.

A player is present while one of their sockets is; an old socket's late close takes
away only itself.  In the lobby a host who has been away for the grace of 15 s passes
the room to the human who has been present longest; with nobody to pass to, nothing
changes until somebody comes.  While a table is live its engine says who is host.

Who joined and didn't come within a minute leaves the list, so that 16 calls fill no room;
their token brings them back.  A host stays: theirs is the room until it passes.
"""

from __future__ import annotations

from services.rooms.room import Player, Room, Times

MAX_SOCKETS = 8
MAX_LEFT = 32


def here(room: Room, player: str, socket: str, now: int, times: Times) -> None:
    """This socket is open."""
    who = room.find(player)
    if who is None or not who.human:
        return
    if not who.sockets and (who.since == 0 or now - who.away >= times.grace):
        who.since = now
    who.sockets[socket] = now
    while len(who.sockets) > MAX_SOCKETS:
        del who.sockets[min(who.sockets, key=who.sockets.__getitem__)]
    settle_host(room, now, times)


def gone(room: Room, player: str, socket: str, now: int) -> None:
    """This socket, and only this one, is closed."""
    who = room.find(player)
    if who is not None:
        _drop(who, [socket], now)


def _drop(who: Player, sockets: list[str], now: int) -> None:
    had = bool(who.sockets)
    for socket in sockets:
        who.sockets.pop(socket, None)
    if had and not who.sockets:
        who.away = now


def take_off(room: Room, who: Player) -> None:
    """Off the list; a human is remembered, and is welcome back.  Who never came is forgotten before who was there."""
    room.players.remove(who)
    if not who.human:
        return
    room.left.append(who)
    while len(room.left) > MAX_LEFT:
        room.left.remove(next((p for p in room.left if p.unseen), room.left[0]))


def settle_host(room: Room, now: int, times: Times) -> bool:
    """Pass the room on if it must be.  True when it has a new host."""
    host = room.find(room.host)
    if host is not None and (room.table is not None or host.present or now - host.away < times.grace):
        return False
    heirs = sorted((p for p in room.humans if p.present), key=lambda p: p.since)
    if not heirs and host is None:
        heirs = sorted(room.humans, key=lambda p: p.joined)
    new = heirs[0].player if heirs else (room.host if host is not None else "")
    changed = new != room.host
    room.host = new
    return changed


def sweep(room: Room, now: int, times: Times) -> None:
    """What the passing of time does: silent sockets go, and the host may pass.

    And who never came leaves.
    """
    for who in room.humans:
        _drop(who, [s for s, at in who.sockets.items() if now - at >= times.stale], now)
    settle_host(room, now, times)
    for who in _awaited(room):
        if now - who.away >= times.unseen:
            take_off(room, who)


def _awaited(room: Room) -> list[Player]:
    """Who is on the list without ever having come, the host apart."""
    return [p for p in room.players if p.unseen and p.player != room.host]


def idle_since(room: Room) -> int | None:
    """Since when no human is present; None while one is."""
    if any(p.present for p in room.humans):
        return None
    return max([room.made, *(p.away for p in room.humans), *(p.away for p in room.left)])


def expired(room: Room, now: int, times: Times) -> bool:
    """Nobody has been here for so long that the room goes."""
    since = idle_since(room)
    return since is not None and now - since >= times.idle


def due_at(room: Room, times: Times) -> int:
    """When the room must be looked at again, ms.  Every room has such a time."""
    since = idle_since(room)
    due = [] if since is None else [since + times.idle]
    due += [at + times.stale for p in room.humans for at in p.sockets.values()]
    due += [p.away + times.unseen for p in _awaited(room)]
    if room.opening is not None:
        due.append(room.opening.at + times.opening)
    if room.table is not None:
        due.append(room.checked + times.check)
        if room.finished:
            due.append(room.finished + times.finished)
    else:
        host = room.find(room.host)
        if host is not None and not host.present and any(p.present for p in room.humans):
            due.append(host.away + times.grace)
    return min(due)
