"""Estimates the true co-occurrence probabilities under a known distribution."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coreclust._sampling.function import ClusteringFunction
from coreclust._sampling.native import dataset_labeler
from coreclust._sampling.pairs import resample_these_pairs
from coreclust._sampling.problem import Problem
from coreclust._utils.seeds import draw_random_states, seeds_of
from coreclust.evidence._pair_evidence import PairEvidence
from coreclust.resampling import KnownDistribution
from studies.calibration.designs import Design

#: Algorithm 2 is run for pairs whose quick estimate is in this band; for pairs of a core, which are
#: judged, in the wider band. Both bands extend further below the bar than above it: two neighbors
#: at a border pull the centers toward themselves, which only Algorithm 2 takes into account.
BAND = (0.80, 0.95)
CORE_BAND = (0.70, 0.95)

_CHECKS, _FRESH, _EXACT, _BLOCKS = range(4)  # purposes of random numbers
_BLOCK = 200
_PART_TOGETHER = 12  # one of so many items of a dataset is taken from the data, see block_counts


@dataclass(frozen=True)
class Truth:
    """Co-occurrence probabilities under a known distribution, each from m resamples.

    Attributes
    ----------
    pairs : ndarray of int of shape (n_pairs, 2)
        All pairs of items of the same cluster, see :func:`cluster_pairs`.
    quick : ndarray of int of shape (n_pairs,) or None
        For each pair, the number of m new datasets of n items whose clustering gives both items
        the same label; None if the clustering function cannot label items that it was not
        fitted to.
    exact_pairs : ndarray of int of shape (n_exact,)
        Positions in `pairs` of the pairs for which Algorithm 2 was run.
    exact : ndarray of int of shape (n_exact,)
        For each of these pairs, the number of m resamples (the pair and n - 2 new items) in
        which both items have the same label.
    n_resamples : int
        m.
    """

    pairs: NDArray[np.intp]
    quick: NDArray[np.int64] | None
    exact_pairs: NDArray[np.intp]
    exact: NDArray[np.int64]
    n_resamples: int

    @property
    def together(self) -> NDArray[np.int64]:
        """The exact count of each pair, or the quick count if there is no exact one."""
        counts = np.zeros(len(self.pairs), np.int64) if self.quick is None else self.quick.copy()
        counts[self.exact_pairs] = self.exact
        return counts

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The co-occurrence probability of each pair."""
        return self.together / self.n_resamples

    def evidence(self, reference: NDArray[np.int64]) -> PairEvidence:
        """Return the truth as evidence from which cores can be cut."""
        together = np.zeros((reference.size, reference.size), dtype=np.int32)
        first, second = self.pairs.T
        together[first, second] = together[second, first] = self.together
        counts = []
        for members in _members(reference):
            same = together[np.ix_(members, members)]
            seen = np.full_like(same, self.n_resamples)
            np.fill_diagonal(seen, 0)
            none = np.zeros_like(same)
            counts.append(np.stack([seen, same, none, none]))
        return PairEvidence(reference, counts, self.n_resamples)


