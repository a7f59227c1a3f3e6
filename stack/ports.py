"""Free ports, and who has taken the wanted ones."""

from __future__ import annotations

import errno
import random
import socket

FIRST, LAST = 20_000, 31_999
"""Below what systems hand out for outgoing connections: a port found free stays free until it is bound."""


def trouble(host: str, port: int) -> str | None:
    """Why no server could listen there now, in words; None when one could."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, port))
        except PermissionError:
            return f"port {port} of {host} is not for this user"
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            return f"port {port} of {host} is taken" if taken else f"{host} is no address of this machine"
    return None


def is_free(host: str, port: int) -> bool:
    """Whether a server could listen there now."""
    return trouble(host, port) is None


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
