"""`python -m services.bots`"""

from __future__ import annotations

from servicekit.run import run

from .app import Bots
from .settings import BotsSettings

if __name__ == "__main__":
    run("bots", BotsSettings, Bots)
