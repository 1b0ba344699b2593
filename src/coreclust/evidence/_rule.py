"""Defines the rule that decides about pairs of items, and the limits of the search."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.constants import DEFAULT_MAX_MEMORY
from coreclust._utils.validation import check_noise, is_number
from coreclust.evidence._bounds import bound_table, least_seen
from coreclust.evidence._guarantees import GUARANTEES, Bound
from coreclust.evidence._protocol import Evidence, Table


@dataclass(frozen=True)
class CoreRule:
    """All settings of a search for cores. They are checked when the rule is created.

    Parameters
    ----------
    alpha, confidence, guarantee, noise, time_limit, max_memory
        As for :class:`~coreclust.CoreClustering`.
    anytime : bool, default=False
        Whether the confidence must hold for a number of resamples that was chosen by looking at
        the results.

    Examples
    --------
    >>> from coreclust.evidence import CoreRule
    >>> rule = CoreRule(alpha=0.05, confidence=0.95)
    >>> rule.changed(alpha=0.1).alpha
    0.1
    """

    alpha: float = 0.1
    confidence: float | None = None
    guarantee: str = "simultaneous"
    noise: str = "apart"
    time_limit: float | None = None
    max_memory: float | None = DEFAULT_MAX_MEMORY
    anytime: bool = False

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_confidence(self.confidence)
        if not isinstance(self.guarantee, str) or self.guarantee not in GUARANTEES:
            raise ValueError(
                f"guarantee must be one of {', '.join(map(repr, GUARANTEES))}, got "
                f"{self.guarantee!r}."
            )
        check_noise(self.noise)
        check_time_limit(self.time_limit)
        memory = self.max_memory
        if memory is not None and not (is_number(memory) and memory > 0):
            raise ValueError(
                f"max_memory must be None or a number of bytes such as 2e9, got {memory!r}."
            )

    def changed(self, **changes: Any) -> CoreRule:
        """Return a copy of the rule with some settings changed."""
        return replace(self, **changes)

    @property
    def bytes_allowed(self) -> float:
        """The limit on memory as a number, infinity for None."""
        return math.inf if self.max_memory is None else self.max_memory

    @property
    def passes(self) -> Bound:
        """The bound that decides about a pair if `confidence` is not None."""
        guarantee = GUARANTEES[self.guarantee]
        return guarantee.passes_anytime if self.anytime else guarantee.passes

    def pair_level(self, sizes: NDArray[np.int64]) -> float:
        """Return the error allowed for one pair, given the sizes of the clusters."""
        confidence = 0.0 if self.confidence is None else self.confidence
        per_pair = GUARANTEES[self.guarantee].per_pair
        return (1 - confidence) / (1 if per_pair else max(count_pairs(sizes), 1))

    def table(self, evidence: Evidence, sizes: NDArray[np.int64]) -> Table:
        """Return, for every B, how often a pair may be apart, given the sizes of the clusters."""
        if self.confidence is None:
            return evidence.estimate_table(self.alpha)
        level = self.pair_level(sizes)
        return bound_table(self.alpha, level, evidence.n_resamples, self.passes)

    def warn_if_unreachable(self, evidence: Evidence, sizes: NDArray[np.int64]) -> None:
        """Warn if there are too few resamples for any pair to be an edge."""
        m, least = evidence.n_resamples, f"{1 - self.alpha:g}"
        if self.confidence is None:
            if self.alpha > 0 and evidence.estimate_table(self.alpha)[-1] < 0:
                warnings.warn(
                    f"{m} resamples are too few for any pair to reach a co-occurrence of {least}: "
                    "every core is a single item. Use more resamples.",
                    stacklevel=3,
                )
            return
        needed = least_seen(self.alpha, self.pair_level(sizes), self.passes)
        share = evidence.pair_share
        if math.isinf(needed):
            warnings.warn(
                f"No number of resamples can show with confidence that a probability is {least}: "
                "every core is a single item. Use a larger alpha, or confidence=None.",
                stacklevel=3,
            )
        elif needed > share * m:
            warnings.warn(
                f"{m} resamples are too few for confidence={self.confidence:g}: a pair must be "
                f"seen {needed} times, never apart, to show a co-occurrence of {least}, and is "
                f"seen about {share * m:.0f} times. Use at least "
                f"{math.ceil(needed / max(share, 1 / m))} resamples.",
                stacklevel=3,
            )

    def promise(self) -> str:
        """Return a sentence that states what holds for the pairs of a core."""
        least = f"{1 - self.alpha:g}"
        if self.confidence is None:
            return (
                "Any two items of one core get the same label with an estimated probability of at "
                f"least {least}."
            )
        sentence = GUARANTEES[self.guarantee].promise
        return sentence.format(confidence=f"{100 * self.confidence:g} %", least=least)

    def describe(self) -> str:
        """Return the confidence and its guarantee, in a few words."""
        if self.confidence is None:
            return "none: the estimate itself is compared with 1 - alpha"
        return f"{self.confidence:g}, {self.guarantee}"


def count_pairs(sizes: NDArray[np.int64]) -> int:
    """Return the number of pairs within clusters of the given sizes."""
    return int((sizes * (sizes - 1) // 2).sum())


def check_alpha(alpha: Any) -> None:
    """Raise unless alpha is a number in [0, 1]."""
    if not is_number(alpha) or not 0 <= alpha <= 1:
        raise ValueError(
            f"alpha must be a number between 0 and 1 (pairs co-occur with probability at least "
            f"1 - alpha), got {alpha!r}."
        )


def check_confidence(confidence: Any) -> None:
    """Raise unless confidence is None or a number between 0 and 1."""
    if confidence is not None and not (is_number(confidence) and 0 < confidence < 1):
        raise ValueError(
            f"confidence must be None or a number above 0 and below 1, got {confidence!r}."
        )


def check_time_limit(time_limit: Any) -> None:
    """Raise unless time_limit is None or a number of seconds."""
    if time_limit is not None and not (is_number(time_limit) and time_limit >= 0):
        raise ValueError(f"time_limit must be None or seconds, 0 or more, got {time_limit!r}.")
