"""The machine that figures are of, by name: no figure is worth anything without it."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Annotated

import msgspec
import psutil
from msgspec import Meta

from stack.servers import NoServer, nats_program


class Machine(msgspec.Struct):
    """What the runs of one part were made on."""

    cpu: Annotated[str, Meta(description="model of the processor")]
    cores: Annotated[int, Meta(description="logical cores that this machine has")]
    memory_gb: Annotated[float, Meta(description="memory, in 10^9 bytes")]
    kernel: Annotated[str, Meta(description="system and release of the kernel")]
    python: Annotated[str, Meta(description="version of Python")]
    node: Annotated[str, Meta(description="version of Node, which runs the peer; empty: not there")]
    nats: Annotated[str, Meta(description="version of nats-server")]
    libraries: Annotated[dict[str, str], Meta(description="versions of what moves and sockets go through")]
    load_average: Annotated[float, Meta(description="load average of the last minute, before the part began")]


LIBRARIES = ("uvloop", "picows", "grpcio", "nats-py", "msgspec", "uvicorn")


def this_machine(node: Path | None) -> Machine:
    return Machine(
        cpu=_cpu(),
        cores=os.cpu_count() or 0,
        memory_gb=round(psutil.virtual_memory().total / 1e9, 1),
        kernel=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        node=_said([str(node), "--version"]).removeprefix("v") if node else "",
        nats=_nats(),
        libraries={name: version for name in LIBRARIES if (version := _version(name))},
        load_average=round(os.getloadavg()[0], 2),
    )


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "Model"))]
    return names[0] if names else platform.machine()


def _nats() -> str:
    try:
        return _said([nats_program(), "--version"]).rpartition("v")[2]
    except NoServer:
        return ""


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _said(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""
