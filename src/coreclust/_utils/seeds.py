"""Where random numbers come from: one seed for everything, addressed by what it is for."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

# What a seed sequence is for. A resample that is drawn again uses the next two.
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
    """Turn a scikit-learn random_state into a seed for a kernel: an int stays what it is."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def seeds_of(entropy: int, *key: int) -> np.random.SeedSequence:
    """Return where the random numbers of one purpose come from.

    The key is ``(resample, purpose)`` for a resample. They depend on nothing but the entropy
    and the key: not on the order of the work, on who does it or on how many resamples there
    are.
    """
    return np.random.SeedSequence(entropy, spawn_key=key)


def draw_random_states(seeds: np.random.SeedSequence | int, n_states: int) -> list[int]:
    """Return seeds that any `random_state` accepts; fewer are a beginning of more.

    A whole number stands for itself, and for what it seeds if more than one is wanted.
    """
    if isinstance(seeds, int):
        more = draw_random_states(np.random.SeedSequence(seeds), n_states - 1)
        return [seeds, *more][:n_states]
    return (seeds.generate_state(max(n_states, 1), np.uint32) >> 1).tolist()[: max(n_states, 0)]
