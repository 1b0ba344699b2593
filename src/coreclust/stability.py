"""Stability in the field's own terms, computed from the same ensemble as the cores.

The Jaccard similarities of fpc's `clusterboot`, the item and cluster consensus of
consensus clustering, its proportion of ambiguous pairs (PAC) and the adjusted Rand index
between samples. All are averages: a stable average allows for items that are not, which
is what a core is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coreclust._numba import kernel
from coreclust._validation import check_noise, encode_labels
from coreclust.ensemble import LabelEnsemble
from coreclust.evidence import cooccurrence_estimate
from coreclust.pairs import pack_labels, pair_counts
from coreclust.seeds import draw_entropy

_BLOCK = 2**20  # pairs at a time: at most about 64 MB of indices, counts and shares


@dataclass(frozen=True, eq=False)
class JaccardStability:
    """How well each reference cluster is found again in the samples.

    Attributes
    ----------
    labels : ndarray of shape (n_clusters,)
        The labels of the reference clusters, sorted.
    mean_jaccard : ndarray of float of shape (n_clusters,)
        Mean of `jaccard` over the samples; NaN for a cluster that no sample drew from.
    n_dissolved, n_recovered : ndarray of int of shape (n_clusters,)
        In how many samples the cluster was dissolved, and recovered.
    jaccard : ndarray of float of shape (n_clusters, n_resamples)
        Similarity of the cluster to the most similar one of the sample; NaN where the
        sample holds no item of it.
    """

    labels: NDArray[Any]
    mean_jaccard: NDArray[np.float64]
    n_dissolved: NDArray[np.int64]
    n_recovered: NDArray[np.int64]
    jaccard: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Consensus:
    """How firmly items belong to their reference clusters.

    Attributes
    ----------
    labels : ndarray of shape (n_clusters,)
        The labels of the reference clusters, sorted.
    cluster_consensus : ndarray of float of shape (n_clusters,)
        Mean co-occurrence over the pairs of the cluster; NaN without a pair.
    item_consensus : ndarray of float of shape (n_items,)
        Mean co-occurrence of the item with the other members of its cluster; NaN for an
        item in no cluster, alone in its cluster or never seen with another member.
    closest_other : ndarray of int of shape (n_items,)
        Position in `labels` of the cluster, the item's own aside, with the highest mean
        co-occurrence; the first of equals; -1 if the item met no item of another cluster.
    closest_consensus : ndarray of float of shape (n_items,)
        That mean co-occurrence; NaN where there is none.
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
        NaN if no pair was ever seen together in a sample.
    standard_error : float
        Of the choice of pairs, given the ensemble; 0 if all were counted.
    n_pairs : int
        The pairs it is a proportion of: those looked at that shared a sample.
    exact : bool
        Whether all pairs were looked at, and not a random choice.
    """

    proportion: float
    standard_error: float
    n_pairs: int
    exact: bool


@dataclass(frozen=True, eq=False)
class PairwiseRand:
    """The adjusted Rand index between samples.

    Attributes
    ----------
    mean, std : float
        Mean and standard deviation of `values`, NaN left out.
    values : ndarray of float of shape (n_pairs,)
        NaN for samples with fewer than two items to compare.
    pairs : ndarray of int of shape (n_pairs, 2)
        The samples compared.
    exact : bool
        Whether these are all pairs of samples, and not a random choice.
    """

    mean: float
    std: float
    values: NDArray[np.float64]
    pairs: NDArray[np.int64]
    exact: bool


def jaccard_stability(
    ensemble: LabelEnsemble,
    reference_labels: ArrayLike,
    *,
    dissolved: float = 0.5,
    recovered: float = 0.75,
) -> JaccardStability:
    """Compare each reference cluster with the most similar cluster of every sample.

    In each sample the reference cluster is cut down to the items present, each counted
    once, and its Jaccard similarity with every cluster of the sample computed; the largest
    counts. This is what R's ``fpc::clusterboot`` reports for a bootstrap with
    ``multipleboot=FALSE``, with one difference: where a sample holds no item of a cluster
    `clusterboot` counts a similarity of 0, and here the sample is left out for that cluster.

    Parameters
    ----------
    ensemble : LabelEnsemble
        The labels of the items in m samples. Noise of a sample belongs to none of its
        clusters.
    reference_labels : array-like of shape (n_items,)
        Integers or strings; items with a negative integer are in no cluster.
    dissolved : float, default=0.5
        A cluster counts as dissolved in a sample at this similarity or less.
    recovered : float, default=0.75
        A cluster counts as recovered in a sample above this similarity.

    Returns
    -------
    stability : JaccardStability

    References
    ----------
    C. Hennig, "Cluster-wise assessment of cluster stability", Computational Statistics &
    Data Analysis 52 (2007), 258-271.

    Examples
    --------
    >>> from coreclust import LabelEnsemble
    >>> from coreclust.stability import jaccard_stability
    >>> ensemble = LabelEnsemble.from_labels([[0, 0], [0, 0], [1, 0], [1, 1], [1, 1]])
    >>> found = jaccard_stability(ensemble, ["a", "a", "b", "b", "b"])
    >>> found.jaccard.round(2)
    array([[1.  , 0.67],
           [1.  , 0.67]])
    >>> found.n_recovered
    array([1, 1])
    """
    codes, names = _check_reference(ensemble, reference_labels)
    _check_share(dissolved, "dissolved")
    _check_share(recovered, "recovered")
    members, starts = _grouped(codes, names.size)
    highest = _highest(ensemble)
    jaccard = _best_jaccard(ensemble.labels, members, starts, highest)
    counted = ~np.isnan(jaccard)
    return JaccardStability(
        labels=names,
        mean_jaccard=_ratio(jaccard.sum(axis=1, where=counted), counted.sum(axis=1)),
        n_dissolved=(jaccard <= dissolved).sum(axis=1),
        n_recovered=(jaccard > recovered).sum(axis=1),
        jaccard=jaccard,
    )


def consensus(
    ensemble: LabelEnsemble, reference_labels: ArrayLike, *, noise: str = "apart"
) -> Consensus:
    """Return the item consensus and cluster consensus of Monti et al.

    The co-occurrence of a pair is A/B, the share of the samples with both items in which
    they have the same label, without the prior of :meth:`LabelEnsemble.cooccurrence`; it is
    averaged over pairs, each with the same weight, and pairs never seen together are left
    out. Time grows with the square of the number of items, memory does not.

    Parameters
    ----------
    ensemble : LabelEnsemble
        The labels of the items in m samples.
    reference_labels : array-like of shape (n_items,)
        Integers or strings; items with a negative integer are in no cluster, and are
        compared with all of them.
    noise : {"apart", "together", "absent"}, default="apart"
        How two items that are both noise in a sample count.

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
    >>> found.item_consensus
    array([1.  , 1.  , 0.5 , 0.75, 0.75])
    >>> str(found.labels[found.closest_other[2]]), float(found.closest_consensus[2])
    ('a', 0.5)
    """
    codes, names = _check_reference(ensemble, reference_labels)
    check_noise(noise)
    n_items, n_clusters = codes.size, names.size
    own_sum, own_pairs = np.zeros(n_items), np.zeros(n_items, dtype=np.int64)
    closest = np.full(n_items, -1, dtype=np.int64)
    closest_mean = np.full(n_items, np.nan)
    members, starts = _grouped(codes, n_clusters)
    packed = pack_labels(ensemble.labels, np.arange(n_items), noise)
    n_rows = max(_BLOCK // max(members.size, 1), 1)
    for start in range(0, n_items if n_clusters else 0, n_rows):
        rows = np.arange(start, min(start + n_rows, n_items))
        first, second = np.repeat(rows, members.size), np.tile(members, rows.size)
        together, seen = pair_counts(packed, first, second)
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
        cluster_consensus=_ratio(every_sum, every_pair),
        item_consensus=_ratio(own_sum, own_pairs),
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

    A pair of items is ambiguous if the share of samples in which the two have the same
    label, among those with both, lies strictly between `lower` and `upper`. Pairs never
    seen together are left out. No reference clustering is needed.

    Parameters
    ----------
    ensemble : LabelEnsemble
        The labels of the items in m samples.
    lower, upper : float, default=0.1 and 0.9
        Between 0 and 1.
    noise : {"apart", "together", "absent"}, default="apart"
        How two items that are both noise in a sample count.
    max_pairs : int, default=None
        If there are more pairs of items, look at this many, chosen at random. All by
        default: the time then grows with the square of the number of items.
    random_state : int, RandomState or None, default=None
        An int makes the same choice every time.

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
    _check_ensemble(ensemble)
    _check_share(lower, "lower")
    _check_share(upper, "upper")
    if not lower < upper:
        raise ValueError(f"lower must be less than upper, got {lower!r} and {upper!r}.")
    check_noise(noise)
    if max_pairs is not None:
        _check_count(max_pairs, "max_pairs")
    rng = _generator(random_state)
    n_items = ensemble.n_items
    packed = pack_labels(ensemble.labels, np.arange(n_items), noise)
    n_ambiguous = n_seen = 0
    for first, second in _pairs_of(n_items, max_pairs, rng):
        together, seen = pair_counts(packed, first, second)
        share = cooccurrence_estimate(together, seen, None)
        n_seen += int((seen > 0).sum())
        n_ambiguous += int(((share > lower) & (share < upper)).sum())
    n_all = _n_pairs(n_items)
    exact = max_pairs is None or n_all <= max_pairs
    proportion = n_ambiguous / n_seen if n_seen else float("nan")
    if exact or max_pairs is None:
        error = 0.0
    elif n_seen < 2:
        error = float("nan")
    else:  # drawn without replacement: the more of all pairs, the surer
        left = 1 - max_pairs / n_all
        error = float(np.sqrt(left * proportion * (1 - proportion) / (n_seen - 1)))
    return AmbiguousPairs(proportion, error, n_seen, exact)


def pairwise_rand(
    ensemble: LabelEnsemble,
    *,
    n_pairs: int = 1000,
    random_state: int | np.random.RandomState | None = None,
) -> PairwiseRand:
    """Return the adjusted Rand index between the clusterings of pairs of samples.

    Two samples are compared on the items that are present in both and noise in neither,
    as by :func:`sklearn.metrics.adjusted_rand_score`.

    Parameters
    ----------
    ensemble : LabelEnsemble
        The labels of the items in m samples.
    n_pairs : int, default=1000
        All pairs of samples are compared if there are no more than this, else so many
        different ones, chosen at random.
    random_state : int, RandomState or None, default=None
        An int makes the same choice every time.

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
    >>> found = pairwise_rand(ensemble)
    >>> found.values
    array([1., 0., 0.])
    >>> found.pairs.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    _check_ensemble(ensemble)
    _check_count(n_pairs, "n_pairs")
    rng = _generator(random_state)
    blocks = list(_pairs_of(ensemble.n_resamples, n_pairs, rng))
    pairs = np.concatenate([np.empty((0, 2), np.int64), *(np.stack(b, axis=1) for b in blocks)])
    pairs.sort(axis=1)
    pairs = pairs[np.lexsort(pairs.T[::-1])]
    labels, highest = ensemble.labels, _highest(ensemble)
    values = _adjusted_rand(labels, labels, pairs[:, 0], pairs[:, 1], highest, highest)
    counted = values[~np.isnan(values)]
    return PairwiseRand(
        mean=float(counted.mean()) if counted.size else float("nan"),
        std=float(counted.std()) if counted.size else float("nan"),
        values=values,
        pairs=pairs,
        exact=_n_pairs(ensemble.n_resamples) <= n_pairs,
    )


