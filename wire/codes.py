"""The words by which things are refused, and the numbers by which sockets end: docs/protocol.md has their meanings."""

from __future__ import annotations

REFUSALS = (
    "snatched",
    "no_pile",
    "stale",
    "no_fit",
    "nothing_to_turn",
    "nothing_to_undo",
    "paused",
    "not_live",
    "watching",
    "not_host",
    "not_allowed",
    "too_few",
    "bad_options",
    "bad_move",
)
"""Of moves."""
ERRORS = (
    "bad_message",
    "too_big",
    "bad_version",
    "bad_token",
    "no_room",
    "removed",
    "not_host",
    "name",
    "colour_taken",
    "full",
    "bots_full",
    "slow_down",
    "lobby_away",
    "engine_away",
    "house_full",
    "bots_busy",
    "table_live",
    "no_table",
    "unknown",
)
"""Of all else."""
CLOSES = (1000, 1001, 1002, 1005, 1006, 1007, 1008, 1009, 1011, 1012, 1013, 4001, 4002, 4003, 4004)
"""Close codes of sockets, ours and the standard's."""
UPGRADES = (400, 403, 404, 426, 429)
"""HTTP's answers to an upgrade that is refused."""
