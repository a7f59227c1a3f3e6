"""What is counted at every record is scraped as if it had been counted by Prometheus' own."""

from __future__ import annotations

from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from services.engine.metrics import EngineMetrics, TablesSeen

GAME = "snatch_solitaire"


def test_records_and_what_they_did_are_counted() -> None:
    metrics = EngineMetrics()
    metrics.turn(3, [(GAME, 2, ["snatched"]), (GAME, 1, ["of my own making"])], 4, 0.003)
    metrics.turn(0, [], 1, 0.1)
    metrics.appended(0.002, 700)
    metrics.appended(0.2, 300)
    told = metrics.registry.get_sample_value
    assert told("snatch_engine_items_total") == 3
    assert told("snatch_engine_moves_total", {"game": GAME, "result": "done"}) == 1
    assert told("snatch_engine_moves_total", {"game": GAME, "result": "snatched"}) == 1
    assert told("snatch_engine_moves_total", {"game": GAME, "result": "other"}) == 1, "no code without bound is a label"
    assert told("snatch_engine_moves_total", {"game": GAME, "result": "stale"}) == 0, "each is there from the start"
    assert told("snatch_engine_frames_total") == 5
    assert told("snatch_engine_records_total") == 2
    assert told("snatch_engine_record_bytes_total") == 1000
    assert told("snatch_engine_turn_seconds_count") == 1, "a turn that took nothing is none"
    assert told("snatch_engine_batch_items_bucket", {"le": "4.0"}) == 1
    assert told("snatch_engine_append_seconds_sum") == 0.202


def test_tables_are_counted_when_they_are_scraped_by_game_and_phase() -> None:
    metrics = EngineMetrics()
    looks = []

    def look() -> TablesSeen:
        looks.append(1)
        return TablesSeen({(GAME, "live"): 3, ("of tomorrow", "live"): 1}, {(GAME,): 7}, {(GAME,): 2}, 1)

    metrics.watch_tables(look)
    text = generate_latest(metrics.registry).decode()
    assert f'snatch_engine_tables{{game="{GAME}",phase="live"}} 3.0' in text
    assert f'snatch_engine_tables{{game="{GAME}",phase="setup"}} 0.0' in text
    assert 'snatch_engine_tables{game="other",phase="live"} 1.0' in text
    assert f'snatch_engine_players{{game="{GAME}"}} 7.0' in text
    assert f'snatch_engine_bots{{game="{GAME}"}} 2.0' in text
    assert "snatch_engine_tables_quiet 1.0" in text
    assert len(looks) == 1, "one look for all of them"


def test_all_of_it_is_text_that_prometheus_reads() -> None:
    metrics = EngineMetrics()
    metrics.turn(1, [(GAME, 1, ["stale"])], 1, 0.001)
    families = {f.name: f for f in text_string_to_metric_families(generate_latest(metrics.registry).decode())}
    moved = {s.labels["result"]: s.value for s in families["snatch_engine_moves"].samples}
    assert (moved["stale"], moved["done"]) == (1, 0)
    assert families["snatch_engine_turn_seconds"].type == "histogram"
