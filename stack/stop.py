"""`snatch stop`: the stack that runs on a folder ends, as by Ctrl-C; for scripts."""

from __future__ import annotations

import os
import signal
import sys
import time

from stack.data import DataFolder

WITHIN = 3.5
"""Seconds after which a stack, which ends within 3, is told once more: it kills its parts then."""
KILLED_WITHIN = 3.0
STARTING = 3.0
"""Seconds that a stack which has only just begun has to say which process it is."""
_LOOK = 0.05


def stop(data: DataFolder) -> int:
    """0 when it has ended, 1 when it would not, 4 when none runs."""
    pid = _process(data)
    if pid is None:
        if data.locked():
            print(f"✗ a stack on {data.path} doesn't say its process\n→ end it where it was started", file=sys.stderr)
            return 1
        print(f"no stack runs on {data.path}")
        return 4
    for patience in (WITHIN, KILLED_WITHIN):
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            pass  # ended just now
        except PermissionError:
            print(f"✗ process {pid} is another user's\n→ end it as that user", file=sys.stderr)
            return 1
        if _unlocked(data, patience):
            print(f"ended the stack on {data.path}")
            return 0
    print(f"✗ the stack on {data.path} (process {pid}) does not end\n→ kill -9 {pid}", file=sys.stderr)
    return 1


def _process(data: DataFolder) -> int | None:
    until = time.monotonic() + STARTING
    while data.locked() and time.monotonic() < until:
        state = data.state()
        if state is not None:
            return int(state["pid"])
        time.sleep(_LOOK)
    return None


def _unlocked(data: DataFolder, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while data.locked():
        if time.monotonic() >= until:
            return False
        time.sleep(_LOOK)
    return True
