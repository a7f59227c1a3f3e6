"""A real page tells operators how it was for its player: numbers, and not a word."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, WebSocket, expect

from games.snatch_solitaire.messages import ToMiddle
from services.engine.app import Engine
from services.gateway.app import Gateway
from tests.browser.decks import ChosenDeals, hurried_games
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE
from tests.browser.spades import dealt
from tests.e2e.inprocess import Stack, stack_in_process
from tests.e2e.party import must, party
from tests.waiting import reach

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

EVERY = 1
"""Seconds between two reports, on this stack."""


@pytest_asyncio.fixture(loop_scope="session")
async def asking(tmp_path: Path) -> AsyncIterator[tuple[Stack, Rare]]:
    """A stack that deals given decks, and whose gateway asks often."""
    deals, games = ChosenDeals(), hurried_games(1)
    async with stack_in_process(
        tmp_path,
        engine=lambda settings: Engine(settings, games, deals),
        gateway=lambda settings: Gateway(settings.model_copy(update={"felt_every": EVERY})),
    ) as stack:
        yield stack, Rare(stack.url, stack.watch_url, deals)


def told(stack: Stack, name: str, **labels: str) -> float:
    value = stack.gateways[0].registry.get_sample_value(f"snatch_gateway_felt_{name}", labels)
    assert value is not None
    return value


def reports_of(page: Page) -> list[dict[str, Any]]:
    """All that the page says of what it felt, from now on."""
    said: list[dict[str, Any]] = []

    def sent(payload: str | bytes) -> None:
        message = json.loads(payload)
        if message["t"] == "felt":
            said.append(message)

    def opened(socket: WebSocket) -> None:
        socket.on("framesent", sent)

    page.on("websocket", opened)
    return said


async def test_a_page_reports_how_soon_its_moves_were_seen_and_that_its_scripts_failed(
    asking: tuple[Stack, Rare], pages: Pages
) -> None:
    stack, at = asking
    async with party(at) as people:
        bo = await pages.phone(at)
        said = reports_of(bo.page)
        ann = await dealt(at, people, bo)
        await must(ann, ToMiddle("As", "work", 0))
        await expect(bo("pile-1")).to_have_attribute("data-top", "As", timeout=PATIENCE)
        assert told(stack, "move_seconds_count") == 0, "Ann's own move is not Bo's"
        await bo.turn()
        await bo.page.evaluate("window.dispatchEvent(new ErrorEvent('error', { message: 'at BCDFG, by Bo' }))")
        await reach(lambda: told(stack, "move_seconds_count") == 1, "Bo's move is told")
        await reach(lambda: told(stack, "events_total", what="script_error") == 1, "and the error")
        everything = {"t", "moves", "ms", "errors"}
        await reach(lambda: {key for message in said for key in message} == everything, "a page says that and no more")
        assert 0 < told(stack, "move_seconds_sum") < 60
        assert told(stack, "reports_total", result="ignored") == 0
    assert all(isinstance(n, int) for m in said for n in (*m.get("moves", ()), m.get("ms", 0), m.get("errors", 0)))
