"""Which items are in sample b, and where its randomness comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from coreclust._numba import kernel, random_below, random_state_of

# What a seed sequence is for. A sample that is drawn again uses the next two.
ROWS, ESTIMATOR = 0, 1


class Bootstrap:
    """Draw n of n items with replacement, as in Algorithm 3 of the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.resampling import Bootstrap
    >>> rows = Bootstrap().draw(100, np.random.SeedSequence(0))
    >>> rows.shape, np.unique(rows).size < 80
    ((100,), True)
    """

    def draw(self, n_items: int, seeds: np.random.SeedSequence) -> NDArray[np.int64]:
        """Return the items of one sample, with repetitions."""
        return _draw_rows(n_items, _word(seeds))

    def counts(self, n_items: int, samples: list[np.random.SeedSequence]) -> NDArray[np.int32]:
        """Return how often each item is in each of some samples, as `draw` draws them."""
        return _count_rows(n_items, np.array([_word(seeds) for seeds in samples], np.uint64))

    def __repr__(self) -> str:
        return "Bootstrap()"


def check_resampling(resampling: Any) -> Bootstrap:
    """Return the scheme that a `resampling` argument stands for."""
    if isinstance(resampling, str) and resampling == "bootstrap":
        return Bootstrap()
    if isinstance(resampling, Bootstrap):
        return resampling
    raise ValueError(f"resampling must be 'bootstrap' or a Bootstrap, got {resampling!r}.")


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

    The key is ``(sample, purpose)`` for a sample. They depend on nothing but the entropy
    and the key: not on the order of the work, on who does it or on how many samples there
    are.
    """
    return np.random.SeedSequence(entropy, spawn_key=key)


def draw_random_states(seeds: np.random.SeedSequence, n_states: int) -> list[int]:
    """Return seeds that any `random_state` accepts; fewer are a beginning of more."""
    return (seeds.generate_state(max(n_states, 1), np.uint32) >> 1).tolist()[:n_states]


def _word(seeds: np.random.SeedSequence) -> np.uint64:
    return seeds.generate_state(1, np.uint64)[0]


@kernel
def _draw_rows(n_items, seed):
    state = random_state_of(seed)
    rows = np.empty(n_items, dtype=np.int64)
    for i in range(n_items):
        rows[i] = random_below(state, n_items)
    return rows


@kernel
def _count_rows(n_items, seeds):
    counts = np.zeros((seeds.size, n_items), dtype=np.int32)
    for sample in range(seeds.size):
        state = random_state_of(seeds[sample])
        for _ in range(n_items):
            counts[sample, random_below(state, n_items)] += 1
    return counts
