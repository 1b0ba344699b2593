"""tclust: robust clustering with covariances."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from coreclust._utils.compat import Interval
from coreclust.cluster._concentration import Settings
from coreclust.cluster._trimmed import TrimmedClusterer


class TClust(TrimmedClusterer):
    """tclust: Gaussian clusters of different shapes, with the worst-fitting items trimmed.

    The clusters maximize the sum, over the items that are kept, of the logarithm of
    weight × density of their cluster; the choice of the trimmed items is part of the
    maximization. Variances, over all clusters and all directions, differ by a factor of at most
    `restr_factor`. Without this bound, a cluster could shrink to a point of infinite density.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    trim : float, default=0.05
        Share of the items to trim, at least 0 and below 1: ``ceil(trim * n)`` items.
    restr_factor : float, default=50.0
        Largest allowed ratio of two eigenvalues of the covariances, 1 or more. With 1, all
        clusters are balls of the same size.
    equal_weights : bool, default=False
        Whether all clusters have the weight ``1 / n_clusters``. Otherwise, the weight is the
        share of the kept items, and a cluster may become empty.
    init : {"both", "subsets", "items"}, default="both"
        The clusters of a start: the mean and covariance of n_features + 1 random items each, as
        in the papers ("subsets"), balls around distinct random items ("items"), or both in turn
        ("both"), because each finds optima that the other misses.
    n_init : int or "auto", default="auto"
        Number of random starts. "auto" is 500, and 50 for a resample inside
        :class:`~coreclust.CoreClustering`.
    n_refine : int, default=25
        Number of starts, the best ones after two steps, that continue until nothing changes.
    max_iter : int, default=20
        Maximum number of steps of a start. Each step assigns the items, trims and estimates
        the clusters.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        In decreasing order of cluster size.
    covariances_ : ndarray of shape (n_clusters, n_features, n_features)
    weights_ : ndarray of shape (n_clusters,)
        0 for empty clusters, which come last; an empty cluster keeps the center and
        covariance that it had when it lost its last item.
    labels_ : ndarray of int of shape (n_items,)
        The cluster of each item; -1 for trimmed items.
    objective_ : float
        Sum of the logarithms of weight × density, over the items that are kept.
    n_iter_ : int
        Number of steps of the best start.
    converged_ : bool
        Whether the last step changed nothing. If False, increase `max_iter`; there is no
        warning.
    n_features_in_ : int

    See Also
    --------
    TrimmedKMeans : Faster, for clusters that are balls of about the same size.

    Notes
    -----
    Equal rows are merged into one item with the sum of their weights. If only part of the
    weight of an item is trimmed, the rest still counts in the estimates; the label is -1 if more
    than half of the weight is trimmed. Of items of exactly the same density, the
    lexicographically first are trimmed. With `sample_weight`, n is the sum of the weights; if
    they are not whole numbers, exactly ``trim * n`` is trimmed.

    `restr_factor` compares variances in the units of X: scale the columns first, unless they
    have the same unit. Translating, rotating or rescaling all of X does not change the labels,
    up to rounding.

    Every variance is at least 1e-12 times the mean variance of the columns of X, so that
    constant or collinear columns can be used; if all columns are constant, the variances are 1.
    The result does not depend on the order of the items.

    References
    ----------
    L. A. García-Escudero, A. Gordaliza, C. Matrán and A. Mayo-Iscar (2008). A general
    trimming approach to robust cluster analysis. The Annals of Statistics 36(3),
    1324-1345.

    H. Fritz, L. A. García-Escudero and A. Mayo-Iscar (2013). A fast algorithm for robust
    constrained clustering. Computational Statistics & Data Analysis 61, 124-136.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.cluster import TClust
    >>> rng = np.random.default_rng(0)
    >>> flat = rng.normal(size=(60, 2)) * [5.0, 0.5]
    >>> high = rng.normal(size=(40, 2)) * [0.5, 5.0] + [0.0, 20.0]
    >>> noise = rng.uniform(-40.0, 40.0, size=(5, 2))
    >>> clusterer = TClust(2, trim=0.05, random_state=0).fit(np.vstack([flat, high, noise]))
    >>> clusterer.weights_.round(2)
    array([0.61, 0.39])
    >>> clusterer.covariances_.round(1)
    array([[[16. ,  0.2],
            [ 0.2,  0.3]],
    <BLANKLINE>
           [[ 0.3,  0.1],
            [ 0.1, 16. ]]])
    >>> clusterer.predict([[0.0, 1.0], [0.0, 15.0], [30.0, 30.0]])
    array([ 0,  1, -1], dtype=int32)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TrimmedClusterer._parameter_constraints,
        "restr_factor": [Interval(Real, 1, None, closed="left")],
        "equal_weights": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        trim: float = 0.05,
        restr_factor: float = 50.0,
        equal_weights: bool = False,
        init: str = "both",
        n_init: int | str = "auto",
        n_refine: int = 25,
        max_iter: int = 20,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.trim = trim
        self.restr_factor = restr_factor
        self.equal_weights = equal_weights
        self.init = init
        self.n_init = n_init
        self.n_refine = n_refine
        self.max_iter = max_iter
        self.random_state = random_state

    def _settings(self, *, in_resample: bool = False) -> Settings:
        equal, factor = bool(self.equal_weights), float(self.restr_factor)
        balls = super()._settings(in_resample=in_resample)
        return balls._replace(spherical=False, equal_weights=equal, restr_factor=factor)

    def _describe(self) -> None:
        _, axes, variances, _ = self._model
        self.covariances_ = np.einsum("jva,jv,jvb->jab", axes, variances, axes)
