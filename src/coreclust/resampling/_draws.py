"""Kernels that draw items with and without replacement."""

from __future__ import annotations

import numpy as np

from coreclust._utils.jit import kernel, random_below, random_state_of


def seed_word(seeds: np.random.SeedSequence) -> np.uint64:
    """Return the seed of one resample for a kernel."""
    return seeds.generate_state(1, np.uint64)[0]


def seed_words(resamples: list[np.random.SeedSequence]) -> np.ndarray:
    """Return the seeds of several resamples for a kernel."""
    return np.array([seed_word(seeds) for seeds in resamples], np.uint64)


@kernel
def draw_rows(n_items, seed):
    state = random_state_of(seed)
    rows = np.empty(n_items, dtype=np.int64)
    for i in range(n_items):
        rows[i] = random_below(state, n_items)
    return rows


@kernel
def count_rows(n_items, seeds):
    counts = np.zeros((seeds.size, n_items), dtype=np.int32)
    for resample in range(seeds.size):
        state = random_state_of(seeds[resample])
        for _ in range(n_items):
            counts[resample, random_below(state, n_items)] += 1
    return counts


@kernel
def draw_distinct(n_items, n_drawn, seed):
    """Return the first `n_drawn` items of a shuffle, which is not completed."""
    state = random_state_of(seed)
    order = np.arange(n_items)
    for k in range(n_drawn):
        other = k + random_below(state, n_items - k)
        order[k], order[other] = order[other], order[k]
    return order[:n_drawn].copy()


@kernel
def count_distinct(n_items, n_drawn, seeds):
    counts = np.zeros((seeds.size, n_items), dtype=np.int32)
    for resample in range(seeds.size):
        rows = draw_distinct(n_items, n_drawn, seeds[resample])
        for k in range(n_drawn):
            counts[resample, rows[k]] = 1
    return counts
