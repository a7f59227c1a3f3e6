"""deploy/nats/users.conf names every subject that there is: one that it doesn't is silent under compose alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wire import subjects

TEXT = (Path(__file__).resolve().parents[2] / "deploy" / "nats" / "users.conf").read_text(encoding="utf-8")
USERS = ("gateway", "watch", "rooms", "bots", "engine", "setup", "observer")
SAID_AND_HEARD = [
    subjects.table("ABCDE"),
    subjects.seat("ABCDE", 3),
    subjects.beacon("ABCDE"),
    subjects.lobby("ABCDE"),
    subjects.engine_alive("engine-1"),
    subjects.ENGINE_SUSPECTED,
    subjects.ENGINE_LOAD,
    subjects.TABLE_NEWS,
    subjects.CALLERS_BEAT,
    subjects.BOTS_WANTED,
    subjects.bots_wanted_of("worker-1"),
    subjects.BOTS_BEAT,
]
STORED = [subjects.log(1), f"$KV.{subjects.OWN_BUCKET}.{subjects.placement_key(1)}"]


def permitted(user: str, what: str) -> list[str]:
    """The patterns that a user may `publish` or `subscribe` to."""
    own = TEXT.split(f"user: {user},")[1].split("user: ")[0]
    block = re.search(rf"{what}: (.*?)\n *(?:subscribe:|\}}$|\}}\n)", own, re.S)
    assert block is not None, (user, what)
    return re.findall(r'"([^"]+)"', block[1].split("deny:")[0])


def holds(pattern: str, subject: str) -> bool:
    """As NATS reads a pattern."""
    words, tokens = pattern.split("."), subject.split(".")
    if words[-1] == ">":
        return len(tokens) >= len(words) and holds(".".join(words[:-1]) or "*", ".".join(tokens[: len(words) - 1]))
    return len(words) == len(tokens) and all(w in ("*", t) for w, t in zip(words, tokens, strict=True))


def those_who(what: str, subject: str) -> list[str]:
    return [user for user in USERS if any(holds(pattern, subject) for pattern in permitted(user, what))]


def test_the_list_of_subjects_is_whole() -> None:
    """Those that a client names itself; patterns are of these, and a bucket's keys lie behind its own prefix."""
    known = {"table", "seat", "beacon", "lobby", "log", "engine_alive", "bots_wanted_of"}
    apart = {"room_frames", "open_frames", "lease_key", "placement_key"}
    functions = {name for name, it in vars(subjects).items() if callable(it) and it.__module__ == subjects.__name__}
    assert functions == known | apart
    named = {name for name in vars(subjects) if name.isupper()}
    assert named == {
        *("LOG_STREAM", "LOG_SUBJECTS", "OWN_BUCKET", "OWN_REPUBLISH", "BOTS_QUEUE"),
        *("ENGINE_SUSPECTED", "ENGINE_LOAD", "TABLE_NEWS", "CALLERS_BEAT", "BOTS_WANTED", "BOTS_BEAT"),
    }


@pytest.mark.parametrize("subject", SAID_AND_HEARD)
def test_somebody_may_say_it_and_somebody_hear_it(subject: str) -> None:
    assert those_who("publish", subject)
    assert those_who("subscribe", subject)


@pytest.mark.parametrize("subject", STORED)
def test_the_engine_alone_writes_what_is_stored_and_nobody_listens_to_it(subject: str) -> None:
    assert those_who("publish", subject) == ["engine"]
    assert those_who("subscribe", subject) == []
