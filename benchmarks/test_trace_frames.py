"""What a trace is read as: frames by beats of the screen, tasks by their own time."""

from __future__ import annotations

from typing import Any

from benchmarks.trace_frames import read, stood_for
from benchmarks.trace_recording import Event

PAGE, OTHER = 7, 8
MAIN, COMPOSITOR = 1, 2


def beat(number: int, state: str) -> Event:
    frame: dict[str, Any] = {"frame_reporter": {"state": f"STATE_{state}"}}
    return Event("PipelineReporter", "b", PAGE, COMPOSITOR, ts=number * 16_667.0, args=frame)


def did(name: str, at_ms: float, ms: float, cpu_ms: float, page: int = PAGE) -> Event:
    return Event(name, "X", page, MAIN, ts=at_ms * 1000, dur=ms * 1000, tdur=cpu_ms * 1000)


def names(page: int) -> Event:
    return Event("thread_name", "M", page, MAIN, args={"name": "CrRendererMain"})


def test_a_picture_stands_for_the_beats_until_the_next_one_and_beats_with_nothing_new_dont_count() -> None:
    beats = [
        beat(1, "PRESENTED_ALL"),
        beat(2, "DROPPED"),
        beat(3, "DROPPED"),
        beat(4, "PRESENTED_PARTIAL"),
        beat(5, "NO_UPDATE_DESIRED"),
        beat(90, "PRESENTED_ALL"),
    ]
    assert stood_for(beats) == [1, 3, 1]


def test_a_beat_is_shown_when_its_main_part_or_its_compositors_is() -> None:
    assert stood_for([beat(1, "DROPPED"), beat(1, "PRESENTED_PARTIAL"), beat(2, "PRESENTED_ALL")]) == [1, 1]


def test_the_main_thread_of_the_page_that_worked_is_read_and_no_other() -> None:
    events = [
        names(PAGE),
        names(OTHER),
        did("RunTask", 0, 500, 400, OTHER),
        did("RunTask", 0, 80, 30),
        did("RunTask", 100, 10, 10),
        did("RunTask", 990, 10, 60),
        did("ProxyMain::BeginMainFrame", 100, 9, 8),
        did("Paint", 101, 3, 2),
        did("Paint", 105, 3, 2),
        beat(1, "PRESENTED_ALL"),
        *(beat(n, "DROPPED") for n in range(2, 5)),
        beat(5, "PRESENTED_ALL"),
    ]
    frames = read(events)
    assert (frames.seconds, frames.frames, frames.per_second) == (1.0, 5, 24.0)
    assert (frames.longest, frames.over) == (67, 1)
    assert (frames.task_longest, frames.tasks_over) == (80.0, 1)
    assert (frames.task_longest_cpu, frames.tasks_over_cpu) == (60.0, 1)
    assert frames.over_at == [1.0]
    assert (frames.task_mean, frames.busy, frames.work) == (8.0, 0.1, {"paint": 4})


def test_three_beats_are_no_frame_over_50_ms() -> None:
    events = [names(PAGE), did("RunTask", 0, 1, 1), did("ProxyMain::BeginMainFrame", 0, 1, 1), beat(1, "DROPPED")]
    frames = read([*events, beat(2, "DROPPED"), beat(3, "PRESENTED_ALL")])
    assert (frames.longest, frames.over) == (50, 0)
