"""From an address typed on a phone that knows nothing yet, until the page takes a touch."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta
from playwright.async_api import Browser, CDPSession

LATENCY = 150
"""Ms there and back."""
DOWN, UP = 1_600_000 / 8, 750_000 / 8
"""Bytes a second: a mobile connection that is not good."""
THROTTLE = 4
"""The page's main thread is so many times slower than this machine."""
QUIET = 1000
"""Ms without a long task, after which what there is counts as interactive."""

# `there`: a field to type into is on the page.  `long`: when its last long task ended.
_WATCH = """window.load = { there: 0, long: 0 }
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) window.load.long = task.startTime + task.duration
}).observe({ type: 'longtask', buffered: true })
new MutationObserver((_, me) => {
  if (!document.querySelector('[data-testid="host-name"], [data-testid="join-name"]')) return
  window.load.there = performance.now()
  me.disconnect()
}).observe(document, { subtree: true, childList: true })"""
_SETTLED = f"() => window.load.there > 0 && performance.now() - Math.max(window.load.there, window.load.long) > {QUIET}"
_TOLD = """() => {
  const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0
  return { paint, interactive: Math.max(paint, window.load.there, window.load.long) }
}"""


class Load(msgspec.Struct):
    """One visit.  Times are ms from the start of the navigation."""

    first: Annotated[bool, Meta(description="nothing was kept from an earlier visit")]
    paint: Annotated[float, Meta(description="until the first words show")]
    interactive: Annotated[float, Meta(description="until a name can be typed and no long task runs")]
    requests: Annotated[int, Meta(description="answers that came over the line")]
    bytes: Annotated[int, Meta(description="bytes of them, headers included")]
    code: Annotated[int, Meta(description="of it scripts and styles")]


async def visits(browser: Browser, url: str) -> tuple[Load, Load]:
    """The first of a phone, and its second."""
    context = await browser.new_context(
        viewport={"width": 390, "height": 844}, device_scale_factor=2, has_touch=True, is_mobile=True
    )
    try:
        page = await context.new_page()
        await page.add_init_script(_WATCH)
        cdp = await context.new_cdp_session(page)
        await cdp.send("Network.enable")
        line = {"offline": False, "latency": LATENCY, "downloadThroughput": DOWN, "uploadThroughput": UP}
        await cdp.send("Network.emulateNetworkConditions", line)
        await cdp.send("Emulation.setCPUThrottlingRate", {"rate": THROTTLE})
        loads = []
        for first in (True, False):
            counted = _Counted(cdp)
            await page.goto(url)
            await page.wait_for_function(_SETTLED, polling=200)
            told = await page.evaluate(_TOLD)
            counted.stop()
            loads.append(
                Load(
                    first,
                    round(told["paint"]),
                    round(told["interactive"]),
                    counted.requests,
                    counted.bytes,
                    counted.code,
                )
            )
        return loads[0], loads[1]
    finally:
        await context.close()


class _Counted:
    """What comes over the line from now on."""

    def __init__(self, cdp: CDPSession) -> None:
        self.requests = self.bytes = self.code = 0
        self._cdp = cdp
        self._kinds: dict[str, str] = {}
        cdp.on("Network.responseReceived", self._received)
        cdp.on("Network.loadingFinished", self._finished)

    def stop(self) -> None:
        self._cdp.remove_listener("Network.responseReceived", self._received)
        self._cdp.remove_listener("Network.loadingFinished", self._finished)

    def _received(self, told: dict[str, Any]) -> None:
        self._kinds[told["requestId"]] = told["type"]

    def _finished(self, told: dict[str, Any]) -> None:
        size = int(told["encodedDataLength"])
        if size == 0:
            return
        self.requests += 1
        self.bytes += size
        if self._kinds.get(told["requestId"]) in ("Script", "Stylesheet"):
            self.code += size
