"""Defines the guarantees: what `confidence` states about the pairs of a core.

A guarantee is a function that decides whether a pair passes, and an entry in `GUARANTEES`. The
estimator, the report and the command line take the choices and their description from there. Heavy
imports are inside the functions, because the command line imports this module for ``--help``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: A function ``passes(n_apart, n_seen, alpha, level)`` that decides whether a pair passes that was
#: apart in `n_apart` of the `n_seen` resamples with both items. `level` is the error allowed for
#: one pair. A pair that passes must also pass with a smaller `n_apart`.
Bound = Callable[[int, int, float, float], bool]

# The weight of the prior of a confidence sequence, as a number of resamples. The sequence is
# tightest for pairs that were seen about ten to a hundred times as often.
SEQUENCE_WEIGHT = 10

_MOST_TRIALS_OF_BDTR = 2**31 - 1  # it returns NaN for more


def exact_bound(n_apart: int, n_seen: int, alpha: float, level: float) -> bool:
    """Tell whether the Clopper-Pearson lower bound of a pair is at least ``1 - alpha``.

    This is so if a pair with probability ``1 - alpha`` is apart at most `n_apart` times with a
    probability of at most `level`. The bound itself need not be computed.
    """
    return binomial_tail(n_apart, n_seen, alpha) <= level


def binomial_tail(most: int, n: int, p: float) -> float:
    """Return the probability of at most `most` successes in n trials."""
    from scipy.special import bdtr, betaincc

    if n > _MOST_TRIALS_OF_BDTR:
        return float(betaincc(most + 1, n - most, p))
    return float(bdtr(most, n, p))


def sequence_bound(n_apart: int, n_seen: int, alpha: float, level: float) -> bool:
    """Tell whether the confidence sequence of a pair lies above ``1 - alpha``.

    The sequence holds for all numbers of resamples at once, so it may be checked repeatedly.
    """
    return n_apart < alpha * n_seen and is_decided(n_apart, n_seen, alpha, level)


def is_decided(n_apart: int, n_seen: int, alpha: float, level: float) -> bool:
    """Tell whether the confidence sequence of a pair excludes ``1 - alpha``."""
    return bool(sequence_evidence(n_apart, n_seen, alpha) >= -math.log(level))


def sequence_evidence(apart: Any, seen: Any, alpha: float) -> Any:
    """Return the logarithm of the martingale of :func:`sequence_tables` at ``1 - alpha``.

    The larger, the less likely a probability of ``1 - alpha`` is.
    """
    from scipy.special import betaln

    a, b = SEQUENCE_WEIGHT * (1 - alpha), SEQUENCE_WEIGHT * alpha
    together = seen - apart
    mixture = betaln(a + together, b + apart) - betaln(a, b)
    return mixture - together * math.log1p(-alpha) - apart * math.log(alpha)


@dataclass(frozen=True)
class Guarantee:
    """What a confidence states. Entries added to `GUARANTEES` can be used by name everywhere.

    Attributes
    ----------
    passes : callable
        A function ``passes(n_apart, n_seen, alpha, level)`` that decides about a pair, for a number
        of resamples that was fixed beforehand.
    per_pair : bool
        Whether the confidence is about each pair by itself. Otherwise it is about all pairs of
        all cores at once, and the allowed error is divided by the number of pairs.
    promise : str
        The guarantee as a sentence, with the fields ``{confidence}`` and ``{least}``.
    passes_anytime : callable
        As `passes`, for a number of resamples that was chosen by looking at the results.
    nested : bool
        Whether the confidence is about new data: the share of draws of the data in whose resamples
        a pair must reach ``1 - alpha``. `passes` is then not used.

    Examples
    --------
    >>> from coreclust.evidence import GUARANTEES
    >>> GUARANTEES["pair"].passes(0, 29, 0.1, 0.05), GUARANTEES["pair"].per_pair
    (True, True)
    """

    passes: Bound
    per_pair: bool
    promise: str
    passes_anytime: Bound = sequence_bound
    nested: bool = False


#: The values of `guarantee`.
GUARANTEES = {
    "simultaneous": Guarantee(
        exact_bound,
        per_pair=False,
        promise="With {confidence} confidence, every two items of one core get the same label with "
        "a probability of at least {least}.",
    ),
    "pair": Guarantee(
        exact_bound,
        per_pair=True,
        promise="Any two items of one core, taken by themselves, get the same label with a "
        "probability of at least {least}, with {confidence} confidence.",
    ),
    "new-data": Guarantee(
        exact_bound,
        per_pair=True,
        promise="In {confidence} of simulated new datasets, drawn from these data, any two items "
        "of one core get the same label with an estimated probability of at least {least}.",
        nested=True,
    ),
}
