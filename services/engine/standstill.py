"""Whether the log takes records, said aloud when it doesn't: for operators, nothing rests on it."""

from __future__ import annotations

from collections.abc import Callable

from servicekit import logs

SAY_AFTER = 2.0
"""Seconds that an append may be under way before it is worth a word."""


class Standstill:
    """`waited`: seconds that the oldest append under way has waited; `why`: what the stream said last of one."""

    def __init__(self, waited: Callable[[], float], why: Callable[[], str]) -> None:
        self._waited, self._why = waited, why
        self._longest = 0.0
        self._log = logs.logger(__name__)

    def missing(self) -> str | None:
        """In words, None while records are taken."""
        waited = self._waited()
        return None if waited < SAY_AFTER else f"a record has waited {waited:.0f} s for the log: {self._why()}"

    def look(self) -> None:
        """Log its beginning and its end; asked now and then."""
        waited = self._waited()
        if waited >= SAY_AFTER:
            if not self._longest:
                self._log.error("the log takes no record", seconds=round(waited, 1), why=self._why())
            self._longest = max(self._longest, waited)
        elif self._longest:
            self._log.warning("the log takes records again", seconds=round(self._longest, 1))
            self._longest = 0.0
