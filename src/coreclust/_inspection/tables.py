"""Builds the tables of a fitted estimator, as pandas or polars frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from coreclust._inspection.diagnosis import findings, quick_diagnosis
from coreclust._inspection.outer import possible_clusters
from coreclust._inspection.path import alpha_path
from coreclust._utils.frames import is_pandas_frame, is_polars_frame

_PAIRS = 10**6  # pairs per block
_MOST_DETAILED = 10_000  # items

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering


def summary(self: CoreClustering) -> Any:
    """Return a data frame with one row per cluster.

    Returns
    -------
    summary : DataFrame
        The columns are `cluster` (its name), `n_items`, `n_core`, `n_weak`, `n_undecided` (how many
        of the weak items are so only because they were seen too rarely with items of the core),
        `weak_fraction`, `all_together` (the share of resamples in which *all* members of the core
        that were present had the same label), `upper_bound` (of the size of the core), `optimal`
        and `finding` (what the resamples say of merges and splits, such as "not shown apart from
        2"; empty for nothing). :meth:`diagnose` with the data finds more.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> cc = CoreClustering(n_resamples=50, random_state=0).fit(load_iris().data)
    >>> cc.summary().shape
    (8, 10)
    """
    check_is_fitted(self)
    cores = self.cores_
    counts = [self.ensemble_.joint_counts(core.core, self.noise) for core in cores]
    together, seen = np.array(counts).reshape(-1, 2).T
    columns = {
        "cluster": self.cluster_names_,
        "n_items": np.array([core.n_items for core in cores]),
        "n_core": np.array([core.n_core for core in cores]),
        "n_weak": np.array([core.n_weak for core in cores]),
        "n_undecided": np.bincount(
            self.reference_labels_[self.undecided_sample_indices_], minlength=len(cores)
        ),
        "weak_fraction": np.array([core.weak_fraction for core in cores]),
        "all_together": np.divide(together, seen, out=np.full(len(cores), np.nan), where=seen > 0),
        "upper_bound": np.array([core.upper_bound for core in cores]),
        "optimal": np.array([core.optimal for core in cores]),
        "finding": np.array(findings(quick_diagnosis(self), self.cluster_names_), dtype=object),
    }
    return _frame(columns, _container(self))


def item_table(self: CoreClustering, *, details: bool | None = None) -> Any:
    """Return a data frame with one row per item.

    Parameters
    ----------
    details : bool, default=None
        Whether to add the last four columns. Every item is then compared with the whole core of
        its cluster, which takes half a minute for 50,000 items. None adds them for at most 10,000
        items.

    Returns
    -------
    items : DataFrame
        If X was a pandas or polars frame, a frame of the same kind that starts with its index and
        columns. The other columns are `cluster` (the name of the cluster), `core_label` (as in
        `labels_`), `status` ("core", "weak", "undecided" for weak items that were seen too rarely
        with items of the core, or "trimmed"), `strength` (as in `strengths_`),
        `mean_cooccurrence` and `min_cooccurrence` (with the other members of the core of the
        cluster), `core_alpha` (the smallest alpha at which the item is in a core, among those
        of :meth:`alpha_path` and `alpha` itself; NaN if there is none) and `possible_clusters` (the
        names, separated by commas, of the clusters with whose core the item shares a label in at
        least a share alpha of the resamples, apart from the cluster whose core it is in). An item
        is outside of all other clusters. Cores need not be nested: a weak item may have a
        `core_alpha` below `alpha`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> cc = CoreClustering(n_resamples=50, random_state=0).fit(load_iris().data)
    >>> sorted(cc.item_table()["status"].unique())
    ['core', 'weak']
    """
    check_is_fitted(self)
    n_items = self.ensemble_.n_items
    clustered = self.reference_labels_ >= 0
    names = np.full(n_items, None, dtype=object)
    names[clustered] = self.cluster_names_[self.reference_labels_[clustered]]
    status = np.full(n_items, "trimmed", dtype=object)
    status[clustered] = "weak"
    status[self.undecided_sample_indices_] = "undecided"
    status[self.labels_ >= 0] = "core"
    columns = {
        "cluster": names if not clustered.all() else self.cluster_names_[self.reference_labels_],
        "core_label": self.labels_,
        "status": status.astype(str),
        "strength": self.strengths_,
    }
    if details or (details is None and n_items <= _MOST_DETAILED):
        columns["mean_cooccurrence"], columns["min_cooccurrence"] = _with_core(self)
        first = alpha_path(self).first_core()
        columns["core_alpha"] = np.where(self.labels_ >= 0, np.fmin(first, self.alpha), first)
        columns["possible_clusters"] = possible_clusters(self)
    data = self._frame
    container = _container(self)
    if data is None:
        return _frame(columns, container)
    taken = set(data.columns)
    columns = {_free_name(name, taken): values for name, values in columns.items()}
    return _beside(data, columns, container)


def _with_core(fitted: CoreClustering) -> tuple[Any, Any]:
    """Return the mean and smallest co-occurrence of each item with the core of its cluster."""
    mean, least = np.full((2, fitted.ensemble_.n_items), np.nan)
    for core in fitted.cores_:
        for block in np.array_split(core.members, 1 + core.n_items * core.n_core // _PAIRS):
            p = fitted.cooccurrence(block[:, None], core.core[None])
            itself = block[:, None] == core.core[None]
            n_others = (~itself).sum(axis=1)
            some = n_others > 0
            mean[block[some]] = np.where(itself, 0, p).sum(axis=1)[some] / n_others[some]
            least[block[some]] = np.where(itself, np.inf, p).min(axis=1)[some]
    return mean, least


def _container(fitted: CoreClustering) -> str:
    """Return the kind of frame to build: as configured, otherwise as X, otherwise pandas."""
    configured = get_config()["transform_output"]
    if configured in ("pandas", "polars"):
        return str(configured)
    return "polars" if is_polars_frame(fitted._frame) else "pandas"


def _frame(columns: dict[str, Any], container: str) -> Any:
    if container == "polars":
        import polars as pl

        lists = {name: values.tolist() for name, values in columns.items()}
        return pl.DataFrame(lists, strict=False)
    import pandas as pd

    return pd.DataFrame(columns)


def _beside(data: Any, columns: dict[str, Any], container: str) -> Any:
    if container == "polars":
        import polars as pl

        frame = data if is_polars_frame(data) else pl.from_pandas(data)
        return pl.concat([frame, _frame(columns, "polars")], how="horizontal")
    import pandas as pd

    frame = data if is_pandas_frame(data) else data.to_pandas()
    return pd.concat([frame, pd.DataFrame(columns, index=frame.index)], axis=1)


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