def find_truth(
    design: Design,
    X: NDArray[np.float64],
    reference: NDArray[np.int64],
    *,
    n_resamples: int,
    cores: Iterable[ArrayLike] = (),
    max_exact: int | None = None,
    n_checks: int = 0,
    seed: int = 0,
) -> Truth:
    """Find the co-occurrence probabilities of all pairs of each cluster.

    Parameters
    ----------
    design : Design
    X : ndarray of shape (n_items, n_features)
    reference : ndarray of int of shape (n_items,)
        The cluster of each item, counted from 0.
    n_resamples : int
        m, the number of resamples per pair.
    cores : iterable of array-like of int of shape (n_items,)
        The core of each item, -1 for none: the results that will be judged.
    max_exact : int, default=None
        Largest number of pairs in :data:`BAND` (pairs of `cores`: in :data:`CORE_BAND`) for
        which to run Algorithm 2; pairs of `cores` come first. None for all pairs, also outside
        the bands. Clustering functions that cannot predict get :func:`block_counts` instead.
    n_checks : int, default=0
        Number of other pairs, chosen at random, for which to run Algorithm 2 as well.
    seed : int, default=0

    Returns
    -------
    truth : Truth

    Examples
    --------
    >>> import numpy as np
    >>> from studies.calibration.designs import Design, Mixture
    >>> from studies.calibration.truth import find_truth
    >>> design = Design("far", "far apart", Mixture(side=30.0), 12)
    >>> X = design.mixture.draw(12, np.random.default_rng(0))
    >>> reference = design.estimator().set_params(random_state=0).fit_predict(X)
    >>> truth = find_truth(design, X, reference, n_resamples=300)
    >>> bool((truth.probabilities > 0.9).all())
    True
    """
    pairs = cluster_pairs(reference)
    quick = quick_counts(design, X, pairs, n_resamples, seed) if design.can_predict else None
    if quick is None:
        exact = block_counts(design, X, reference, n_resamples, seed)
        return Truth(pairs, None, np.arange(len(pairs)), exact, n_resamples)
    if max_exact is None:
        chosen = np.arange(len(pairs))
    else:
        bands = in_bands(quick / n_resamples, pairs, cores)
        chosen = _choose(*bands, max_exact, n_checks, seed)
    exact = exact_counts(design, X, pairs[chosen], n_resamples, seed)
    return Truth(pairs, quick, chosen, exact, n_resamples)


