"""Draws resamples until the cores have settled and most pairs are decided."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from typing import cast

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from coreclust.clique import Deadline, undecided_pairs
from coreclust.cores import Core, core_labels, find_cores
from coreclust.evidence._bounds import sequence_tables
from coreclust.evidence._ensemble import LabelEnsemble
from coreclust.evidence._labeling import Labeling
from coreclust.evidence._rule import CoreRule, count_pairs

_FIRST_CHECK = 200
_GROWTH = 1.25  # of the number of resamples, from one check to the next
_CONFIDENCE = 0.95  # that no pair is wrongly taken as decided at any check
_MOST_CHANGED = 0.01  # of the items, since the last check
_MOST_UNDECIDED = 0.25  # of the pairs


def checks(max_resamples: int) -> Iterator[int]:
    """Yield the numbers of resamples after which to check the cores."""
    for step in itertools.count():
        n_resamples = math.ceil(_FIRST_CHECK * _GROWTH**step)
        yield min(n_resamples, max_resamples)
        if n_resamples >= max_resamples:
            return


def label_until_settled(
    label: Callable[..., Labeling],
    reference: NDArray[np.int64],
    rule: CoreRule,
    max_resamples: int,
    n_jobs: int | None = None,
) -> Labeling:
    """Label resamples until `StoppingRule` is satisfied, and warn if it never is.

    ``label(n_resamples=m, after=labeling)`` returns a labeling that continues another.
    """
    stop = StoppingRule(reference, rule, max_resamples, n_jobs)
    labeling = None
    for n_resamples in checks(max_resamples):
        labeling = label(n_resamples=n_resamples, after=labeling)
        if stop.enough(labeling.ensemble):
            return labeling
    stop.warn()
    return cast(Labeling, labeling)


class StoppingRule:
    """Decides at each check whether there are enough resamples.

    Sampling stops once at most 1 % of the items changed core since the last check, and at most a
    quarter of the pairs inside clusters are undecided and could change a core. A pair is decided
    when its confidence sequence (`sequence_tables`) excludes
    ``1 - alpha``. The sequences of all pairs hold at all checks together with a confidence of
    95 %, whatever the number of checks.
    """

    def __init__(
        self,
        reference: NDArray[np.int64],
        rule: CoreRule,
        max_resamples: int,
        n_jobs: int | None = None,
    ) -> None:
        self._reference = reference
        self._rule = rule
        self._max_resamples = max_resamples
        self._n_jobs = n_jobs
        self._n_pairs = max(count_pairs(np.bincount(reference[reference >= 0])), 1)
        level = (1 - _CONFIDENCE) / self._n_pairs
        self._tables = sequence_tables(rule.resampled_alpha, level, max_resamples)
        self._labels: NDArray[np.int64] | None = None
        self._missing = "the cores were checked only once"

    def enough(self, ensemble: LabelEnsemble) -> bool:
        """Tell whether the resamples so far are enough."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # too few resamples so far are expected
            cores = find_cores(ensemble, self._reference, self._rule, n_jobs=self._n_jobs)
        before, self._labels = self._labels, core_labels(cores, ensemble.n_items)
        if before is None:
            return False
        changed = float((self._labels != before).mean())
        if changed > _MOST_CHANGED:
            self._missing = f"{changed:.1%} of the items changed core since the last check"
            return False
        undecided = self._undecided_share(ensemble, cores)
        self._missing = f"{undecided:.1%} of the pairs are undecided and could change a core"
        return undecided <= _MOST_UNDECIDED

    def warn(self) -> None:
        """Warn that the largest number of resamples was not enough."""
        warnings.warn(
            f"max_resamples={self._max_resamples} was not enough to settle the cores "
            f"({self._missing}); use a larger max_resamples or another alpha.",
            ConvergenceWarning,
            stacklevel=5,
        )

    def _undecided_share(self, ensemble: LabelEnsemble, cores: list[Core]) -> float:
        sure, possible = (table[: ensemble.n_resamples + 1] for table in self._tables)
        deadline = Deadline(self._rule.time_limit)
        n_undecided = sum(
            undecided_pairs(
                ensemble.pairs(core.members, self._rule.noise),
                sure,
                possible,
                deadline.share(len(cores) - place),
            )
            for place, core in enumerate(cores)
        )
        return n_undecided / self._n_pairs
