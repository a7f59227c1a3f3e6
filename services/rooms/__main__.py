"""`python -m services.rooms`"""

from __future__ import annotations

from servicekit.run import run
from services.rooms.app import Rooms
from services.rooms.settings import RoomsSettings

if __name__ == "__main__":
    run("rooms", RoomsSettings, Rooms)
