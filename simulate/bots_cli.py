"""`snatch bots`: who wins how often against each level of bots, in hands played without a network or a wait."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from simulate.bots_page import misorders, page, text
from simulate.bots_person import PACES
from simulate.bots_series import DUELS, TOGETHER, Series, series
from simulate.cli import count

HANDS = 200
SEED = 1


def parser() -> argparse.ArgumentParser:
    """Its options."""
    p = argparse.ArgumentParser(prog="snatch bots", description=__doc__)
    p.add_argument("--hands", type=count, default=HANDS, metavar="N", help=f"at each table ({HANDS})")
    p.add_argument("--pace", choices=(*PACES, "all"), default="all", help="how fast the person plays (all)")
    p.add_argument("--seed", type=int, default=SEED, metavar="N", help=f"of the first deal ({SEED})")
    p.add_argument("--processes", type=count, default=os.cpu_count() or 1, metavar="N", help="that play (all cores)")
    p.add_argument("--page", type=Path, metavar="FILE", help="write the tables there, as docs/bots.md has them")
    return p


def main(argv: Sequence[str]) -> int:
    """0 when each level won more than the one below it, else 1; 2 when asked wrongly."""
    arguments = parser().parse_args(argv)
    paces = list(PACES) if arguments.pace == "all" else [arguments.pace]
    found = series([*DUELS, TOGETHER], paces, arguments.hands, arguments.seed, arguments.processes, _tell)
    print(text(found))
    if arguments.page is not None:
        arguments.page.write_text(page(found, _command(arguments)), encoding="utf-8")
    for pace in misorders(found):
        print(f"✗ a better level wins no more than the one below it, against a {pace} person", file=sys.stderr)
    return 1 if misorders(found) else 0


def _tell(done: Series) -> None:
    print(f"{len(done.hands)} hands of a {done.pace} person against {', '.join(done.levels)}", file=sys.stderr)


def _command(arguments: argparse.Namespace) -> str:
    """What makes the same page again."""
    usual = {"hands": HANDS, "pace": "all", "seed": SEED}
    said = [
        f"--{name} {getattr(arguments, name)}" for name, value in usual.items() if getattr(arguments, name) != value
    ]
    return " ".join(["snatch bots", *said, f"--page {arguments.page}"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
