"""`snatch`: every command of the project."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stack.data import COUNTS, ROOT, DataFolder, InUse, default_folder

OWN_PARSERS = ("top", "simulate", "bots", "load", "soak", "chaos", "bench", "trace", "model")

INTERRUPTED = 128 + signal.SIGINT
"""The exit code that shells give a command which Ctrl-C ended."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    parser = _parser()
    # A command with a parser of its own (OWN_PARSERS) gets what this one doesn't know.
    arguments, rest = parser.parse_known_args(argv)
    arguments.rest = rest
    if rest and arguments.command not in OWN_PARSERS:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if arguments.command is None:
        parser.print_help()
        return 0
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("\n✗ interrupted", file=sys.stderr)
        return INTERRUPTED
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
    for what in COUNTS.values():
        play.add_argument(f"--{what}", type=_count, default=1, metavar="N", help=f"how many {what} (1)")
    play.add_argument(
        "--nats",
        type=int,
        choices=(1, 3),
        help="how many NATS servers: 3 hold three copies of the log, and one may die (what the data have, or 1)",
    )
    _data(play)
    play.set_defaults(run=_play)

    status = commands.add_parser("status", help="what the running stack's parts are doing")
    _data(status)
    status.set_defaults(run=_status)

    top = commands.add_parser("top", help="players, moves, delays, engines, processes: live", add_help=False)
    top.set_defaults(run=_top)

    stop = commands.add_parser("stop", help="end the running stack")
    _data(stop)
    stop.set_defaults(run=_stop)

    scale = commands.add_parser("scale", help="more or fewer processes in the running stack, while people play")
    for kind, what in COUNTS.items():
        scale.add_argument(
            f"--{what}", type=_count, dest=kind, metavar="N", help=f"how many {what} (as many as there are)"
        )
    _data(scale)
    scale.set_defaults(run=_scale)

    restart = commands.add_parser("restart", help="every process anew, one after another, while people play")
    restart.add_argument(
        "--kind",
        action="append",
        default=[],
        choices=(*COUNTS, "nats", "valkey"),
        help="only these; may be given several times (all services, no servers)",
    )
    _data(restart)
    restart.set_defaults(run=_restart)

    simulate = commands.add_parser("simulate", help="simulated players through the public WebSocket", add_help=False)
    simulate.set_defaults(run=_simulate)

    bots = commands.add_parser("bots", help="who wins how often against each level of bots", add_help=False)
    bots.set_defaults(run=_bots)

    load = commands.add_parser("load", help="players by the thousand, and what servers spend on them", add_help=False)
    load.set_defaults(run=_load)

    soak = commands.add_parser("soak", help="rooms that come and go, and whether anything grows", add_help=False)
    soak.set_defaults(run=_soak)

    chaos = commands.add_parser("chaos", help="processes that die while rooms play, and what it costs", add_help=False)
    chaos.set_defaults(run=_chaos)

    bench = commands.add_parser("bench", help="how fast it is, beside the peer, as a page", add_help=False)
    bench.set_defaults(run=_bench)

    trace = commands.add_parser("trace", help="frames and load of the client on a slow phone", add_help=False)
    trace.set_defaults(run=_trace)

    model = commands.add_parser("model", help="the ownership protocol, simulated seed by seed", add_help=False)
    model.set_defaults(run=_model)

    setup = commands.add_parser("setup", help="make the stream and the bucket in NATS_URL, once")
    setup.set_defaults(run=_setup)

    schema = commands.add_parser("schema", help="write the JSON Schemas of all messages")
    schema.add_argument("folder", nargs="?", default="schemas", help="where to (schemas/)")
    schema.set_defaults(run=_schema)

    settings = commands.add_parser("settings", help="the table of all settings, as Markdown")
    settings.set_defaults(run=_settings)
    metrics = commands.add_parser("metrics", help="the table of all metrics, as Markdown")
    metrics.set_defaults(run=_metrics)
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
    try:
        nats = servers.nats_count(data.path, arguments.nats)
    except servers.OtherStore as error:
        return _fail(
            f"{data.path} holds a log written by {error.there} NATS server{'s' if error.there > 1 else ''},"
            f" not by {arguments.nats}",
            f"start it with --nats {error.there}, forget it with --fresh, or use another folder: --data DIR",
        )
    sync = os.environ.get("SNATCH_NATS_SYNC") or servers.SYNC
    if not re.fullmatch(servers.SYNCS, sync):
        return _fail(f"SNATCH_NATS_SYNC is {sync}", "set it to always, or to a time: 100ms, 10s, 2m")
    if os.environ.get("NATS_URL") and arguments.nats is not None:
        return _fail("NATS_URL names the servers, so --nats starts none", "leave out one of them")
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
        nats=nats,
        nats_sync=sync,
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


