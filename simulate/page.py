"""A page that is one file: it opens offline, in light and dark, and reads on a phone and a laptop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from simulate.plot import STYLE, Chart, colours, svg

CSS = """\
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.45 system-ui,sans-serif}
main{max-width:1480px;margin:0 auto;padding:20px 24px 60px}
h1{font-size:24px;margin:0 0 4px}h2{font-size:17px;margin:32px 0 10px}p{margin:4px 0;color:var(--soft)}
.said{border-left:4px solid var(--c2);background:var(--band);padding:10px 14px;margin:14px 0;border-radius:4px}
.said.bad{border-color:var(--mark)}.said p{color:var(--ink)}.said ul{margin:4px 0;padding-left:20px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(140px,1fr));gap:10px;margin:16px 0}
.tile{background:var(--band);border-radius:6px;padding:10px 12px}.tile b{display:block;font-size:22px;
font-variant-numeric:tabular-nums;white-space:nowrap}.tile span{color:var(--soft);font-size:13px}
.tile.bad b{color:var(--mark)}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,390px),1fr));gap:14px 18px;
align-items:start}
.charts svg{width:100%;height:auto;display:block}
.tables{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,430px),1fr));gap:6px 28px;
align-items:start}
.wide{grid-column:1/-1}.wide table{width:auto;min-width:min(100%,620px)}.wide th,.wide td{padding-left:18px}
.wide th:first-child,.wide td:first-child{padding-left:0}table.prose td{text-align:left}.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding:14px 0 6px;font-size:15px}
th,td{padding:4px 10px 4px 0;border-bottom:1px solid var(--grid);text-align:right;white-space:nowrap}
th{color:var(--soft);font-weight:500}th:first-child,td:first-child{text-align:left}
td.words{white-space:normal;text-align:left;overflow-wrap:anywhere}
#tip{position:fixed;pointer-events:none;display:none;background:var(--paper);border:1px solid var(--grid);
border-radius:5px;box-shadow:0 2px 8px #0004;padding:6px 9px;font-size:13px;font-variant-numeric:tabular-nums;z-index:2}
#tip b{display:block}#tip i{font-style:normal}#tip div{display:flex;justify-content:space-between;gap:14px}
.hair{stroke:var(--soft);stroke-width:1;opacity:.7}
@media(max-width:600px){main{padding:14px 12px 40px}h1{font-size:20px}.tile b{font-size:19px}
.tiles{grid-template-columns:repeat(2,1fr)}}
@media print{.charts{grid-template-columns:1fr 1fr}.charts svg,table{break-inside:avoid}}
"""
SCRIPT = """\
const tip = document.getElementById("tip"), all = [...document.querySelectorAll("svg[data-plot]")];
const data = new Map(all.map(svg => [svg, JSON.parse(svg.dataset.plot)])), hairs = new Map();
function hair(svg, n) {
  const d = data.get(svg);
  let line = hairs.get(svg);
  if (!line) {
    line = document.createElementNS(svg.namespaceURI, "path");
    line.setAttribute("class", "hair");
    svg.append(line);
    hairs.set(svg, line);
  }
  line.setAttribute("d", n === null || n >= d.x.length ? "" : `M${d.x[n]} ${d.top}V${d.bottom}`);
}
function leave() {
  tip.style.display = "none";
  for (const svg of all) hair(svg, null);
}
function move(event) {
  const svg = event.currentTarget, d = data.get(svg);
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  let n = 0;
  for (let i = 1; i < d.x.length; i++) if (Math.abs(d.x[i] - at.x) < Math.abs(d.x[n] - at.x)) n = i;
  for (const other of all) hair(other, data.get(other).at[n] === d.at[n] ? n : null);
  const head = document.createElement("b");
  head.textContent = d.at[n];
  tip.replaceChildren(head);
  d.names.forEach((name, i) => {
    if (!d.shown[i][n]) return;
    const row = document.createElement("div"), key = document.createElement("i"), value = document.createElement("i");
    key.textContent = name;
    key.style.color = `var(--c${d.colours[i]})`;
    value.textContent = d.shown[i][n];
    row.append(key, value);
    tip.append(row);
  });
  tip.style.display = "block";
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.min(event.clientX + 14, innerWidth - box.width - 6) + "px";
  tip.style.top = Math.min(event.clientY + 14, innerHeight - box.height - 6) + "px";
}
for (const svg of all) {
  svg.addEventListener("pointermove", move);
  svg.addEventListener("pointerdown", move);
  svg.addEventListener("pointerleave", leave);
}
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""A browser asks nobody for anything, whatever the page holds."""


def page(title: str, body: Iterable[str]) -> str:
    """The whole file."""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(title)}</title>",
            f"<style>:root{{{colours(False)}}}",
            f"@media (prefers-color-scheme:dark){{:root{{{colours(True)}}}}}",
            f"{CSS}{STYLE}</style></head><body><main>",
            *body,
            f'</main><div id="tip"></div><script>{SCRIPT}</script></body></html>',
            "",
        ]
    )


def charts(of: Iterable[Chart]) -> str:
    """Beside each other, as many as fit; values show under the pointer."""
    return '<div class="charts">' + "\n".join(svg(chart, readable=True) for chart in of) + "</div>"


def tile(what: str, value: str, *, bad: bool = False) -> str:
    """One figure in large."""
    return f'<div class="tile{" bad" if bad else ""}"><span>{escape(what)}</span><b>{escape(value)}</b></div>'


def tiles(of: Iterable[str]) -> str:
    return f'<div class="tiles">{"".join(of)}</div>'


def table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, words: bool = False, wide: bool = False
) -> str:
    """Nothing when there are no rows.  `words`: what stands in its last column is prose."""
    if not rows:
        return ""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = []
    for row in rows:
        last = len(row) - 1
        cells = (f"<td{' class=words' if words and n == last else ''}>{escape(c)}</td>" for n, c in enumerate(row))
        body.append(f"<tr>{''.join(cells)}</tr>")
    shown = f"<thead><tr>{head}</tr></thead>" if any(columns) else ""
    prose = ' class="prose"' if words else ""
    whole = f"<table{prose}><caption>{escape(title)}</caption>{shown}<tbody>{''.join(body)}</tbody></table>"
    return f'<div class="scroll{" wide" if wide else ""}">{whole}</div>'


def tables(of: Iterable[str]) -> str:
    """Beside each other, as many as fit."""
    return f'<div class="tables">{"".join(of)}</div>'


def said(words: str, more: Sequence[str] = (), *, bad: bool = False) -> str:
    """A box that can't be overlooked."""
    points = f"<ul>{''.join(f'<li>{escape(point)}</li>' for point in more)}</ul>" if more else ""
    return f'<div class="said{" bad" if bad else ""}"><p>{escape(words)}</p>{points}</div>'
