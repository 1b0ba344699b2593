"""Evidence on pairs that were each sampled by themselves, as Algorithm 2 gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coreclust._utils.validation import as_index, check_noise
from coreclust.evidence._bounds import apart_table, cooccurrence_estimate
from coreclust.evidence._protocol import Counts

# What is counted of the resamples of a pair.
SEEN, SAME, BOTH_NOISE, ANY_NOISE = range(4)


@dataclass(frozen=True)
class PairEvidence:
    """How often the pairs of each cluster were together, each in resamples of its own.

    The counterpart of :class:`~coreclust.LabelEnsemble` where the items were never all in
    one sample. Pairs across clusters are not counted.

    Attributes
    ----------
    clusters : ndarray of int of shape (n_items,)
        The cluster of each item, -1 for none.
    counts : list of ndarray of shape (4, s, s)
        For each cluster and every pair of its members: the resamples that could be
        clustered, those in which the two had the same label, in which both were noise, and
        in which one or both were.
    n_resamples : int
        m, the number of resamples of a pair.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust import CoreClustering
    >>> from coreclust.cluster import KMeans
    >>> from coreclust.resampling import KnownDistribution
    >>> def two_groups(n, rng):
    ...     return rng.normal(size=(n, 1)) + rng.choice([0.0, 6.0], size=(n, 1))
    >>> X = two_groups(10, np.random.default_rng(0))
    >>> scheme = KnownDistribution(two_groups)
    >>> cc = CoreClustering(KMeans(2), resampling=scheme, n_resamples=50, random_state=0).fit(X)
    >>> cc.ensemble_.n_items, cc.ensemble_.n_resamples
    (10, 50)
    """

    clusters: NDArray[np.int64]
    counts: list[NDArray[np.int32]]
    n_resamples: int

    @property
    def n_items(self) -> int:
        """Number of items, n."""
        return self.clusters.size

    def cooccurrence_counts(self, i: Any, j: Any, *, noise: str = "apart") -> tuple[Any, Any]:
        """Count the resamples in which items i and j were together, and seen at all.

        Parameters
        ----------
        i, j : int or array-like of int
            Items; arrays are paired up by broadcasting.
        noise : {"apart", "together", "absent"}, default="apart"
            How NOISE counts: as together with no label, with itself, or as not seen.

        Returns
        -------
        together, seen : int or ndarray of int
            Both 0 for items of different clusters, and for an item with itself.
        """
        check_noise(noise)
        every = np.arange(self.n_items)
        first, second = np.broadcast_arrays(every[as_index(i)], every[as_index(j)])
        together, seen = np.zeros(first.shape, np.int64), np.zeros(first.shape, np.int64)
        for cluster, counts in enumerate(self.counts):
            inside = (self.clusters[first] == cluster) & (self.clusters[second] == cluster)
            position = np.cumsum(self.clusters == cluster) - 1
            pairs = counts[:, position[first[inside]], position[second[inside]]]
            together[inside], seen[inside] = _under_rule(pairs, noise)
        if first.ndim == 0:
            return int(together), int(seen)
        return together, seen

    def cooccurrence(self, i: Any, j: Any, *, noise: str = "apart") -> Any:
        """Estimate the probability that items i and j get the same label.

        Parameters
        ----------
        i, j : int or array-like of int
            Items; arrays are paired up by broadcasting.
        noise : {"apart", "together", "absent"}, default="apart"
            How NOISE counts.

        Returns
        -------
        p : float or ndarray of float
            ``A / B``; NaN for items of different clusters, and 1 for an item with itself.
        """
        together, seen = self.cooccurrence_counts(i, j, noise=noise)
        every = np.arange(self.n_items)
        itself = every[as_index(i)] == every[as_index(j)]
        p = np.where(itself, 1.0, cooccurrence_estimate(together, seen, None))
        return float(p) if p.ndim == 0 else p

    def cooccurrence_matrix(
        self, items: ArrayLike | None = None, *, noise: str = "apart"
    ) -> NDArray[np.float64]:
        """Estimate the co-occurrence probability of all pairs of some items, all by default."""
        chosen = np.arange(self.n_items)
        if items is not None:
            chosen = chosen[np.asarray(items)]
        return self.cooccurrence(chosen[:, None], chosen[None], noise=noise)

    # What the search for cores and the tables ask of evidence; see coreclust.evidence._protocol.

    n_prior = None  # the prior belongs to Algorithm 3
    pair_share = 1.0

    def estimate_table(self, alpha: float) -> NDArray[np.int64]:
        """Return, for every B, how often a pair may be apart and still be an edge."""
        table = apart_table(alpha, None, self.n_resamples)
        if alpha < 1:  # a pair that lost more than half of its resamples is not an edge
            table[: (self.n_resamples + 1) // 2] = -1
        return table

    def member_counts(self, members: NDArray[np.intp], noise: str) -> Counts:
        """Return together and seen of every member, summed over the others."""
        together, seen = self._within(members, noise)
        return together.sum(axis=1), seen.sum(axis=1)

    def joint_counts(self, items: NDArray[np.intp], noise: str) -> tuple[int, int]:
        """Return zeros: the items were never all in one resample."""
        return 0, 0

    def cluster_counts(
        self, items: NDArray[np.intp], clusters: NDArray[np.int64], n_clusters: int, noise: str
    ) -> Counts:
        """Return zeros: pairs of different clusters were not resampled."""
        zeros = np.zeros((items.size, n_clusters), dtype=np.int64)
        return zeros, zeros.copy()

    def pairs(self, items: NDArray[np.intp], noise: str) -> CountedPairs:
        """Return the counts of all pairs of some items."""
        together, seen = self._within(items, noise)
        return CountedPairs(seen - together, seen)

    def _within(self, members: NDArray[np.intp], noise: str) -> Counts:
        """Return the counts A and B of all pairs of members of one cluster."""
        if np.unique(self.clusters[members]).size > 1 or self.clusters[members[0]] < 0:
            raise ValueError(
                "reference_labels must not put items together that were not sampled together: "
                "pairs were sampled within the clusters of the evidence only."
            )
        return self.cooccurrence_counts(members[:, None], members[None], noise=noise)

    def __repr__(self) -> str:
        n_pairs = sum(len(counts[0]) * (len(counts[0]) - 1) // 2 for counts in self.counts)
        return (
            f"PairEvidence(n_items={self.n_items}, n_pairs={n_pairs}, "
            f"n_resamples={self.n_resamples})"
        )


@dataclass(frozen=True)
class CountedPairs:
    """Counts of all pairs of some items, as matrices; see `PairCounts` for the methods.

    Attributes
    ----------
    apart, seen : ndarray of int of shape (n_items, n_items)
    """

    apart: NDArray[np.int64]
    seen: NDArray[np.int64]

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.seen)

    def steady_items(self, table: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark none: every pair is looked at."""
        return np.zeros(self.n_items, dtype=bool)

    def by_deviation(self) -> NDArray[np.intp]:
        """Return the items, those that are apart from the others least often first."""
        return np.argsort(self.apart.sum(axis=1), kind="stable")

    def conflict_rows(
        self,
        table: NDArray[np.int64],
        rows: NDArray[np.intp],
        candidates: NDArray[np.intp],
        limit: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """List the candidates that each of `rows` is in conflict with."""
        found = [candidates[self._conflicts(table, row, candidates)] for row in rows]
        conflicts = np.empty((rows.size, limit), dtype=np.int32)
        for place, row in enumerate(found):
            conflicts[place, : row.size] = row[:limit]
        return np.array([min(row.size, limit + 1) for row in found], dtype=np.int64), conflicts

    def conflict_levels(
        self, tables: NDArray[np.int64], rows: NDArray[np.intp], is_row: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
        """List the conflicts of `rows` under tables that allow more and more."""
        counts = np.zeros(rows.size, dtype=np.int64)
        others = np.empty((rows.size, self.n_items), dtype=np.int32)
        levels = np.empty((rows.size, self.n_items), dtype=np.uint16)
        every = np.arange(self.n_items)
        for place, row in enumerate(rows):
            level = np.sum([self._conflicts(table, row, every) for table in tables], axis=0)
            listed = np.flatnonzero((level > 0) & ~(is_row & (every > row)))
            counts[place] = listed.size
            others[place, : listed.size] = listed
            levels[place, : listed.size] = level[listed]
        return counts, others, levels

    def extend_conflict_free(
        self,
        table: NDArray[np.int64],
        chosen: NDArray[np.intp],
        n_chosen: int,
        queue: NDArray[np.intp],
    ) -> int:
        """Append to `chosen` every item of `queue` in conflict with none of it."""
        for item in queue:
            if not self._conflicts(table, item, chosen[:n_chosen]).any():
                chosen[n_chosen] = item
                n_chosen += 1
        return n_chosen

    def group_conflicting(
        self,
        table: NDArray[np.int64],
        queue: NDArray[np.intp],
        groups: NDArray[np.int32],
        sizes: NDArray[np.int64],
        n: int,
    ) -> int:
        """Put every item into a group of its own: small evidence needs no better bound."""
        return n + queue.size

    def count_apart_pairs(
        self,
        above: NDArray[np.int64],
        up_to: NDArray[np.int64],
        rows: NDArray[np.intp],
        others: NDArray[np.intp],
        is_row: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        """Count, for each item, the `others` it was apart from that often."""
        counts = np.zeros(self.n_items, dtype=np.int64)
        for row in rows:
            apart, seen = self.apart[row, others], self.seen[row, others]
            inside = (above[seen] < apart) & (apart <= up_to[seen]) & (others != row)
            counted = others[inside & ~(is_row[others] & (others > row))]
            counts[row] += counted.size
            counts[counted] += 1
        return counts

    def _conflicts(
        self, table: NDArray[np.int64], item: int, others: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        return (self.apart[item, others] > table[self.seen[item, others]]) & (others != item)


def _under_rule(
    counts: NDArray[np.int32], noise: str
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    if noise == "together":
        return counts[SAME] + counts[BOTH_NOISE], counts[SEEN]
    if noise == "absent":
        return counts[SAME], counts[SEEN] - counts[ANY_NOISE]
    return counts[SAME], counts[SEEN]
