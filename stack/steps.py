"""Steps of setting a machine up: each says what it does in one line, is skipped when done, and fails with a cure.

Only the standard library: the machine's own Python runs this before anything is installed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOG = VENV / "setup.log"

NO_NETWORK = (
    "name resolution",
    "NewConnectionError",
    "ConnectionError",
    "Connection refused",
    "Could not fetch URL",
    "getaddrinfo",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "Network is unreachable",
    "No matching distribution found",
    "Could not resolve",
    "Unable to fetch",
)
"""What pip, npm and apt say when the network is away."""


class Failed(Exception):
    """A step that could not be done: what happened, and the cure."""

    def __init__(self, what: str, cure: str) -> None:
        super().__init__(what)
        self.what = what
        self.cure = cure


def python() -> str:
    """The environment's interpreter."""
    return str(VENV / "bin" / "python")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def step(text: str, stamp: str, key: str, do: Callable[[], None], *, force: bool = False) -> bool:
    """Do it unless the stamp of the last time bears the same key; True when done now.

    Stamps lie in `.venv`, so that a removed environment forgets them.
    """
    path = VENV / f".stamp-{stamp}"
    if not force and path.exists() and path.read_text() == key:
        return False
    say(f"· {text}")
    began = time.monotonic()
    do()
    path.write_text(key)
    took = time.monotonic() - began
    if took > 3:
        say(f"  done in {took:.0f} s")
    return True


def run(command: Sequence[str], *, cure: str, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> None:
    """Run quietly; raises Failed with the command's last words and the cure."""
    LOG.parent.mkdir(exist_ok=True)
    with LOG.open("a") as log:
        log.write(f"\n$ {' '.join(command)}\n")
        log.flush()
        start = log.tell()
        try:
            code = subprocess.run(
                command, cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            ).returncode
        except OSError as error:
            raise Failed(f"{command[0]} can't be run: {error.strerror}", cure) from error
    if code == 0:
        return
    with LOG.open(errors="replace") as log:
        log.seek(start)
        said = log.read()
    tail = "\n".join(f"    {line[:160]}" for line in said.strip().splitlines()[-12:])
    if any(sign in said for sign in NO_NETWORK):
        cure = f"It looks as if there is no network: connect this machine, then run it again. Otherwise: {cure}"
    raise Failed(f"{' '.join(command[:4])} … failed ({code}):\n{tail}\n  all of it: {LOG}", cure)


def digest(*parts: str | bytes) -> str:
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        hashed.update(len(data).to_bytes(8, "big") + data)
    return hashed.hexdigest()


def digest_of_files(paths: Iterable[Path]) -> str:
    """Of names and contents; folders are walked, what is not there counts as nothing."""
    files: set[Path] = set()
    for path in paths:
        if path.is_dir():
            files.update(p for p in path.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
        elif path.is_file():
            files.add(path)
    return digest(*(part for f in sorted(files) for part in (str(f.relative_to(ROOT)), f.read_bytes())))
