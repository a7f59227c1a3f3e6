"""Moves: decoded strictly, judged against the table as it is at their arrival.

Refusals of the table: `not_host`, `watching` (no cards in this game), `not_live`,
`paused`, `not_allowed` (not in this phase), `too_few`, `bad_options`; all others are the game's.
"""

from __future__ import annotations

from typing import Any

import msgspec

from games.contract import Refusal
from services.engine import records as r
from services.engine import table_presence as presence
from services.engine.sitting import Fault, Sitting
from services.engine.table import STANDINGS_MS, AnyGame, Member, Table
from wire import client_in as ask

COLOURS = 8


class BadMessage(ValueError):
    """Bytes that are no move of this table.  They decide nothing and use up no id."""


class Asked(msgspec.Struct, frozen=True, gc=False):
    """A move that was understood: the table's own, or the game's."""

    move: Any
    basis: int
    of_table: bool


_envelope = msgspec.json.Decoder(ask.MoveMessage)
_table_move = msgspec.json.Decoder(ask.TableMove)
_game_moves: dict[str, tuple[msgspec.json.Decoder[Any], msgspec.json.Decoder[Any]]] = {}
"""By game: of a whole message with one of its moves, and of such a move alone."""


def decode(game: AnyGame, body: bytes, id: int) -> Asked:
    """A client's whole message.  Raises BadMessage."""
    if len(body) > ask.MAX_BYTES:
        raise BadMessage("too big")
    decoders = _game_moves.get(game.spec.id)
    if decoders is None:
        decoders = _game_moves[game.spec.id] = _decoders(game.spec.move_type)
    whole, game_move = decoders
    try:
        told = whole.decode(body)
        if told.id == id:
            return Asked(told.m, told.basis, False)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass  # One of the table's, or none: which, and what is wrong with it, is said below.
    try:
        message = _envelope.decode(body)
        if message.id != id:
            raise BadMessage("id differs from its envelope's")
        try:
            return Asked(game_move.decode(message.m), message.basis, False)
        except msgspec.ValidationError as error:
            if "Invalid value" not in str(error):
                raise
        return Asked(_table_move.decode(message.m), message.basis, True)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadMessage(str(error)) from None


def _decoders(move_type: Any) -> tuple[msgspec.json.Decoder[Any], msgspec.json.Decoder[Any]]:
    whole = msgspec.defstruct(
        "GameMoveMessage",
        [("id", ask.MoveId), ("basis", ask.Basis), ("m", move_type)],
        tag_field="t",
        tag="move",
        forbid_unknown_fields=True,
    )
    return msgspec.json.Decoder(whole), msgspec.json.Decoder(move_type)


def move(sitting: Sitting, member: Member, id: int, asked: Asked) -> None:
    """Decide one move and store its answer."""
    step = sitting.begin(member.seat, id)
    step.session = member.session
    try:
        if asked.of_table:
            _TABLE_MOVES[type(asked.move)](sitting, member, asked.move)
        else:
            _card_move(sitting, member, asked)
    except Refusal as no:
        step.no = r.Refused(no.code, no.by, no.pile)
    except Exception as fault:
        sitting.faults.append(Fault(fault, sitting.table.state.room, member.seat))
        if not step.events:
            step.no = r.Refused("bad_move")
    sitting.table.answer(member.seat, id, step.no)


def _card_move(sitting: Sitting, member: Member, asked: Asked) -> None:
    table = sitting.table
    if isinstance(asked.move, table.game.spec.host_moves):
        _host_only(table, member)
    _playing_live(table, member)
    if table.paused:
        raise Refusal("paused")
    if asked.basis and not table.state.dealt_seq <= asked.basis <= table.seq:
        # Made in another hand, and sent again after a reconnect: nothing of it may be played in this one.
        raise Refusal("stale")
    now = table.play_now(sitting.now)
    for event in table.game.decide(table.cards, member.seat, asked.move, now, asked.basis):
        sitting.play(event)
    sitting.settle(STANDINGS_MS)


def _host_only(table: Table, member: Member) -> None:
    if member.seat != table.state.host:
        raise Refusal("not_host")


def _playing_live(table: Table, member: Member) -> None:
    if table.state.phase != "live":
        raise Refusal("not_live" if member.playing or table.cards is None else "watching")
    if not member.playing or member.gone:
        raise Refusal("watching")


