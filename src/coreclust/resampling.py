"""Which items are in sample b, and where its randomness comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from coreclust._compat import number_of_items, take_items
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


class KnownDistribution:
    """Draw all items but two from a known distribution, as in Algorithm 2 of the paper.

    For every pair of items of a cluster, each sample is made of the pair and of n - 2 items
    drawn from the distribution, so the number of samples is `n_resamples` times the number
    of pairs: for some hundred items at most. It is the definition of the co-occurrence
    probability, where :class:`Bootstrap` is an approximation.

    Parameters
    ----------
    source : callable or array-like
        A function ``source(n, rng)`` that draws n items with a numpy ``Generator``: an array,
        or a tuple of items and classes. Or a population, large compared with the data, to
        draw from with replacement.
    y : array-like, default=None
        The classes of a population, for a classifier.

    Notes
    -----
    Pairs of items with the same values are one and the same experiment, and share their
    samples. The estimate is ``A / m``, without the prior of the bootstrap.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust import CoreClustering
    >>> from coreclust.cluster import KMeans
    >>> from coreclust.resampling import KnownDistribution
    >>> def two_groups(n, rng):
    ...     return rng.normal(size=(n, 1)) + rng.choice([0.0, 6.0], size=(n, 1))
    >>> X = two_groups(20, np.random.default_rng(0))
    >>> scheme = KnownDistribution(two_groups)
    >>> cc = CoreClustering(KMeans(2), resampling=scheme, n_resamples=100, random_state=0).fit(X)
    >>> cc.core_sample_indices_.size
    20
    """

    def __init__(self, source: Any, y: Any = None) -> None:
        self.source = source
        self.y = y

    def draw(self, n_items: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Return items from the distribution, and their classes or None."""
        if callable(self.source):
            drawn = self.source(n_items, rng)
            return drawn if isinstance(drawn, tuple) else (drawn, None)
        rows = rng.integers(number_of_items(self.source), size=n_items)
        classes = None if self.y is None else np.asarray(self.y)[rows]
        return take_items(self.source, rows), classes

    def __repr__(self) -> str:
        if callable(self.source):
            return f"KnownDistribution({getattr(self.source, '__name__', self.source)})"
        return f"KnownDistribution(<{number_of_items(self.source)} items>)"


def check_resampling(resampling: Any) -> Bootstrap | KnownDistribution:
    """Return the scheme that a `resampling` argument stands for."""
    if isinstance(resampling, str) and resampling == "bootstrap":
        return Bootstrap()
    if isinstance(resampling, (Bootstrap, KnownDistribution)):
        return resampling
    raise ValueError(
        f"resampling must be 'bootstrap', a Bootstrap or a KnownDistribution, got {resampling!r}."
    )


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


def draw_random_states(seeds: np.random.SeedSequence | int, n_states: int) -> list[int]:
    """Return seeds that any `random_state` accepts; fewer are a beginning of more.

    A whole number stands for itself, and for what it seeds if more than one is wanted.
    """
    if isinstance(seeds, int):
        more = draw_random_states(np.random.SeedSequence(seeds), n_states - 1)
        return [seeds, *more][:n_states]
    return (seeds.generate_state(max(n_states, 1), np.uint32) >> 1).tolist()[: max(n_states, 0)]


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
