"""docs/benchmarks.md, its plots and the tables in the README and docs/operations.md, of results and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import capacity, figures, own_programs, sections, verdict
from benchmarks.results import FORMS, Result, keys
from stack.data import ROOT

BEGIN, END = "<!-- benchmarks: by `make bench` -->", "<!-- /benchmarks -->"
"""In the README: what lies between is made anew."""
CAPACITY, CAPACITY_END = "<!-- capacity: by `make bench` -->", "<!-- /capacity -->"
"""The same in docs/operations.md."""


@dataclass(frozen=True)
class Target:
    """Where results, page and README's table go."""

    results: Path
    docs: Path
    readme: Path | None
    operations: Path | None

    @classmethod
    def committed(cls) -> Target:
        return cls(ROOT / "benchmarks" / "results", ROOT / "docs", ROOT / "README.md", ROOT / "docs" / "operations.md")

    @classmethod
    def apart(cls, folder: Path) -> Target:
        return cls(folder, folder, None, None)


def write(results: Mapping[str, Result], target: Target) -> list[Path]:
    """The files that it wrote."""
    target.docs.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in made(results).items():
        (target.docs / name).write_text(text, encoding="utf-8")
        written.append(target.docs / name)
    for file, anew in ((target.readme, in_readme), (target.operations, in_operations)):
        if file is None:
            continue
        before = file.read_text(encoding="utf-8")
        after = anew(before, results)
        if after != before:
            file.write_text(after, encoding="utf-8")
            written.append(file)
    return written


def made(results: Mapping[str, Result]) -> dict[str, str]:
    """The page and its plots, by file name."""
    plots = figures.plots(results)
    return {"benchmarks.md": "\n".join(_page(results, plots)) + "\n", **plots}


def in_readme(text: str, results: Mapping[str, Result]) -> str:
    """The README with its table made anew; as it is when it has no place for one."""
    table = "\n".join(verdict.table(verdict.lines(results)))
    return _between(BEGIN, END, text, f"{table}\n\n{sections.machine_in_short(results)}")


def in_operations(text: str, results: Mapping[str, Result]) -> str:
    """The same of docs/operations.md and its table of what fits."""
    return _between(CAPACITY, CAPACITY_END, text, "\n".join(capacity.table(results)))


def _between(begin: str, end: str, text: str, anew: str) -> str:
    before, found, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    return f"{before}{begin}\n{anew}\n{end}{after}" if found and ended else text


def _page(results: Mapping[str, Result], plots: Mapping[str, str]) -> Iterator[str]:
    yield from (
        "# Benchmarks",
        "",
        "Made by `make bench`, which runs some 25 minutes, from [benchmarks/results](../benchmarks/results);"
        " `make bench-quick` takes a few minutes and writes to `test-results/bench/`, `make bench PARTS=path,watch`"
        " runs only those. Everything, players included, runs on one machine, so absolute figures are small and differ"
        " from hour to hour: what is compared was run in turns, and the ratio of each round is shown as its median,"
        " with the lowest and the highest in brackets. A run whose generator could not keep up is void and counts for"
        " nothing. The peer is a race for four on Colyseus, the best-known framework for such rooms: one process, all"
        " of it in memory, nothing kept when it ends.",
        "",
        "## What was promised",
    )
    yield from verdict.table(verdict.lines(results))
    yield ""
    yield from sections.path(results.get("path"), "benchmarks-path.svg" in plots)
    if "benchmarks-parts.svg" in plots:
        yield from ("![Deals and recovery over seats and rooms](benchmarks-parts.svg)", "")
    yield from sections.watch(results.get("watch"))
    yield from sections.rules(results.get("rules"))
    yield from sections.deals(results.get("deals"))
    yield from sections.recovery(results.get("recovery"))
    yield from sections.memory(results.get("memory"))
    yield from sections.start(results.get("start"))
    yield from sections.machines(results)
    yield from sections.left_out(results)
    yield from _keys()


def _keys() -> Iterator[str]:
    yield from ("## The JSON", "Each file has:", "", "| key | holds |", "| --- | --- |")
    for key in keys(Result):
        yield f"| `{key.name}` | {key.words} |"
    yield "| `figures` | the part's own, below |"
    for part, form in FORMS.items():
        yield from ("", f"### {part}.json", "| key | holds |", "| --- | --- |")
        for key in keys(form, "figures."):
            yield f"| `{key.name}` | {key.words} |"
    for part in own_programs.PROGRAMS:
        words = own_programs.documented(part)
        if words:
            yield from ("", f"### {part}.json", f"`figures` is what `python -m benchmarks.{part}` writes.", "", words)
