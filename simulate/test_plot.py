"""Plots as SVG: what lies where, what a reader sees of gaps, peaks and marks."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from html import unescape

import pytest

from simulate.plot import POINTS, Band, Chart, Line, Mark, sheet, svg, thinned
from simulate.plot_axis import BYTES, MS, NUMBER, Unit, bytes_in_words, log_ticks, milliseconds, number, ticks


def chart(*lines: Line, x: list[float] | None = None, unit: Unit = NUMBER, log: bool = False) -> Chart:
    times = x or [float(n) for n in range(len(lines[0].values))]
    return Chart("Moves & more", unit, times, lines, log=log)


def polylines(text: str) -> list[list[tuple[float, float]]]:
    return [
        [(float(a), float(b)) for a, b in (pair.split(",") for pair in found.split())]
        for found in re.findall(r'<polyline[^>]*points="([^"]*)"', text)
    ]


def test_more_is_higher_and_later_is_further_right() -> None:
    (points,) = polylines(svg(chart(Line("a", [1.0, 5.0, 3.0]))))
    xs, ys = zip(*points, strict=True)
    assert list(xs) == sorted(xs)
    assert ys[1] < ys[2] < ys[0]


def test_on_a_logarithmic_axis_each_tenfold_is_as_high() -> None:
    (points,) = polylines(svg(chart(Line("a", [1.0, 10.0, 100.0]), unit=MS, log=True)))
    ys = [y for _, y in points]
    assert ys[0] - ys[1] == pytest.approx(ys[1] - ys[2], abs=0.2)


def test_a_line_is_interrupted_where_there_is_no_value() -> None:
    assert [len(run) for run in polylines(svg(chart(Line("a", [1.0, 2.0, None, 4.0, 5.0, 6.0]))))] == [2, 3]
    assert [len(run) for run in polylines(svg(chart(Line("a", [1.0, 2.0, 0.0, 4.0]), log=True)))] == [2, 1]


def test_thinning_hides_no_peak() -> None:
    values = [1.0] * 2000
    values[777] = 99.0
    thin = thinned(chart(Line("a", values)))
    assert len(thin.x) <= POINTS
    assert max(v for v in thin.lines[0].values if v is not None) == 99.0


def test_every_name_and_every_mark_can_be_read_and_is_escaped() -> None:
    many = [Line(f"part <{n}>", [1.0, 2.0]) for n in range(12)]
    text = svg(Chart("A & B", NUMBER, [0.0, 1.0], many, marks=[Mark(0.5, "kill <x>")], bands=[Band(0, 0.6, "ramp")]))
    ET.fromstring(text)
    for line in many:
        assert line.name in unescape(text)
    assert "kill <x>" in unescape(text)
    assert ">ramp<" in text


def test_a_mark_outside_is_not_drawn() -> None:
    text = svg(Chart("A", NUMBER, [0.0, 1.0], [Line("a", [1.0, 2.0])], marks=[Mark(7.0, "later")]))
    assert "later" not in text


def test_what_shows_under_the_pointer_is_what_was_drawn() -> None:
    text = svg(chart(Line("a", [1.0, None, 3.0]), unit=MS), readable=True)
    said = re.search(r"data-plot='([^']*)'", text)
    assert said is not None
    data = json.loads(unescape(said[1]))
    assert data["shown"] == [["1 ms", "", "3 ms"]]
    assert [x for x, _ in [p for run in polylines(text) for p in run]] == [data["x"][0], data["x"][2]]


def test_an_axis_of_something_else_than_time_names_it_once_and_a_limit_says_what_it_is() -> None:
    players = Unit("players", number)
    line = Line("a", [3.0, 4.0, 5.0])
    text = svg(Chart("A", MS, [400.0, 1000.0, 4000.0], [line], players, dots=True, limit=60.0))
    assert text.count("players") == 1
    assert ">4,000 players<" in text
    assert "at most 60 ms" in text


def test_nothing_to_show_is_an_empty_chart() -> None:
    ET.fromstring(svg(Chart("Nothing", NUMBER, [], [Line("a", [])])))
    ET.fromstring(svg(Chart("One", NUMBER, [3.0], [Line("a", [0.0])])))


def test_a_sheet_is_an_svg_file_of_its_own_in_both_themes() -> None:
    text = sheet("All & everything", [chart(Line("a", [1.0, 2.0]))] * 3)
    root = ET.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(polylines(text)) == 3
    alone = ET.fromstring(sheet("One", [chart(Line("a", [1.0, 2.0]))]))
    assert int(alone.attrib["width"]) < int(root.attrib["width"]) * 0.6
    assert "prefers-color-scheme:dark" in text


def test_axes_have_round_numbers_around_what_they_show() -> None:
    assert ticks(0, 870, 5) == [0, 200, 400, 600, 800, 1000]
    assert ticks(0, 0.9, 5) == [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert [BYTES.show(t) for t in ticks(0, 9e6, 5, BYTES.step)] == ["0", "2 MiB", "4 MiB", "6 MiB", "8 MiB", "10 MiB"]
    assert [BYTES.show(t) for t in ticks(0, 290e3, 5, BYTES.step)][-1] == "300 KiB"
    assert log_ticks(3, 80) == [2, 5, 10, 20, 50, 100]
    assert log_ticks(0.5, 90_000) == [0.1, 1, 10, 100, 1000, 10_000, 100_000]


def test_numbers_are_told_with_three_digits_that_count() -> None:
    assert [number(v) for v in (0.0123, 12.0, 870.4, 8700.0, 12_340.0, 1_234_567.0)] == [
        "0.0123",
        "12",
        "870",
        "8,700",
        "12.3 k",
        "1.23 M",
    ]
    assert [milliseconds(v) for v in (0.25, 12.34, 1500.0)] == ["0.25 ms", "12.3 ms", "1.5 s"]
    assert [bytes_in_words(v) for v in (0.0, 512.0, 3 * 2**20)] == ["0", "0.5 KiB", "3 MiB"]
