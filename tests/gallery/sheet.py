"""The gallery's own page: every picture on one sheet, a row for a place."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

PAGE = """<!doctype html>
<meta charset="utf-8"><title>Snatch: the gallery</title>
<style>
body {{ margin: 24px; background: #2b2b2b; color: #eee; font: 15px system-ui, sans-serif }}
section {{ margin-bottom: 32px }}
div {{ display: flex; gap: 10px; overflow-x: auto; align-items: flex-start }}
img {{ height: 360px; width: auto; display: block }}
</style>
{sections}
"""


def sheet(pictures: Iterable[tuple[str, str]]) -> str:
    """Of (place, file name), in the order in which they are shown.

    >>> print(sheet([("home", "home.png")]).splitlines()[-1])
    <section><h2>home</h2><div><a href="home.png"><img loading="lazy" src="home.png" alt="home.png"></a></div></section>
    """
    rows: dict[str, list[str]] = {}
    for place, name in pictures:
        file = escape(name, quote=True)
        rows.setdefault(place, []).append(f'<a href="{file}"><img loading="lazy" src="{file}" alt="{file}"></a>')
    sections = (f"<section><h2>{escape(place)}</h2><div>{''.join(row)}</div></section>" for place, row in rows.items())
    return PAGE.format(sections="\n".join(sections))
