"""The method of the estimator that writes a report."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from coreclust.report._page import write_report

if TYPE_CHECKING:
    from coreclust._inspection.audit import Audit
    from coreclust.core_clustering import CoreClustering


def to_html(
    self: CoreClustering,
    path: str | os.PathLike[str],
    X: Any = None,
    *,
    ids: Any = None,
    title: str | None = None,
    positions: ArrayLike | None = None,
    classes: Any = None,
    provenance: Mapping[str, Any] | None = None,
    audit: Audit | None = None,
) -> None:
    """Write a report as one HTML file that opens offline in any browser.

    It contains the verdict, what to do next, a scatter plot with a slider for alpha, the weak
    fraction against alpha, heat maps of the confusion of clusters and of the co-occurrence of
    items, the features that distinguish each core, tables of the clusters and of the items,
    and the settings. Of more than 10,000 items, only a selection is plotted and listed.

    Parameters
    ----------
    path : path
        The file to write.
    X : array-like of shape (n_items, n_features), default=None
        The data for the scatter plot. Two features are plotted as they are, more by their
        first two principal components. None uses the fitted frame if X was one; otherwise
        items are plotted by cluster and strength.
    ids : sequence of n_items names, default=None
        Names of the items. None uses the index of the fitted frame, or the positions.
    title : str, default=None
        The title of the page.
    positions : array-like of shape (n_items, 2), default=None
        Coordinates for the scatter plot instead of `X`, for instance a UMAP embedding.
    classes : sequence of n_items values, default=None
        Known classes, for instance `y`. The report counts them in each core.
    provenance : dict, default=None
        Where the data comes from, as names with a text or a list of texts, for instance
        ``{"File": "data.csv", "SHA-256": "..."}``. The report shows it with the settings.
    audit : Audit, default=None
        What :meth:`audit` returned. The report shows which share of the core pairs is predicted to
        hold on new data, in all and for each cluster.

    Raises
    ------
    ImportError
        If the packages of ``coreclust[report]`` are not installed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> cc = CoreClustering(n_resamples=50, random_state=0).fit(load_iris().data)
    >>> cc.to_html(Path(mkdtemp()) / "report.html", title="Iris")
    """
    write_report(
        self,
        path,
        X,
        ids=ids,
        title=title,
        positions=positions,
        classes=classes,
        provenance=provenance,
        audit=audit,
    )
