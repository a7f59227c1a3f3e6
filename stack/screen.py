"""What `snatch play` shows: a live view on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import os
import sys
import termios
import time
import tty
from typing import TYPE_CHECKING, Any

from stack import address

if TYPE_CHECKING:
    from stack.child import Child
    from stack.play import Stack

COLOURS = {"ready": "green", "starting": "yellow", "waiting": "dim", "not ready": "yellow", "down": "red"}


def addresses(stack: Stack) -> list[str]:
    """The lines that say where to go."""
    lines = [f"  Play:    {stack.layout.url}"]
    if stack.layout.network_url:
        lines.append(f"  Phones:  {stack.layout.network_url}")
    else:
        lines.append("  Phones:  only this machine can see it; `make play HOST=0.0.0.0` opens it to your network")
    lines.append(f"  TV:      {stack.layout.network_watch_url or stack.layout.watch_url}")
    return lines


class PlainScreen:
    """A line for each thing that happens."""

    def __init__(self) -> None:
        self._asked = time.monotonic()
        self._told = False

    def say(self, text: str) -> None:
        with contextlib.suppress(OSError):  # whoever read us is gone; the end goes on
            print(text, flush=True)

    def changed(self, child: Child) -> None:
        text = f"{child.part.name}: {child.state}"
        if child.why:
            text += f" ({child.why})"
        if child.state == "down":
            text += ", starting it again"
        if child.state == "starting" and child.why:
            return  # what it still waits for is told by tick, now and then
        self.say(text)

    def ready(self, stack: Stack) -> None:
        again = self._told
        self._told = True
        self.say("ready again" if again else "\n".join(["ready", *addresses(stack), f"  Logs:    {stack.data.logs}"]))

    def tick(self, stack: Stack) -> None:
        if stack.ready:
            self._asked = time.monotonic()
        if time.monotonic() - self._asked < 10:
            return
        self._asked = time.monotonic()
        missing = [f"{c.part.name} ({c.why or c.state})" for c in stack.children if c.state != "ready"]
        self.say(f"waiting for: {', '.join(missing)}")


class LiveScreen:
    """A table of all parts; 1 to 9 shows a part's log, q ends."""

    def __init__(self) -> None:
        from rich.live import Live

        self._live = Live(auto_refresh=False, transient=True)
        self._stack: Stack | None = None
        self._shown: int | None = None
        self._settings: list[Any] | None = None
        self._qr_told = False

    # ---- the terminal --------------------------------------------------------

    def open(self, stack: Stack) -> None:
        import asyncio

        self._stack = stack
        self._settings = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)
        asyncio.get_running_loop().add_reader(sys.stdin, self._key)
        self._live.start()

    def close(self) -> None:
        self._live.stop()
        if self._settings is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._settings)

    def _key(self) -> None:
        for key in os.read(sys.stdin.fileno(), 16).decode(errors="ignore"):
            if self._stack is None:
                return
            if key == "q":
                self._stack.stop()
            elif key.isdigit():
                chosen = int(key) - 1
                known = 0 <= chosen < len(self._stack.children)
                self._shown = chosen if known and chosen != self._shown else None
            elif key == "\x1b":
                self._shown = None
        self._draw()

    # ---- what happens ----------------------------------------------------------

    def say(self, text: str) -> None:
        self._live.console.print(text, markup=False, highlight=False)

    def changed(self, child: Child) -> None:
        self._draw()

    def tick(self, stack: Stack) -> None:
        self._draw()

    def ready(self, stack: Stack) -> None:
        if not self._qr_told:
            self._qr_told = True
            if stack.layout.network_url:
                self.say(address.qr(stack.layout.network_url))
        self._draw()

    def _draw(self) -> None:
        if self._stack is not None:
            self._live.update(self._picture(self._stack), refresh=True)

    def _picture(self, stack: Stack) -> Any:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        for number, child in enumerate(stack.children, 1):
            state = Text(child.state, style=COLOURS.get(child.state, "dim"))
            again = f"started again {child.restarts}×" if child.restarts else ""
            table.add_row(str(number) if number < 10 else "", child.part.name, state, again, Text(child.why, "dim"))
        parts: list[Any] = [table, Text()]
        if stack.ready:
            parts += [Text(line, "bold") for line in addresses(stack)]
        else:
            parts.append(Text(f"  starting … {time.monotonic() - stack.began:.0f} s", "yellow"))
        parts.append(Text("  1–9 a part's log · q or Ctrl-C ends it all", "dim"))
        if self._shown is not None and self._shown < len(stack.children):
            child = stack.children[self._shown]
            room = max(5, self._live.console.height - len(stack.children) - 10)
            parts.append(Text(f"── {child.log.path}", "cyan"))
            parts += [Text(line, no_wrap=True, overflow="ellipsis") for line in child.log.tail(room)]
        return Group(*parts)
