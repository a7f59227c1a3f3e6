"""The first page when the house is full: it says so kindly, offers another try, and that works when a room has gone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from playwright.async_api import expect

from stack import lent
from tests.browser.pages import Address, Pages
from tests.browser.phone_page import PATIENCE
from tests.e2e.party import party, within
from wire import client_in

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(180)]

TINY = {"SNATCH_ROOMS_MOST": "1", "SNATCH_BOTS_SEATS": "1", "SNATCH_ROOM_IDLE": "1"}


async def test_who_hosts_in_a_full_house_is_asked_to_try_again_and_gets_a_room_when_one_has_gone(
    tmp_path: Path, pages: Pages
) -> None:
    with lent.started(folder=tmp_path / "data", say=False, settings=TINY) as state:
        address = Address(state["url"], state["watch_url"])
        async with party(address) as people:
            bo = await people.host("Bo")
            ann = await pages.phone(address)
            await ann.page.goto(address.url)
            await ann("host-name").fill("Ann")
            await ann.hit(ann("host"))
            await expect(ann.page.get_by_text("All places are taken just now.")).to_be_visible(timeout=PATIENCE)
            await expect(ann("host")).to_have_text("Try again")
            await within(bo.act(client_in.LeaveRoom()))
            await within(gone(address.url, people.room))
            await ann.hit(ann("host"))
            await expect(ann("lobby-code")).to_be_visible(timeout=PATIENCE)
            await ann("add-bot").click()
            await expect(ann("player")).to_have_count(2, timeout=PATIENCE)
            await ann("add-bot").click()
            await expect(ann.page.get_by_text("All bots are busy just now.")).to_be_visible(timeout=PATIENCE)
            await ann.page.goto("about:blank")


async def gone(url: str, room: str) -> None:
    """Until there is no such room any more."""
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        while (await http.get(f"/api/rooms/{room}")).status_code == 200:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.05)
