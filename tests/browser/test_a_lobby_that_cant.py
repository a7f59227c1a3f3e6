"""The page of a lobby while Redis is away: it says so, and works by itself when Redis is back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.pages import Address, Pages
from tests.browser.phone_page import PATIENCE
from tests.e2e.inprocess import stack_in_process

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(180)]


async def test_a_lobby_whose_redis_is_away_says_that_it_cant_and_can_again_when_it_is_back(
    tmp_path: Path, pages: Pages
) -> None:
    async with stack_in_process(tmp_path, redis_keeps=True) as stack:
        ann = await pages.phone(Address(stack.url, stack.watch_url))
        await ann.host("Ann")
        stack.redis.stop()
        await expect(ann("connection")).to_contain_text("can’t be changed just now", timeout=PATIENCE)
        await ann("add-bot").click()
        await expect(ann.page.get_by_text("The lobby can’t do that just now.")).to_be_visible(timeout=PATIENCE)
        await asyncio.to_thread(stack.redis.start)
        await expect(ann("connection")).to_have_count(0, timeout=PATIENCE)
        await ann("add-bot").click()
        await expect(ann("player")).to_have_count(2, timeout=PATIENCE)
        await ann.page.goto("about:blank")
