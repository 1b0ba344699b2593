"""Guarantees: what `confidence` promises about the pairs of a core.

A guarantee is a function that decides whether a pair passes, and an entry in `GUARANTEES`. The
estimator, the report and the command line read their choices and words from that registry. This
module is light on purpose: the command line imports it for ``--help``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: Decides whether a pair that was apart in some of the resamples that had both items passes:
#: ``passes(n_apart, n_seen, alpha, level)``, where `level` is the error allowed for one pair. If a
#: pair passes, it also passes with fewer resamples apart.
Bound = Callable[[int, int, float, float], bool]

# How many resamples the prior of a confidence sequence weighs. The sequence is tightest where a
# pair was seen some ten to a hundred times as often.
SEQUENCE_WEIGHT = 10


def exact_bound(n_apart: int, n_seen: int, alpha: float, level: float) -> bool:
    """Tell whether the Clopper-Pearson lower bound of a pair is at least ``1 - alpha``.

    It is if a pair at exactly ``1 - alpha`` is apart at most `n_apart` times with a probability
    of at most `level`: one binomial sum and no inversion.
    """
    from scipy.special import bdtr

    return bool(bdtr(n_apart, n_seen, alpha) <= level)


def sequence_bound(n_apart: int, n_seen: int, alpha: float, level: float) -> bool:
    """Tell whether the confidence sequence of a pair lies above ``1 - alpha``.

    It holds for all numbers of resamples at once, so that it may be looked at repeatedly.
    """
    return n_apart < alpha * n_seen and is_decided(n_apart, n_seen, alpha, level)


def is_decided(n_apart: int, n_seen: int, alpha: float, level: float) -> bool:
    """Tell whether the confidence sequence of a pair excludes ``1 - alpha``."""
    return bool(sequence_evidence(n_apart, n_seen, alpha) >= -math.log(level))


def sequence_evidence(apart: Any, seen: Any, alpha: float) -> Any:
    """Return the logarithm of the martingale of :func:`sequence_tables` at ``1 - alpha``.

    Parameters
    ----------
    apart, seen : int or ndarray of int
        In how many resamples a pair was apart, and in how many both items were present.
    alpha : float
        Above 0 and below 1.

    Returns
    -------
    evidence : float or ndarray of float
        The larger, the less likely a probability of ``1 - alpha`` is. A pair is decided at
        ``-log(level)``.

    Examples
    --------
    >>> from coreclust.evidence import sequence_evidence
    >>> bool(sequence_evidence(0, 100, 0.1) > sequence_evidence(10, 100, 0.1))
    True
    """
    from scipy.special import betaln

    a, b = SEQUENCE_WEIGHT * (1 - alpha), SEQUENCE_WEIGHT * alpha
    together = seen - apart
    mixture = betaln(a + together, b + apart) - betaln(a, b)
    return mixture - together * math.log1p(-alpha) - apart * math.log(alpha)


@dataclass(frozen=True)
class Guarantee:
    """What a confidence is about.

    Attributes
    ----------
    passes : callable
        The `Bound` for a number of resamples that was fixed beforehand.
    per_pair : bool
        Whether the confidence is about each pair by itself. Otherwise it is about all pairs of
        all cores at once, and the allowed error is divided by the number of pairs.
    promise : str
        One sentence for people, with the places ``{confidence}`` and ``{least}``.
    passes_anytime : callable
        The `Bound` if the number of resamples was chosen by looking at them.
    """

    passes: Bound
    per_pair: bool
    promise: str
    passes_anytime: Bound = sequence_bound


#: The values of `guarantee`. The first is the default.
GUARANTEES = {
    "simultaneous": Guarantee(
        exact_bound,
        per_pair=False,
        promise="With {confidence} confidence, every two items of one core land together with a "
        "probability of at least {least}.",
    ),
    "pair": Guarantee(
        exact_bound,
        per_pair=True,
        promise="Any two items of one core, taken by themselves, land together with a probability "
        "of at least {least}, with {confidence} confidence.",
    ),
}
