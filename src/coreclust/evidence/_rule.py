"""Defines the rule that decides about pairs of items, and the limits of the search."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.constants import DEFAULT_MAX_MEMORY, DRAWS_PER_RESAMPLE
from coreclust._utils.normal import stretch
from coreclust._utils.validation import check_noise, is_number
from coreclust.evidence._bounds import (
    bound_table,
    least_estimated,
    least_seen,
    resamples_to_see,
)
from coreclust.evidence._guarantees import GUARANTEES, Bound
from coreclust.evidence._nested import NestedEnsemble
from coreclust.evidence._protocol import Evidence, Items, PairCounts, Table


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
    spread : float, default=1.0
        How much the clusterings of resamples vary, relative to those of the bootstrap; see
        :meth:`coreclust.resampling.Scheme.spread`. Shares of resamples are compared with
        ``1 - resampled_alpha``.

    Examples
    --------
    >>> from coreclust.evidence import CoreRule
    >>> rule = CoreRule(alpha=0.05, confidence=0.95)
    >>> rule.changed(alpha=0.1).alpha
    0.1
    >>> round(CoreRule(alpha=0.1, spread=0.5).resampled_alpha, 4)
    0.0052
    """

    alpha: float = 0.1
    confidence: float | None = None
    guarantee: str = "simultaneous"
    noise: str = "apart"
    time_limit: float | None = None
    max_memory: float | None = DEFAULT_MAX_MEMORY
    anytime: bool = False
    spread: float = 1.0

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_confidence(self.confidence)
        if not isinstance(self.guarantee, str) or self.guarantee not in GUARANTEES:
            raise ValueError(
                f"guarantee must be one of {', '.join(map(repr, GUARANTEES))}, got "
                f"{self.guarantee!r}."
            )
        if self.nested and self.confidence is None:
            raise ValueError(
                f"guarantee={self.guarantee!r} needs a confidence, such as confidence=0.95."
            )
        check_noise(self.noise)
        check_time_limit(self.time_limit)
        memory = self.max_memory
        if memory is not None and not (is_number(memory) and memory > 0):
            raise ValueError(
                f"max_memory must be None or a number of bytes such as 2e9, got {memory!r}."
            )
        if not (is_number(self.spread) and 0 < self.spread < math.inf):
            raise ValueError(f"spread must be a number above 0, got {self.spread!r}.")

    def changed(self, **changes: Any) -> CoreRule:
        """Return a copy of the rule with some settings changed."""
        return replace(self, **changes)

    @property
    def bytes_allowed(self) -> float:
        """The limit on memory as a number, infinity for None."""
        return math.inf if self.max_memory is None else self.max_memory

    @property
    def resampled_alpha(self) -> float:
        """The alpha of shares of resamples that corresponds to `alpha` under the bootstrap."""
        return stretch(self.alpha, 1 / self.spread)

    @property
    def nested(self) -> bool:
        """Whether pairs are judged in draws of the data."""
        return GUARANTEES[self.guarantee].nested

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
        if self.nested or isinstance(evidence, NestedEnsemble):
            return self._nested(evidence).draw_table(self.resampled_alpha)
        if self.confidence is None:
            return evidence.estimate_table(self.resampled_alpha)
        level = self.pair_level(sizes)
        return bound_table(self.resampled_alpha, level, evidence.n_resamples, self.passes)

    def pairs(self, evidence: Evidence, items: Items) -> PairCounts:
        """Return the counts of all pairs of some items, from which conflicts follow."""
        if not self.nested:
            return evidence.pairs(items, self.noise)
        packed = self._nested(evidence).pairs(items, self.noise)
        return cast(PairCounts, packed.in_draws(1 - cast(float, self.confidence)))

    def _nested(self, evidence: Evidence) -> NestedEnsemble:
        if not self.nested:
            raise ValueError(
                f"guarantee={self.guarantee!r} cannot be used with resamples of draws of the data, "
                "which show what holds on new data; fit again."
            )
        if not isinstance(evidence, NestedEnsemble):
            raise ValueError(
                f"guarantee={self.guarantee!r} needs resamples of draws of the data; fit a "
                f"CoreClustering with guarantee={self.guarantee!r}."
            )
        return evidence

    def least_joint(self, evidence: Evidence, sizes: NDArray[np.int64]) -> float:
        """Return in how many resamples a pair must be seen, and never be apart, to be an edge."""
        if self.confidence is None:
            return least_estimated(self.resampled_alpha, evidence.n_prior)
        return least_seen(self.resampled_alpha, self.pair_level(sizes), self.passes)

    def resamples_needed(self, evidence: Evidence, sizes: NDArray[np.int64]) -> float:
        """Return how many resamples it takes until nearly all pairs are seen often enough.

        At most one pair of all clusters is then expected to be seen too rarely to be an edge.
        """
        share = max(evidence.pair_share, 1 / evidence.n_resamples)
        miss = 1 / max(count_pairs(sizes), 2)
        return resamples_to_see(self.least_joint(evidence, sizes), share, miss)

    def warn_if_unreachable(self, evidence: Evidence, sizes: NDArray[np.int64]) -> None:
        """Warn if there are too few resamples for any pair to be an edge."""
        if self.nested:
            text = self._unreachable_draws(self._nested(evidence))
        elif self.confidence is None:
            text = self._unreachable(evidence, sizes)
        else:
            text = self._unreachable_bound(evidence, sizes)
        if text:
            end = ", or draw a smaller share of the items." if self.spread < 1 else "."
            warnings.warn(text + end, stacklevel=3)

    def _unreachable(self, evidence: Evidence, sizes: NDArray[np.int64]) -> str:
        """Return what to say, without the period, if no estimate can reach the threshold."""
        if evidence.estimate_table(self.resampled_alpha)[-1] >= 0:
            return ""
        m, needed = evidence.n_resamples, self.resamples_needed(evidence, sizes)
        if math.isinf(needed):
            return (
                f"No number of resamples can show a co-occurrence of {self._least()}: every core "
                "is a single item. Use a larger alpha"
            )
        return (
            f"{m} resamples are too few for any pair to reach a co-occurrence of {self._least()}: "
            f"every core is a single item. Use at least {needed:,.0f} resamples"
        )

    def _unreachable_bound(self, evidence: Evidence, sizes: NDArray[np.int64]) -> str:
        """Return what to say, without the period, if a typical pair cannot pass the bound."""
        m, share = evidence.n_resamples, evidence.pair_share
        needed = self.least_joint(evidence, sizes)
        if math.isinf(needed):
            return (
                f"No number of resamples can show with confidence that a probability is "
                f"{self._least()}: every core is a single item. Use a larger alpha, or "
                "confidence=None"
            )
        if needed <= share * m:
            return ""
        return (
            f"{m} resamples are too few for confidence={self.confidence:g}: a pair must be seen "
            f"{needed} times, never apart, to show a co-occurrence of {self._least()}, and is seen "
            f"about {share * m:.0f} times. Use at least "
            f"{math.ceil(needed / max(share, 1 / m))} resamples"
        )

    def _unreachable_draws(self, evidence: NestedEnsemble) -> str:
        """Return what to say, without the period, if a typical pair is judged in too few draws."""
        needed = 1 / (1 - cast(float, self.confidence))
        judged = evidence.judged_share * evidence.n_draws
        if judged > needed - 1e-9:
            return ""
        n_resamples = needed / DRAWS_PER_RESAMPLE / max(evidence.judged_share, 0.01)
        return (
            f"{evidence.n_draws} draws of the data are too few for confidence="
            f"{self.confidence:g}: a pair must be judged in {needed:.0f} draws, and is judged in "
            f"about {judged:.0f}. Use n_resamples={math.ceil(n_resamples)} or more"
        )

    def _least(self) -> str:
        """Return the least share of resamples in which a pair must be together."""
        least = f"{1 - self.alpha:g}"
        if self.spread == 1:
            return least
        return f"{1 - self.resampled_alpha:.5g} ({least} under the bootstrap)"

    def promise(self, where: str = "") -> str:
        """Return a sentence that states what holds for the pairs of a core.

        `where` says in which resamples, such as " in resamples of these data".
        """
        least = f"{1 - self.alpha:g}{where}"
        if self.spread != 1:
            least = (
                f"{1 - self.resampled_alpha:.5g}{where}, which corresponds to {1 - self.alpha:g} "
                "under the bootstrap"
            )
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
