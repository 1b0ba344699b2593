"""Finds the weak items that are undecided: they were seen too rarely with their core to tell."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.constants import ABSENT
from coreclust.cores import Core
from coreclust.evidence._ensemble import LabelEnsemble
from coreclust.evidence._protocol import Evidence, Table
from coreclust.evidence._rule import CoreRule

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering

_MOST_UNDECIDED = 0.1  # of the items, without a warning
_SHARE_OF_TIME = 0.1  # of the time limit of the search
_ROWS = 1000  # weak items per call of a kernel
_LABELS = 10**7  # per block


def find_undecided(fitted: CoreClustering) -> NDArray[np.intp]:
    """Return the undecided items of a fitted estimator, and warn if they are many."""
    found = undecided_items(fitted.ensemble_, fitted.cores_, fitted.rule_)
    _warn_if_many(fitted, found.size)
    return found


def undecided_items(evidence: Evidence, cores: list[Core], rule: CoreRule) -> NDArray[np.intp]:
    """Return the weak items that are in conflict only for lack of evidence.

    A pair that was seen in too few resamples cannot be an edge, even if it was never apart. An item
    is undecided if all its conflicts with the core of its cluster are with such pairs. The search
    for them stops after a part of the time limit; the remaining items count as weak.
    """
    if rule.nested:  # pairs are judged in each draw by itself
        return np.empty(0, dtype=np.intp)
    table = rule.table(evidence, np.array([core.n_items for core in cores], dtype=np.int64))
    end = np.inf if rule.time_limit is None else time.monotonic() + _SHARE_OF_TIME * rule.time_limit
    found = [_undecided(evidence, core, table, rule.noise, end) for core in cores if core.n_weak]
    return np.sort(np.concatenate(found)) if found else np.empty(0, dtype=np.intp)


def _warn_if_many(fitted: CoreClustering, n_undecided: int) -> None:
    """Warn if many items are undecided, with the number of resamples that decides nearly all."""
    rule, evidence = fitted.rule_, fitted.ensemble_
    if n_undecided <= _MOST_UNDECIDED * evidence.n_items or not isinstance(evidence, LabelEnsemble):
        return
    sizes = np.array([core.n_items for core in fitted.cores_], dtype=np.int64)
    least, n_seen = rule.least_joint(evidence, sizes), evidence.pair_share * evidence.n_resamples
    if least > (evidence.n_resamples if rule.confidence is None else n_seen):
        return  # the rule itself has warned that no pair can pass
    seen = f"fewer than {least:.0f} resamples" if least > 1 else "no resample"
    warnings.warn(
        f"{n_undecided} of {evidence.n_items} items are undecided: with some items of their core "
        f"they were seen in {seen}, too few to belong to it. Use at least "
        f"{rule.resamples_needed(evidence, sizes):,.0f} resamples.",
        stacklevel=5,
    )


def _undecided(
    evidence: Evidence, core: Core, table: Table, noise: str, end: float
) -> NDArray[np.intp]:
    """Return the undecided items of one cluster."""
    if table[-1] < 0:  # no pair can be an edge
        return core.weak
    weak = core.weak
    if isinstance(evidence, LabelEnsemble):
        weak = weak[_rarely_seen(evidence, core, int(np.argmax(table >= 0)), noise)]
    if not weak.size:
        return weak
    # A table under which pairs that were seen too rarely are not in conflict.
    lenient = np.where(table < 0, np.arange(table.size), table)
    pairs = evidence.pairs(np.concatenate([core.core, weak]), noise)
    members, rows = np.split(np.arange(core.n_core + weak.size), [core.n_core])
    undecided = np.zeros(rows.size, dtype=bool)
    for begin in range(0, rows.size, _ROWS):
        block = slice(begin, begin + _ROWS)
        n_apart, _ = pairs.conflict_rows(lenient, rows[block], members, 0)
        n_conflicts, _ = pairs.conflict_rows(table, rows[block], members, 0)
        undecided[block] = (n_apart == 0) & (n_conflicts > 0)
        if time.monotonic() > end:
            break
    return weak[undecided]


def _rarely_seen(evidence: LabelEnsemble, core: Core, least: int, noise: str) -> NDArray[np.bool_]:
    """Mark the weak items that may have been seen fewer than `least` times with a core item.

    Items that are present in p of m resamples are seen together at least ``p_i + p_j - m`` times.
    """
    lowest = 0 if noise == "absent" else ABSENT + 1  # the lowest label that counts as present
    m, step = evidence.n_resamples, max(1, _LABELS // core.n_items)
    present = np.zeros(core.n_items, dtype=np.int64)
    for begin in range(0, m, step):
        labels = evidence.labels.T[begin : begin + step].take(core.members, axis=1)
        present += (labels >= lowest).sum(axis=0)
    is_core = np.isin(core.members, core.core, assume_unique=True)
    return present[~is_core] + present[is_core].min() - m < least
