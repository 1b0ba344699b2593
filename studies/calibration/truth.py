"""How probable it really is that two items get the same label, when the distribution is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coreclust._sampling.function import ClusteringFunction
from coreclust._sampling.native import dataset_labeler
from coreclust._sampling.pairs import resample_these_pairs
from coreclust._utils.seeds import draw_random_states, seeds_of
from coreclust.evidence._pair_evidence import PairEvidence
from coreclust.resampling import KnownDistribution
from studies.calibration.designs import Design

#: Pairs whose quick estimate is in here are sampled by Algorithm 2, as many as are allowed; pairs
#: of a core, which are those that are judged, in the wider one. Both reach further down than up:
#: two neighbors at a border draw the centers toward themselves, which only the exact samples see.
BAND = (0.80, 0.95)
CORE_BAND = (0.70, 0.95)

_CHECKS, _FRESH, _EXACT = range(3)  # what random numbers are for
_BLOCK = 200


@dataclass(frozen=True)
class Truth:
    """Co-occurrence probabilities under a known distribution, each from m samples.

    Attributes
    ----------
    pairs : ndarray of int of shape (n_pairs, 2)
        All pairs of items of one cluster, see :func:`cluster_pairs`.
    quick : ndarray of int of shape (n_pairs,) or None
        In how many of m new datasets of n items a clustering of these gave the two the same
        label; None if the clustering function cannot label other items than its own.
    exact_pairs : ndarray of int of shape (n_exact,)
        The pairs, by position in `pairs`, that were sampled by Algorithm 2.
    exact : ndarray of int of shape (n_exact,)
        In how many of m samples these two, among n - 2 new items, got the same label.
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
        """The count of each pair: exact where there is one, else quick."""
        counts = np.zeros(len(self.pairs), np.int64) if self.quick is None else self.quick.copy()
        counts[self.exact_pairs] = self.exact
        return counts

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The co-occurrence probability of each pair."""
        return self.together / self.n_resamples

    def evidence(self, reference: NDArray[np.int64]) -> PairEvidence:
        """Return the truth as what cores can be cut from."""
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
        The cluster of each item, from 0 on.
    n_resamples : int
        m, samples for every pair.
    cores : iterable of array-like of int of shape (n_items,)
        Labels of items by their core, -1 for none: the answers that will be judged.
    max_exact : int, default=None
        How many of the pairs in :data:`BAND` (those of `cores`: in :data:`CORE_BAND`) to
        sample by Algorithm 2 at most; those of `cores` come first. None is all pairs, in the
        bands and outside, as for clustering functions that cannot predict.
    n_checks : int, default=0
        How many other pairs to sample by Algorithm 2, too, at random.
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
    if quick is None or max_exact is None:
        chosen = np.arange(len(pairs))
    else:
        bands = in_bands(quick / n_resamples, pairs, cores)
        chosen = _choose(*bands, max_exact, n_checks, seed)
    exact = exact_counts(design, X, pairs[chosen], n_resamples, seed)
    return Truth(pairs, quick, chosen, exact, n_resamples)


def cluster_pairs(reference: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return all pairs of items of one cluster, cluster by cluster."""
    found = [
        members[np.stack(np.triu_indices(members.size, 1), axis=1)]
        for members in _members(reference)
    ]
    return np.concatenate([np.empty((0, 2), dtype=np.intp), *found])


def in_bands(
    quick: NDArray[np.float64], pairs: NDArray[np.intp], cores: Iterable[ArrayLike]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which pairs are near the bar: those of a core, in the wider band, and other ones."""
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
    """Count how often pairs are together among n - 2 new items each: Algorithm 2."""
    estimator = design.estimator()
    counts, _ = resample_these_pairs(
        ClusteringFunction.of(estimator),
        X,
        None,
        pairs,
        scheme=KnownDistribution(design.mixture.draw),
        n_resamples=n_resamples,
        entropy=draw_random_states(seeds_of(seed, _EXACT), 1)[0],
        labeler=dataset_labeler(estimator, X),
    )
    return counts[:, 1].astype(np.int64)


def quick_counts(
    design: Design,
    X: NDArray[np.float64],
    pairs: NDArray[np.intp],
    n_resamples: int,
    seed: int,
) -> NDArray[np.int64]:
    """Count how often pairs get the same label from k-means fitted to n new items.

    One fit serves all pairs. It differs from Algorithm 2 by the influence of the two items.
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
    assert labeler is not None  # noqa: S101 - k-means has one
    n_items, n_features = X.shape
    for start in range(0, n_resamples, _BLOCK):
        size = min(_BLOCK, n_resamples - start)
        seeds = seeds_of(seed, _FRESH, start)
        drawn = design.mixture.draw(_BLOCK * n_items, np.random.default_rng(seeds))
        datasets = drawn.reshape(_BLOCK, n_items, n_features)[:size]
        labels, _ = labeler(datasets, n_items, np.array(draw_random_states(seeds, _BLOCK)[:size]))
        inside = labels[:, None] == np.arange(design.n_clusters)[:, None]
        sizes = np.maximum(inside.sum(axis=2), 1)
        # At the end of k-means the centers are the means of the clusters.
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
