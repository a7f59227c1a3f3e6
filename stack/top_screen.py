"""How `snatch top` looks: a picture for terminals, a line for everybody else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stack.top_figures import Figures, Mood, Row, Section, seconds, size

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

CELL, GAP = 20, 2
"""Columns of a place on the grid, and at least between two figures."""
STYLES: dict[Mood, str] = {"": "bold", "warn": "bold yellow", "bad": "bold red"}


def picture(figures: Figures, title: str, foot: str = "", *, processes_first: bool = False) -> RenderableType:
    """All of it, in as many columns as there is width for; what doesn't fit below is cut off."""
    from rich.console import Group
    from rich.text import Text

    over = f"   over {figures.seconds:.0f} s" if figures.seconds else "   rates come with the second reading"
    parts: list[RenderableType] = [Text.assemble((title, "bold"), (over, "dim"))]
    amiss = [f"{what} {how}" for what, how in figures.amiss().items()]
    parts.append(Text("  ✗ " + "\n  ✗ ".join(amiss), "red") if amiss else Text("  ✓ nothing amiss", "green"))
    sections = [_Flow(section) for section in figures.sections]
    processes = _processes(figures.rows)
    parts += [processes, *sections] if processes_first else [*sections, Text(), processes]
    if foot:
        parts.append(Text(foot, "dim"))
    return Group(*parts)


class _Flow:
    """A section's figures side by side, each at a place of a grid: what is longer takes more, and the next one moves.

    So figures stay where they are while their numbers change.
    """

    def __init__(self, section: Section) -> None:
        self._section = section

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        yield Text(f"── {self._section.title}", "cyan")
        line = Text()
        for figure in self._section.figures:
            text = Text.assemble((f"{figure.label} ", "dim"), (figure.text, STYLES[figure.mood]))
            at = -(-(line.cell_len + GAP) // CELL) * CELL if line.cell_len else 0
            if at and at + text.cell_len > options.max_width:
                yield line
                line, at = Text(), 0
            line.pad_right(at - line.cell_len)
            line.append_text(text)
        yield line


def _processes(rows: list[Row]) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="cyan")
    for name, side in (("process", "left"), ("CPU", "right"), ("memory", "right"), ("lag p99", "right")):
        table.add_column(name, justify="right" if side == "right" else "left")
    table.add_column("does")
    for row in rows:
        style = {"bad": "red", "warn": "yellow"}.get(row.mood)
        cpu = f"{100 * row.cpu:.0f} %" if row.cpu is not None else "–"
        memory = size(row.memory) if row.memory is not None else "–"
        table.add_row(row.process.name, cpu, memory, seconds(row.lag), _text(row.doing), style=style)
    return table


def _text(words: str) -> Text:
    from rich.text import Text

    return Text(words)


def line(figures: Figures, clock: str) -> str:
    """`19:30:01 players=8 rooms=2 … engine-1=32`: for logs, and for `grep`."""
    said = [f"{f.key}={f.text.replace(' ', '')}" for s in figures.sections for f in s.figures if f.key]
    has = [f"{row.process.name.replace(' ', '_')}={row.has:.0f}" for row in figures.rows if row.has is not None]
    return " ".join([clock, *said, *has])
