"""How often small things go wrong by themselves, as chances; big things are faults, called by name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Weather:
    """Chances are per message; seconds are virtual ones.

    `hops`: a message takes up to `slow_hop` on its way.
    `appends`: an append is hit by one of: its acknowledgement is lost, or comes late; it waits in the stream's
    queue while reads overtake it; it is done twice; it is refused without being looked at (503, no space).
    `busy`: replicated only, 10164 for a moment after a commit.
    `reads`: a direct read comes from a replica that lags, or is cut in two by what happens meanwhile, or is
    not answered; a read from the leader is not answered.
    `frames`: a plain message is lost for one subscriber, with or without a word of it, or comes twice.
    """

    hops: float = 0.0
    slow_hop: float = 0.06
    appends: float = 0.0
    late: float = 1.6
    """The longest that an append waits or an acknowledgement takes: beyond the writers' patience of 1 s."""
    busy: float = 0.0
    reads: float = 0.0
    frames: float = 0.0


CALM = Weather()
ROUGH = Weather(hops=0.03, appends=0.06, busy=0.2, reads=0.08, frames=0.01)
