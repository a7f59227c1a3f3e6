"""A first load is small: bytes are counted, times are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.first_load import MOST, first_load
from stack.setup_web import WEB

PAGES = ("index.html", "watch.html")


def test_what_a_page_names_and_what_that_imports_is_counted_and_what_comes_later_is_not(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text(
        '<script type="module" src="/assets/a.js"></script><link rel="stylesheet" href="/assets/a.css">'
    )
    (tmp_path / "assets" / "a.js").write_text('import{x}from"./b.js";import("./later.js")')
    (tmp_path / "assets" / "b.js").write_text('import "./a.js"')
    (tmp_path / "assets" / "later.js").write_text("1")
    (tmp_path / "assets" / "a.css").write_text("a{}" * 1000)
    found = first_load(tmp_path, "index.html")
    assert [file.name for file in found] == ["assets/a.css", "assets/a.js", "assets/b.js"]
    assert found[0].plain == 3000
    assert found[0].packed < 100


@pytest.mark.parametrize("page", PAGES)
def test_scripts_and_styles_of_a_first_load_are_under_150_kb_packed(page: str) -> None:
    dist = WEB / "dist"
    assert (dist / page).is_file(), "build the client first: make web"
    files = first_load(dist, page)
    assert any(file.name.endswith(".js") for file in files)
    packed = sum(file.packed for file in files)
    print(f"{page}: {packed / 1000:.1f} KB packed, {sum(file.plain for file in files) / 1000:.1f} KB unpacked")
    assert packed < MOST, files
