"""Somebody who plays without seeing: knows what the accessibility tree says and what is read out."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, cast

from playwright.async_api import CDPSession, Page

from games.cards import RANKS
from games.snatch_solitaire.bot import useful
from games.snatch_solitaire.messages import MiddleCard, Mine, Pile, ToMiddle, ToWork, View
from tests.browser.phone_page import PATIENCE

_HEAR = """() => {
    window.heard = []
    const live = '[aria-live], [role="status"], [role="alert"], [role="log"]'
    const hear = (node) => {
        const text = node.textContent.trim()
        if (text) window.heard.push(text)
    }
    for (const region of document.querySelectorAll(live)) hear(region)
    new MutationObserver((changes) => {
        for (const { type, target, addedNodes } of changes) {
            const at = target instanceof Element ? target : target.parentElement
            if (!at?.closest(live)) continue
            if (type === 'characterData') hear(at)
            else for (const node of addedNodes) hear(node)
        }
    }).observe(document.body, { subtree: true, childList: true, characterData: true })
}"""
_RANK_NAMES = {"ace": "A", "10": "T", "jack": "J", "queen": "Q", "king": "K"}
_CARD = re.compile(r"(ace|\d+|jack|queen|king) of (spades|hearts|diamonds|clubs)")
_OWN = re.compile(r"(?P<card>.+), (?P<place>Snatch pile|Turned pile|Work pile (?P<work>\d))")
_STOCK = re.compile(r"Stock: (\d+) cards?")


class Thing(NamedTuple):
    """What the accessibility tree has, with its name."""

    role: str
    name: str
    node: int
    middle: bool
    """Within the middle of the table."""


class Hand(NamedTuple):
    """The table as it is named."""

    snatch: Thing | None
    turned: Thing | None
    work: list[list[Thing]]
    stock: Thing
    middle: list[Thing]


def code(name: str) -> str:
    """`5 of hearts` as `5h`."""
    found = _CARD.match(name)
    assert found is not None, name
    rank = _RANK_NAMES.get(found[1], found[1])
    assert rank in RANKS
    return rank + found[2][0]


class Listener:
    """`things` is what a reader's cursor comes past; `press` moves the focus there and presses Enter."""

    def __init__(self, page: Page, cdp: CDPSession) -> None:
        self.page, self._cdp = page, cdp

    @staticmethod
    async def on(page: Page) -> Listener:
        cdp = await page.context.new_cdp_session(page)
        await cdp.send("Accessibility.enable")
        await cdp.send("DOM.enable")
        await page.evaluate(_HEAR)
        return Listener(page, cdp)

    async def things(self) -> list[Thing]:
        """All that is named, in reading order."""
        tree = cast(dict[str, Any], await self._cdp.send("Accessibility.getFullAXTree"))
        nodes = {node["nodeId"]: node for node in tree["nodes"]}
        found: list[Thing] = []

        def walk(node: dict[str, Any], middle: bool) -> None:
            if not node["ignored"] and "backendDOMNodeId" in node and (name := node.get("name", {}).get("value")):
                role = node["role"]["value"]
                found.append(Thing(role, name, node["backendDOMNodeId"], middle))
                middle = middle or (role, name) == ("group", "Middle")
            for child in node.get("childIds", []):
                if child in nodes:
                    walk(nodes[child], middle)

        walk(tree["nodes"][0], False)
        return found

    async def find(self, role: str, name: str) -> Thing | None:
        return next((thing for thing in await self.things() if (thing.role, thing.name) == (role, name)), None)

    async def press(self, thing: Thing) -> None:
        await self._cdp.send("DOM.focus", {"backendNodeId": thing.node})
        await self.page.keyboard.press("Enter")

    async def heard(self, text: str) -> str:
        """The last that was read out with this in it, waited for."""
        await self.page.wait_for_function(
            "text => window.heard.some(t => t.includes(text))", arg=text, timeout=PATIENCE
        )
        return cast(str, await self.page.evaluate("text => window.heard.findLast(t => t.includes(text))", text))

    async def all_heard(self) -> list[str]:
        return cast(list[str], await self.page.evaluate("window.heard"))

    async def hand(self) -> Hand | None:
        """The own cards and the middle, by their names; None: there is no table."""
        snatch = turned = stock = None
        work: list[list[Thing]] = [[], [], [], []]
        middle: list[Thing] = []
        for thing in await self.things():
            if own := _OWN.fullmatch(thing.name):
                if own["card"] == "face down":
                    continue
                if own["work"]:
                    work[int(own["work"]) - 1].append(thing)
                elif own["place"] == "Snatch pile":
                    snatch = thing
                else:
                    turned = thing
            elif thing.role == "button" and thing.name.startswith("Stock"):
                stock = thing
            elif thing.middle and thing.role == "image" and _CARD.fullmatch(thing.name):
                middle.append(thing)
        return None if stock is None else Hand(snatch, turned, work, stock, middle)


def choose(hand: Hand) -> Thing | None:
    """The card to press next; None: none is useful, turn the stock."""
    things = [hand.snatch, hand.turned, *hand.middle, *(thing for pile in hand.work for thing in pile)]
    card = {thing: code(thing.name) for thing in things if thing}
    mine = Mine(
        snatch=card[hand.snatch] if hand.snatch else None,
        work=[[card[thing] for thing in pile] for pile in hand.work],
        stock=int(found[1]) if (found := _STOCK.fullmatch(hand.stock.name)) else 0,
        turned=[card[hand.turned]] if hand.turned else [],
    )
    middle = [Pile(id=n, top=[MiddleCard(card[thing], 0)]) for n, thing in enumerate(hand.middle, 1)]
    move = next((m for m, _ in useful(View(hand=1, seats=[], middle=middle), mine)), None)
    if not isinstance(move, ToMiddle | ToWork):
        return None
    return next(thing for thing, its in card.items() if its == move.card and thing not in hand.middle)
