"""Follows cores from one number of clusters, or resolution, to the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coreclust._utils.constants import NOISE
from coreclust._utils.validation import is_number


@dataclass(frozen=True, eq=False)
class CoreTree:
    """The cores at several levels, and the items that they have in common.

    A level is a number of clusters, a resolution, or any other parameter of a clustering. Cluster
    -1 stands for the items that are in no core.

    Attributes
    ----------
    nodes : DataFrame
        One row per level and cluster. The columns are `level`, `cluster`, `n_items` and `strength`
        (the mean strength of the items; NaN if no strengths were given).
    edges : DataFrame
        One row for each two clusters of consecutive levels that have items in common. The columns
        are `from_level`, `from_cluster`, `to_level`, `to_cluster`, `n_items`, `share` (of the items
        of `from_cluster`), `to_share` (of the items of `to_cluster`) and `strength` (the mean
        strength of the common items at `to_level`).

    Examples
    --------
    >>> from coreclust.model_selection import core_tree
    >>> tree = core_tree([2, 3], [[0, 0, 0, 1, 1], [0, 0, 2, 1, -1]])
    >>> tree.nodes["n_items"].tolist()
    [3, 2, 1, 2, 1, 1]
    >>> tree
    CoreTree(2 levels, 5 cores, 5 items)
    """

    nodes: Any
    edges: Any

    @property
    def levels(self) -> list[Any]:
        """The levels, in the order given."""
        return self.nodes["level"].unique().tolist()

    def changes(self, *, min_share: float = 0.1) -> Any:
        """Return which cores split, merge, dissolve or emerge between consecutive levels.

        Parameters
        ----------
        min_share : float, default=0.1
            The smallest share of a core that counts as a part of it.

        Returns
        -------
        changes : DataFrame
            The columns are `from_level`, `to_level`, `change`, `from_clusters`, `to_clusters` and
            `n_items` (the items of the parts). `change` is "split" (two or more cores of the next
            level each have at least `min_share` of the core), "merge" (two or more cores of the
            previous level each make up at least `min_share` of the core), "dissolve" (no core of
            the next level has `min_share` of the core) or "emerge" (no core of the previous level
            makes up `min_share` of the core).

        Examples
        --------
        >>> from coreclust.model_selection import core_tree
        >>> tree = core_tree([2, 3], [[0, 0, 0, 1, 1], [0, 0, 2, 1, 1]])
        >>> tree.changes()[["change", "from_clusters", "to_clusters"]].values.tolist()
        [['split', [0], [0, 2]]]
        """
        import pandas as pd

        if not is_number(min_share) or not 0 < min_share <= 0.5:
            raise ValueError(
                f"min_share must be a number above 0 and at most 0.5, got {min_share!r}."
            )
        levels = self.levels
        rows = [row for step in pairwise(levels) for row in self._changes_of(*step, min_share)]
        names = ["from_level", "to_level", "change", "from_clusters", "to_clusters", "n_items"]
        return pd.DataFrame(rows, columns=names)

    def sentences(self, *, min_share: float = 0.1) -> list[str]:
        """Return the changes as sentences.

        Parameters
        ----------
        min_share : float, default=0.1
            As for :meth:`changes`.

        Returns
        -------
        sentences : list of str

        Examples
        --------
        >>> from coreclust.model_selection import core_tree
        >>> tree = core_tree([2, 3], [[0, 0, 0, 1, 1], [0, 0, 2, 1, 1]])
        >>> tree.sentences()
        ['From 2 to 3, core 0 splits into cores 0 and 2.']
        """
        changes = self.changes(min_share=min_share)
        sentences = []
        for start, end in pairwise(self.levels):
            step = changes[(changes["from_level"] == start) & (changes["to_level"] == end)]
            rows = step.to_dict("records")
            told = [
                f"{_cores(row['from_clusters'])} {verb} into {_cores(row['to_clusters'])}"
                for change, verb in (("split", "splits"), ("merge", "merge"))
                for row in rows
                if row["change"] == change
            ]
            lost = [c for row in rows if row["change"] == "dissolve" for c in row["from_clusters"]]
            new = [c for row in rows if row["change"] == "emerge" for c in row["to_clusters"]]
            if lost:
                told.append(f"{_cores(lost)} dissolve{'s' * (len(lost) == 1)}")
            if new:
                told.append(f"{_cores(new)} {'is' if len(new) == 1 else 'are'} new")
            sentences += [f"From {start:g} to {end:g}, {text}." for text in told]
        return sentences

    def _changes_of(self, start: Any, end: Any, least: float) -> Iterable[tuple[Any, ...]]:
        """Yield the changes between two levels, as rows of a table."""
        step = self.edges[(self.edges["from_level"] == start) & (self.edges["to_level"] == end)]
        cores = step[(step["from_cluster"] >= 0) & (step["to_cluster"] >= 0)]
        sides = (
            (start, "from_cluster", "to_cluster", "share", ("split", "dissolve")),
            (end, "to_cluster", "from_cluster", "to_share", ("merge", "emerge")),
        )
        for level, one, other, share, (several, none) in sides:
            clusters = self.nodes.loc[self.nodes["level"] == level, "cluster"]
            for cluster in clusters[clusters >= 0].tolist():
                parts = cores[(cores[one] == cluster) & (cores[share] >= least)]
                if len(parts) == 1:
                    continue
                whole = step.loc[step[one] == cluster, "n_items"].sum()
                n_items = int(parts["n_items"].sum() if len(parts) else whole)
                ends = [cluster], parts[other].tolist()
                ends = ends if one == "from_cluster" else ends[::-1]
                yield start, end, several if len(parts) else none, *ends, n_items

    def __repr__(self) -> str:
        cores = int((self.nodes["cluster"] >= 0).sum())
        levels = self.levels
        n_items = int(self.nodes.loc[self.nodes["level"] == levels[0], "n_items"].sum())
        ending = "s" * (len(levels) != 1)
        return f"CoreTree({len(levels)} level{ending}, {cores} cores, {n_items} items)"


def core_tree(
    levels: Iterable[float],
    labels: Iterable[ArrayLike],
    *,
    strengths: Iterable[ArrayLike] | None = None,
) -> CoreTree:
    """Follow cores from level to level: which split, and which merge.

    Parameters
    ----------
    levels : iterable of float
        The numbers of clusters, resolutions or other values of a parameter, all different. The
        tree connects each level with the next one.
    labels : iterable of array-like of int of shape (n_items,)
        The core labels of the items at each level, -1 for items that are in no core.
    strengths : iterable of array-like of float of shape (n_items,), default=None
        The strength of each item at each level. NaN means unknown.

    Returns
    -------
    tree : CoreTree

    See Also
    --------
    ClusterNumber.tree : The tree of a selection of the number of clusters.
    coreclust.plotting.CoreTreeDisplay : Plot of a tree.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> from coreclust.cluster import KMeans
    >>> from coreclust.model_selection import core_tree
    >>> X = load_iris().data
    >>> fits = [CoreClustering(KMeans(k), n_resamples=50, random_state=0).fit(X) for k in (2, 3)]
    >>> tree = core_tree([2, 3], [cc.labels_ for cc in fits])
    >>> tree.edges[["from_cluster", "to_cluster", "n_items"]].sum().loc["n_items"].item()
    150
    """
    import pandas as pd

    values = _check_levels(levels)
    codes = _check_labels(labels, len(values))
    known = _check_strengths(strengths, codes)
    nodes: list[tuple[Any, ...]] = []
    edges: list[tuple[Any, ...]] = []
    for place, (level, found, strength) in enumerate(zip(values, codes, known, strict=True)):
        clusters, where, sizes = _count(found)
        means = _means(strength, where, clusters.size)
        nodes += zip([level] * clusters.size, clusters.tolist(), sizes.tolist(), means, strict=True)
        if place == 0:
            continue
        before, where_before, sizes_before = _count(codes[place - 1])
        pairs, which, counts = _count(where_before * clusters.size + where)
        means = _means(strength, which, pairs.size)
        for pair, n_common, mean in zip(pairs.tolist(), counts.tolist(), means, strict=True):
            i, j = divmod(pair, clusters.size)
            ends = (values[place - 1], int(before[i]), level, int(clusters[j]))
            shares = n_common / int(sizes_before[i]), n_common / int(sizes[j])
            edges.append((*ends, n_common, *shares, mean))
    ends_names = ["from_level", "from_cluster", "to_level", "to_cluster"]
    return CoreTree(
        pd.DataFrame(nodes, columns=["level", "cluster", "n_items", "strength"]),
        pd.DataFrame(edges, columns=[*ends_names, "n_items", "share", "to_share", "strength"]),
    )


def _count(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Return the distinct values, the place of each value among them, and their counts."""
    return np.unique(values, return_inverse=True, return_counts=True)


