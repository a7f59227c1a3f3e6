"""Create the log's stream and the placement bucket, once: `python -m services.engine.setup`.

Run again it changes nothing but sizes and replicas.  It refuses to go on when the bucket
was made for another number of partitions or another hash: then rooms would be looked for
in the wrong logs.  Engines never create either.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import nats.errors
import nats.js.errors
from nats.js.api import DiscardPolicy, KeyValueConfig, RePublish, StorageType, StreamConfig
from pydantic import ValidationError

from servicekit import bus, logs
from services.engine.board import KV, KV_STREAM, LAYOUT, LAYOUT_KEY, OtherLayout, check_layout
from services.engine.settings import SetupSettings
from wire import subjects
from wire.places import PARTITIONS


async def set_up(settings: SetupSettings) -> None:
    """Raises OtherLayout; nats errors when JetStream isn't there."""
    nc = await bus.connect(settings.nats_url, f"engine-setup-{settings.instance}")
    try:
        await _make(nc, settings)
    finally:
        await nc.close()


async def _make(nc: bus.Bus, settings: SetupSettings) -> None:
    js = nc.jetstream(timeout=5)
    await _stream(
        js,
        StreamConfig(
            name=subjects.LOG_STREAM,
            subjects=[subjects.LOG_SUBJECTS],
            storage=StorageType.FILE,
            discard=DiscardPolicy.NEW,
            max_bytes=settings.log_max_bytes,
            max_age=0,
            deny_delete=True,
            allow_direct=True,
            num_replicas=settings.log_replicas,
        ),
    )
    try:
        kv = await js.key_value(subjects.OWN_BUCKET)
    except nats.js.errors.BucketNotFoundError:
        kv = await js.create_key_value(
            KeyValueConfig(
                bucket=subjects.OWN_BUCKET,
                storage=StorageType.FILE,
                history=1,
                replicas=settings.log_replicas,
                republish=RePublish(src=KV + ">", dest=subjects.OWN_REPUBLISH),
            )
        )
    config = (await js.stream_info(KV_STREAM)).config
    if config.num_replicas != settings.log_replicas:
        config.num_replicas = settings.log_replicas
        await js.update_stream(config)
    try:
        check_layout((await kv.get(LAYOUT_KEY)).value or b"")
    except nats.js.errors.KeyNotFoundError:
        await kv.create(LAYOUT_KEY, LAYOUT)


async def _stream(js: Any, config: StreamConfig) -> None:
    try:
        info = await js.stream_info(config.name)
    except nats.js.errors.NotFoundError:
        await js.add_stream(config)
        return
    if (info.config.max_bytes, info.config.num_replicas) != (config.max_bytes, config.num_replicas):
        info.config.max_bytes, info.config.num_replicas = config.max_bytes, config.num_replicas
        await js.update_stream(info.config)


def main() -> int:
    """0 when the log and the bucket are there, 2 for bad settings, else 1."""
    try:
        settings = SetupSettings()
    except ValidationError as error:
        sys.stderr.write(f"engine setup: {error}\n")
        return 2
    logs.set_up("engine-setup", settings.instance, settings.log_format, settings.log_level)
    log = logs.logger(__name__)
    try:
        asyncio.run(asyncio.wait_for(set_up(settings), 30))
    except (OtherLayout, nats.errors.Error, nats.js.errors.Error, OSError, TimeoutError) as error:
        log.error("the log could not be set up", why=str(error) or repr(error))
        return 1
    log.info("the log is set up", partitions=PARTITIONS, replicas=settings.log_replicas)
    return 0


if __name__ == "__main__":
    sys.exit(main())
