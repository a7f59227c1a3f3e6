"""Free ports, and who has taken the wanted ones."""

from __future__ import annotations

import random
import socket

FIRST, LAST = 20_000, 31_999
"""Below what systems hand out for outgoing connections: a port found free stays free until it is bound."""


def is_free(host: str, port: int) -> bool:
    """Whether a server could listen there now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, port))
        except OSError:
            return False
    return True


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Distinct free ports.  Raises OSError when there are not so many."""
    found: list[int] = []
    candidates = random.SystemRandom().sample(range(FIRST, LAST + 1), LAST - FIRST + 1)
    for port in candidates:
        if len(found) == count:
            return found
        if is_free(host, port):
            found.append(port)
    raise OSError(f"fewer than {count} free ports between {FIRST} and {LAST}")