def _in_phase(table: Table, *phases: str) -> None:
    if table.state.phase not in phases:
        raise Refusal("not_allowed")


def _set_options(sitting: Sitting, member: Member, move: ask.SetOptions) -> None:
    table = sitting.table
    _host_only(table, member)
    _in_phase(table, "setup")
    try:
        options: Any = msgspec.convert(move.options, table.game.spec.options_type)
    except msgspec.ValidationError:
        raise Refusal("bad_options") from None
    sitting.emit(r.OptionsSet(full_options(options)))


def full_options(options: Any) -> dict[str, Any]:
    """Every field, defaults too: what screens show."""
    return {name: msgspec.to_builtins(getattr(options, name)) for name in options.__struct_fields__}


def _set_bot_levels(sitting: Sitting, member: Member, move: ask.SetBotLevels) -> None:
    _host_only(sitting.table, member)
    _in_phase(sitting.table, "setup")
    sitting.emit(r.BotsLevelled(move.level))


def _deal(sitting: Sitting, member: Member, move: ask.Deal) -> None:
    table = sitting.table
    _host_only(table, member)
    _in_phase(table, "setup")
    seats = seats_to_deal(table)
    if len(seats) < table.game.spec.min_seats:
        raise Refusal("too_few")
    _separate_colours(sitting, seats)
    sitting.emit(r.GameOpened(seats))
    sitting.emit(r.DealAsked(1))


def seats_to_deal(table: Table, *, coming: bool = False) -> list[int]:
    """Everyone on the game screen now, in the order of their coming but the host first; a ninth watches.

    `coming`: those too who are on their way to it.
    """
    spec, host = table.game.spec, table.state.host
    there = [m for m in table.state.members if ((m.been or coming) and not m.gone) or m.bot is not None]
    there.sort(key=lambda m: (m.seat != host, m.seat))
    bots = [m.seat for m in there if m.bot is not None][: spec.max_bots]
    return sorted([m.seat for m in there if m.bot is None or m.seat in bots][: spec.max_seats])


def _separate_colours(sitting: Sitting, seats: list[int]) -> None:
    """Of two with the same colour the first at the table keeps it."""
    taken: set[int] = set()
    clashing = []
    for seat in seats:
        colour = sitting.table.state.members[seat].colour
        if colour in taken:
            clashing.append(seat)
        taken.add(colour)
    free = (c for c in range(COLOURS) if c not in taken)
    for seat in clashing:
        sitting.emit(r.Recoloured(seat, next(free)))


def _next_hand(sitting: Sitting, member: Member, move: ask.NextHand) -> None:
    table = sitting.table
    _host_only(table, member)
    _in_phase(table, "scores")
    if table.state.over:
        raise Refusal("not_allowed")
    sitting.emit(r.DealAsked(table.state.hand + 1))


def _standings(sitting: Sitting, member: Member, move: ask.Standings) -> None:
    table = sitting.table
    _host_only(table, member)
    _in_phase(table, "scores")
    if not table.state.over:
        raise Refusal("not_allowed")
    sitting.emit(r.StandingsShown())


def _new_game(sitting: Sitting, member: Member, move: ask.NewGame) -> None:
    _host_only(sitting.table, member)
    _in_phase(sitting.table, "standings")
    sitting.emit(r.BackToSetup())


def _pause(sitting: Sitting, member: Member, move: ask.Pause) -> None:
    _playing_live(sitting.table, member)
    if not sitting.table.paused:
        sitting.emit(r.PausedBy(member.seat))


def _resume(sitting: Sitting, member: Member, move: ask.Resume) -> None:
    table = sitting.table
    _playing_live(table, member)
    if table.state.held_at is not None:
        raise Refusal("paused")
    if table.state.paused_by is not None:
        sitting.emit(r.ResumedBy(member.seat))


def _leave(sitting: Sitting, member: Member, move: ask.Leave) -> None:
    presence.leave(sitting, member)


_TABLE_MOVES: dict[type, Any] = {
    ask.SetOptions: _set_options,
    ask.SetBotLevels: _set_bot_levels,
    ask.Deal: _deal,
    ask.NextHand: _next_hand,
    ask.Standings: _standings,
    ask.NewGame: _new_game,
    ask.Pause: _pause,
    ask.Resume: _resume,
    ask.Leave: _leave,
}
