"""What a load run found, as one HTML file: the verdict, plots over time, all tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape

from simulate import page
from simulate.load_record import Delay, Result, Sample
from simulate.load_report import (
    DELAY_COLUMNS,
    GENERATOR_COLUMNS,
    SERVICE_COLUMNS,
    asked_in_words,
    deals,
    delay_rows,
    generator_rows,
    in_order,
    machine,
    ms,
    service_rows,
    topology,
    why_void,
)
from simulate.load_samples import SUPERVISOR
from simulate.plot import Band, Chart, Line, Mark
from simulate.plot_axis import CORES, MB, MS, NUMBER, PER_SECOND, Unit

MARKED = ("kill", "stop", "part", "spike")
"""Kinds of events that plots mark; phases are bands."""

Read = Callable[[Sample], float]


def html(result: Result) -> str:
    """The whole page; nothing in it leads out of it."""
    title = f"Load: {asked_in_words(result).split(', ')[0]}"
    return page.page(title, _body(title, result))


def _body(title: str, result: Result) -> Iterator[str]:
    yield f"<h1>{escape(title)}</h1>"
    yield f"<p>{escape(asked_in_words(result))}</p>"
    yield f"<p>{escape(f'{result.began} · {topology(result)} · durability: {result.durability}')}</p>"
    yield from _verdict(result)
    yield page.tiles(_tiles(result))
    yield "<h2>Second by second</h2>"
    yield page.charts(charts(result))
    yield "<h2>All figures</h2>"
    yield page.tables(_tables(result))


def _verdict(result: Result) -> Iterator[str]:
    if result.void:
        words = "Void: the generators were saturated, so the delays are theirs. What was lost or doubled still counts."
        yield page.said(words, why_void(result), bad=True)
    if result.missed:
        yield page.said("Asked for, and not held:", result.missed, bad=True)
    if result.lost or result.doubled:
        yield page.said(
            f"{result.lost:,} acknowledged moves lost, {result.doubled:,} doubled", result.checks.told, bad=True
        )
    elif result.checks.told:
        yield page.said("Amiss:", result.checks.told, bad=True)
    if result.ok:
        yield page.said(
            "Well: nothing acknowledged was lost, nothing doubled, every level that was asked for held,"
            " and the generators kept up."
        )


def _tiles(result: Result) -> Iterator[str]:
    rate, own = result.rate, result.delays.get("own")
    yield page.tile("CPU per move, all servers", f"{result.cpu_us_per_move:,.1f} µs" if result.cpu_us_per_move else "–")
    yield page.tile("move → own frame, p50", ms(result.p50_ms), bad=result.void)
    yield page.tile("p99", ms(result.p99_ms), bad=result.void)
    if own is not None:
        yield page.tile("p99.9", ms(own.p999_ms), bad=result.void)
    yield page.tile(f"moves per second, of {rate.target:,.0f}", f"{rate.achieved:,.0f}")
    yield page.tile("acknowledged but lost", f"{result.lost:,}", bad=result.lost > 0)
    yield page.tile("doubled", f"{result.doubled:,}", bad=result.doubled > 0)
    yield page.tile("generator late, p99", ms(max((g.lag_p99_ms for g in result.generators), default=0.0)))


# ---- over time ----------------------------------------------------------------------


def charts(result: Result) -> list[Chart]:
    """All over the same seconds: the hold begins at 0."""
    samples = [sample for sample in result.samples if sample.phase != "check"]
    if not samples:
        return []
    marks = [Mark(e.at, e.words) for e in result.events if e.kind in MARKED]
    bands = list(_phases(samples))
    times = [sample.at for sample in samples]

    def chart(title: str, unit: Unit, lines: list[Line], *, log: bool = False) -> Chart:
        used = [line for line in lines if any(line.values)]
        return Chart(title, unit, times, used or lines[:1], marks=marks, bands=bands, log=log)

    def over(**of: Read) -> list[Line]:
        return [Line(name.replace("_", " "), [read(sample) for sample in samples]) for name, read in of.items()]

    def delays(name: str, read: Callable[[Sample], Delay], colour: int | None = None) -> list[Line]:
        found = [read(sample) for sample in samples]
        shares: tuple[tuple[str, Callable[[Delay], float]], ...] = (
            ("p50", lambda d: d.p50_ms),
            ("p90", lambda d: d.p90_ms),
            ("p99", lambda d: d.p99_ms),
            ("p99.9", lambda d: d.p999_ms),
            ("max", lambda d: d.max_ms),
        )
        if colour is None:
            return [Line(share, [of(d) if d.count else None for d in found]) for share, of in shares]
        return [
            Line(f"{name} {share}", [of(d) if d.count else None for d in found], colour + n)
            for n, (share, of) in enumerate((shares[0], shares[2]))
        ]

    names = sorted({name for sample in samples for name in sample.services})
    serving = [name for name in names if name != SUPERVISOR]

    def parts(read: Callable[[Sample, str], float]) -> list[Line]:
        return [
            Line(name, [read(s, name) if name in s.services else None for s in samples], number)
            for number, name in enumerate(names)
        ]

    found = [
        chart("Move → own frame", MS, delays("own", lambda s: s.own), log=True),
        chart(
            "Move → others",
            MS,
            delays("rival", lambda s: s.rival, 0) + delays("TV", lambda s: s.tv, 2),
            log=True,
        ),
        chart(
            "Moves",
            PER_SECOND,
            over(
                due=lambda s: s.due, sent=lambda s: s.moves, answered=lambda s: s.answered, refused=lambda s: s.refused
            ),
        ),
        chart("Players and TVs", NUMBER, over(players=lambda s: s.players, TVs=lambda s: s.spectators)),
        chart("CPU of each part", CORES, parts(lambda s, name: s.services[name].cpu)),
        chart("Memory of each part", MB, parts(lambda s, name: s.services[name].memory_mb)),
        chart(
            "CPU per move, all servers, in the hold",
            Unit("µs", NUMBER.show),
            [Line("µs a move", _per_move(samples, serving))],
        ),
        chart(
            "CPU of the machine",
            CORES,
            over(
                machine=lambda s: s.machine_cpu,
                our_servers=lambda s: sum(s.services[n].cpu for n in serving if n in s.services),
                busiest_generator=lambda s: s.generator_cpu,
            ),
        ),
        chart("Generators' own lag, p99", MS, over(lag=lambda s: s.lag_p99_ms)),
        chart("Received", Unit("MB per second", NUMBER.show), over(payload=lambda s: s.received_bytes / 1e6)),
        chart("Errors and reconnects", PER_SECOND, over(errors=lambda s: s.errors, reconnects=lambda s: s.reconnects)),
        chart("Processes of each part", NUMBER, parts(lambda s, name: s.services[name].processes)),
    ]
    if not names:  # known by its address alone
        return [c for c in found if "part" not in c.title and "all servers" not in c.title]
    return found


def _per_move(samples: list[Sample], serving: list[str]) -> list[float | None]:
    """Of the hold; none where so little moves that idling would be counted as the moves' cost."""
    most = max((sample.answered for sample in samples), default=0)
    return [
        sum(s.services[n].cpu for n in serving if n in s.services) * 1e6 / s.answered
        if s.services and s.phase == "hold" and s.answered > most / 20
        else None
        for s in samples
    ]


