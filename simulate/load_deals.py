"""Whether tables waited for their deals, as the engines counted it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from simulate.load_record import Deals

ASKED = "snatch_engine_deals_total"
WAITED = "snatch_engine_deal_wait_seconds"
ANSWER_WITHIN = 5.0


async def waits(parts: Iterable[Mapping[str, Any]]) -> Deals | None:
    """Of all engines of a stack since they started; None: none of them could be asked."""
    urls = [f"http://127.0.0.1:{p['ports']['ops']}/metrics" for p in parts if p["kind"] == "engine"]
    async with httpx.AsyncClient(timeout=ANSWER_WITHIN, trust_env=False) as client:
        answers = await asyncio.gather(*(client.get(url) for url in urls), return_exceptions=True)
    texts = [answer.text for answer in answers if isinstance(answer, httpx.Response)]
    return counted(texts) if texts else None


def counted(texts: Iterable[str]) -> Deals:
    """From what `/metrics` of each engine says.

    >>> counted(['snatch_engine_deals_total{ready="yes"} 98.0', 'snatch_engine_deals_total{ready="no"} 2.0'])
    Deals(asked=100, waited=2, wait_mean_ms=0.0, wait_most_ms=0.0)
    """
    asked = waited = 0
    seconds, most = 0.0, 0.0
    for text in texts:
        samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
        below, longest, all_of_them = 0.0, 0.0, 0.0
        for sample in samples:
            if sample.name == ASKED:
                asked += int(sample.value)
                waited += int(sample.value) if sample.labels["ready"] == "no" else 0
            elif sample.name == f"{WAITED}_sum":
                all_of_them = sample.value
            elif sample.name == f"{WAITED}_bucket":
                if sample.value > below:
                    longest = float(sample.labels["le"])
                below = sample.value
        seconds += all_of_them
        most = max(most, min(longest, all_of_them))  # The last bucket has no bound of its own.
    return Deals(asked, waited, round(1000 * seconds / max(1, waited), 2), round(1000 * most, 1))