def reference_rand(ensemble: LabelEnsemble, reference_labels: ArrayLike) -> NDArray[np.float64]:
    """Return the adjusted Rand index of each sample with the reference clustering.

    Compared are the items present in the sample that are noise neither there nor in the
    reference clustering, as by :func:`sklearn.metrics.adjusted_rand_score`.

    Parameters
    ----------
    ensemble : LabelEnsemble
        The labels of the items in m samples.
    reference_labels : array-like of shape (n_items,)
        Integers or strings; items with a negative integer are in no cluster.

    Returns
    -------
    values : ndarray of float of shape (n_resamples,)
        NaN for a sample with fewer than two items to compare.

    Examples
    --------
    >>> from coreclust import LabelEnsemble
    >>> from coreclust.stability import reference_rand
    >>> ensemble = LabelEnsemble.from_labels([[0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]])
    >>> reference_rand(ensemble, ["a", "a", "b", "b"])
    array([1., 1., 0.])
    """
    codes, names = _check_reference(ensemble, reference_labels)
    samples = np.arange(ensemble.n_resamples)
    return _adjusted_rand(
        codes[:, None],
        ensemble.labels,
        np.zeros_like(samples),
        samples,
        names.size - 1,
        _highest(ensemble),
    )


def _highest(ensemble: LabelEnsemble) -> int:
    """Return the highest label, -1 if there is none."""
    return int(ensemble.labels.max(initial=-1))


