"""Selects, orders and places the items of a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.decomposition import PCA
from sklearn.utils import check_array

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering


def ordered_items(fitted: CoreClustering, at_most: int) -> NDArray[np.intp]:
    """Return the items ordered by cluster, strongest first, with trimmed items last.

    If there are more than `at_most`, a proportional number (at least one) is selected from each
    cluster, spread evenly from its strongest to its weakest item. The selection is not random.
    """
    strengths = np.nan_to_num(fitted.strengths_, nan=-1.0)
    clusters = np.where(fitted.reference_labels_ < 0, fitted.n_clusters_, fitted.reference_labels_)
    order = np.lexsort((-strengths, clusters))
    if order.size <= at_most:
        return order
    sizes = np.bincount(clusters)
    sizes = sizes[sizes > 0]
    spare = max(at_most - sizes.size, 0)
    wanted = np.minimum(1 + sizes * spare // order.size, sizes)
    starts = np.cumsum(sizes) - sizes
    kept = [
        start + np.linspace(0, size - 1, number).round().astype(np.intp)
        for start, size, number in zip(starts, sizes, wanted, strict=True)
    ]
    return order[np.concatenate(kept)]


def check_positions(positions: ArrayLike, n_items: int) -> NDArray[np.float64]:
    """Return the positions given by the user, after checking them."""
    places = check_array(positions, dtype=np.float64, input_name="positions")
    if places.shape[1] != 2:
        raise ValueError(f"positions must have 2 columns, got {places.shape[1]}.")
    _check_rows(places, "positions", n_items)
    return places


def project(fitted: CoreClustering, X: Any) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """Return where to draw each item, and the names of the axes.

    Two features are used as they are. A single feature is drawn against the strength of the
    items. More features are reduced to their first two principal components.
    """
    data = check_array(X, dtype=np.float64, accept_sparse="csr", input_name="X")
    _check_rows(data, "X", fitted.labels_.size)
    if data.shape[1] <= 2:
        dense = data.toarray() if issparse(data) else data
        names = [str(name) for name in getattr(fitted, "feature_names_in_", ())]
        if len(names) != dense.shape[1]:
            names = ["feature 1", "feature 2"][: dense.shape[1]]
        if dense.shape[1] == 2:
            return dense, (names[0], names[1])
        strengths = np.nan_to_num(fitted.strengths_)
        return np.column_stack([dense[:, 0], strengths]), (names[0], "strength")
    solver = "arpack" if issparse(data) else "full"
    with np.errstate(invalid="ignore"):  # identical items have no variance to explain
        pca = PCA(2, svd_solver=solver, random_state=0).fit(data)
    shares = np.nan_to_num(pca.explained_variance_ratio_)
    return pca.transform(data), (
        f"principal component 1 ({shares[0]:.0%} of variance)",
        f"principal component 2 ({shares[1]:.0%} of variance)",
    )


def _check_rows(data: Any, name: str, n_items: int) -> None:
    if data.shape[0] != n_items:
        raise ValueError(
            f"{name} must have a row for each of {n_items} items, got {data.shape[0]}."
        )
