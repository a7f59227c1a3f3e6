"""`snatch load`: simulated players by the thousand, an open loop, and what the servers spend on them."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import msgspec
import uvloop

from simulate.cli import NoStack, count, target
from simulate.door import ONE_ADDRESS, NotLoopback, silence
from simulate.load_html import html
from simulate.load_live import a_view
from simulate.load_processes import Failed
from simulate.load_record import Asked, Result, from_json, to_json
from simulate.load_report import text
from simulate.load_run import NotRamped, Run, Wish
from simulate.load_trouble import BadTrouble, trouble
from simulate.load_verdict import BadLevel, check_levels
from simulate.vigil import Running, Stack

Started = Callable[[Sequence[str], dict[str, str]], AbstractContextManager[Stack]]
"""Starts a stack with these arguments of `snatch play` and settings."""

KINDS = {"engines": 1, "gateways": 1, "watches": 1, "rooms": 1, "bots": 1}
OWN = {
    **ONE_ADDRESS,
    "SNATCH_MAX_SOCKETS": "60000",
    # What it bears is to be found out, not what it says that it bears.
    "SNATCH_ENGINE_TABLES": "100000",
    "SNATCH_ENGINE_BUSY": "0",
}
"""Settings of a stack of its own."""
FLAT_OUT = {"SNATCH_MOVES_PER_SECOND": "1000000"}
"""And of one whose players don't wait."""
LONGEST = 3600.0


def parser() -> argparse.ArgumentParser:
    """Its options."""
    p = argparse.ArgumentParser(prog="snatch load", description=__doc__)
    p.add_argument("--players", type=count, default=100, metavar="N", help="players (100)")
    p.add_argument("--seats", type=int, default=4, choices=range(1, 9), metavar="N", help="players a room (4)")
    p.add_argument("--rate", type=float, default=1.0, metavar="R", help="moves a second and player; 0: flat out (1)")
    p.add_argument("--duration", type=_seconds, default=20.0, metavar="S", help="seconds that are measured (20)")
    p.add_argument("--ramp", type=_seconds, default=0.0, metavar="S", help="seconds over which rooms open (0)")
    p.add_argument("--ramp-within", type=_seconds, default=600.0, metavar="S", help="give up after (600)")
    p.add_argument("--spike", type=float, default=1.0, metavar="X", help="X times the rate in the middle tenth (1)")
    p.add_argument("--processes", type=count, default=1, metavar="N", help="generator processes (1)")
    p.add_argument("--tvs", type=int, default=-1, metavar="N", help="TVs that watch (one for 50 rooms)")
    p.add_argument("--reconnects", type=_part, default=0.0, metavar="P", help="part of players that lose their socket")
    p.add_argument("--sleepers", type=_part, default=0.0, metavar="P", help="part of players whose tab sleeps a while")
    p.add_argument("--slow", type=_part, default=0.0, metavar="P", help="part of TVs that stop reading")
    p.add_argument("--mix", action="store_true", help="the same as --reconnects .1 --sleepers .02 --slow .1")
    p.add_argument(
        "--kill",
        action="append",
        default=[],
        metavar="KIND@S",
        help="kill one of a kind so long after the hold began: engine@10s, or gateway:STOP@5s; may be given again",
    )
    p.add_argument("--ping", type=float, default=5.0, metavar="S", help="seconds between a page's pings, 0: none (5)")
    p.add_argument("--seed", type=int, default=1, metavar="N", help="the same one plays alike (1)")
    p.add_argument(
        "--level",
        action="append",
        default=[],
        metavar="KEY<=X",
        help="a service level that decides the exit code too, as p99_ms<=50; may be given several times",
    )
    p.add_argument("--url", default="", help="players' address of a running stack")
    p.add_argument("--data", type=Path, metavar="DIR", help="folder of a running stack")
    for what, usual in KINDS.items():
        p.add_argument(f"--{what}", type=count, default=usual, metavar="N", help=f"of its own stack ({usual})")
    p.add_argument("--nats", type=int, choices=(1, 3), default=1, help="NATS servers of its own stack (1)")
    p.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of its own stack")
    p.add_argument("--no-log", action="store_true", help="don't read the log at the end")
    p.add_argument("--json", type=Path, metavar="FILE", help="write all that was found there")
    p.add_argument("--html", type=Path, metavar="FILE", help="and the report with its plots there")
    p.add_argument("--from", type=Path, metavar="FILE", dest="told", help="run nothing: tell what such a JSON holds")
    return p


