"""Logs of child processes: one file each, kept small, readable at its tail."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import BinaryIO

MAX_BYTES = 8 * 1024 * 1024
_NOT_SHOWN = ("timestamp", "level", "event", "service", "instance", "exception")


class LogFile:
    """Written by the child itself, appending, so that it needs nobody to write.

    When it has grown too big it is copied aside and cut: what the child writes
    in between is lost, a line or two in 8 MiB.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)

    def open(self) -> BinaryIO:
        return self.path.open("ab", buffering=0)

    def rotate(self, limit: int = MAX_BYTES) -> bool:
        """True when it was cut; the old part is in `<name>.log.1`."""
        if not self.path.exists() or self.path.stat().st_size < limit:
            return False
        shutil.copyfile(self.path, self.path.with_name(self.path.name + ".1"))
        os.truncate(self.path, 0)
        return True

    def tail(self, lines: int) -> list[str]:
        """The last lines, JSON ones made readable."""
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - 64 * 1024))
                text = file.read().decode(errors="replace")
        except FileNotFoundError:
            return []
        return [readable(line) for line in text.splitlines()[-lines:]]

    def quoted(self) -> str:
        """The last it says, and where the rest is, below an error."""
        return "\n".join([*(f"    {line}" for line in self.tail(12)), f"  all of it: {self.path}"])


def readable(line: str) -> str:
    """A JSON line as `time level what key=value …`; other lines as they are.

    >>> readable('{"timestamp":"2026-01-02T03:04:05.678Z","level":"info","event":"started","port":80}')
    '03:04:05 info    started port=80'
    """
    if not line.startswith("{"):
        return line
    try:
        entry = json.loads(line)
    except ValueError:
        return line
    time = str(entry.get("timestamp", ""))[11:19]
    rest = " ".join(f"{k}={v}" for k, v in entry.items() if k not in _NOT_SHOWN)
    said = f"{time} {entry.get('level', ''):<7} {entry.get('event', '')} {rest}".rstrip()
    failure = str(entry.get("exception", "")).strip().rsplit("\n", 1)[-1]
    return f"{said} | {failure}" if failure else said
