"""What every service starts with: one call that owns settings, logs, signals and the operations port.

    if __name__ == "__main__":
        run("engine", EngineSettings, Engine)

`Engine(settings)` builds the service and connects nothing; `start` connects, `stop`
closes in reverse order.  Tests build and start the same class in their own loop.
"""

from __future__ import annotations

import asyncio
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar, runtime_checkable

import uvloop
from prometheus_client import CollectorRegistry
from pydantic import ValidationError
from pydantic_settings import SettingsError
from starlette.routing import Route

from servicekit import logs
from servicekit.garbage import settle
from servicekit.health import HttpServer, ops_app
from servicekit.pace import pace
from servicekit.process_metrics import ProcessMetrics
from servicekit.settings import Settings


@runtime_checkable
class Operated(Protocol):
    """A service that operators can ask more of, on the operations port."""

    def operations(self) -> Sequence[Route]: ...


class Service(Protocol):
    """What `run` runs; its metrics are in `registry`."""

    registry: CollectorRegistry

    async def start(self) -> None: ...

    async def stop(self) -> None:
        """Clean end on SIGTERM; at most a few seconds."""
        ...

    async def ready(self) -> str | None:
        """None when ready, else what is missing."""
        ...


S = TypeVar("S", bound=Settings)
FILES = 65536
"""Open files that every service asks for, if the system lets it."""
FILES_BESIDE = 256
"""Those that are no browser's socket."""


def run(name: str, settings_type: type[S], build: Callable[[S], Service], *, paced: bool = False) -> None:
    """Run a service until SIGTERM or SIGINT.  Exits 2 on bad settings, 1 when it can't start.

    `paced`: what arrives while it is busy gathers (`servicekit.pace`).
    """
    try:
        settings = settings_type()
    except ValidationError as error:
        for problem in error.errors():
            field = ".".join(str(p) for p in problem["loc"])
            sys.stderr.write(f"{name}: setting {field}: {problem['msg']}\n")
        sys.exit(2)
    except (SettingsError, OSError) as error:  # secrets' files
        sys.stderr.write(f"{name}: {error}\n")
        sys.exit(2)
    logs.set_up(name, settings.instance, settings.log_format, settings.log_level)
    _need_files(getattr(settings, "max_sockets", 0) + FILES_BESIDE)
    sys.exit(uvloop.run(_main(name, settings, build, paced)))


async def _main(name: str, settings: S, build: Callable[[S], Service], paced: bool) -> int:
    log = logs.logger("servicekit.run")
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sig in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sig, stop.set)
    service = build(settings)
    if paced:
        pace.start(loop)
    process = ProcessMetrics(service.registry, name, settings.build, settings.commit)
    more = service.operations() if isinstance(service, Operated) else ()
    ops = HttpServer(ops_app(service.ready, service.registry, more), settings.ops_host, settings.ops_port)
    try:
        await ops.start()
    except OSError as error:
        log.error("the operations port can't be had", port=settings.ops_port, why=str(error))
        return 1
    starting = asyncio.create_task(service.start())
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            settle()
            process.start()
            log.info("started", ops_port=ops.port, build=settings.build)
            await stop.wait()
        else:
            starting.cancel()
    except OSError as error:
        # A taken port, a name that isn't known: the operator's to cure, no traceback needed.
        log.error("could not start", why=str(error))
        return 1
    except Exception:
        log.exception("could not start")
        return 1
    finally:
        stopping.cancel()
        try:
            await asyncio.wait_for(service.stop(), 10)
        except TimeoutError:
            log.error("did not stop within 10 s")
        process.stop()
        await ops.stop()
    log.info("stopped")
    return 0


def _need_files(wanted: int) -> bool:
    """As many open files as sockets may want them; shells often start with 1024.  False, and said: there are fewer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < max(wanted, FILES):
        soft = max(wanted, FILES) if hard == resource.RLIM_INFINITY else min(max(wanted, FILES), hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return True
    logs.logger("servicekit.run").error(
        "too few open files for all sockets",
        limit=soft,
        wanted=wanted,
        cure=f"ulimit -Hn {wanted} (docker: --ulimit nofile, systemd: LimitNOFILE=), or a lower SNATCH_MAX_SOCKETS",
    )
    return False