def cluster_pairs(reference: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return all pairs of items of the same cluster, cluster by cluster."""
    found = [
        members[np.stack(np.triu_indices(members.size, 1), axis=1)]
        for members in _members(reference)
    ]
    return np.concatenate([np.empty((0, 2), dtype=np.intp), *found])


def in_bands(
    quick: NDArray[np.float64], pairs: NDArray[np.intp], cores: Iterable[ArrayLike]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which pairs of a core are in the wider band, and which other pairs are in the band."""
    judged = np.zeros(len(pairs), dtype=bool)
    for labels in cores:
        judged |= (np.asarray(labels) >= 0)[pairs].all(axis=1)
    first = judged & (quick >= CORE_BAND[0]) & (quick <= CORE_BAND[1])
    return first, ~first & (quick >= BAND[0]) & (quick <= BAND[1])


def exact_counts(
    design: Design,
    X: NDArray[np.float64],
    pairs: NDArray[np.intp],
    n_resamples: int,
    seed: int,
) -> NDArray[np.int64]:
    """Run Algorithm 2: count how often each pair is together among n - 2 new items."""
    estimator = design.estimator()
    scheme = KnownDistribution(design.mixture.draw)
    counts, _ = resample_these_pairs(
        Problem(ClusteringFunction.of(estimator), X, None, scheme),
        pairs,
        n_resamples,
        draw_random_states(seeds_of(seed, _EXACT), 1)[0],
        labeler=dataset_labeler(estimator, X),
    )
    return counts[:, 1].astype(np.int64)


def block_counts(
    design: Design,
    X: NDArray[np.float64],
    reference: NDArray[np.int64],
    n_resamples: int,
    seed: int,
) -> NDArray[np.int64]:
    """Run Algorithm 2 for several items of a cluster at a time.

    A twelfth of the items of a dataset is taken from X, at random from one cluster, and the others
    are new. All pairs of the items taken are counted, so that far fewer clusterings are needed than
    for one pair at a time. Each pair is counted in `n_resamples` datasets. The order is that of
    :func:`cluster_pairs`.
    """
    found = []
    for cluster, members in enumerate(_members(reference)):
        rng = np.random.default_rng(seeds_of(seed, _BLOCKS, cluster))
        found.append(_count_blocks(design, X, members, n_resamples, rng))
    return np.concatenate([np.empty(0, dtype=np.int64), *found])


def _count_blocks(
    design: Design,
    X: NDArray[np.float64],
    members: NDArray[np.intp],
    n_resamples: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Count how often each pair of members is together, in order of the pairs."""
    n_items, size = len(X), members.size
    n_taken = min(max(n_items // _PART_TOGETHER, 2), size)
    together, seen = np.zeros((2, size, size), dtype=np.int64)
    upper = np.triu_indices(size, 1)
    while size > 1 and seen[upper].min() < n_resamples:
        orders = [rng.permutation(size) for _ in range(1 + _BLOCK * n_taken // size)]
        blocks = np.concatenate(
            [order[: size // n_taken * n_taken].reshape(-1, n_taken) for order in orders]
        )
        new = design.mixture.draw(len(blocks) * (n_items - n_taken), rng)
        new = new.reshape(len(blocks), n_items - n_taken, -1)
        datasets = np.concatenate([X[members[blocks]], new], axis=1)
        labels = _label_first(design, datasets, n_taken, rng)
        for block, found in zip(blocks, labels, strict=True):
            pairs = np.ix_(block, block)
            wanted = seen[pairs] < n_resamples
            together[pairs] += wanted & (found[:, None] == found)
            seen[pairs] += wanted
    return together[upper]


def _label_first(
    design: Design, datasets: NDArray[np.float64], n_wanted: int, rng: np.random.Generator
) -> Iterable[NDArray[np.int64]]:
    """Cluster datasets, and return the labels of the first items of each."""
    estimator = design.estimator()
    states = rng.integers(0, 2**31 - 1, len(datasets))
    labeler = dataset_labeler(estimator, datasets[0])
    if labeler is not None:
        return labeler(np.ascontiguousarray(datasets), n_wanted, states).labels
    function = ClusteringFunction.of(estimator)
    return [
        function.label_first(dataset, None, n_wanted, int(state))
        for dataset, state in zip(datasets, states, strict=True)
    ]


def quick_counts(
    design: Design,
    X: NDArray[np.float64],
    pairs: NDArray[np.intp],
    n_resamples: int,
    seed: int,
) -> NDArray[np.int64]:
    """Count how often each pair gets the same label from k-means fitted to n new items.

    One fit is used for all pairs. Unlike in Algorithm 2, the two items do not influence it.
    """
    together = np.zeros(len(pairs), dtype=np.int64)
    for labels in _quick_labels(design, X, n_resamples, seed):
        for row in labels:
            together += row[pairs[:, 0]] == row[pairs[:, 1]]
    return together


def _quick_labels(
    design: Design, X: NDArray[np.float64], n_resamples: int, seed: int
) -> Iterator[NDArray[np.intp]]:
    """Yield the labels of the items of X in blocks of new datasets."""
    labeler = dataset_labeler(design.estimator(), X)
    assert labeler is not None  # noqa: S101 - for the type checker; k-means has one
    n_items, n_features = X.shape
    for start in range(0, n_resamples, _BLOCK):
        size = min(_BLOCK, n_resamples - start)
        seeds = seeds_of(seed, _FRESH, start)
        drawn = design.mixture.draw(_BLOCK * n_items, np.random.default_rng(seeds))
        datasets = drawn.reshape(_BLOCK, n_items, n_features)[:size]
        states = np.array(draw_random_states(seeds, _BLOCK)[:size])
        labels = labeler(datasets, n_items, states).labels
        inside = labels[:, None] == np.arange(design.n_clusters)[:, None]
        sizes = np.maximum(inside.sum(axis=2), 1)
        # The centers of k-means are the means of its clusters.
        centers = inside.astype(np.float64) @ datasets / sizes[..., None]
        squares = (centers**2).sum(axis=2)[:, None] - 2 * X @ centers.swapaxes(1, 2)
        yield squares.argmin(axis=2)


def _choose(
    first: NDArray[np.bool_], second: NDArray[np.bool_], max_exact: int, n_checks: int, seed: int
) -> NDArray[np.intp]:
    rng = np.random.default_rng(seeds_of(seed, _CHECKS))
    queue = [rng.permutation(np.flatnonzero(wanted)) for wanted in (first, second)]
    far = rng.permutation(np.flatnonzero(~first & ~second))[:n_checks]
    return np.sort(np.concatenate([np.concatenate(queue)[:max_exact], far]))


def _members(reference: NDArray[np.int64]) -> Iterator[NDArray[np.intp]]:
    for cluster in range(int(reference.max(initial=-1)) + 1):
        yield np.flatnonzero(reference == cluster)