def _grouped(codes: NDArray[np.int64], n_groups: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the items in the order of their code, and where each code starts; no noise."""
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(n_groups + 1))
    return order[bounds[0] :], bounds - bounds[0]


def _ratio(sums: NDArray[Any], counts: NDArray[Any]) -> NDArray[np.float64]:
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)


def _n_pairs(n: int) -> int:
    return n * (n - 1) // 2


def _pairs_of(
    n: int, at_most: int | None, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield all pairs of n things, or `at_most` different ones at random, block by block."""
    n_all = _n_pairs(n)
    chosen = None if at_most is None or n_all <= at_most else _distinct(n_all, at_most, rng)
    n_chosen = n_all if chosen is None else chosen.size
    for start in range(0, n_chosen, _BLOCK):
        stop = min(start + _BLOCK, n_chosen)
        number = np.arange(start, stop) if chosen is None else chosen[start:stop]
        # A round of n pairs for each step from 1 to n/2; for an even n the last is half a one.
        step, first = np.divmod(number, n)
        yield first, (first + step + 1) % n


def _distinct(n: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw `size` different numbers below n, in memory that grows with `size` alone."""
    if 2 * size > n:
        return np.sort(rng.choice(n, size, replace=False))
    drawn = np.empty(0, dtype=np.int64)
    while drawn.size < size:
        drawn = np.union1d(drawn, rng.integers(n, size=size - drawn.size))
    return drawn


def _check_ensemble(ensemble: Any) -> None:
    if not isinstance(ensemble, LabelEnsemble):
        raise TypeError(
            f"ensemble must be a LabelEnsemble, got {type(ensemble).__name__}; "
            "build one with LabelEnsemble.from_labels."
        )


def _check_reference(
    ensemble: LabelEnsemble, reference_labels: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the code of each item, -1 for none, and the label each code stands for."""
    _check_ensemble(ensemble)
    codes, names = encode_labels(reference_labels, "reference_labels", negative_is_noise=True)
    if codes.size != ensemble.n_items:
        raise ValueError(
            f"reference_labels must have a label for each of the {ensemble.n_items} items of "
            f"the ensemble, got {codes.size}."
        )
    return codes, names


def _check_share(value: Any, name: str) -> None:
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number between 0 and 1, got {value!r}.")


def _check_count(value: Any, name: str) -> None:
    if not _is_whole(value) or value < 1:
        raise ValueError(f"{name} must be a whole number, 1 or more, got {value!r}.")


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _generator(random_state: Any) -> np.random.Generator:
    if not (random_state is None or isinstance(random_state, np.random.RandomState)) and (
        not _is_whole(random_state) or random_state < 0
    ):
        raise ValueError(
            f"random_state must be None, a RandomState or an int, 0 or more, got {random_state!r}."
        )
    return np.random.default_rng(draw_entropy(random_state))


@kernel
def _best_jaccard(labels, members, starts, highest):
    """Return, for every group of `members` and sample, the best Jaccard similarity."""
    n_clusters = starts.size - 1
    n_samples = labels.shape[1]
    best = np.full((n_clusters, n_samples), np.nan)
    size = np.empty(highest + 1, dtype=np.int64)
    common = np.zeros(highest + 1, dtype=np.int64)
    for sample in range(n_samples):
        size[:] = 0
        for item in range(labels.shape[0]):
            if labels[item, sample] >= 0:
                size[labels[item, sample]] += 1
        for cluster in range(n_clusters):
            group = members[starts[cluster] : starts[cluster + 1]]
            n_present = 0
            for item in group:
                label = labels[item, sample]
                if label != -2:
                    n_present += 1
                if label >= 0:
                    common[label] += 1
            if n_present == 0:
                continue
            best[cluster, sample] = 0.0
            for item in group:
                label = labels[item, sample]
                if label >= 0 and common[label] > 0:
                    similarity = common[label] / (n_present + size[label] - common[label])
                    best[cluster, sample] = max(best[cluster, sample], similarity)
                    common[label] = 0
    return best


@kernel
def _adjusted_rand(left, right, first, second, highest_left, highest_right):
    """Return the adjusted Rand index of columns of `left` with columns of `right`.

    The items are sorted by their left label, so that the table of the two labellings is
    gone through row by row and never held.
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
