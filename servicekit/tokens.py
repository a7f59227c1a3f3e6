"""A player's token: names room, the room's birth, and player; signed, never stored.

With it a phone comes back to its seat.  The birth id makes a token of a room that has
gone useless in a later room with the same code.
"""

from __future__ import annotations

import msgspec
from itsdangerous import BadData, URLSafeSerializer
from pydantic import AliasChoices, Field

from servicekit.settings import Settings

MAX_LENGTH = 512
"""Longer ones are refused unread."""


class TokenSettings(Settings):
    """Of a service that signs or reads tokens; the others are not told the secret."""

    secret: str = Field(
        min_length=16,
        validation_alias=AliasChoices("SNATCH_SECRET", "secret"),
        repr=False,
        description="Signs players' tokens: at least 16 characters, the same for all gateways and rooms.",
    )
    secret_also: str = Field(
        "",
        pattern=r"^(.{16,})?$",
        validation_alias=AliasChoices("SNATCH_SECRET_ALSO", "secret_also"),
        repr=False,
        description="Tokens signed with this one are read too, while SNATCH_SECRET is changed; empty: no other.",
    )

    @property
    def tokens(self) -> Tokens:
        return Tokens(self.secret, self.secret_also)


class BadToken(Exception):
    """Not signed with this secret, or not a player's token at all."""


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a token says."""

    room: str = msgspec.field(name="r")
    birth: str = msgspec.field(name="b")
    player: str = msgspec.field(name="p")


class Tokens:
    """Signs with `secret`, reads what was signed with it or with `also`.

    Services start anew one after another, so a secret is changed in three rounds, each of
    which reads what the one before signs: (old, also new), (new, also old), (new).

    Raises ValueError when there is no secret: an unsigned deployment would let anyone be anyone.
    """

    def __init__(self, secret: str, also: str = "") -> None:
        if not secret:
            raise ValueError("SNATCH_SECRET is not set: it signs players' tokens")
        # It signs with the last one, and tries all of them to read.
        self._serializer = URLSafeSerializer([also, secret] if also else [secret], salt="snatch.player")

    def sign(self, room: str, birth: str, player: str) -> str:
        token = self._serializer.dumps({"r": room, "b": birth, "p": player})
        return token if isinstance(token, str) else token.decode()

    def read(self, token: str) -> Claims:
        """Raises BadToken."""
        if not token or len(token) > MAX_LENGTH:
            raise BadToken("length")
        try:
            return msgspec.convert(self._serializer.loads(token), Claims)
        except (BadData, msgspec.ValidationError, ValueError) as error:
            raise BadToken(type(error).__name__) from error
