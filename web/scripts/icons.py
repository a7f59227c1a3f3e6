"""Draw the installed client's icons from web/public/icon.svg: `python web/scripts/icons.py`, after a change to it.

Phones want pictures, and a system that cuts its icons to a shape of its own wants one without corners, the drawing
in the middle four fifths.
"""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from stack import setup_browser

PUBLIC = Path(__file__).resolve().parent.parent / "public"
CORNERS = 'rx="112" '
MASKED = 0.84
"""The drawing's size where the system cuts the corners: what matters is in the middle 80 %."""


def draw(page: Page, name: str, size: int, svg: str) -> None:
    page.set_viewport_size({"width": size, "height": size})
    page.set_content(f"<style>body{{margin:0}}svg{{display:block;width:{size}px;height:{size}px}}</style>{svg}")
    page.screenshot(path=PUBLIC / name, omit_background=True)


def main() -> None:
    svg = (PUBLIC / "icon.svg").read_text()
    ground, drawing = svg.replace(CORNERS, "").split("  <g ", 1)
    middle = f'<g transform="translate(256 256) scale({MASKED}) translate(-256 -256)">'
    whole = f"{ground}{middle}<g {drawing.replace('</svg>', '</g></svg>')}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=setup_browser.find(), args=["--no-sandbox"])
        page = browser.new_page()
        draw(page, "icon-192.png", 192, svg)
        draw(page, "icon-512.png", 512, svg)
        draw(page, "icon-maskable.png", 512, whole)
        draw(page, "apple-touch-icon.png", 180, whole)
        browser.close()


if __name__ == "__main__":
    main()
