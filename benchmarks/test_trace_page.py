"""docs/client.md is made by the command, and the page of what it found says it all."""

from __future__ import annotations

from benchmarks import trace_page
from benchmarks.trace_found import Hand, Traced
from benchmarks.trace_frames import Frames
from benchmarks.trace_load import Load


def found() -> Traced:
    frames = Frames(20.0, 900, 58.5, 33.0, 0, 0.31, 6.1, 17.0, 41.0, 39.0, 0, 0, [], {"script": 2000, "paint": 100})
    return Traced(
        date="2026-01-02",
        cpu="A processor",
        cores=2,
        load_average=0.3,
        chromium="156.0",
        throttle=4,
        hands=[Hand("phone", 390, 844, 30, 4, 3, frames)],
        loads=[Load(True, 900, 1200, 7, 77_000, 74_000), Load(False, 300, 400, 3, 2500, 0)],
        packed={"index.html": 77_000},
    )


def test_the_page_has_a_line_for_each_screen_visit_and_page() -> None:
    lines = trace_page.made(found()).splitlines()
    assert any(line.startswith("| phone, 390 × 844 | 900 | 58 | 33 ms | 0 |") for line in lines)
    assert "| phone | 100 | 5 |" in lines
    assert "| the first | 0.90 s | 1.20 s | 7 | 77.0 KB | 74.0 KB |" in lines
    assert "| the next | 0.30 s | 0.40 s | 3 | 2.5 KB | 0.0 KB |" in lines
    assert "| `index.html` | 77.0 KB | 150 KB |" in lines
