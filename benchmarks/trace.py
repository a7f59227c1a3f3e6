"""`make trace`: how smooth a hand of eight is on a phone's page, and how soon the page is there; into docs/client.md.

A Chromium whose main thread is throttled plays on a stack of its own, and its trace is read.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from playwright.async_api import Browser, async_playwright

from benchmarks import machine, trace_page
from benchmarks.first_load import first_load
from benchmarks.trace_found import Hand, Traced
from benchmarks.trace_frames import read
from benchmarks.trace_hand import Finger, at_the_table
from benchmarks.trace_load import THROTTLE, visits
from benchmarks.trace_recording import record
from stack import lent, setup_browser
from stack.data import ROOT
from tests.browser.conftest import FLAGS
from tests.browser.pages import Address, Pages
from tests.e2e.party import Party, party

PAGE = ROOT / "docs" / "client.md"
SIZES = {"phone": (390, 844), "small": (360, 640), "tablet": (820, 1180), "landscape": (844, 390)}
"""CSS pixels, at two pixels each."""
LONGEST = 240.0
"""Seconds that a hand is followed at most."""


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    """Its options."""
    p = argparse.ArgumentParser(prog="snatch trace", description=__doc__)
    p.add_argument("--screens", type=_screens, default=list(SIZES), metavar="A,B", help=f"of {', '.join(SIZES)} (all)")
    p.add_argument("--throttle", type=float, default=THROTTLE, metavar="N", help=f"times slower ({THROTTLE})")
    p.add_argument("--visits", type=int, default=3, metavar="N", help="pages loaded by new phones (3)")
    p.add_argument("--keep", type=Path, metavar="DIR", help="keep the traces, for DevTools or Perfetto; slower")
    p.add_argument("--json", type=Path, metavar="FILE", help="the figures as JSON")
    p.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    return p.parse_args(argv)


def _screens(text: str) -> list[str]:
    wanted = [name for name in text.replace(" ", ",").split(",") if name]
    if unknown := [name for name in wanted if name not in SIZES]:
        raise argparse.ArgumentTypeError(f"there is no {', '.join(unknown)}: screens are {', '.join(SIZES)}")
    return wanted


def main(argv: Sequence[str]) -> int:
    """0 when it ran, however fast."""
    told = parsed(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    path = setup_browser.find()
    if path is None:
        print(f"✗ there is no Chromium\n→ {setup_browser.CURE}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="snatch-trace-") as folder, lent.started(folder=Path(folder)) as state:
        found = asyncio.run(_run(told, path, Address(state["url"], state["watch_url"])))
    if told.json is not None:
        told.json.write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")
    if told.page:
        PAGE.write_text(trace_page.made(found), encoding="utf-8")
        print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


async def _run(told: argparse.Namespace, chromium: str, address: Address) -> Traced:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        here = machine.this_machine(None)
        found = Traced(
            date=datetime.now(UTC).date().isoformat(),
            cpu=here.cpu,
            cores=here.cores,
            load_average=round(os.getloadavg()[0], 1),
            chromium=browser.version,
            throttle=told.throttle,
            hands=[],
            loads=[],
            packed={},
        )
        dist = Path(os.environ.get("SNATCH_WEB_DIR") or ROOT / "web" / "dist")
        for page in ("index.html", "watch.html"):
            found.packed[page] = sum(file.packed for file in first_load(dist, page))
        for _ in range(told.visits):
            found.loads += await visits(browser, address.url)
        for line in trace_page.loads(found):
            print(line)
        for screen in told.screens:
            found.hands.append(await _hand(browser, address, screen, told))
            for line in trace_page.hand(found.hands[-1]):
                print(line, flush=True)
        await browser.close()
    return found


async def _hand(browser: Browser, address: Address, screen: str, told: argparse.Namespace) -> Hand:
    pages = Pages(browser)
    keep = None if told.keep is None else told.keep / f"{screen}.json"
    if keep is not None:
        keep.parent.mkdir(parents=True, exist_ok=True)
    async with party(address) as people:
        phone = await at_the_table(pages, people, address, SIZES[screen])
        cdp = await phone.page.context.new_cdp_session(phone.page)
        await cdp.send("Emulation.setCPUThrottlingRate", {"rate": told.throttle})
        finger = Finger(phone)
        # From the tap on “Deal”: the countdown, “Snatch!” and the scores are frames as well.
        await phone.deal()
        events = await record(browser, _play(people, finger), keep)
        await pages.close()
    width, height = SIZES[screen]
    return Hand(screen, width, height, finger.taps, finger.drags, finger.flicks, read(events))


async def _play(people: Party, finger: Finger) -> None:
    """To the scores, or as long as one is followed."""
    others = asyncio.create_task(people.play(*people.phones, speed=1.0, patience=LONGEST))
    try:
        async with asyncio.timeout(LONGEST):
            await finger.phone.live()
            await finger.play()
            await finger.phone.at("scores")
    except TimeoutError:
        print("  the hand took too long: what was seen of it counts", file=sys.stderr)
    finally:
        others.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await others


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
