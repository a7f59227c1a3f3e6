"""What a load run found, as text for a terminal or a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulate.aligned import aligned
from simulate.load_record import Delay, Event, Result, Service
from simulate.load_samples import SUPERVISOR

DELAYS = {
    "connect": "connect",
    "join": "join",
    "own": "move → own frame",
    "rival": "move → a rival's screen",
    "tv": "move → TV",
    "resume": "resume",
}
"""In words, in the order in which they are told."""
DELAY_COLUMNS = ("count", "p50", "p90", "p99", "p99.9", "max")
SERVICE_COLUMNS = ("CPU µs/move", "cores", "MB", "MB/1000 players")
GENERATOR_COLUMNS = ("players", "cores", "CPU µs/move", "late p50", "late p99", "late max")


def text(result: Result) -> str:
    """All of it but the samples."""
    rate, checks, sizes = result.rate, result.checks, result.bytes
    share = rate.achieved / rate.target if rate.target else 1.0
    blocks = [
        [
            f"ran      {result.began} on {_list(result.hardware)}",
            f"         {_list(result.versions)}",
            f"         {topology(result)} · durability: {result.durability}",
            f"asked    {asked_in_words(result)}",
            f"rate     {rate.achieved:,.0f} moves/s of {rate.target:,.0f} asked ({share:.1%});"
            f" {rate.due:,.0f} fell due; {rate.moves:,} moves in the hold, {rate.idle:,} times nothing to move",
        ],
        _table("delays", DELAY_COLUMNS, delay_rows(result.delays)),
        _table("services", SERVICE_COLUMNS, service_rows(result)),
        _table("generators", GENERATOR_COLUMNS, generator_rows(result)),
        [f"machine  {words}" for words in (machine(result),) if words],
        [
            f"moves    {checks.moves:,} sent · {checks.answered:,} answered · {checks.unanswered:,} unanswered",
            f"lost     {result.lost:,} acknowledged but lost · {result.doubled:,} doubled ·"
            f" {checks.gaps:,} gaps in frames",
            f"log      {checks.log}: {checks.word_for_word:,} answers held against it word for word,"
            f" {checks.by_snapshot:,} by a snapshot",
            f"states   {_counts(checks.hashes) or 'none compared'}",
            f"spots    contested: {result.contested.won:,} won, {result.contested.refused:,} refused",
            f"refused  {_counts(result.refusals) or 'none'}",
            f"errors   {_counts(result.errors) or 'none'}",
            f"closes   {_counts(result.closes) or 'none'}",
            f"hands    {_counts(result.hands) or 'none'}",
            f"deals    {deals(result)}",
            f"bytes    {sizes.sent_per_move:,.0f} sent and {sizes.received_per_move:,.0f} received a move,"
            f" {sizes.received_per_player_s:,.0f} received a second and player",
        ],
        [f"event    {event.at:8.1f} s  {event.words}" for event in in_order(result)],
        [f"  ! {words}" for words in checks.told],
        verdict(result),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def machine(result: Result) -> str:
    """Who used its cores in the hold, on the average; empty when it isn't known."""
    held = [sample for sample in result.samples if sample.phase == "hold" and sample.machine_cpu]
    if not held:
        return ""
    busy = sum(sample.machine_cpu for sample in held) / len(held)
    ours = sum(service.cpu for service in result.services.values())
    players = sum(generator.cpu for generator in result.generators)
    others = max(0.0, busy - ours - players)
    said = f"{busy:.2f} of {result.hardware.get('cores', '?')} cores were busy in the hold"
    if not result.services:  # a stack in other containers, say
        return f"{said}: {players:.2f} with generators, {others:.2f} with the stack and others"
    return f"{said}: {ours:.2f} with the stack, {players:.2f} with generators, {others:.2f} with others"


def deals(result: Result) -> str:
    """How many tables waited for theirs, and how long."""
    if (d := result.deals) is None:
        return "not known: the engines could not be asked"
    waited = f" ({d.wait_mean_ms:.1f} ms in the mean, none over {d.wait_most_ms:,.0f} ms)" if d.waited else ""
    return f"{d.asked:,} asked for · {d.asked - d.waited:,} were there already · {d.waited:,} tables waited{waited}"


def why_void(result: Result) -> list[str]:
    """And who else used the machine: a generator may be late since others were there."""
    return [*result.void_why, *([machine(result)] if machine(result) else [])]


