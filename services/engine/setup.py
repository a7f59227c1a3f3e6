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
from pydantic_settings import SettingsError

from servicekit import bus, logs
from services.engine.board import KV, KV_STREAM, LAYOUT, LAYOUT_KEY, OtherLayout, check_layout
from services.engine.settings import SetupSettings
from wire import subjects
from wire.places import PARTITIONS

RETRY = 0.25
"""Seconds."""
PASSING = frozenset({10005, 10009, 10202})
"""JetStream's codes for: no suitable peers, not the leader, a change of members under way; none of them a 503."""


async def set_up(settings: SetupSettings) -> None:
    """Raises OtherLayout; nats errors when JetStream isn't there.

    What a cluster that is only just coming up can't do yet is tried again.
    """
    nc = await bus.connect(
        settings.nats_url, f"engine-setup-{settings.instance}", credentials=settings.nats_credentials
    )
    log, told = logs.logger(__name__), ""
    try:
        while True:
            try:
                await _make(nc, settings)
                await _whole(nc, settings)
                return
            except (nats.errors.Error, nats.js.errors.Error, NotWhole, TimeoutError) as error:
                if not _passes(error):
                    raise
                if told != repr(error):
                    told = repr(error)
                    log.warning("not yet: trying again", why=str(error) or told)
            await asyncio.sleep(RETRY)
    finally:
        await nc.close()


def _passes(error: Exception) -> bool:
    """Whether waiting may cure it: no leader yet, or peers that haven't all said hello."""
    if isinstance(error, nats.js.errors.APIError):
        return error.code == 503 or error.err_code in PASSING
    return isinstance(error, NotWhole | TimeoutError | nats.errors.TimeoutError | nats.errors.NoRespondersError)


class NotWhole(Exception):
    """A stream has no leader yet, or fewer up-to-date copies than were asked for."""


async def _whole(nc: bus.Bus, settings: SetupSettings) -> None:
    """Raises NotWhole.  An engine could work already; but the first server lost would be one too many."""
    if settings.log_replicas == 1:
        return
    js = nc.jetstream(timeout=5)
    for name in (subjects.LOG_STREAM, KV_STREAM):
        cluster = (await js.stream_info(name)).cluster
        if cluster is None or not cluster.leader:
            raise NotWhole(f"{name} has no leader yet")
        current = 1 + sum(bool(peer.current) and not peer.offline for peer in cluster.replicas or ())
        if current < settings.log_replicas:
            raise NotWhole(f"{name} has {current} of {settings.log_replicas} copies up to date")


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
    except (ValidationError, SettingsError, OSError) as error:
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