def _seconds(text: str) -> float:
    """For argparse: `20`, `20s`, `2m`."""
    number = float(text.rstrip("sm")) * (60 if text.endswith("m") else 1)
    if not 0 <= number <= LONGEST:
        raise argparse.ArgumentTypeError(f"0 to {LONGEST:.0f} seconds")
    return number


def _part(text: str) -> float:
    part = float(text)
    if not 0 <= part <= 1:
        raise argparse.ArgumentTypeError("0 to 1")
    return part


def main(argv: Sequence[str], running: Running = lambda _: None, started: Started | None = None) -> int:
    """0 when nothing was lost, doubled or unlike, the run counts, and all levels were held; 2 when asked wrongly."""
    said = parser().parse_args(argv)
    if said.told is not None:
        return _tell_again(said.told, said)
    asked = _asked(said)
    settings = {} if said.url or said.data else _settings(said)
    layout = [word for what in KINDS for word in (f"--{what}", str(getattr(said, what)))]
    layout += ["--nats", str(said.nats)]
    try:
        check_levels(asked.levels)
        troubles = tuple(trouble(words) for words in said.kill)
        wish = Wish(asked, said.ramp_within, said.ping, read_log=not said.no_log, troubles=troubles, settings=settings)
        with _endable(), _stack(said, running, started, layout, settings) as stack:
            if (why := silence(stack["url"])) is not None:
                print(f"✗ nobody answers at {stack['url']}: {why}", file=sys.stderr)
                return 2
            if settings:
                print("settings " + " ".join(f"{k}={v}" for k, v in settings.items()), flush=True)
            with a_view(asked) as view:
                result = uvloop.run(Run(wish, stack, running, view).play())
    except (NotLoopback, NoStack, BadLevel, BadTrouble) as error:
        print(f"✗ {error}", file=sys.stderr)
        return 2
    except (NotRamped, Failed) as error:
        print(f"✗ {error}", file=sys.stderr)
        return 1
    return _tell(result, said)


@contextmanager
def _endable() -> Iterator[None]:
    """Whoever ends the command ends its own stack with it."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = {each: signal.signal(each, interrupt) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _tell(result: Result, said: argparse.Namespace) -> int:
    """On the terminal, and to the files that were named."""
    print(text(result))
    if said.json:
        said.json.write_bytes(to_json(result))
    if said.html:
        said.html.write_text(html(result))
    return 0 if result.ok else 1


def _tell_again(path: Path, said: argparse.Namespace) -> int:
    try:
        result = from_json(path.read_bytes())
    except (OSError, msgspec.DecodeError) as error:
        print(f"✗ {path} can't be read as what a load run found: {error}", file=sys.stderr)
        return 2
    return _tell(result, said)


def _asked(said: argparse.Namespace) -> Asked:
    rooms = max(1, said.players // said.seats)
    return Asked(
        players=rooms * said.seats,
        seats=said.seats,
        rate=said.rate,
        duration=said.duration,
        ramp=said.ramp,
        spike=said.spike,
        processes=said.processes,
        tvs=-(-rooms // 50) if said.tvs < 0 else said.tvs,
        reconnects=0.1 if said.mix and not said.reconnects else said.reconnects,
        sleepers=0.02 if said.mix and not said.sleepers else said.sleepers,
        slow=0.1 if said.mix and not said.slow else said.slow,
        seed=said.seed,
        levels=said.level,
    )


def _settings(said: argparse.Namespace) -> dict[str, str]:
    settings = dict(OWN)
    if said.rate == 0 or said.rate * said.spike > 15:
        settings |= FLAT_OUT
    settings["SNATCH_DEAL_WORKERS"] = os.environ.get("SNATCH_DEAL_WORKERS", "2")
    for pair in said.set:
        name, _, value = pair.partition("=")
        settings[name] = value
    return settings


def _stack(
    said: argparse.Namespace, running: Running, started: Started | None, layout: list[str], settings: dict[str, str]
) -> AbstractContextManager[Stack]:
    if said.url or said.data:
        return target(said.url, running, None, said.data)
    if started is None:
        raise NoStack("no stack: give --url or --data")
    return started(layout, settings)


if __name__ == "__main__":  # in an image of its own, where no stack can be started
    sys.exit(main(sys.argv[1:]))
