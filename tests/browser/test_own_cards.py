"""One phone alone, with decks that were chosen: what fingers do to the own cards."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.alone import alone, cards_of
from tests.browser.decks import deck
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]


async def test_the_stock_turns_by_taps_and_over_and_an_undone_turn_hides_its_card(rare: Rare, pages: Pages) -> None:
    phone = await alone(rare, pages, deck(stock="2c 9h Kd"))
    await phone.turn()
    assert (await phone.table()).turned == "2c"
    await phone("undo").tap()
    await expect(phone("stock")).to_have_attribute("data-count", "35", timeout=PATIENCE)
    hidden = await phone.table()
    assert (hidden.in_stock, hidden.in_turned, hidden.turned) == (35, 0, None)
    # Case 34: what showed is face down again, so that no finger can play it.
    assert await phone.card("2c").count() == 0
    await phone.gone("undo")

    await phone.finger.taps(await phone.free(phone("stock")), 35)
    await expect(phone("stock")).to_have_attribute("data-count", "0", timeout=PATIENCE)
    turned = await phone.table()
    assert (turned.in_stock, turned.in_turned) == (0, 35)
    await phone.turn()
    assert (await phone.table()).in_stock == 35
    shown = []
    for _ in range(3):
        await phone.turn()
        shown.append((await phone.table()).turned)
    assert shown == ["2c", "9h", "Kd"]
    assert cards_of(await phone.table()) == 52


async def test_a_run_moves_whole_comes_back_by_undo_and_a_part_of_it_moves_by_itself(rare: Rare, pages: Pages) -> None:
    phone = await alone(rare, pages, deck(work="9d 8s 7h 9h"))
    await phone.tap(phone.card("8s"))
    await phone.tap(phone.card("7h"))
    run = await phone.table()
    assert run.work == [["9d", "8s", "7h"], [], [], ["9h"]]

    # Case 26: a call comes in.
    grip = await phone.free(phone.card("8s"))
    await phone.finger.down(grip)
    await phone.finger.move(grip, await phone.free(phone.card("9h")))
    await expect(phone.page.locator(".own.held")).to_have_count(2, timeout=PATIENCE)
    await phone.finger.cancel()
    await expect(phone.page.locator(".own.held")).to_have_count(0, timeout=PATIENCE)
    assert (await phone.table()).work == run.work

    await phone.drag(phone.card("8s"), phone.card("9h"))
    dragged = await phone.table()
    assert dragged.work == [["9d"], [], [], ["9h", "8s", "7h"]]
    await phone("undo").tap()
    await expect(phone("undo")).to_have_count(0, timeout=PATIENCE)
    assert (await phone.table()).work == run.work

    # Case 33: nothing is glued together.
    await phone.tap(phone.card("7h"))
    assert (await phone.table()).work == [["9d", "8s"], ["7h"], [], ["9h"]]
    await phone.drag(phone.card("7h"), phone.card("8s"))
    assert (await phone.table()).work == run.work

    # Case 28.  A page that knows of no tap before: a tap right after another on the same pile is none.
    await phone.page.reload()
    await phone.live()
    assert (await phone.table()).own == run.own
    await phone.finger.taps(await phone.free(phone.card("8s")), 3)
    await expect(phone("work-3")).to_have_attribute("data-card", "7h", timeout=PATIENCE)
    moved = await phone.table()
    assert moved.work == [["9d"], [], [], ["9h", "8s", "7h"]]
    assert cards_of(moved) == 52
    await phone.page.reload()
    await phone.live()
    assert (await phone.table()).own == moved.own


async def test_cards_for_the_middle_by_tap_flick_and_drag_and_one_with_no_pile_is_home_again(
    rare: Rare, pages: Pages
) -> None:
    phone = await alone(rare, pages, deck(snatch="4h 5h 9s", work="9d 8s 7h 9h", stock="Ah 2h 3h 6h"))
    await phone.drag(phone.card("9h"), phone("middle"))
    await phone.says("No pile for that")
    home = await phone.table()
    assert home.work[3] == ["9h"]
    assert home.middle == []
    await phone.gone("undo")

    for card in ("Ah", "2h", "3h"):
        await phone.turn()
        await phone.tap(phone.card(card))
        await expect(phone.page.locator(f'[data-pile][data-top="{card}"]')).to_have_count(1, timeout=PATIENCE)

    # Case 22.
    await phone.finger.taps(await phone.free(phone.card("4h")), 2)
    await expect(phone.page.locator('[data-pile][data-top="4h"]')).to_have_count(1, timeout=PATIENCE)
    seen = await phone.table()
    assert (seen.snatch, seen.left) == ("5h", 12)

    # Case 20.
    await phone.turn()
    middle = await phone.free(phone("middle"))
    first, second = await phone.free(phone.card("5h")), await phone.free(phone.card("6h"))
    await phone.finger.flicks((first, middle), (second, middle))
    await expect(phone.page.locator('[data-pile][data-top="6h"]')).to_have_count(1, timeout=PATIENCE)
    both = await phone.table()
    assert [pile.top for pile in both.middle] == ["6h"]
    assert (both.snatch, both.left, both.turned) == ("9s", 11, None)
    assert cards_of(both) == 52


async def test_undo_waits_while_a_card_is_on_its_way_and_is_there_again_when_that_comes_back(
    rare: Rare, pages: Pages
) -> None:
    phone, line = await pages.phone_with_line(rare)
    rare.deals.give(await phone.host("Ann"), deck(work="9d 8s 7h 9h", stock="2c"))
    await phone.start()
    await phone.deal()
    await phone.live()
    await phone.turn()
    line.hold()
    await phone.drag(phone.card("9h"), phone("middle"))
    await expect(phone.page.locator('[data-card="9h"][data-flying]')).to_have_count(1, timeout=PATIENCE)
    said = len(line.sent)
    await phone("undo").tap()
    await phone.at("undo")
    waiting = await phone.now()
    assert waiting is not None
    assert (waiting.in_turned, waiting.undo) == (1, True)
    assert not [text for text in line.sent[said:] if "undo" in str(text)]
    line.let_go()
    await phone.says("No pile for that")
    await expect(phone("stock")).to_have_attribute("data-turned", "0", timeout=PATIENCE)
    await phone.gone("undo")
    back = await phone.table()
    assert (back.work[3], back.in_stock, back.turned) == (["9h"], 35, None)
