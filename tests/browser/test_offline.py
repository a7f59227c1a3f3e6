"""Installed, and without a connection: the offline page says so and goes by itself; it never shows an older client."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from servicekit import web
from servicekit.health import HttpServer
from tests.browser.phone_page import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

CONTROLLED = """async () => {
    await navigator.serviceWorker.ready
    if (navigator.serviceWorker.controller) return
    await new Promise((done) => navigator.serviceWorker.addEventListener('controllerchange', done, { once: true }))
}"""
GONE = """async (name) => {
    while (await caches.has(name)) await new Promise((done) => setTimeout(done, 20))
}"""
KEPT = """async () => {
    const [name] = await caches.keys()
    return (await (await caches.open(name)).keys()).map((request) => request.url)
}"""


class Place:
    """Serves a copy of the built client as gateway and watch do, and nothing else; goes away, and comes back."""

    def __init__(self, folder: Path) -> None:
        shutil.copytree(web.WEB_DIST, folder)
        self._folder = folder
        self._http: HttpServer | None = None
        self._port = 0
        self.proxied = False
        """Only a proxy answers: there is nobody behind it."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def come(self) -> None:
        self._http = HttpServer(self._app(), "127.0.0.1", self._port)
        await self._http.start()
        self._port = self._http.port

    async def go(self) -> None:
        if self._http is not None:
            await self._http.stop(0.5)
        self._http = None

    def release(self, name: str) -> None:
        """Another build: its pages say so, and its worker has another offline page to keep."""
        for file in ("index.html", "offline.html"):
            path = self._folder / file
            path.write_text(path.read_text().replace("<title>Snatch", f"<title>{name} Snatch"))
        worker = self._folder / "sw.js"
        worker.write_text(worker.read_text().replace('"hash":"', f'"hash":"{name}'))
        for packed in self._folder.glob("sw.js.*"):
            packed.unlink()

    def _app(self) -> Starlette:
        async def index(_: Request) -> Response:
            if self.proxied:
                return PlainTextResponse("bad gateway", status_code=502)
            return web.page(self._folder, "index.html")

        async def config(_: Request) -> Response:
            told = {"public_url": "", "watch_url": "", "build": "here"}
            return JSONResponse(told, status_code=502 if self.proxied else 200)

        settings = web.WebSettings(web_dir=self._folder)
        app = Starlette(
            routes=[
                Route("/", index),
                Route("/r/{code}", index),
                Route("/config.json", config),
                *web.files(settings),
            ]
        )
        app.add_middleware(web.SecurityHeaders)
        return app


@pytest_asyncio.fixture(loop_scope="session")
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    place = Place(tmp_path / "dist")
    await place.come()
    yield place
    await place.go()


@pytest_asyncio.fixture(loop_scope="session")
async def page(chromium: Browser) -> AsyncIterator[Page]:
    context = await chromium.new_context(locale="en-GB")
    page = await context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    yield page
    await context.close()
    assert faults == []


async def been_here(page: Page, place: Place) -> None:
    """The page was opened once with a connection, and its worker keeps the offline page."""
    await page.goto(place.url)
    await page.evaluate(CONTROLLED)


async def kept(page: Page) -> list[str]:
    keys: list[str] = await page.evaluate("caches.keys()")
    return keys


async def test_without_a_server_a_page_says_so_where_it_is_and_comes_back_by_itself(page: Page, place: Place) -> None:
    await been_here(page, place)
    await place.go()
    await page.goto(f"{place.url}/r/BCDFG")
    await expect(page.get_by_test_id("offline")).to_contain_text("Snatch can’t be reached", timeout=PATIENCE)
    await expect(page.locator(".button.main")).to_have_css("background-color", "rgb(189, 58, 26)")
    await place.come()
    await expect(page.get_by_test_id("join-name")).to_be_visible(timeout=PATIENCE)
    assert page.url == f"{place.url}/r/BCDFG"


async def test_without_a_network_a_page_says_that_it_is_offline(page: Page, place: Place) -> None:
    await been_here(page, place)
    await page.context.set_offline(True)
    await page.reload()
    await expect(page.get_by_test_id("offline")).to_contain_text("You’re offline", timeout=PATIENCE)
    await page.context.set_offline(False)
    await expect(page.get_by_test_id("host")).to_be_visible(timeout=PATIENCE)


async def test_a_proxy_with_nobody_behind_it_is_no_page_either(page: Page, place: Place) -> None:
    await been_here(page, place)
    place.proxied = True
    await page.reload()
    await expect(page.get_by_test_id("offline")).to_be_visible(timeout=PATIENCE)
    place.proxied = False
    await page.get_by_test_id("offline-retry").click()
    await expect(page.get_by_test_id("host")).to_be_visible(timeout=PATIENCE)


async def test_after_a_release_the_next_page_is_the_new_one_and_the_old_offline_page_goes(
    page: Page, place: Place
) -> None:
    await been_here(page, place)
    before = await kept(page)
    place.release("Later")
    await page.reload()
    await expect(page).to_have_title("Later Snatch", timeout=PATIENCE)
    await page.evaluate(GONE, before[0])
    assert len(await kept(page)) == 1
    await place.go()
    await page.reload()
    await expect(page.get_by_test_id("offline")).to_be_visible(timeout=PATIENCE)
    await expect(page).to_have_title("Later Snatch")


async def test_nothing_of_the_client_but_the_offline_page_is_kept(page: Page, place: Place) -> None:
    await been_here(page, place)
    urls: list[str] = await page.evaluate(KEPT)
    paths = {url.removeprefix(place.url) for url in urls}
    assert "/offline.html" in paths
    entries = {path for path in paths if path.startswith(("/assets/index", "/assets/watch"))}
    assert paths - {"/offline.html"} == {path for path in paths if path.startswith("/assets/")} - entries


@pytest.mark.parametrize(("where", "begins"), [("/", "/"), ("/watch.html", "/watch")])
async def test_the_client_can_be_installed(page: Page, place: Place, where: str, begins: str) -> None:
    await page.goto(place.url + where)
    devtools = await page.context.new_cdp_session(page)
    told: dict[str, Any] = await devtools.send("Page.getAppManifest")
    assert told["errors"] == []
    manifest = await page.evaluate("(url) => fetch(url).then((answer) => answer.json())", told["url"])
    assert manifest["start_url"] == begins
    purposes = {(icon["purpose"], icon["sizes"]) for icon in manifest["icons"]}
    assert {("any", "192x192"), ("any", "512x512"), ("maskable", "512x512")} <= purposes
    drawn = """(src) => new Promise((done, fail) => {
        const image = new Image()
        image.onload = () => done(`${image.naturalWidth}x${image.naturalHeight}`)
        image.onerror = () => fail(new Error(src))
        image.src = src
    })"""
    for icon in manifest["icons"]:
        size = await page.evaluate(drawn, icon["src"])
        assert icon["sizes"] in ("any", size)
    apple = await page.locator('link[rel="apple-touch-icon"]').get_attribute("href")
    assert await page.evaluate(drawn, apple) == "180x180"