def _phases(samples: list[Sample]) -> Iterator[Band]:
    begin = samples[0].at
    for this, following in zip(samples, [*samples[1:], None], strict=True):
        if following is None or following.phase != this.phase:
            end = following.at if following is not None else this.at
            yield Band(begin, end, this.phase, this.phase != "hold")
            begin = end


# ---- all figures --------------------------------------------------------------------


def _tables(result: Result) -> Iterator[str]:
    checks, rate, sizes = result.checks, result.rate, result.bytes
    yield page.table("Delays", ("", *DELAY_COLUMNS), delay_rows(result.delays), wide=True)
    yield page.table("CPU and memory, over the hold", ("", *SERVICE_COLUMNS), service_rows(result), wide=True)
    yield page.table("Generators", ("", *GENERATOR_COLUMNS), generator_rows(result), wide=True)
    yield page.table(
        "Moves",
        ("", ""),
        [
            ["a second: asked for, fell due, sent", f"{rate.target:,.0f}, {rate.due:,.0f}, {rate.achieved:,.0f}"],
            ["in the hold", f"{rate.moves:,}"],
            ["due, with none to make", f"{rate.idle:,}"],
            ["sent in all", f"{checks.moves:,}"],
            ["answered", f"{checks.answered:,}"],
            ["unanswered", f"{checks.unanswered:,}"],
            ["acknowledged but lost", f"{result.lost:,}"],
            ["doubled", f"{result.doubled:,}"],
            ["gaps in frames", f"{checks.gaps:,}"],
            ["contested spots won", f"{result.contested.won:,}"],
            ["contested spots refused", f"{result.contested.refused:,}"],
        ],
    )
    yield page.table(
        "Checks, and bytes",
        ("", ""),
        [
            ["held against the log word for word", f"{checks.word_for_word:,}"],
            ["held against a snapshot in it", f"{checks.by_snapshot:,}"],
            *([f"states compared: {name}", f"{count:,}"] for name, count in checks.hashes.items()),
            ["bytes sent a move", f"{sizes.sent_per_move:,.0f}"],
            ["bytes received a move", f"{sizes.received_per_move:,.0f}"],
            ["bytes received a second and player", f"{sizes.received_per_player_s:,.0f}"],
            ["deals", deals(result)],
            ["the log was read", checks.log],
        ],
        words=True,
    )
    for title, counted in (
        ("Refusals", result.refusals),
        ("Errors", result.errors),
        ("Closes, by code", result.closes),
        ("Hands", result.hands),
    ):
        rows = [[name, f"{count:,}"] for name, count in sorted(counted.items(), key=lambda item: -item[1])]
        yield page.table(title, ("", ""), rows)
    events = [[f"{event.at:,.1f} s", event.kind, event.words] for event in in_order(result)]
    yield page.table("Events", ("", "", ""), events, words=True)
    ran = {"busy": machine(result) or "not known", **result.hardware, **result.versions, **result.settings}
    yield page.table("Machine, versions, settings", ("", ""), [[k, v] for k, v in ran.items()], words=True)
