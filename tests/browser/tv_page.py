"""The TV's page."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Locator, Page, expect

from tests.browser.phone_page import PATIENCE


class TvPage:
    """`url` is the TVs' address."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url

    async def watch(self, room: str) -> None:
        await self.page.goto(f"{self.url}/watch?code={room}")
        await expect(self.page.get_by_test_id("tv")).to_be_visible(timeout=PATIENCE)

    def __call__(self, testid: str) -> Locator:
        return self.page.get_by_test_id(testid)

    async def phase(self, phase: str) -> None:
        """This place of the game shows."""
        await self.page.wait_for_selector(f'[data-testid="tv"][data-phase="{phase}"]', timeout=PATIENCE)

    async def says(self, text: str) -> None:
        await self.page.get_by_text(text).first.wait_for(state="attached", timeout=PATIENCE)

    async def shot(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        await self.page.screenshot(path=path)
