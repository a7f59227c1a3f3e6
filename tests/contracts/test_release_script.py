"""deploy/release.sh, with a Docker of files: what it does when Docker has no time for a question."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SERVICES = ("engine", "rooms", "bots", "watch", "gateway")

DOCKER = r"""#!/bin/bash
# A service's file has a line for each container: its id, its image.
set -eu
cd "$FOLDER"
echo "$*" >>asked
if [ "$(wc -l <asked)" = "$FAILS_AT" ]; then echo "the daemon is busy" >&2; exit 1; fi
case "$*" in
  "compose config --images") for name in engine rooms bots watch gateway; do echo "snatch-$name:new"; done ;;
  "compose ps --all --quiet setup") echo setup ;;
  "compose ps --quiet "*) awk '{print $1}' "${@: -1}" ;;
  "image inspect "*) echo new ;;
  "inspect --format {{.Id}} {{.Image}} "*) shift 3; for id in "$@"; do grep -h "^$id " -- *.there; done ;;
  "inspect --format {{.State.Health.Status}} "*) shift 3; for id in "$@"; do echo healthy; done ;;
  "compose rm "* | "stop "*) ;;
  "wait "*) echo 0 ;;
  "rm "*) sed -i "/^$2 /d" -- *.there ;;
  "compose up "*)
    declare -A wanted
    for word in "$@"; do case $word in *=*) wanted[${word%=*}]=${word#*=} ;; esac; done
    for name in "${!wanted[@]}"; do
      while [ "$(wc -l <"$name")" -lt "${wanted[$name]}" ]; do echo "$name-$RANDOM$RANDOM new" >>"$name.there"; done
    done ;;
  *) echo "docker $*?" >&2; exit 2 ;;
esac
"""


def release(folder: Path, fails_at: int = 0) -> subprocess.CompletedProcess[str]:
    """Two old containers of each service; `fails_at`: which question is not answered, 0: all are."""
    folder.mkdir(parents=True, exist_ok=True)
    docker = folder / "docker"
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    for name in SERVICES:
        (folder / f"{name}.there").write_text(f"{name}-1 old\n{name}-2 old\n")
        (folder / name).symlink_to(f"{name}.there")
    return subprocess.run(
        [ROOT / "deploy" / "release.sh"],
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "FOLDER": str(folder), "FAILS_AT": str(fails_at)},
        capture_output=True,
        text=True,
        timeout=100,
    )


def images(folder: Path) -> dict[str, list[str]]:
    return {name: [line.split()[1] for line in (folder / name).read_text().splitlines()] for name in SERVICES}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a release in which everything was answered."""
    folder = tmp_path_factory.mktemp("whole")
    done = release(folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_each_container_is_replaced_once_all_new_ones_are_well(whole: Path) -> None:
    assert images(whole) == {name: ["new", "new"] for name in SERVICES}


@pytest.mark.parametrize("question", ["compose ps --quiet engine", "compose ps --quiet rooms", "inspect --format"])
def test_a_question_without_an_answer_ends_it_and_scales_nobody_to_none(
    tmp_path: Path, whole: Path, question: str
) -> None:
    asked = (whole / "asked").read_text().splitlines()
    done = release(tmp_path, next(n for n, words in enumerate(asked, 1) if words.startswith(question)))
    assert done.returncode != 0
    assert "→ everything runs as it is: run this again" in done.stderr
    assert images(tmp_path) == {name: ["old", "old"] for name in SERVICES}
    assert "=0" not in (tmp_path / "asked").read_text()
