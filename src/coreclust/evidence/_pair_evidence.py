"""Evidence on pairs that each have their own resamples, as in Algorithm 2 of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coreclust._utils.validation import as_index, check_noise
from coreclust.evidence._bounds import apart_table, cooccurrence_estimate
from coreclust.evidence._protocol import Counts, Items, Levels, Mask, Rows, Table

# Positions of the counts of a pair.
SEEN, SAME, BOTH_NOISE, ANY_NOISE = range(4)


@dataclass(frozen=True)
class PairEvidence:
    """Counts of how often pairs were together, if every pair has its own resamples.

    It takes the place of :class:`~coreclust.LabelEnsemble` for a
    :class:`~coreclust.resampling.KnownDistribution`. Only pairs within a cluster are counted.

    Attributes
    ----------
    clusters : ndarray of int of shape (n_items,)
        The cluster of each item, -1 for none.
    counts : list of ndarray of shape (4, s, s)
        For each cluster and every pair of its members, the number of resamples that could be
        clustered, and of those in which the two had the same label, in which both were noise, and
        in which at least one was noise.
    n_resamples : int
        m, the number of resamples of each pair.

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
        """Count the resamples in which items i and j were together, and in which both were seen.

        Both counts are 0 for items of different clusters, and for an item with itself. Otherwise
        as :meth:`coreclust.LabelEnsemble.cooccurrence_counts`.
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
        """Estimate the probability that items i and j get the same label, by ``A / B``.

        It is NaN for items of different clusters, and 1 for an item with itself.
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
        every = np.arange(self.n_items)
        chosen = every if items is None else every[as_index(items)]
        return self.cooccurrence(chosen[:, None], chosen[None], noise=noise)

    # The protocol of evidence; see coreclust.evidence._protocol.

    n_prior = None  # only Algorithm 3 has a prior
    pair_share = 1.0

    def estimate_table(self, alpha: float) -> Table:
        """Return, for every B, how often a pair may be apart and still be an edge."""
        table = apart_table(alpha, None, self.n_resamples)
        if alpha < 1:  # a pair that lost more than half of its resamples is not an edge
            table[: (self.n_resamples + 1) // 2] = -1
        return table

    def member_counts(self, members: Items, noise: str) -> Counts:
        """Return together and seen of every member, summed over all other members."""
        together, seen = self._within(members, noise)
        return together.sum(axis=1), seen.sum(axis=1)

    def joint_counts(self, items: Items, noise: str) -> tuple[int, int]:
        """Return zeros, because no resample holds all items."""
        return 0, 0

    def cluster_counts(
        self, items: Items, clusters: NDArray[np.int64], n_clusters: int, noise: str
    ) -> Counts:
        """Return zeros, because pairs of different clusters are not counted."""
        zeros = np.zeros((items.size, n_clusters), dtype=np.int64)
        return zeros, zeros.copy()

    def pairs(self, items: Items, noise: str) -> CountedPairs:
        """Return the counts of all pairs of some items."""
        together, seen = self._within(items, noise)
        return CountedPairs(seen - together, seen)

    def _within(self, members: Items, noise: str) -> Counts:
        """Return together and seen of all pairs of members of one cluster."""
        if np.unique(self.clusters[members]).size > 1 or self.clusters[members[0]] < 0:
            raise ValueError(
                "reference_labels must not join items that were not sampled together: the evidence "
                "has counts only for pairs within its own clusters."
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
    """Counts of all pairs of some items, as matrices; `PairCounts` documents the methods."""

    apart: NDArray[np.int64]  # (n_items, n_items)
    seen: NDArray[np.int64]  # (n_items, n_items)

    @property
    def n_items(self) -> int:
        return len(self.seen)

    def steady_items(self, table: Table) -> Mask:
        """Mark no items, so that all pairs are compared."""
        return np.zeros(self.n_items, dtype=bool)

    def connectable_items(self, table: Table) -> Mask:
        enough = table[self.seen] >= 0
        np.fill_diagonal(enough, False)
        return np.asarray(enough.any(axis=1))

    def twins(self, table: Table) -> tuple[Items, NDArray[np.int64]]:
        """Find no twins, because the counts of two items are never known to be the same."""
        return np.arange(self.n_items), np.ones(self.n_items, dtype=np.int64)

    def fill_edges(self, table: Table, items: Items, begin: int, bits: NDArray[np.uint64]) -> None:
        for a in range(begin, items.size):
            free = np.flatnonzero(~self._conflicts(table, items[a], items[:a]))
            for row, bit in ((np.full_like(free, a), free), (free, np.full_like(free, a))):
                np.bitwise_or.at(
                    bits, (row, bit >> 6), np.uint64(1) << (bit & 63).astype(np.uint64)
                )

    def conflict_rows(self, table: Table, rows: Items, candidates: Items, limit: int) -> Rows:
        found = [candidates[self._conflicts(table, row, candidates)] for row in rows]
        conflicts = np.empty((rows.size, limit), dtype=np.int32)
        for place, row in enumerate(found):
            conflicts[place, : row.size] = row[:limit]
        return np.array([min(row.size, limit + 1) for row in found], dtype=np.int64), conflicts

    def conflict_levels(self, tables: NDArray[np.int64], rows: Items, is_row: Mask) -> Levels:
        counts = np.zeros(rows.size, dtype=np.int64)
        others = np.empty((rows.size, self.n_items), dtype=np.int32)
        levels = np.empty((rows.size, self.n_items), dtype=np.int32)
        every = np.arange(self.n_items)
        for place, row in enumerate(rows):
            level = np.sum([self._conflicts(table, row, every) for table in tables], axis=0)
            listed = np.flatnonzero((level > 0) & ~(is_row & (every > row)))
            counts[place] = listed.size
            others[place, : listed.size] = listed
            levels[place, : listed.size] = level[listed]
        return counts, others, levels

    def extend_conflict_free(self, table: Table, chosen: Items, n_chosen: int, queue: Items) -> int:
        for item in queue:
            if not self._conflicts(table, item, chosen[:n_chosen]).any():
                chosen[n_chosen] = item
                n_chosen += 1
        return n_chosen

    def group_conflicting(
        self,
        table: Table,
        queue: Items,
        groups: NDArray[np.int32],
        sizes: NDArray[np.int64],
        n: int,
    ) -> int:
        """Put every item into its own group, as small evidence needs no better bound."""
        return n + queue.size

    def _conflicts(self, table: Table, item: int, others: Items) -> Mask:
        return (self.apart[item, others] > table[self.seen[item, others]]) & (others != item)


def _under_rule(counts: NDArray[np.int32], noise: str) -> tuple[Any, Any]:
    """Return together and seen under a noise rule."""
    if noise == "together":
        return counts[SAME] + counts[BOTH_NOISE], counts[SEEN]
    if noise == "absent":
        return counts[SAME], counts[SEEN] - counts[ANY_NOISE]
    return counts[SAME], counts[SEEN]
