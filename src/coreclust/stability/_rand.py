"""Computes adjusted Rand indices between resamples, and with the reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coreclust._utils.jit import kernel
from coreclust._utils.validation import check_count
from coreclust.evidence import LabelEnsemble
from coreclust.stability import _common
from coreclust.stability._common import check_reference, highest_label, n_pairs_of, pairs_of


@dataclass(frozen=True, eq=False)
class PairwiseRand:
    """The adjusted Rand index between resamples.

    Attributes
    ----------
    mean, std : float
        Mean and standard deviation of `values`, ignoring NaN.
    values : ndarray of float of shape (n_pairs,)
        NaN for pairs of resamples with fewer than two items to compare.
    pairs : ndarray of int of shape (n_pairs, 2)
        The resamples compared.
    exact : bool
        Whether these are all pairs of resamples rather than a random choice.

    Examples
    --------
    >>> from coreclust import LabelEnsemble
    >>> from coreclust.stability import pairwise_rand
    >>> ensemble = LabelEnsemble.from_labels([[0, 0], [0, 0], [1, 0], [1, 1], [1, 1]])
    >>> pairwise_rand(ensemble).pairs
    array([[0, 1]])
    """

    mean: float
    std: float
    values: NDArray[np.float64]
    pairs: NDArray[np.int64]
    exact: bool


def pairwise_rand(
    ensemble: LabelEnsemble,
    *,
    n_pairs: int = 1000,
    random_state: int | np.random.RandomState | None = None,
) -> PairwiseRand:
    """Return the adjusted Rand index between the clusterings of pairs of resamples.

    Two resamples are compared on the items that are present in both and noise in neither.
    The index is that of :func:`sklearn.metrics.adjusted_rand_score`.

    Parameters
    ----------
    ensemble : LabelEnsemble
        The labels of the items in m resamples.
    n_pairs : int, default=1000
        The largest number of pairs to compare; if there are more, this many chosen at random.
    random_state : int, RandomState or None, default=None
        Pass an int to get the same pairs every time.

    Returns
    -------
    rand : PairwiseRand

    References
    ----------
    L. Hubert and P. Arabie, "Comparing partitions", Journal of Classification 2 (1985),
    193-218.

    Examples
    --------
    >>> from coreclust import LabelEnsemble
    >>> from coreclust.stability import pairwise_rand
    >>> ensemble = LabelEnsemble.from_labels([[0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]])
    >>> pairwise_rand(ensemble).values
    array([1., 0., 0.])
    """
    _common.check_ensemble(ensemble)
    check_count(n_pairs, "n_pairs")
    rng = _common.generator(random_state)
    blocks = list(pairs_of(ensemble.n_resamples, n_pairs, rng))
    pairs = np.concatenate([np.empty((0, 2), np.int64), *(np.stack(b, axis=1) for b in blocks)])
    pairs.sort(axis=1)
    pairs = pairs[np.lexsort(pairs.T[::-1])]
    labels, highest = ensemble.labels, highest_label(ensemble)
    values = _adjusted_rand(labels, labels, pairs[:, 0], pairs[:, 1], highest, highest)
    counted = values[~np.isnan(values)]
    return PairwiseRand(
        mean=float(counted.mean()) if counted.size else float("nan"),
        std=float(counted.std()) if counted.size else float("nan"),
        values=values,
        pairs=pairs,
        exact=n_pairs_of(ensemble.n_resamples) <= n_pairs,
    )


def reference_rand(ensemble: LabelEnsemble, reference_labels: ArrayLike) -> NDArray[np.float64]:
    """Return the adjusted Rand index of each resample with the reference clustering.

    It is computed over the items that are present in the resample and noise in neither. The index
    is that of :func:`sklearn.metrics.adjusted_rand_score`.

    Parameters
    ----------
    ensemble : LabelEnsemble
        The labels of the items in m resamples.
    reference_labels : array-like of shape (n_items,)
        Integers or strings; items with a negative integer are in no cluster.

    Returns
    -------
    values : ndarray of float of shape (n_resamples,)
        NaN for a resample with fewer than two items to compare.

    Examples
    --------
    >>> from coreclust import LabelEnsemble
    >>> from coreclust.stability import reference_rand
    >>> ensemble = LabelEnsemble.from_labels([[0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]])
    >>> reference_rand(ensemble, ["a", "a", "b", "b"])
    array([1., 1., 0.])
    """
    codes, names = check_reference(ensemble, reference_labels)
    labels, resamples = ensemble.labels, np.arange(ensemble.n_resamples)
    highest = names.size - 1, highest_label(ensemble)
    return _adjusted_rand(codes[:, None], labels, np.zeros_like(resamples), resamples, *highest)


@kernel
def _adjusted_rand(left, right, first, second, highest_left, highest_right):
    """Return the adjusted Rand index of columns of `left` with columns of `right`.

    The items are sorted by their left label, so that the contingency table is computed row by
    row and never stored.
    """
    values = np.full(first.size, np.nan)
    ends = np.empty(highest_left + 2, dtype=np.int64)
    order = np.empty(left.shape[0], dtype=np.int64)
    count_right = np.empty(highest_right + 1, dtype=np.int64)
    cell = np.zeros(highest_right + 1, dtype=np.int64)
    for pair in range(first.size):
        a = left[:, first[pair]]
        b = right[:, second[pair]]
        ends[:] = 0
        count_right[:] = 0
        n = 0
        for item in range(a.size):
            if a[item] >= 0 and b[item] >= 0:
                n += 1
                ends[a[item] + 1] += 1
                count_right[b[item]] += 1
        if n < 2:
            continue
        same_left = 0
        for label in range(highest_left + 1):
            same_left += ends[label + 1] * (ends[label + 1] - 1)
            ends[label + 1] += ends[label]
        same_right = 0
        for count in count_right:
            same_right += count * (count - 1)
        for item in range(a.size):  # moves ends[label] from the start of a label to its end
            if a[item] >= 0 and b[item] >= 0:
                order[ends[a[item]]] = item
                ends[a[item]] += 1
        same_both = 0
        start = 0
        for label in range(highest_left + 1):
            row = order[start : ends[label]]
            start = ends[label]
            for item in row:
                same_both += 2 * cell[b[item]]
                cell[b[item]] += 1
            for item in row:
                cell[b[item]] = 0
        if same_both == same_left and same_both == same_right:
            values[pair] = 1.0
            continue
        total = np.float64(n * (n - 1))
        expected = same_left * (same_right / total)
        most = 0.5 * (same_left + same_right)
        values[pair] = (same_both - expected) / (most - expected)
    return values
