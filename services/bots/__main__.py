"""`python -m services.bots`"""

from __future__ import annotations

from servicekit.run import run
from services.bots.app import Bots
from services.bots.settings import BotsSettings

if __name__ == "__main__":
    run("bots", BotsSettings, Bots)