def _top(arguments: argparse.Namespace) -> int:
    from stack import top

    return top.main(arguments.rest)


def _stop(arguments: argparse.Namespace) -> int:
    from stack import stop

    return stop.stop(DataFolder(arguments.data or default_folder()))


def _scale(arguments: argparse.Namespace) -> int:
    from stack import orders, scale

    counts = {kind: count for kind in COUNTS if (count := getattr(arguments, kind)) is not None}
    if not counts:
        return _fail("nothing to change", f"say how many: {', '.join(f'--{what} N' for what in COUNTS.values())}")
    try:
        state = scale.scale_to(arguments.data or default_folder(), counts)
    except orders.Refused as error:
        return _fail(error.what, error.cure)
    print(f"ready: {_summary(state)}")
    return 0


def _restart(arguments: argparse.Namespace) -> int:
    from stack import orders, scale

    try:
        state = scale.restart(arguments.data or default_folder(), arguments.kind)
    except orders.Refused as error:
        return _fail(error.what, error.cure)
    print(f"ready, each one anew: {', '.join(arguments.kind)}" if arguments.kind else f"ready: {_summary(state)}")
    return 0


def _summary(state: dict[str, Any]) -> str:
    kinds = [part["kind"] for part in state["parts"]]
    return ", ".join(f"{kinds.count(kind)} {what if kinds.count(kind) > 1 else kind}" for kind, what in COUNTS.items())


def _simulate(arguments: argparse.Namespace) -> int:
    from simulate import cli
    from stack import lent

    try:
        return cli.main(arguments.rest, lent.running, lent.started)
    except lent.NotStarted as error:
        return _fail(f"no stack came up:\n{error}", "try `snatch play` and look at its logs")


def _bots(arguments: argparse.Namespace) -> int:
    from simulate import bots_cli

    return bots_cli.main(arguments.rest)


def _load(arguments: argparse.Namespace) -> int:
    from simulate import load
    from stack import lent

    try:
        return load.main(arguments.rest, lent.running, lambda args, env: lent.started(*args, settings=env))
    except lent.NotStarted as error:
        return _fail(f"no stack came up:\n{error}", "try `snatch play` and look at its logs")


def _chaos(arguments: argparse.Namespace) -> int:
    from simulate import chaos
    from stack import lent, orders, scale

    try:
        return chaos.main(arguments.rest, lent.running, lent.started, scale.raise_to)
    except lent.NotStarted as error:
        return _fail(f"no stack came up:\n{error}", "try `snatch play` and look at its logs")
    except orders.Refused as error:
        return _fail(f"the running stack can't be raised: {error}", "look at `snatch status`")


def _bench(arguments: argparse.Namespace) -> int:
    if not _in_a_clone():
        return _fail("the benchmarks are not here", "run them in a clone")
    from benchmarks import cli

    return cli.main(arguments.rest)


def _trace(arguments: argparse.Namespace) -> int:
    if not _in_a_clone():
        return _fail("the benchmarks are not here", "run them in a clone")
    from benchmarks import trace
    from stack import lent

    try:
        return trace.main(arguments.rest)
    except lent.NotStarted as error:
        return _fail(f"no stack came up:\n{error}", "try `snatch play` and look at its logs")


def _in_a_clone() -> bool:
    """Which has the benchmarks; the installed package doesn't."""
    sys.path.insert(0, str(ROOT))
    return (ROOT / "benchmarks").is_dir()


def _model(arguments: argparse.Namespace) -> int:
    from model import cli

    return cli.main(arguments.rest)


def _soak(arguments: argparse.Namespace) -> int:
    from simulate import soak
    from stack import lent

    try:
        return soak.main(arguments.rest, lent.running, lent.started)
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


def _metrics(arguments: argparse.Namespace) -> int:
    from stack import metrics_table

    print(metrics_table.markdown(), end="")
    return 0


def _settings(arguments: argparse.Namespace) -> int:
    from stack import settings_table

    print(settings_table.markdown(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