def _means(strength: NDArray[np.float64] | None, where: NDArray[Any], n_groups: int) -> list[float]:
    """Return the mean of the known strengths of each group, NaN if there are none."""
    if strength is None:
        return [float("nan")] * n_groups
    is_known = ~np.isnan(strength)
    counts = np.bincount(where[is_known], minlength=n_groups)
    sums = np.bincount(where[is_known], weights=strength[is_known], minlength=n_groups)
    return [
        total / count if count else float("nan")
        for total, count in zip(sums.tolist(), counts.tolist(), strict=True)
    ]


def _check_levels(levels: Iterable[float]) -> list[Any]:
    try:
        values = list(levels)
    except TypeError as error:
        raise TypeError(f"levels must be a list of numbers, got {levels!r}.") from error
    if not values or not all(is_number(value) and np.isfinite(value) for value in values):
        raise ValueError(f"levels must be one or more finite numbers, got {values!r}.")
    if len(set(values)) < len(values):
        raise ValueError(f"levels must be different from each other, got {values!r}.")
    return [value.item() if hasattr(value, "item") else value for value in values]


def _check_labels(labels: Any, n_levels: int) -> list[NDArray[np.int64]]:
    arrays = [np.asarray(one) for one in labels]
    if len(arrays) != n_levels:
        raise ValueError(
            f"labels must have one array for each of the {n_levels} levels, got {len(arrays)}."
        )
    for array in arrays:
        if array.ndim != 1 or array.size != arrays[0].size or array.size == 0:
            raise ValueError(
                "labels must have one label per item at each level, for the same items, got arrays "
                f"of the shapes {', '.join(str(one.shape) for one in arrays)}."
            )
        if array.dtype.kind not in "iu":
            raise TypeError(
                "labels must be whole numbers, with -1 for items in no core, got dtype "
                f"{array.dtype}; use labels_ of a CoreClustering."
            )
        if array.min() < NOISE:
            raise ValueError(f"labels must be -1 (in no core) or more, got {array.min()}.")
    return [array.astype(np.int64) for array in arrays]


def _check_strengths(
    strengths: Any, codes: list[NDArray[np.int64]]
) -> Sequence[NDArray[np.float64] | None]:
    if strengths is None:
        return [None] * len(codes)
    arrays = [np.asarray(one, dtype=np.float64) for one in strengths]
    shapes = [one.shape for one in arrays]
    if shapes != [one.shape for one in codes]:
        raise ValueError(
            f"strengths must have the shape of labels, {len(codes)} arrays of {codes[0].size} "
            f"numbers, got {len(arrays)} of the shapes {', '.join(map(str, shapes))}."
        )
    return arrays


def _cores(clusters: list[int]) -> str:
    """Return cores as words.

    >>> _cores([3]), _cores([0, 2]), _cores([0, 1, 4])
    ('core 3', 'cores 0 and 2', 'cores 0, 1 and 4')
    """
    if len(clusters) == 1:
        return f"core {clusters[0]}"
    return f"cores {', '.join(map(str, clusters[:-1]))} and {clusters[-1]}"
