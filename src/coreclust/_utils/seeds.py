"""Derives the seeds of all resamples and estimators from one number, the entropy."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

# The purposes of seeds. A resample that is drawn again uses the next two numbers.
ROWS, ESTIMATOR = 0, 1


def draw_entropy(random_state: int | np.random.RandomState | None) -> int:
    """Turn a scikit-learn random_state into the entropy that all seeds derive from."""
    if random_state is None:
        return int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    if isinstance(random_state, np.random.RandomState):
        words = random_state.randint(0, 2**31, size=4, dtype=np.int64)
        return int(sum(int(word) << (31 * place) for place, word in enumerate(words)))
    return int(random_state)


def draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """Turn a scikit-learn random_state into a seed for a kernel; an int is returned as it is."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def seeds_of(entropy: int, *key: int) -> np.random.SeedSequence:
    """Return the seeds for one purpose; for a resample the key is ``(resample, purpose)``.

    They depend only on the entropy and the key, not on the order of the work or its workers.
    """
    return np.random.SeedSequence(entropy, spawn_key=key)


def draw_random_states(seeds: np.random.SeedSequence | int, n_states: int) -> list[int]:
    """Return seeds that any `random_state` accepts; fewer are the first of more.

    An int is itself the first seed; the others derive from it.
    """
    if isinstance(seeds, int):
        more = draw_random_states(np.random.SeedSequence(seeds), n_states - 1)
        return [seeds, *more][:n_states]
    return (seeds.generate_state(max(n_states, 1), np.uint32) >> 1).tolist()[: max(n_states, 0)]
