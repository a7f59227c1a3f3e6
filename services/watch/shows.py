"""The rooms shown here: opened for the first TV of each, closed after the last."""

from __future__ import annotations

import asyncio

from servicekit import logs
from servicekit.engines import EngineAway
from servicekit.rooms_client import LobbyRefusal
from servicekit.sockets import FAULT, NO_ROOM, SLOW, Socket
from services.watch.show import Parts, Show


class Shows:
    """All shows of this process."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._shows: dict[str, Show] = {}
        self._opening: dict[str, dict[Socket, None]] = {}
        """Who waits for a room's show, while a task opens it."""
        self._tasks: set[asyncio.Task[None]] = set()

    def enter(self, room: str, socket: Socket) -> None:
        """Shown the room as soon as it is known; told and closed if there is none."""
        show = self._shows.get(room)
        if show is not None:
            show.admit(socket)
        elif room in self._opening:
            self._opening[room][socket] = None
        else:
            self._opening[room] = {socket: None}
            task = asyncio.create_task(self._open(room))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def leave(self, room: str, socket: Socket) -> None:
        if room in self._opening:
            self._opening[room].pop(socket, None)
        show = self._shows.get(room)
        if show is not None:
            show.leave(socket)
            if not len(show):
                del self._shows[room]
                show.close()

    async def stop(self) -> None:
        """End what is being opened."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for show in self._shows.values():
            show.close()
        self._shows.clear()

    async def _open(self, room: str) -> None:
        show: Show | None = None
        why, code, close = "", "", FAULT
        try:
            show = await self._show(room)
        except LobbyRefusal as refusal:
            code, why, close = refusal.code, "there is no such room", NO_ROOM
        except EngineAway as error:
            logs.logger(__name__).warning("frames can't be heard", room=room, why=str(error))
            why, close = "the table can't be reached", SLOW
        except Exception:
            logs.logger(__name__).exception("a room could not be shown", room=room)
            why = "that went wrong here"
        finally:
            waiting = self._opening.pop(room)
        if show is None:
            for socket in waiting:
                if code:
                    self.parts.metrics.error_told(code)
                    socket.error(code, why)
                socket.close(close, code or why)
        elif not waiting:
            show.close()
        else:
            self._shows[room] = show
            for socket in waiting:
                show.admit(socket)

    async def _show(self, room: str) -> Show:
        """Rooms may be away: then the table alone."""
        lobbies, feeds = self.parts.lobbies, self.parts.feeds
        lobby = await lobbies.enter(room)
        try:
            told = await lobbies.ask(lobby)
            feed = await feeds.enter(room)
        except BaseException:
            lobbies.leave(lobby)
            raise
        return Show(self.parts, lobby, feed, told=told)
