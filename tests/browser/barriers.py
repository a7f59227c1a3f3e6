"""What would keep people out of a page, as axe-core finds it."""

from __future__ import annotations

from typing import Any, cast

from playwright.async_api import Page

from stack.steps import ROOT

_AXE = (ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js").read_text()
_LOOK = """() => axe.run(document, {
    resultTypes: ['violations'],
    // The size of targets is left out unless it is asked for.
    rules: { 'target-size': { enabled: true } },
})"""
_WAITING = """() => [...document.querySelectorAll('*')].flatMap((node) => {
    const { animationName, animationDelay, transitionDelay } = getComputedStyle(node)
    const delays = [...(animationName === 'none' ? [] : animationDelay.split(', ')), ...transitionDelay.split(', ')]
    const reason = getComputedStyle(node).getPropertyValue('--waits')
    return reason || delays.every((delay) => parseFloat(delay) === 0) ? [] : [node.className]
})"""
"""What waits for a show, where there is none."""
GRAVE = ("serious", "critical")


class Barriers:
    """Looks at one place after the other, in light and dark, and keeps what it finds."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.lesser: list[str] = []
        self.places: list[str] = []

    async def look(self, page: Page, place: str) -> None:
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            if not await page.evaluate("'axe' in window"):
                await page.evaluate(_AXE)
            seen = cast(dict[str, Any], await page.evaluate(_LOOK))
            for fault in seen["violations"]:
                nodes = "; ".join(f"{node['target']} {node['failureSummary']}" for node in fault["nodes"][:5])
                what = f"{place}, {scheme}: {fault['impact']} {fault['id']}, {len(fault['nodes'])} times: {nodes}"
                (self.found if fault["impact"] in GRAVE else self.lesser).append(what)
        waiting = cast(list[str], await page.evaluate(_WAITING))
        self.found += [f"{place}: {name} waits for a motion that was not wanted" for name in waiting]
        self.places.append(place)
