"""`.snatch/`: what a stack on one machine keeps, and how others find a running one."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
from pathlib import Path
from typing import Any, TextIO

ROOT = Path(__file__).resolve().parent.parent
WRITTEN = (
    "logs",
    "nats",
    "nats.conf",
    *(f"nats-{number}{what}" for number in range(1, 4) for what in ("", ".conf")),
    "valkey",
    "orders",
    "secret",
    "secret.new",
    "stack.json",
    "stack.new",
)
"""All that a stack writes into its folder, the lock apart."""

COUNTS = {"engine": "engines", "rooms": "rooms", "bots": "bots", "watch": "watches", "gateway": "gateways"}
"""What the number of each kind of process is called."""


def default_folder() -> Path:
    """SNATCH_DATA, else `.snatch` in the clone, else in the current folder."""
    given = os.environ.get("SNATCH_DATA")
    if given:
        return Path(given)
    return (ROOT if (ROOT / "pyproject.toml").exists() else Path.cwd()) / ".snatch"


class InUse(Exception):
    """Another stack runs on this folder."""


class DataFolder:
    """One stack's folder; `lock` it before anything in it is changed."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.logs = self.path / "logs"
        self.orders = self.path / "orders"
        self.state_file = self.path / "stack.json"
        self._lock: TextIO | None = None

    def lock(self) -> None:
        """Held until the process ends, however it ends.  Raises InUse."""
        self.path.mkdir(parents=True, exist_ok=True)
        file = (self.path / "lock").open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise InUse(str(self.path)) from None
        self._lock = file
        self.remove_state()  # of one that was killed: its pid is nobody's now

    def unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def locked(self) -> bool:
        """Whether a stack runs on it, this process's own one too."""
        try:
            with (self.path / "lock").open("r") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except FileNotFoundError:
            return False
        return False

    def empty(self) -> None:
        """Forget all that a stack writes, but the lock.  Whatever else lies here is not ours: it stays."""
        for name in WRITTEN:
            entry = self.path / name
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink(missing_ok=True)

    def secret(self) -> str:
        """What signs players' tokens, made once; for this user's eyes alone."""
        path = self.path / "secret"
        if not path.exists():
            draft = path.with_suffix(".new")
            draft.touch(mode=0o600)
            draft.write_text(secrets.token_urlsafe(32))
            draft.replace(path)
        return path.read_text()

    def write_state(self, state: dict[str, Any]) -> None:
        """Whole or not at all: readers never see half of it."""
        draft = self.state_file.with_suffix(".new")
        draft.write_text(json.dumps(state, indent=1) + "\n")
        draft.replace(self.state_file)

    def state(self) -> dict[str, Any] | None:
        """The running stack's, None when none runs."""
        if not self.locked():
            return None
        try:
            state: dict[str, Any] = json.loads(self.state_file.read_text())
        except FileNotFoundError:
            return None
        return state

    def remove_state(self) -> None:
        self.state_file.unlink(missing_ok=True)
