"""The interface of evidence, as used by the search for cores and by the tables.

`LabelEnsemble` and `PairEvidence` implement `Evidence`. Any other object that implements it can be
used in their place.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Items = NDArray[np.intp]
Mask = NDArray[np.bool_]
Table = NDArray[np.int64]  # how often a pair may be apart, by how often it was seen
Counts = tuple[NDArray[np.int64], NDArray[np.int64]]  # together and seen
Rows = tuple[NDArray[np.int64], NDArray[np.int32]]
Levels = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]


class PairCounts(Protocol):
    """Counts of the pairs of some items. The items are numbered from 0 on in the order given."""

    @property
    def n_items(self) -> int:
        """Number of items."""

    def steady_items(self, table: Table) -> Mask:
        """Mark items that are certain to have no conflicts with each other."""

    def connectable_items(self, table: Table) -> Mask:
        """Mark items that were seen often enough to be an edge with some other item."""

    def twins(self, table: Table) -> tuple[Items, NDArray[np.int64]]:
        """Find items that have the same conflicts as another because their labels are the same.

        Returns for each item the first item with the same labels, and for each first item how many
        of its twins can be in one core: all of them or, if they are in conflict, one.
        """

    def fill_edges(self, table: Table, items: Items, begin: int, bits: NDArray[np.uint64]) -> None:
        """Set the bits of the pairs of `items` without a conflict.

        Only pairs of an item from place `begin` on and an earlier one are compared. Bit b of
        ``bits[a]``, and bit a of ``bits[b]``, is set if items a and b are not in conflict.
        """

    def conflict_rows(self, table: Table, rows: Items, candidates: Items, limit: int) -> Rows:
        """List the candidates that each of `rows` is in conflict with.

        Two items are in conflict if they were apart more than ``table[seen]`` times. A row with
        more than `limit` conflicts is not completed: its count is then ``limit + 1``. Returns the
        count of each row, and an array of shape (n_rows, limit) in which the first ``counts[r]``
        entries of row r are filled.
        """

    def conflict_levels(self, tables: NDArray[np.int64], rows: Items, is_row: Mask) -> Levels:
        """List the conflicts of `rows` under several tables, from the strictest on.

        The level of a pair is the number of tables under which it is in conflict. A pair of two
        rows (`is_row`) is listed once, with the later item as its row. Returns the number of
        conflicts of each row, and the other items and the levels, both of shape
        (n_rows, n_items); the first ``counts[r]`` entries of row r are filled.
        """

    def extend_conflict_free(self, table: Table, chosen: Items, n_chosen: int, queue: Items) -> int:
        """Append each item of `queue` that has no conflict with ``chosen[:n_chosen]`` to it.

        Returns the new number of chosen items.
        """

    def group_conflicting(
        self,
        table: Table,
        queue: Items,
        groups: NDArray[np.int32],
        sizes: NDArray[np.int64],
        n: int,
    ) -> int:
        """Put every item of `queue` into a group in which all items are in conflict.

        Only the latest groups are open. Each is a row of `groups`, and its size is in `sizes`; a
        new group takes the row of the oldest. Both arrays are changed in place. Returns the
        number of groups so far, including the `n` earlier ones.
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
        """The mean share of resamples in which a pair is seen."""

    def estimate_table(self, alpha: float) -> Table:
        """Return, for every B, how often a pair may be apart and still be an edge."""

    def cooccurrence_counts(self, i: Any, j: Any, *, noise: str = "apart") -> tuple[Any, Any]:
        """Count the resamples in which items i and j were together, and in which both were seen."""

    def cooccurrence(self, i: Any, j: Any, *, noise: str = "apart") -> Any:
        """Estimate the probability that items i and j get the same label."""

    def cooccurrence_matrix(self, items: ArrayLike | None = None, *, noise: str = "apart") -> Any:
        """Estimate the co-occurrence probability of all pairs of some items."""

    def member_counts(self, members: Items, noise: str) -> Counts:
        """Return together and seen of every member, summed over all other members."""

    def joint_counts(self, items: Items, noise: str) -> tuple[int, int]:
        """Count the resamples in which all items present had one label.

        Also return the number of resamples with two or more of the items present.
        """

    def cluster_counts(
        self, items: Items, clusters: NDArray[np.int64], n_clusters: int, noise: str
    ) -> Counts:
        """Return together and seen of some items, summed over the members of each cluster."""

    def pairs(self, items: Items, noise: str) -> PairCounts:
        """Return the counts of all pairs of some items."""