def verdict(result: Result) -> list[str]:
    """The last lines: what it comes to, and why."""
    lines = []
    if result.void:
        lines.append("✗ void: the generators were saturated, so the delays are theirs; lost and doubled still count")
        lines += [f"    {why}" for why in why_void(result)]
    lines += [f"✗ not held: {missed}" for missed in result.missed]
    if result.lost or result.doubled:
        lines.append(f"✗ {result.lost:,} acknowledged moves lost, {result.doubled:,} doubled")
    if not result.ok and not lines:
        lines.append("✗ not well: see what is marked with ! above")
    mark = "✓" if result.ok else " "
    cpu = f"{result.cpu_us_per_move:,.1f} µs CPU a move" if result.cpu_us_per_move else "CPU not known"
    lines.append(
        f"{mark} {cpu} · p50 {ms(result.p50_ms)} · p99 {ms(result.p99_ms)} · lost {result.lost} · doubled"
        f" {result.doubled} · {'void' if result.void else 'not void'}"
    )
    return lines


def delay_rows(delays: Mapping[str, Delay]) -> list[list[str]]:
    """By name as people read it; those that never happened are left out."""
    known = list(DELAYS)
    told = sorted(delays.items(), key=lambda item: known.index(item[0]) if item[0] in known else len(known))
    return [
        [DELAYS.get(name, name), f"{d.count:,}", *map(ms, (d.p50_ms, d.p90_ms, d.p99_ms, d.p999_ms, d.max_ms))]
        for name, d in told
        if d.count
    ]


def service_rows(result: Result) -> list[list[str]]:
    """Each part, those of most CPU first; their sum; and beside it what serves nobody."""
    parts = sorted(result.services.items(), key=lambda item: (item[0] == SUPERVISOR, -item[1].cpu_us_per_move))
    rows = [_service_row(name, [service]) for name, service in parts]
    serving = [service for name, service in parts if name != SUPERVISOR]
    if serving:
        rows.insert(len(serving), _service_row("all servers", serving))
    return rows


def _service_row(name: str, services: Sequence[Service]) -> list[str]:
    return [
        name,
        f"{sum(s.cpu_us_per_move for s in services):,.1f}",
        f"{sum(s.cpu for s in services):.2f}",
        f"{sum(s.memory_mb for s in services):,.0f}",
        f"{sum(s.memory_mb_per_1000_players for s in services):,.1f}",
    ]


def generator_rows(result: Result) -> list[list[str]]:
    """Each generator process."""
    return [
        [
            f"generator-{number}",
            f"{g.players:,}",
            f"{g.cpu:.2f}",
            f"{g.cpu_us_per_move:,.1f}",
            ms(g.lag_p50_ms),
            ms(g.lag_p99_ms),
            ms(g.lag_max_ms),
        ]
        for number, g in enumerate(result.generators, 1)
    ]


def in_order(result: Result) -> list[Event]:
    """Its events as they came."""
    return sorted(result.events, key=lambda event: event.at)


def topology(result: Result) -> str:
    """`2 × engine · 1 × gateway · …`"""
    return " · ".join(f"{count} × {kind}" for kind, count in result.topology.items()) or "topology not known"


def asked_in_words(result: Result) -> str:
    """What the command line said."""
    a = result.asked
    rate = f"{a.rate:g} moves/s each" if a.rate else "as fast as answers come"
    parts = [
        f"{a.players:,} players in rooms of {a.seats}, {rate}",
        f"{a.ramp:g} s ramp, {a.duration:g} s hold",
        f"spike ×{a.spike:g}" if a.spike != 1 else "",
        f"{a.tvs:,} TVs" if a.tvs else "",
        f"{a.reconnects:.0%} reconnect" if a.reconnects else "",
        f"{a.sleepers:.0%} sleep" if a.sleepers else "",
        f"{a.slow:.0%} read slowly" if a.slow else "",
        f"{a.processes} generator processes",
        f"seed {a.seed}",
    ]
    return ", ".join(part for part in parts if part)


def ms(value: float) -> str:
    """
    >>> ms(3.14159), ms(250.4), ms(12345.0)
    ('3.14 ms', '250 ms', '12.3 s')
    """
    if value >= 10_000:
        return f"{value / 1000:,.1f} s"
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.2f} ms" if value < 10 else f"{value:.1f} ms"


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return aligned([[title, *columns], *rows]) if rows else []


def _counts(counted: Mapping[str, int]) -> str:
    return " · ".join(f"{name}: {n:,}" for name, n in sorted(counted.items(), key=lambda item: -item[1]))


def _list(named: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in named.items())
