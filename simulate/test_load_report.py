"""What a load run found as text, as a page, and while it runs: of a run made up here."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from simulate import load
from simulate.load_html import charts, html
from simulate.load_live import LiveView, PlainView, bars
from simulate.load_record import (
    Asked,
    Bytes,
    Checks,
    Contested,
    Delay,
    Event,
    Generator,
    Phase,
    Rate,
    Result,
    Sample,
    Service,
    ServiceSample,
    from_json,
    to_json,
)
from simulate.load_report import service_rows, text
from simulate.load_samples import SUPERVISOR

KILLED = 4.0


def delay(count: int, ms: float) -> Delay:
    return Delay(count, ms, 2 * ms, 5 * ms, 8 * ms, 13 * ms)


def a_sample(at: float, phase: Phase) -> Sample:
    down = at == KILLED
    engine = ServiceSample(0.0, 0.0, 0) if down else ServiceSample(0.4, 120.0, 3)
    return Sample(
        at=at,
        phase=phase,
        players=400,
        spectators=9 if phase == "hold" else 0,
        due=400,
        moves=398,
        answered=0 if down else 390,
        refused=31,
        errors=1 if down else 0,
        reconnects=7 if down else 0,
        own=delay(0 if down else 390, 3.0),
        rival=delay(0 if down else 1100, 4.0),
        tv=delay(0 if down else 60, 5.0),
        received_bytes=600_000,
        lag_p99_ms=1.5,
        generator_cpu=0.35,
        services={"engine-1": engine, "nats": ServiceSample(0.1, 30.0), SUPERVISOR: ServiceSample(0.02, 45.0)},
        machine_cpu=1.1,
    )


def a_result() -> Result:
    phases: list[tuple[float, Phase]] = [(-2.0, "ramp"), (-1.0, "ramp"), *((float(n), "hold") for n in range(8))]
    phases += [(8.0, "drain"), (9.0, "check")]
    return Result(
        cpu_us_per_move=123.4,
        p50_ms=3.21,
        p99_ms=45.6,
        lost=0,
        doubled=0,
        void=False,
        void_why=[],
        missed=[],
        ok=True,
        version=1,
        began="2026-02-03T04:05:06Z",
        asked=Asked(400, 4, 1.0, 8.0, 2.0, 2.0, 2, 9, 0.1, 0.05, 0.5, 77, ["medium"]),
        versions={"snatch": "0.1.0", "nats-server": "2.12"},
        hardware={"cpu": "A Fast <One>", "cores": "2"},
        topology={"gateway": 1, "engine": 2},
        durability="one NATS, syncs every 2 minutes",
        settings={"SNATCH_JOIN_PER_MINUTE": "0"},
        rate=Rate(400.0, 395.5, 390.2, 3122, 55),
        delays={"own": delay(3122, 3.21), "connect": delay(400, 7.0), "tv": delay(0, 0.0)},
        contested=Contested(21, 34),
        refusals={"snatched": 248},
        errors={"slow_down": 1},
        closes={"1006": 40},
        hands={"played": 17},
        checks=Checks(4000, 4000, 0, 0, 0, 0, 3900, 100, {"clients": 100, "unequal": 0}, "from its first record", []),
        bytes=Bytes(71.0, 1500.0, 1490.0),
        services={
            "nats": Service("nats", 23.4, 0.1, 30.0, 5.0),
            "engine-1": Service("engine", 100.0, 0.4, 120.0, 90.0),
            SUPERVISOR: Service("supervisor", 6.0, 0.02, 45.0, 0.0),
        },
        generators=[Generator(400, 0.35, 88.0, 0.2, 1.5, 9.0)],
        samples=[a_sample(at, phase) for at, phase in phases],
        events=[Event(-2.0, "phase", "ramp"), Event(KILLED, "kill", "kill engine-1"), Event(0.0, "phase", "hold")],
    )


def changed(**changes: object) -> Result:
    return msgspec.structs.replace(a_result(), **changes)


# ---- text ---------------------------------------------------------------------------


def test_the_text_holds_what_a_run_is_judged_by() -> None:
    said = text(a_result())
    for words in (
        "390 moves/s of 400 asked (97.5%)",
        "123.4 µs CPU a move · p50 3.21 ms · p99 45.6 ms · lost 0 · doubled 0 · not void",
        "A Fast <One>",
        "nats-server 2.12",
        "1 × gateway · 2 × engine",
        "one NATS, syncs every 2 minutes",
        "snatched: 248",
        "1006: 40",
        "21 won, 34 refused",
        "clients: 100",
        "kill engine-1",
        "100.0",
        "1.10 of 2 cores were busy in the hold: 0.52 with the stack, 0.35 with generators, 0.23 with others",
    ):
        assert words in said
    assert said.splitlines()[-1].startswith("✓")


def test_a_void_run_says_so_and_why_and_has_no_tick() -> None:
    said = text(changed(void=True, void_why=["generator 1 was late"], ok=False))
    assert "✗ void" in said
    assert "generator 1 was late" in said
    assert "✓" not in said


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"lost": 3}, "✗ 3 acknowledged moves lost, 0 doubled"),
        ({"missed": ["p99_ms<=40: 45.6"]}, "✗ not held: p99_ms<=40: 45.6"),
        ({}, "✗ not well"),
    ],
)
def test_a_run_that_fails_says_why_in_its_last_lines(changes: dict[str, object], words: str) -> None:
    last = text(changed(ok=False, **changes)).splitlines()[-3:]
    assert any(line.startswith(words) for line in last)


def test_what_watches_over_the_servers_is_no_part_of_their_sum() -> None:
    rows = {row[0]: row for row in service_rows(a_result())}
    assert list(rows) == ["engine-1", "nats", "all servers", SUPERVISOR]
    assert rows["all servers"][1] == "123.4"


def test_a_run_on_a_stack_known_by_its_address_alone_is_told_without_parts() -> None:
    bare = [msgspec.structs.replace(s, services={}) for s in a_result().samples]
    result = changed(cpu_us_per_move=0.0, services={}, samples=bare)
    assert "CPU not known" in text(result)
    assert "busy in the hold: 0.35 with generators, 0.75 with the stack and others" in text(result)
    assert "CPU of each part" not in html(result)


# ---- the page -------------------------------------------------------------------------


def test_the_page_needs_nothing_from_outside() -> None:
    page = html(a_result())
    assert not re.search(r"https?:|//\w|url\(|@import|<link|<img|<iframe|src=|href=|fetch\(|XMLHttp", page)
    assert "default-src 'none'" in page


def test_the_page_is_of_the_json_alone() -> None:
    assert html(from_json(to_json(a_result()))) == html(a_result())


def test_the_page_holds_every_table_and_escapes_what_it_is_given() -> None:
    page = html(a_result())
    for words in (
        "Delays",
        "CPU and memory",
        "Generators",
        "Refusals",
        "Closes, by code",
        "Events",
        "engine-1",
        "deals",
    ):
        assert words in page
    assert "<One>" not in page
    assert "A Fast &lt;One&gt;" in page


def test_a_void_run_is_marked_before_any_figure() -> None:
    page = html(changed(void=True, void_why=["generator 1 was late"], ok=False))
    assert page.index("generator 1 was late") < page.index("CPU per move")
    assert "Well:" not in page


def test_plots_cover_what_a_run_is_judged_by_over_the_same_seconds_without_the_check() -> None:
    drawn = {chart.title: chart for chart in charts(a_result())}
    assert {
        "Move → own frame",
        "Move → others",
        "Moves",
        "CPU of each part",
        "Memory of each part",
        "CPU per move, all servers, in the hold",
        "Generators' own lag, p99",
        "CPU of the machine",
    } <= set(drawn)
    for chart in drawn.values():
        assert list(chart.x) == [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
        assert [mark.words for mark in chart.marks] == ["kill engine-1"]
        assert [(band.words, band.shaded) for band in chart.bands] == [("ramp", True), ("hold", False), ("drain", True)]


def test_a_second_without_answers_is_a_gap_and_not_a_delay_of_nothing() -> None:
    drawn = {chart.title: chart for chart in charts(a_result())}
    p99 = next(line for line in drawn["Move → own frame"].lines if line.name == "p99")
    assert [v for v, at in zip(p99.values, drawn["Move → own frame"].x, strict=True) if at == KILLED] == [None]


# ---- while it runs ---------------------------------------------------------------------


def test_the_live_view_shows_the_newest_second_and_what_befell() -> None:
    out = StringIO()
    result = a_result()
    view = LiveView(result.asked, Console(file=out, width=140))
    for sample in result.samples[:7]:
        view.show(sample)
    view.tell(result.events[1])
    Console(file=out, width=140).print(view.picture())
    said = out.getvalue()
    for words in ("4 of 8 s", "engine-1", "down", "busiest generator", "kill engine-1", "1 in all", "7 in all"):
        assert words in said


def test_where_there_is_no_terminal_a_line_now_and_then_says_how_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    with PlainView() as view:
        for sample in a_result().samples:
            view.show(sample)
        view.tell(Event(4.0, "kill", "kill engine-1"))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[2] for line in lines[:-1]] == ["ramp", "hold", "hold", "drain", "check"]
    assert lines[-1].endswith("kill: kill engine-1")


def test_bars_are_as_high_as_their_values() -> None:
    assert bars([0.0, 1.0, 2.0, 4.0]) == "▁▃▅█"
    assert bars([1.0], most=8.0) == "▂"
    assert bars([]) == ""


# ---- told again --------------------------------------------------------------------------


def test_a_json_is_told_again_with_its_page_and_its_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, page = tmp_path / "run.json", tmp_path / "run.html"
    kept.write_bytes(to_json(a_result()))
    assert load.main(["--from", str(kept), "--html", str(page)]) == 0
    assert capsys.readouterr().out == text(a_result()) + "\n"
    assert page.read_text() == html(a_result())
    kept.write_bytes(to_json(changed(ok=False, lost=1)))
    assert load.main(["--from", str(kept)]) == 1


def test_what_is_no_such_json_is_said_to_be_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text_ in ("no JSON", "{}"):
        (tmp_path / "other.json").write_text(text_)
        assert load.main(["--from", str(tmp_path / "other.json")]) == 2
    assert load.main(["--from", str(tmp_path / "nowhere.json")]) == 2
    assert capsys.readouterr().err.count("✗") == 3
