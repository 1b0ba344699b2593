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
