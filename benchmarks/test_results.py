"""Results as files, and the page that is made of them."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from benchmarks import own_programs, page
from benchmarks.programs import LeftOut, module, there
from benchmarks.results import FORMS, PathFigures, Result, keys, read, write
from benchmarks.twins import a_result, peer_run, recovery_run, run, watch_run


def some_results() -> dict[str, Result]:
    runs = [run(players=n, round=r) for n in (1000, 4000) for r in (1, 2)]
    runs += [peer_run(players=n, round=r) for n in (1000, 4000) for r in (1, 2)]
    runs.append(run(players=1000, engines=2, void=True))
    path = a_result("path", PathFigures(runs))
    path.left_out.append("the peer's patches: no time was left")
    return {"path": path, "recovery": recovery_run(), "watch": watch_run()}


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    results = some_results()
    for result in results.values():
        write(tmp_path, result)
    assert read(tmp_path) == results


def test_every_key_of_a_file_is_told_of() -> None:
    forms: list[type[msgspec.Struct]] = [Result, *FORMS.values()]
    for form in forms:
        assert all(len(key.words) > 3 for key in keys(form))
    made = page.made(some_results())["benchmarks.md"]
    own = [(part, result) for part, result in some_results().items() if part in FORMS]
    for part, result in own:
        for name in names(msgspec.to_builtins(result.figures), "figures"):
            assert f"| `{name}` |" in made, f"{part}: {name}"


def names(value: object, prefix: str) -> set[str]:
    """As the page has them: `figures.runs[].players`; free keys end there."""
    if isinstance(value, list):
        return set().union(*(names(item, f"{prefix}[]") for item in value))
    if isinstance(value, dict) and not prefix.endswith("_by_kind") and prefix.count(".") < 3:
        return set().union(*(names(item, f"{prefix}.{key}") for key, item in value.items()))
    return {prefix.removesuffix("[]")}


def test_the_same_results_make_the_same_page() -> None:
    assert page.made(some_results()) == page.made(some_results())


def test_the_page_names_the_machine_the_void_runs_and_what_was_left_out() -> None:
    made = page.made(some_results())["benchmarks.md"]
    assert "a processor" in made
    assert "- void: 1,000 players, 2 engines, round 1: the generator was late" in made
    assert "- path: the peer's patches: no time was left" in made


def test_every_plot_of_the_page_is_made_with_it() -> None:
    made = page.made(some_results())
    shown = set(re.findall(r"\]\(([\w-]+\.svg)\)", made["benchmarks.md"]))
    assert shown == made.keys() - {"benchmarks.md"}
    assert shown


def test_a_page_of_nothing_says_that_nothing_was_measured() -> None:
    made = page.made({})
    assert made.keys() == {"benchmarks.md"}
    assert "not measured" in made["benchmarks.md"]


def test_the_readmes_table_is_made_anew_between_its_marks_and_nothing_else_changes() -> None:
    before = f"# Snatch\n\n{page.BEGIN}\nan old table\n{page.END}\n\nand the rest\n"
    after = page.in_readme(before, some_results())
    assert "an old table" not in after
    assert "| CPU per move against the peer's, 4,000 players |" in after
    assert after.startswith("# Snatch\n\n")
    assert after.endswith("\n\nand the rest\n")
    assert page.in_readme(after, some_results()) == after
    assert page.in_readme("no place for it\n", some_results()) == "no place for it\n"


def test_a_program_that_fails_says_why_and_one_that_hangs_is_ended() -> None:
    with pytest.raises(LeftOut, match=r"failed \(2\).*unrecognized arguments"):
        module("benchmarks.append", "--no-such-thing", seconds=30)
    with pytest.raises(LeftOut, match="was not done after 0 s"):
        module("http.server", "--bind", "127.0.0.1", "0", seconds=0.3)


@pytest.mark.parametrize("part", [part for part in own_programs.PROGRAMS if there(f"benchmarks.{part}")])
def test_a_program_with_its_own_json_says_what_its_keys_hold(part: str) -> None:
    assert len(re.findall(r"`[\w.\[\]]+`", own_programs.documented(part))) >= 5
