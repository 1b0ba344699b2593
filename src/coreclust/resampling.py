"""Which items are in sample b, and where its randomness comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

# What a stream of random numbers is for. A sample that is drawn again uses the next two.
ROWS, ESTIMATOR = 0, 1


class Bootstrap:
    """Draw n of n items with replacement, as in Algorithm 3 of the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.resampling import Bootstrap
    >>> Bootstrap().draw(5, np.random.default_rng(0))
    array([4, 3, 2, 1, 1])
    """

    def draw(self, n_items: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the items of one sample, with repetitions."""
        return rng.integers(0, n_items, size=n_items)

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
    """Turn a scikit-learn random_state into the entropy that all streams derive from."""
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


def stream(entropy: int, *key: int) -> np.random.Generator:
    """Return the random numbers of one purpose.

    The key is ``(sample, purpose)`` for a sample. A stream depends on nothing but the
    entropy and its key: not on the order of the work, on who does it or on how many
    samples there are.
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy, spawn_key=key)))
