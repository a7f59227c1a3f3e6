"""What unary calls say, held to what a table can take, and what they are answered."""

from __future__ import annotations

from collections.abc import Mapping

from generated.snatch.engine.v1 import engine_pb2 as pb
from services.engine import records as r
from services.engine import table_view
from services.engine.items import CallRefused
from services.engine.table import MAX_MEMBERS, AnyGame, Member, Table
from services.engine.table_moves import COLOURS, full_options
from wire.places import clean_name, tidy_code

LEVELS = ("easy", "medium", "hard")
MAX_ID = 64
CLOCKS_APART_MS = 60_000
"""Hellos further apart than this were told by a clock that is wrong: they put nothing in order."""


def opened(request: pb.OpenRequest, games: Mapping[str, AnyGame], frames: int, sessions: int) -> r.Opened:
    """Raises CallRefused for a table that can't be."""
    room_id(request.room)
    _id(request.table, "table")
    game = games.get(request.game)
    if game is None:
        raise CallRefused("INVALID_ARGUMENT", "unknown game")
    if not 0 < len(request.members) <= MAX_MEMBERS:
        raise CallRefused("INVALID_ARGUMENT", "members")
    members = [_member(m) for m in request.members]
    players = [m.player for m in members]
    if len(set(players)) != len(players):
        raise CallRefused("INVALID_ARGUMENT", "a player twice")
    if sum(m.bot is not None for m in members) > game.spec.max_bots:
        raise CallRefused("INVALID_ARGUMENT", "bots_full")
    host = next((i for i, m in enumerate(members) if m.player == request.host and m.bot is None), None)
    if host is None:
        raise CallRefused("INVALID_ARGUMENT", "host")
    options = full_options(game.spec.options_type())
    return r.Opened(request.table, request.room, request.game, host, members, options, frames, sessions)


def _member(m: pb.OpenMember) -> r.Newcomer:
    _id(m.player, "player")
    if m.bot and m.bot not in LEVELS:
        raise CallRefused("INVALID_ARGUMENT", "bot level")
    return r.Newcomer(m.player, _name(m.name), m.colour % COLOURS, m.bot or None)


def newcomer(request: pb.AttachRequest, table: Table) -> r.Newcomer:
    """Who attaches; of a known member only `player` counts.  Raises CallRefused."""
    _id(request.player, "player")
    if len(request.worker) > MAX_ID:
        raise CallRefused("INVALID_ARGUMENT", "worker")
    member = table.seat_of(request.player)
    if member is not None:
        if bool(request.worker) != (member.bot is not None):
            raise CallRefused("INVALID_ARGUMENT", "bots are driven by workers, players are not")
        if member.attached and 0 < request.hello_at < member.hello_at < request.hello_at + CLOCKS_APART_MS:
            # On its way for long, perhaps from a socket that is dead by now: the later hello has the seat.
            raise overtaken(request, member)
        return r.Newcomer(member.player, member.name, member.colour, member.bot)
    if request.worker:
        raise CallRefused("NOT_FOUND", "no such bot")
    return r.Newcomer(request.player, _name(request.name), request.colour % COLOURS)


def overtaken(request: pb.AttachRequest, member: Member) -> CallRefused:
    """Another attach has the seat: final for a tab, unless it is of that tab itself."""
    return CallRefused("FAILED_PRECONDITION", "superseded" if request.tab == member.tab else "taken_over")


def viewer(request: pb.ViewRequest, table: Table) -> Member | None:
    """The member who looks; None is the TV.  Raises CallRefused."""
    if not request.HasField("seat"):
        return None
    member = table.member(request.seat)
    if member is None:
        raise CallRefused("INVALID_ARGUMENT", "no such seat")
    if request.session != member.session:
        raise CallRefused("FAILED_PRECONDITION", "taken_over")
    return member


def snapshot(table: Table, member: Member | None, epoch: int, now: int) -> pb.Snapshot:
    """A member's whole screen, or the TV's, and the frames that it follows."""
    return pb.Snapshot(
        epoch=epoch,
        table_number=table.state.frames,
        seat_number=member.frames if member is not None else 0,
        answered=member.answered if member is not None else 0,
        body=table_view.snapshot(table, member.seat if member is not None else None, now),
    )


def summary(table: Table) -> pb.TableSummary:
    """A table in a list of tables."""
    s = table.state
    return pb.TableSummary(
        room=s.room,
        table=s.table,
        game=s.game,
        phase=s.phase,
        humans_present=table.humans_present(),
        host=s.members[s.host].player,
    )


def room_id(room: str) -> None:
    """A code as it should be: it becomes part of subjects.  Raises CallRefused."""
    if tidy_code(room) != room:
        raise CallRefused("INVALID_ARGUMENT", "room")


def _id(text: str, what: str) -> None:
    if not 0 < len(text) <= MAX_ID:
        raise CallRefused("INVALID_ARGUMENT", what)


def _name(text: str) -> str:
    name = clean_name(text)
    if name is None:
        raise CallRefused("INVALID_ARGUMENT", "name")
    return name
