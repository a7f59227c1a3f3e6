"""A JetStream stream as its servers hold it: sequences, the fence of each subject, purges.

Only what measurements on real servers have shown (docs/adr/0004): the expected value is the
sequence of the subject's last message, 0 for none; it dies with that message.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple


class Stored(NamedTuple):
    """A committed message.  `at`: true virtual seconds."""

    stream: str
    sequence: int
    subject: str
    headers: dict[str, str]
    data: bytes
    at: float


class Subject:
    """All that was ever committed, and from where on it is still there."""

    __slots__ = ("first", "history", "purged_from")

    def __init__(self) -> None:
        self.history: list[Stored] = []
        self.first = 0
        """Index in `history` of the first message that is there."""
        self.purged_from = 0
        """Where it began before the last purge: a replica that lags may still be there."""

    @property
    def last(self) -> Stored | None:
        return self.history[-1] if self.first < len(self.history) else None

    @property
    def there(self) -> list[Stored]:
        return self.history[self.first :]

    def purge_below(self, sequence: int) -> int:
        """Remove what lies below a sequence, the last message too if it does; how many went."""
        index = bisect_left(self.history, sequence, lo=self.first, key=lambda m: m.sequence)
        self.purged_from, gone, self.first = self.first, index - self.first, index
        return gone


class Store:
    """`history`: messages that stay for each subject, 0: all."""

    def __init__(self, name: str, keep: int = 0) -> None:
        self.name, self.keep = name, keep
        self.sequence = 0
        self.subjects: dict[str, Subject] = {}

    def subject(self, name: str) -> Subject:
        found = self.subjects.get(name)
        if found is None:
            found = self.subjects[name] = Subject()
        return found

    def last(self, subject: str) -> Stored | None:
        found = self.subjects.get(subject)
        return found.last if found is not None else None

    def fence(self, subject: str) -> int:
        """What the next append must expect."""
        last = self.last(subject)
        return last.sequence if last is not None else 0

    def commit(self, subject: str, headers: dict[str, str], data: bytes, at: float) -> Stored:
        self.sequence += 1
        message = Stored(self.name, self.sequence, subject, headers, data, at)
        found = self.subject(subject)
        found.history.append(message)
        if self.keep and len(found.history) - found.first > self.keep:
            found.first = len(found.history) - self.keep
        return message

    def read(self, subject: str, sequence: int, most: int, behind: int = 0) -> list[Stored]:
        """Messages from a sequence on.  `behind`: as a replica has them that lacks the last few changes."""
        found = self.subjects.get(subject)
        if found is None:
            return []
        first = found.purged_from if behind else found.first
        index = bisect_left(found.history, sequence, lo=first, key=lambda m: m.sequence)
        return found.history[index : min(index + most, len(found.history) - behind)]
