"""`snatch`: every command of the project."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from stack.data import DataFolder, InUse, default_folder


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    parser = _parser()
    # A command with a parser of its own (simulate) gets what this one doesn't know.
    arguments, rest = parser.parse_known_args(argv)
    arguments.rest = rest
    if rest and arguments.command != "simulate":
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if arguments.command is None:
        parser.print_help()
        return 0
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # `snatch status | head`: whoever read has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="snatch", description=__doc__)
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")

    play = commands.add_parser("play", help="start everything on this machine")
    play.add_argument("--host", default=os.environ.get("SNATCH_HOST") or "127.0.0.1", help="0.0.0.0: your network")
    play.add_argument("--fresh", action="store_true", help="start empty: forget rooms, tables and logs")
    play.add_argument("--plain", action="store_true", help="plain lines, on a terminal too")
    for what in ("engines", "gateways", "rooms", "bots", "watches"):
        play.add_argument(f"--{what}", type=_count, default=1, metavar="N", help=f"how many {what} (1)")
    _data(play)
    play.set_defaults(run=_play)

    status = commands.add_parser("status", help="what the running stack's parts are doing")
    _data(status)
    status.set_defaults(run=_status)

    stop = commands.add_parser("stop", help="end the running stack")
    _data(stop)
    stop.set_defaults(run=_stop)

    simulate = commands.add_parser("simulate", help="simulated players through the public WebSocket", add_help=False)
    simulate.set_defaults(run=_simulate)

    setup = commands.add_parser("setup", help="make the stream and the bucket in NATS_URL, once")
    setup.set_defaults(run=_setup)

    schema = commands.add_parser("schema", help="write the JSON Schemas of all messages")
    schema.add_argument("folder", nargs="?", default="schemas", help="where to (schemas/)")
    schema.set_defaults(run=_schema)

    settings = commands.add_parser("settings", help="the table of all settings, as Markdown")
    settings.set_defaults(run=_settings)
    return parser


def _data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, default=None, metavar="DIR", help="its data (.snatch, or SNATCH_DATA)")


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 16:
        raise argparse.ArgumentTypeError(f"{text} is not 1 to 16")
    return int(text)


def _port(setting: str, usual: int) -> int:
    """Raises ValueError, in words."""
    said = os.environ.get(setting) or str(usual)
    if not said.isdecimal() or not 1 <= int(said) <= 65535:
        raise ValueError(f"{setting} is {said}, which is no port")
    return int(said)


def _fail(what: str, cure: str) -> int:
    print(f"✗ {what}\n→ {cure}", file=sys.stderr)
    return 1


def _play(arguments: argparse.Namespace) -> int:
    from stack import layout, play, ports, screen, servers

    try:
        port = _port("SNATCH_PORT", 8080)
        watch_port = _port("SNATCH_WATCH_PORT", 8081)
    except ValueError as error:
        return _fail(str(error), "set it to a free port, 1 to 65535")
    if port == watch_port:
        return _fail(f"SNATCH_PORT and SNATCH_WATCH_PORT are both {port}", "TVs need a port of their own")
    data = DataFolder(arguments.data or default_folder())
    try:
        data.lock()
    except InUse:
        running = data.state() or {}
        where = f" at {running['url']} (process {running['pid']})" if running else ""
        return _fail(
            f"a stack already runs on {data.path}{where}", "end it first (snatch stop), or use another: --data DIR"
        )
    except OSError as error:
        return _fail(f"{data.path} can't hold the data: {error.strerror}", "use another folder: --data DIR")
    for wanted, setting in ((port, "SNATCH_PORT"), (watch_port, "SNATCH_WATCH_PORT")):
        if (why := ports.trouble(arguments.host, wanted)) is not None:
            cure = (
                f"choose another: {setting}=18080 …" if why.startswith("port") else "choose another: --host 127.0.0.1"
            )
            return _fail(why, cure)
    if arguments.fresh:
        data.empty()
    wishes = layout.Wishes(
        host=arguments.host,
        port=port,
        watch_port=watch_port,
        engines=arguments.engines,
        gateways=arguments.gateways,
        rooms=arguments.rooms,
        bots=arguments.bots,
        watches=arguments.watches,
        public_url=os.environ.get("SNATCH_PUBLIC_URL", ""),
        watch_url=os.environ.get("SNATCH_WATCH_URL", ""),
        nats_url=os.environ.get("NATS_URL", ""),
        redis_url=os.environ.get("REDIS_URL", ""),
    )
    try:
        plan = layout.lay_out(wishes, data)
    except servers.NoServer as error:
        return _fail(str(error).split(": ")[0], str(error).split(": ")[-1])
    if arguments.plain or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return asyncio.run(play.play(plan, data, screen.PlainScreen()))
    live = screen.LiveScreen()
    try:
        return asyncio.run(play.play(plan, data, live, live.open))
    finally:
        live.close()


def _status(arguments: argparse.Namespace) -> int:
    from stack import status

    return asyncio.run(status.show(DataFolder(arguments.data or default_folder())))


def _stop(arguments: argparse.Namespace) -> int:
    from stack import stop

    return stop.stop(DataFolder(arguments.data or default_folder()))


def _simulate(arguments: argparse.Namespace) -> int:
    from simulate import cli
    from stack import lent

    try:
        return cli.main(arguments.rest, lent.running, lent.started)
    except lent.NotStarted as error:
        return _fail(f"no stack came up:\n{error}", "try `snatch play` and look at its logs")


def _setup(arguments: argparse.Namespace) -> int:
    import runpy

    runpy.run_module("services.engine.setup", run_name="__main__")
    return 0


def _schema(arguments: argparse.Namespace) -> int:
    from stack import schemas

    schemas.write(Path(arguments.folder))
    return 0


def _settings(arguments: argparse.Namespace) -> int:
    from stack import settings_table

    print(settings_table.markdown(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
