"""Random numbers of R before version 3.6, for the datasets that the authors drew.

Two datasets of the paper are defined by a seed of R: the synthetic items, and the 200 rows drawn
from the KDD population. This module draws the same numbers without a file and without R. The
generator is the Mersenne Twister of numpy; the module adds how R fills its state from a seed and
how R turns words into variates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

_WORD = 2.3283064365386963e-10  # R multiplies a 32-bit word by this, about 2**-32
_STEPS = 134217728  # 2**27, BIG in R's snorm.c


class RRandom:
    """Generator of R's numbers after ``RNGkind(sample.kind = "Rounding"); set.seed(seed)``.

    Examples
    --------
    >>> from studies.data._r_random import RRandom
    >>> RRandom(42).uniform(3).round(7).tolist()  # set.seed(42); runif(3)
    [0.914806, 0.9370754, 0.2861395]
    >>> RRandom(42).normal(2).round(7).tolist()  # set.seed(42); rnorm(2)
    [1.3709584, -0.5646982]
    """

    def __init__(self, seed: int) -> None:
        words = []
        for step in range(50 + 625):
            seed = (69069 * seed + 1) % 2**32
            if step > 50:  # R scrambles the seed 50 times; the next word, a position, is unused
                words.append(seed)
        self._words = np.random.MT19937()
        self._words.state = {
            "bit_generator": "MT19937",
            "state": {"key": np.array(words, dtype=np.uint32), "pos": 624},
        }

    def uniform(self, size: int) -> NDArray[np.float64]:
        """Return what ``runif(size)`` returns: numbers between 0 and 1, both excluded."""
        half = _WORD / 2
        return np.clip(self._words.random_raw(size) * _WORD, half, 1 - half)

    def normal(self, size: int) -> NDArray[np.float64]:
        """Return what ``rnorm(size)`` returns, by inversion, to about 1e-15."""
        # One uniform has 32 bits, too few for the tails: R combines two.
        coarse, fine = self.uniform(2 * size).reshape(size, 2).T
        deviates: NDArray[np.float64] = ndtri((np.floor(_STEPS * coarse) + fine) / _STEPS)
        return deviates

    def integers(self, high: int, size: int) -> NDArray[np.int64]:
        """Return what ``sample(high, size, replace = TRUE)`` returns, minus 1."""
        return np.floor(high * self.uniform(size)).astype(np.int64)

    def distinct(self, high: int, size: int) -> NDArray[np.int64]:
        """Return what ``sample(high, size)`` returns, minus 1."""
        left = np.arange(high)
        drawn = np.empty(size, dtype=np.int64)
        for i, uniform in enumerate(self.uniform(size)):
            place = int((high - i) * uniform)
            drawn[i] = left[place]
            left[place] = left[high - i - 1]  # the last row fills the gap
        return drawn
