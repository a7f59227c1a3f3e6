"""Where people find us: addresses, and the QR code that a phone reads from the terminal."""

from __future__ import annotations

import io
import ipaddress
import socket


def is_open(host: str) -> bool:
    """Whether listening on this host lets other machines in."""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"


def in_network() -> str | None:
    """This machine's address in its local network, None when it has none.  Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect(("192.0.2.1", 9))  # a documentation address: only the route to it is asked for
            found = str(sock.getsockname()[0])
            if not ipaddress.ip_address(found).is_loopback:
                return found
        except OSError:
            pass
    return _from_interfaces()


def _from_interfaces() -> str | None:
    import psutil

    up = {name for name, stats in psutil.net_if_stats().items() if stats.isup}
    for name, addresses in sorted(psutil.net_if_addrs().items()):
        for address in addresses:
            if name in up and address.family == socket.AF_INET:
                ip = ipaddress.ip_address(address.address)
                if ip.is_private and not ip.is_loopback:
                    return str(ip)
    return None


def reachable(host: str) -> str:
    """The address at which this machine itself finds what listens there."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def url(host: str, port: int) -> str:
    """
    >>> url("::1", 8080), url("0.0.0.0", 80)
    ('http://[::1]:8080', 'http://127.0.0.1')
    """
    host = reachable(host)
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}" if port == 80 else f"http://{shown}:{port}"


def qr(text: str) -> str:
    """As block characters, for a terminal."""
    import segno

    out = io.StringIO()
    segno.make(text, micro=False, error="l").terminal(out, border=2, compact=True)
    return out.getvalue()
