"""How many resamples are enough: until the cores stay, and most pairs are decided."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from coreclust._sampling.labeling import Labeling
from coreclust.clique import undecided_pairs
from coreclust.cores import Core, core_clusters, core_labels
from coreclust.evidence import sequence_tables
from coreclust.evidence._counting import pack_labels
from coreclust.evidence._ensemble import LabelEnsemble
from coreclust.evidence._rule import pair_level

_FIRST_LOOK = 200
_GROWTH = 1.25  # from one look to the next
_CONFIDENCE = 0.95  # that no pair is taken for decided, at any look, and wrongly
_MOST_CHANGED = 0.01  # of the items, from one look to the next
_MOST_UNDECIDED = 0.25  # of the pairs


@dataclass(frozen=True)
class CutRule:
    """How cores are cut from resamples, see :func:`~coreclust.core_clusters`."""

    alpha: float
    confidence: float | None
    guarantee: str
    noise: str
    time_limit: float | None
    max_memory: float | None
    n_jobs: int | None


def looks(max_resamples: int) -> Iterator[int]:
    """Yield the numbers of resamples after which to look.

    Examples
    --------
    >>> from coreclust._sampling.adaptive import looks
    >>> list(looks(400))
    [200, 250, 313, 391, 400]
    """
    for step in itertools.count():
        n_resamples = math.ceil(_FIRST_LOOK * _GROWTH**step)
        yield min(n_resamples, max_resamples)
        if n_resamples >= max_resamples:
            return


def label_until_settled(
    label: Callable[..., Labeling],
    reference: NDArray[np.int64],
    rule: CutRule,
    max_resamples: int,
) -> Labeling:
    """Label more and more resamples until there are enough of them.

    Parameters
    ----------
    label : callable
        ``label(n_resamples=m, after=labeling)`` returns a labeling that goes on from there.
    reference, rule, max_resamples
        See :class:`StoppingRule`.
    """
    stop = StoppingRule(reference, rule, max_resamples)
    labeling = None
    for n_resamples in looks(max_resamples):
        labeling = label(n_resamples=n_resamples, after=labeling)
        if stop.enough(labeling.ensemble):
            return labeling
    stop.warn()
    return cast(Labeling, labeling)


class StoppingRule:
    """Decide, look by look, whether there are enough resamples.

    There are when two things hold: of all items, no more than 1 % have another core than at the
    look before; and of the pairs inside of clusters, no more than a quarter are undecided and
    could change a core. A pair is decided when its confidence sequence
    (:func:`~coreclust.evidence.sequence_tables`) has left ``1 - alpha`` behind. The sequences
    of all pairs hold at all looks together with a confidence of 95 %, whatever the number of
    looks and whenever one stops.

    Parameters
    ----------
    reference : ndarray of int of shape (n_items,)
        The cluster of each item, -1 for none.
    rule : CutRule
    max_resamples : int
    """

    def __init__(self, reference: NDArray[np.int64], rule: CutRule, max_resamples: int) -> None:
        self._reference = reference
        self._rule = rule
        self._max_resamples = max_resamples
        sizes = np.bincount(reference[reference >= 0])
        self._n_pairs = int((sizes * (sizes - 1) // 2).sum())
        level = pair_level(sizes, _CONFIDENCE, "simultaneous")
        self._tables = sequence_tables(rule.alpha, level, max_resamples)
        self._labels: NDArray[np.int64] | None = None
        self._missing = "they were looked at only once, and have nothing to be compared with"

    def enough(self, ensemble: LabelEnsemble) -> bool:
        """Look at the resamples and tell whether they are enough."""
        cores = self._cut(ensemble)
        before, self._labels = self._labels, core_labels(cores, ensemble.n_items)
        if before is None:
            return False
        changed = float((self._labels != before).mean())
        if changed > _MOST_CHANGED:
            self._missing = f"{changed:.1%} of the items were in another core at the look before"
            return False
        undecided = self._undecided_share(ensemble, cores)
        self._missing = f"{undecided:.1%} of the pairs are undecided and could change a core"
        return undecided <= _MOST_UNDECIDED

    def warn(self) -> None:
        """Say that there are no more resamples, and they were not enough."""
        warnings.warn(
            f"max_resamples={self._max_resamples} resamples were not enough to settle the cores: "
            f"{self._missing}. Use more, or another alpha.",
            ConvergenceWarning,
            stacklevel=5,
        )

    def _cut(self, ensemble: LabelEnsemble) -> list[Core]:
        rule = self._rule
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # too few resamples for now are no news
            return core_clusters(
                ensemble,
                self._reference,
                alpha=rule.alpha,
                confidence=rule.confidence,
                guarantee=rule.guarantee,
                noise=rule.noise,
                time_limit=rule.time_limit,
                max_memory=rule.max_memory,
                n_jobs=rule.n_jobs,
                anytime=True,
            )

    def _undecided_share(self, ensemble: LabelEnsemble, cores: list[Core]) -> float:
        sure, possible = (table[: ensemble.n_resamples + 1] for table in self._tables)
        n_undecided = sum(
            undecided_pairs(
                pack_labels(ensemble.labels, core.members, self._rule.noise), sure, possible
            )
            for core in cores
        )
        return n_undecided / max(self._n_pairs, 1)
