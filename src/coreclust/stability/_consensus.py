"""Computes the consensus of items and clusters, and the proportion of ambiguous pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coreclust._utils.validation import check_count, check_noise, check_share
from coreclust.evidence import LabelEnsemble, cooccurrence_estimate
from coreclust.stability import _common
from coreclust.stability._common import check_reference, n_pairs_of, pairs_of, ratio


@dataclass(frozen=True, eq=False)
class Consensus:
    """Item consensus and cluster consensus of a reference clustering.

    Attributes
    ----------
    labels : ndarray of shape (n_clusters,)
        The labels of the reference clusters, sorted.
    cluster_consensus : ndarray of float of shape (n_clusters,)
        Mean co-occurrence over the pairs of the cluster; NaN if there is no pair.
    item_consensus : ndarray of float of shape (n_items,)
        Mean co-occurrence of the item with the other members of its cluster; NaN for an item
        that is in no cluster, alone in its cluster or never drawn with another member.
    closest_other : ndarray of int of shape (n_items,)
        Position in `labels` of the other cluster with the highest mean co-occurrence (the
        first one of several); -1 if the item was never drawn with an item of another cluster.
    closest_consensus : ndarray of float of shape (n_items,)
        Mean co-occurrence of the item with that cluster; NaN where there is none.

    Examples
    --------
    >>> from coreclust import LabelEnsemble
    >>> from coreclust.stability import consensus
    >>> ensemble = LabelEnsemble.from_labels([[0, 0], [0, 0], [1, 0], [1, 1], [1, 1]])
    >>> consensus(ensemble, ["a", "a", "b", "b", "b"]).item_consensus
    array([1.  , 1.  , 0.5 , 0.75, 0.75])
    """

    labels: NDArray[Any]
    cluster_consensus: NDArray[np.float64]
    item_consensus: NDArray[np.float64]
    closest_other: NDArray[np.int64]
    closest_consensus: NDArray[np.float64]


@dataclass(frozen=True)
class AmbiguousPairs:
    """The proportion of pairs that are neither clearly together nor clearly apart.

    Attributes
    ----------
    proportion : float
        Proportion of ambiguous pairs; NaN if no two items were ever in the same resample.
    standard_error : float
        Standard error due to the random choice of pairs; 0 if all were counted.
    n_pairs : int
        Number of pairs counted: those of the pairs considered that share a resample.
    exact : bool
        Whether all pairs were considered rather than a random choice.

    Examples
    --------
    >>> from coreclust import LabelEnsemble
    >>> from coreclust.stability import ambiguous_pairs
    >>> ensemble = LabelEnsemble.from_labels([[0, 0], [0, 0], [1, 0], [1, 1], [1, 1]])
    >>> ambiguous_pairs(ensemble)
    AmbiguousPairs(proportion=0.4, standard_error=0.0, n_pairs=10, exact=True)
    """

    proportion: float
    standard_error: float
    n_pairs: int
    exact: bool


def consensus(
    ensemble: LabelEnsemble, reference_labels: ArrayLike, *, noise: str = "apart"
) -> Consensus:
    """Return the item consensus and cluster consensus of Monti et al.

    The co-occurrence of a pair is A/B, the share of the resamples with both items in which
    they have the same label. It does not use the prior of :meth:`LabelEnsemble.cooccurrence`.
    All pairs have the same weight; pairs that are never in the same resample are left out.
    The time grows with the square of the number of items, the memory does not.

    Parameters
    ----------
    ensemble : LabelEnsemble
        The labels of the items in m resamples.
    reference_labels : array-like of shape (n_items,)
        Integers or strings. Items with a negative integer are in no cluster and are compared
        with all clusters.
    noise : {"apart", "together", "absent"}, default="apart"
        How two items that are both noise in a resample are counted.

    Returns
    -------
    consensus : Consensus

    References
    ----------
    S. Monti, P. Tamayo, J. Mesirov and T. Golub, "Consensus clustering: a resampling-based
    method for class discovery and visualization of gene expression microarray data",
    Machine Learning 52 (2003), 91-118.

    Examples
    --------
    >>> from coreclust import LabelEnsemble
    >>> from coreclust.stability import consensus
    >>> ensemble = LabelEnsemble.from_labels([[0, 0], [0, 0], [1, 0], [1, 1], [1, 1]])
    >>> found = consensus(ensemble, ["a", "a", "b", "b", "b"])
    >>> found.cluster_consensus.round(2)
    array([1.  , 0.67])
    >>> str(found.labels[found.closest_other[2]]), float(found.closest_consensus[2])
    ('a', 0.5)
    """
    codes, names = check_reference(ensemble, reference_labels)
    check_noise(noise)
    n_items, n_clusters = codes.size, names.size
    own_sum, own_pairs = np.zeros(n_items), np.zeros(n_items, dtype=np.int64)
    closest = np.full(n_items, -1, dtype=np.int64)
    closest_mean = np.full(n_items, np.nan)
    members, starts = _common.grouped(codes, n_clusters)
    packed = ensemble.pairs(np.arange(n_items), noise)
    n_rows = max(_common.BLOCK // max(members.size, 1), 1)
    for start in range(0, n_items if n_clusters else 0, n_rows):
        rows = np.arange(start, min(start + n_rows, n_items))
        first, second = np.repeat(rows, members.size), np.tile(members, rows.size)
        together, seen = packed.pair_counts(first, second)
        seen[first == second] = 0
        shares = np.where(seen > 0, together / np.maximum(seen, 1), 0.0)
        table = (rows.size, members.size)
        sums = np.add.reduceat(shares.reshape(table), starts[:-1], axis=1)
        pairs = np.add.reduceat((seen > 0).reshape(table), starts[:-1], axis=1, dtype=np.int64)
        inside = np.flatnonzero(codes[rows] >= 0)
        own = inside, codes[rows[inside]]
        own_sum[rows[inside]], own_pairs[rows[inside]] = sums[own], pairs[own]
        pairs[own] = 0
        means = np.where(pairs > 0, sums / np.maximum(pairs, 1), -1.0)
        best = means.argmax(axis=1)
        highest = means[np.arange(rows.size), best]
        closest[rows] = np.where(highest >= 0, best, -1)
        closest_mean[rows] = np.where(highest >= 0, highest, np.nan)
    clustered = codes >= 0
    every_sum = np.bincount(codes[clustered], own_sum[clustered], minlength=n_clusters)
    every_pair = np.bincount(codes[clustered], own_pairs[clustered], minlength=n_clusters)
    return Consensus(
        labels=names,
        cluster_consensus=ratio(every_sum, every_pair),
        item_consensus=ratio(own_sum, own_pairs),
        closest_other=closest,
        closest_consensus=closest_mean,
    )


def ambiguous_pairs(
    ensemble: LabelEnsemble,
    *,
    lower: float = 0.1,
    upper: float = 0.9,
    noise: str = "apart",
    max_pairs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> AmbiguousPairs:
    """Return the proportion of ambiguous pairs (PAC).

    A pair of items is ambiguous if the share of resamples in which the two have the same
    label, among those with both, lies strictly between `lower` and `upper`. Pairs that are
    never in the same resample are left out. No reference clustering is needed.

    Parameters
    ----------
    ensemble : LabelEnsemble
        The labels of the items in m resamples.
    lower, upper : float, default=0.1 and 0.9
        The bounds of the ambiguous range, between 0 and 1.
    noise : {"apart", "together", "absent"}, default="apart"
        How two items that are both noise in a resample are counted.
    max_pairs : int, default=None
        The largest number of pairs to consider; if there are more, this many chosen at random.
        None considers all pairs; the time then grows with the square of the number of items.
    random_state : int, RandomState or None, default=None
        Pass an int to get the same pairs every time.

    Returns
    -------
    ambiguous : AmbiguousPairs

    References
    ----------
    Y. Şenbabaoğlu, G. Michailidis and J. Z. Li, "Critical limitations of consensus
    clustering in class discovery", Scientific Reports 4 (2014), 6207.

    Examples
    --------
    >>> from coreclust import LabelEnsemble
    >>> from coreclust.stability import ambiguous_pairs
    >>> ensemble = LabelEnsemble.from_labels([[0, 0], [0, 0], [1, 0], [1, 1]])
    >>> ambiguous_pairs(ensemble)
    AmbiguousPairs(proportion=0.5, standard_error=0.0, n_pairs=6, exact=True)
    """
    _common.check_ensemble(ensemble)
    check_share(lower, "lower")
    check_share(upper, "upper")
    if not lower < upper:
        raise ValueError(f"lower must be less than upper, got {lower!r} and {upper!r}.")
    check_noise(noise)
    if max_pairs is not None:
        check_count(max_pairs, "max_pairs")
    rng = _common.generator(random_state)
    n_items = ensemble.n_items
    packed = ensemble.pairs(np.arange(n_items), noise)
    n_ambiguous = n_seen = 0
    for first, second in pairs_of(n_items, max_pairs, rng):
        together, seen = packed.pair_counts(first, second)
        share = cooccurrence_estimate(together, seen, None)
        n_seen += int((seen > 0).sum())
        n_ambiguous += int(((share > lower) & (share < upper)).sum())
    n_all = n_pairs_of(n_items)
    exact = max_pairs is None or n_all <= max_pairs
    proportion = n_ambiguous / n_seen if n_seen else float("nan")
    if exact or max_pairs is None:
        error = 0.0
    elif n_seen < 2:
        error = float("nan")
    else:  # drawn without replacement, so with the finite population correction
        left = 1 - max_pairs / n_all
        error = float(np.sqrt(left * proportion * (1 - proportion) / (n_seen - 1)))
    return AmbiguousPairs(proportion, error, n_seen, exact)
