"""Constants that several packages share; importing them imports nothing else."""

from __future__ import annotations

#: Code of an item that was not in a resample.
ABSENT = -2
#: Code of an item that was in a resample and was put in no cluster.
NOISE = -1

#: How noise counts: apart from every item, together with other noise, or as not drawn.
NOISE_RULES = {"apart": 0, "together": 1, "absent": 2}

#: Memory for the conflicts of one cluster, in bytes.
DEFAULT_MAX_MEMORY = 2e9

#: Seconds that a search for cores may take by default, if resampling took no longer.
DEFAULT_SECONDS = 30.0

#: Resamples of one draw of the data under guarantee="new-data". They fill one word of 64 bits.
RESAMPLES_PER_DRAW = 64
#: The part of `n_resamples` that is the number of draws.
DRAWS_PER_RESAMPLE = 0.1
