"""What a release left, as its golden files have it: see README.md beside them."""

from __future__ import annotations

import json
import lzma
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import nats.js.errors
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from servicekit import bus
from services.engine import records as r
from services.engine.settings import SetupSettings
from services.engine.setup import set_up
from services.engine.stream import EXPECTED
from wire import subjects

HERE = Path(__file__).parent
RELEASES = sorted(folder.name.removeprefix("release-") for folder in HERE.glob("release-*"))


class Kept(NamedTuple):
    """A message of the log."""

    sequence: int
    subject: str
    headers: dict[str, str]
    data: bytes


class Golden:
    """One release's files."""

    def __init__(self, release: str) -> None:
        self.folder = HERE / f"release-{release}"

    @cached_property
    def log(self) -> list[Kept]:
        return [Kept(*m) for m in self._packed("log.bin")]

    @cached_property
    def tables(self) -> dict[str, bytes]:
        """Room → its table at its engine, as snapshots hold one."""
        found: dict[str, bytes] = self._packed("tables.bin")
        return found

    @cached_property
    def frames(self) -> list[tuple[str, bytes]]:
        return [(subject, data) for subject, data in self._packed("frames.bin")]

    @cached_property
    def rooms(self) -> dict[str, dict[str, Any]]:
        """By the phase that each is in: its code, its members with what their moves were answered, its TV's view."""
        found: dict[str, dict[str, Any]] = self.json("rooms")["rooms"]
        return found

    @cached_property
    def protos(self) -> FileDescriptorSet:
        return FileDescriptorSet.FromString((self.folder / "protos.bin").read_bytes())

    def json(self, name: str) -> Any:
        return json.loads((self.folder / f"{name}.json").read_text())

    def partitions(self) -> dict[int, list[tuple[int, r.Record]]]:
        """Partition → sequence and record, each the follower of the one before it."""
        found: dict[int, list[tuple[int, r.Record]]] = {}
        for message in self.log:
            records = found.setdefault(int(message.subject.removeprefix("log.")), [])
            assert int(message.headers[EXPECTED]) == (records[-1][0] if records else 0)
            records.append((message.sequence, r.decode(message.data)))
        return found

    async def restore(self, url: str) -> None:
        """Put the log and the bucket into a server that has neither, every record at its own sequence."""
        await set_up(SetupSettings(nats_url=url))
        nc = await bus.connect(url, "golden")
        js = nc.jetstream()
        for kept in self.log:
            ack = await js.publish(kept.subject, kept.data, headers=kept.headers)
            assert ack.seq == kept.sequence
        own = await js.key_value(subjects.OWN_BUCKET)
        for key, value in self.json("own").items():
            try:
                assert (await own.get(key)).value == value.encode(), f"{key} is laid out otherwise"
            except nats.js.errors.KeyNotFoundError:
                await own.create(key, value.encode())
        await nc.close()

    def _packed(self, name: str) -> Any:
        return msgspec.msgpack.decode(lzma.decompress((self.folder / name).read_bytes()))
