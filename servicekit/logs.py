"""Logs: JSON for machines, readable lines on a terminal.  Bind room and seat, never a card or a token."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog


def set_up(service: str, instance: str, fmt: str = "auto", level: str = "info") -> None:
    """Configure logging for this process; the libraries' own logs go the same way."""
    as_text = fmt == "text" or (fmt == "auto" and sys.stderr.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    last: Any = structlog.dev.ConsoleRenderer() if as_text else structlog.processors.JSONRenderer()
    if as_text:
        shared.remove(structlog.processors.format_exc_info)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for noisy in ("uvicorn.access", "uvicorn.error", "nats.aio.client", "httpx"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    structlog.contextvars.bind_contextvars(service=service, instance=instance)


def logger(name: str) -> Any:
    """A logger; bind what a reader will want to filter by: `log = logger(__name__).bind(room=room)`."""
    return structlog.stdlib.get_logger(name)
