"""`python -m games.snatch_solitaire.golden` writes the golden cases next to itself."""

from __future__ import annotations

from games.snatch_solitaire.golden.files import write

if __name__ == "__main__":
    write()
