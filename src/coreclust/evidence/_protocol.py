"""The interface of evidence: what the search for cores and the tables ask of it.

`LabelEnsemble` and `PairEvidence` have it. Anything else
that has it works in their place.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Counts = tuple[NDArray[np.int64], NDArray[np.int64]]  # together and seen


class PairCounts(Protocol):
    """Counts of the pairs of some items, which are numbered from 0 on in the order given."""

    @property
    def n_items(self) -> int:
        """Number of items."""

    def steady_items(self, table: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark items that are certain to be free of conflicts with each other."""

    def by_deviation(self) -> NDArray[np.intp]:
        """Return the items, those that are apart from the others least often first."""

    def conflict_rows(
        self,
        table: NDArray[np.int64],
        rows: NDArray[np.intp],
        candidates: NDArray[np.intp],
        limit: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """List the candidates that each of `rows` is in conflict with.

        Two items are in conflict if they were apart more than ``table[seen]`` times. A row with
        more than `limit` conflicts is given up: its count is then ``limit + 1``.

        Returns
        -------
        counts : ndarray of shape (n_rows,)
        conflicts : ndarray of shape (n_rows, limit)
            The first ``counts[r]`` entries of row r are filled.
        """

    def conflict_levels(
        self, tables: NDArray[np.int64], rows: NDArray[np.intp], is_row: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
        """List the conflicts of `rows` under tables that allow more and more.

        The level of a pair is the number of tables under which it is in conflict. A pair of two
        rows (`is_row`) is listed once, with the later item as its row.

        Returns
        -------
        counts : ndarray of shape (n_rows,)
            Pairs of a level above 0.
        others, levels : ndarray of shape (n_rows, n_items)
            The first ``counts[r]`` entries of row r are filled.
        """

    def extend_conflict_free(
        self,
        table: NDArray[np.int64],
        chosen: NDArray[np.intp],
        n_chosen: int,
        queue: NDArray[np.intp],
    ) -> int:
        """Append to ``chosen[:n_chosen]`` every item of `queue` in conflict with none of it."""

    def group_conflicting(
        self,
        table: NDArray[np.int64],
        queue: NDArray[np.intp],
        groups: NDArray[np.int32],
        sizes: NDArray[np.int64],
        n: int,
    ) -> int:
        """Put every item of `queue` into a group in which all items are in conflict.

        Only the latest groups are open, each in a row of `groups` with its size in `sizes`; a
        new group takes the row of the oldest. Both arrays are changed in place. Returns the
        number of groups so far, `n` included.
        """

    def count_apart_pairs(
        self,
        above: NDArray[np.int64],
        up_to: NDArray[np.int64],
        rows: NDArray[np.intp],
        others: NDArray[np.intp],
        is_row: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        """Count, for each item, the `others` it was apart from more than `above`, at most `up_to`.

        Both limits are tables by how often the two were seen. Only pairs with at least one of
        `rows` count, and a pair of two rows (`is_row`) counts once.
        """


class Evidence(Protocol):
    """How often pairs of items had the same label."""

    @property
    def n_items(self) -> int:
        """Number of items, n."""

    @property
    def n_resamples(self) -> int:
        """Number of resamples, m."""

    @property
    def n_prior(self) -> int | None:
        """The n of the prior in the estimate of a probability, or None for no prior."""

    @property
    def pair_share(self) -> float:
        """The share of resamples in which a pair is seen, on average."""

    def estimate_table(self, alpha: float) -> NDArray[np.int64]:
        """Return, for every B, how often a pair may be apart and still be an edge."""

    def cooccurrence_counts(self, i: Any, j: Any, *, noise: str = "apart") -> tuple[Any, Any]:
        """Count the resamples in which items i and j were together, and seen at all."""

    def cooccurrence(self, i: Any, j: Any, *, noise: str = "apart") -> Any:
        """Estimate the probability that items i and j get the same label."""

    def cooccurrence_matrix(self, items: ArrayLike | None = None, *, noise: str = "apart") -> Any:
        """Estimate the co-occurrence probability of all pairs of some items."""

    def member_counts(self, members: NDArray[np.intp], noise: str) -> Counts:
        """Return together and seen of every member, summed over all other members."""

    def joint_counts(self, items: NDArray[np.intp], noise: str) -> tuple[int, int]:
        """Return in how many resamples all items present had one label, and out of how many."""

    def cluster_counts(
        self, items: NDArray[np.intp], clusters: NDArray[np.int64], n_clusters: int, noise: str
    ) -> Counts:
        """Return together and seen of some items, summed over the members of each cluster."""

    def pairs(self, items: NDArray[np.intp], noise: str) -> PairCounts:
        """Return the counts of all pairs of some items."""
