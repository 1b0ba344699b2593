"""Chooses the resolution at which communities are more stable than those of null data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_array

from coreclust._utils.progress import Progress
from coreclust._utils.seeds import draw_entropy, seeds_of
from coreclust._utils.text import p_text, percent
from coreclust._utils.validation import check_count, check_share, is_number
from coreclust.cluster import Leiden
from coreclust.cluster._leiden import hold_neighbors
from coreclust.cluster._rewire import rewired_graph
from coreclust.core_clustering import CoreClustering
from coreclust.model_selection._decision import single_gains
from coreclust.model_selection._measures import Measures, measure
from coreclust.model_selection._null import gaussian_null, permuted_null, uniform_null
from coreclust.model_selection._number import CRITERIA, check_scheme
from coreclust.resampling import Subsample

RESOLUTIONS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0)

#: The kinds of null data, by name, for vectors and for graphs. The first is the default.
VECTOR_NULLS = {"gaussian": gaussian_null, "uniform": uniform_null, "permuted": permuted_null}
GRAPH_NULLS = {"rewired": rewired_graph}

_NO_STRUCTURE = Measures(weak_fraction=1.0, mean_jaccard=0.0, ambiguous_pairs=1.0)

# Purposes of the random streams, addressed by (purpose, dataset). Dataset 0 is the data.
_DRAW, _FIT = 1, 2


@dataclass(frozen=True, eq=False)
class ClusterResolution:
    """The recommended resolution, the reason, and the cores and measures at every resolution.

    Attributes
    ----------
    resolution : float or None
        The recommended resolution; None if no clustering is more stable than those of null data,
        or if more than `max_weak` of the items are weak.
    reason : str
        The reason, as a sentence.
    resolutions : ndarray of shape (n_resolutions,)
        The resolutions tried, in increasing order.
    stable : ndarray of bool of shape (n_resolutions,)
        At which resolutions the clusters are more stable than chance, with few weak items.
    n_clusters : ndarray of int of shape (n_resolutions,)
        The number of clusters.
    labels_ : list of ndarray of int of shape (n_items,)
        The cores at each resolution; -1 for weak items.
    reference_labels_ : list of ndarray of int of shape (n_items,)
        The clusters at each resolution.
    measured : dict of str to ndarray of shape (n_resolutions,)
        `weak_fraction`, `mean_jaccard` and `ambiguous_pairs` of the data. A single cluster gets
        the worst value of each, because it shows no structure.
    null_measures : dict of str to ndarray of shape (n_nulls, n_resolutions)
        The same measures of the null data.
    gain : ndarray of shape (n_resolutions,)
        Mean of the criterion over the null data, minus that of the data, as arcsines; above 0 if
        the data is more stable.
    p_value : ndarray of shape (n_resolutions,)
        Probability of such a gain in null data, for each resolution separately.
    criterion, null : str
        The criterion, and the kind of null data.
    level, max_weak : float
        The largest p-value and the largest share of weak items of a stable clustering.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.model_selection import select_resolution
    >>> X = np.random.default_rng(0).normal(size=(90, 2)) + np.repeat([[0.0], [20.0]], 45, axis=0)
    >>> found = select_resolution(X, [0.05, 0.1], n_nulls=5, random_state=0)
    >>> found.resolution, found.n_clusters.tolist()
    (0.05, [2, 2])
    >>> [labels.shape for labels in found.labels_]
    [(90,), (90,)]
    """

    resolution: float | None
    reason: str
    resolutions: NDArray[np.float64]
    stable: NDArray[np.bool_]
    n_clusters: NDArray[np.int64]
    labels_: list[NDArray[np.int64]]
    reference_labels_: list[NDArray[np.int64]]
    measured: dict[str, NDArray[np.float64]]
    null_measures: dict[str, NDArray[np.float64]]
    gain: NDArray[np.float64]
    p_value: NDArray[np.float64]
    criterion: str
    null: str
    level: float
    max_weak: float

    def table(self) -> Any:
        """Return a data frame with one row per resolution.

        Returns
        -------
        table : pandas.DataFrame
            The columns are `resolution`, `n_clusters`, the three measures, their means over the
            null data (`null_weak_fraction`, ...), `gain`, `p_value`, `stable` and `recommended`.
        """
        import pandas as pd

        none = np.full(self.resolutions.size, np.nan)
        means = {
            f"null_{name}": values.mean(axis=0) if len(values) else none
            for name, values in self.null_measures.items()
        }
        return pd.DataFrame(
            {
                "resolution": self.resolutions,
                "n_clusters": self.n_clusters,
                **self.measured,
                **means,
                "gain": self.gain,
                "p_value": self.p_value,
                "stable": self.stable,
                "recommended": self.resolutions == self.resolution,
            }
        )


def select_resolution(
    X: Any,
    resolutions: Iterable[float] = RESOLUTIONS,
    *,
    estimator: Any = None,
    groups: Any = None,
    alpha: float = 0.1,
    n_resamples: int = 100,
    resampling: Any = None,
    criterion: str = "weak_fraction",
    null: str = "auto",
    n_nulls: int = 10,
    level: float = 0.01,
    max_weak: float = 0.5,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
) -> ClusterResolution:
    """Choose the resolution of communities by comparing their stability with that of null data.

    For every resolution, the core clusters of the data and of `n_nulls` datasets of the same size
    without structure (the null data) are computed in the same way. The neighbors of a dataset are
    searched for once, and all resolutions get the same resamples.

    Parameters
    ----------
    X : array-like of shape (n_items, n_features), or graph of shape (n_items, n_items)
        The data, scaled as it is to be clustered; a graph if the estimator has
        ``metric="precomputed"``.
    resolutions : iterable of float, default=(0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0)
        The resolutions to try, above 0.
    estimator : clusterer, default=None
        A clusterer or Pipeline with a parameter `resolution`. None uses
        :class:`coreclust.cluster.Leiden`.
    groups : array-like of shape (n_items,), default=None
        Groups of items, such as donors, that are drawn as a whole.
    alpha : float, default=0.1
        As for :class:`~coreclust.CoreClustering`.
    n_resamples : int, default=100
        Number of resamples of each dataset. With much fewer, pairs are seen too rarely together.
    resampling : scheme, default=None
        None uses ``Subsample(0.5)``, which varies as much as the bootstrap. It must draw items of
        the data.
    criterion : {"weak_fraction", "mean_jaccard", "ambiguous_pairs"}, default="weak_fraction"
        The measure that decides. The other two are reported as well.
    null : {"auto", "gaussian", "uniform", "permuted", "rewired"}, default="auto"
        The null data. "gaussian" draws from a Gaussian with the covariance of the data, "uniform"
        and "permuted" are those of :func:`select_n_clusters`. "rewired", for a graph, swaps the
        ends of its edges at random, so that each item keeps its number of neighbors. "auto" is
        "gaussian" for vectors and "rewired" for a graph; see Notes.
    n_nulls : int, default=10
        Number of null datasets, 3 or more; 0 for a sweep without a comparison and without a
        recommendation.
    level : float, default=0.01
        A clustering is more stable than chance if its p-value is at most this.
    max_weak : float, default=0.5
        A clustering with a larger share of weak items is not recommended.
    n_jobs : int, default=None
        As for :class:`~coreclust.CoreClustering`.
    random_state : int, RandomState or None, default=None
        Pass an int for reproducible results. The result at each resolution then does not depend on
        the other resolutions tried.
    verbose : int, default=0
        Above 0, show a progress bar on standard error.

    Returns
    -------
    found : ClusterResolution

    See Also
    --------
    select_n_clusters : The same for the number of clusters.

    Notes
    -----
    The criterion is a share. The arcsine of its square root is compared with those of the null
    datasets by Student's t distribution, at each resolution by itself. The standard deviation is
    at least the binomial error of n items. A single cluster is perfectly stable, but shows no
    structure; all its items count as weak. Of the resolutions with a p-value of at most `level`,
    two or more clusters and a weak fraction of at most `max_weak`, the one with the largest gain is
    recommended. Nested groups can be stable at several resolutions, which are all marked in the
    table.

    Vectors are not compared with a rewired graph of their neighbors. In a graph of neighbors, the
    neighbors of an item are neighbors of each other, even if the items are one cloud without any
    groups. Rewiring destroys this as well, so every such graph is more stable than a
    rewired one. For the same reason, a *given* graph of neighbors, such as that of scanpy, is
    better compared by its vectors.

    The whole data is used, because the meaning of a resolution depends on the number of items and
    neighbors. In total, ``len(resolutions) * (1 + n_nulls)`` core clusterings are computed.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.model_selection import select_resolution
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(6 * rng.normal(size=(4, 5)), 40, axis=0) + rng.normal(size=(160, 5))
    >>> found = select_resolution(X, [0.1, 0.3, 3.0], random_state=0)
    >>> found.table()[["resolution", "n_clusters", "stable"]].values.tolist()
    [[0.1, 4, True], [0.3, 4, True], [3.0, 12, False]]
    """
    estimator = Leiden() if estimator is None else estimator
    name = _parameter_of(estimator)
    is_graph = getattr(estimator, "metric", None) == "precomputed"
    data = check_array(
        X, dtype=np.float64, ensure_min_samples=3, accept_sparse="csr" if is_graph else False
    )
    tried = _check_resolutions(resolutions)
    draw, null = _check_null(null, is_graph)
    _check_settings(criterion, n_nulls, level, max_weak)
    scheme = check_scheme(Subsample(0.5) if resampling is None else resampling)
    entropy = draw_entropy(random_state)
    progress = Progress((1 + n_nulls) * tried.size, "clusterings", enabled=verbose > 0)
    measures: list[list[Measures]] = []
    cores: list[CoreClustering] = []
    for dataset in range(1 + n_nulls):
        rng = np.random.default_rng(seeds_of(entropy, _DRAW, dataset))
        items = data if dataset == 0 else draw(data, rng)
        # Held until the next dataset, so that the neighbors are searched for once.
        held = (
            None if is_graph or type(estimator) is not Leiden else hold_neighbors(estimator, items)
        )
        seed = int(seeds_of(entropy, _FIT, dataset).generate_state(1)[0] >> 1)
        measures.append([])
        for resolution in tried.tolist():
            cc = CoreClustering(
                clone(estimator).set_params(**{name: resolution}),
                alpha=alpha,
                n_resamples=n_resamples,
                resampling=scheme,
                n_jobs=n_jobs,
                random_state=seed,
            )
            with warnings.catch_warnings():
                if dataset:  # warnings about null data do not concern the user
                    warnings.simplefilter("ignore")
                cc.fit(items, groups=groups)
            measures[-1].append(measure(cc) if cc.n_clusters_ > 1 else _NO_STRUCTURE)
            if dataset == 0:
                cores.append(cc)
            progress.update(dataset * tried.size + len(measures[-1]))
        del held
    progress.close()
    shares = {
        key: np.array([[getattr(one, key) for one in row] for row in measures]) for key in CRITERIA
    }
    measured = {key: values[0] for key, values in shares.items()}
    null_measures = {key: values[1:] for key, values in shares.items()}
    gain, p_value = np.full((2, tried.size), np.nan)
    if n_nulls:
        compared = measured[criterion], null_measures[criterion], data.shape[0]
        gain, p_value = single_gains(*compared, less_is_better=CRITERIA[criterion])
    n_clusters = np.array([cc.n_clusters_ for cc in cores])
    surprising = (p_value <= level) & (n_clusters > 1)
    stable = surprising & (measured["weak_fraction"] <= max_weak)
    table = _Compared(tried, n_clusters, measured, null_measures, gain, p_value, criterion, level)
    chosen, reason = _decide(table, surprising, stable, max_weak)
    return ClusterResolution(
        chosen,
        reason,
        tried,
        stable,
        n_clusters,
        [cc.labels_ for cc in cores],
        [cc.reference_labels_ for cc in cores],
        measured,
        null_measures,
        gain,
        p_value,
        criterion,
        null,
        level,
        max_weak,
    )


@dataclass(frozen=True, eq=False)
class _Compared:
    """The measures at every resolution, and sentences about them."""

    resolutions: NDArray[np.float64]
    n_clusters: NDArray[np.int64]
    measured: dict[str, NDArray[np.float64]]
    null_measures: dict[str, NDArray[np.float64]]
    gain: NDArray[np.float64]
    p_value: NDArray[np.float64]
    criterion: str
    level: float

    def text(self, at: int) -> str:
        """Compare the data with the null data at one resolution."""
        ours = float(self.measured[self.criterion][at])
        theirs = float(self.null_measures[self.criterion][:, at].mean())
        what = {
            "weak_fraction": f"{percent(ours)} of items are weak, {percent(theirs)}",
            "mean_jaccard": f"the mean Jaccard similarity is {ours:.2f}, {theirs:.2f}",
            "ambiguous_pairs": f"{percent(ours)} of pairs are ambiguous, {percent(theirs)}",
        }[self.criterion]
        return f"{what} without structure; p {p_text(float(self.p_value[at]), self.level)}"

    def names(self, chosen: NDArray[np.bool_]) -> str:
        """List some of the resolutions."""
        return ", ".join(f"{value:g}" for value in self.resolutions[chosen].tolist())


def _decide(
    found: _Compared, surprising: NDArray[np.bool_], stable: NDArray[np.bool_], most: float
) -> tuple[float | None, str]:
    """Return the resolution and the reason."""
    if np.isnan(found.p_value).all():
        return None, "No recommendation: there is no null data to compare with (n_nulls=0)."
    if stable.any():
        best = int(np.where(stable, found.gain, -np.inf).argmax())
        text = (
            f"Resolution {found.resolutions[best]:g}: its {found.n_clusters[best]} clusters are "
            f"stable beyond chance ({found.text(best)})"
        )
        others = stable & (np.arange(stable.size) != best)
        if others.any():
            text += f", by the largest margin; so are those at {found.names(others)}"
        elif stable.size > 1:
            text += "; those at no other resolution tried are"
        return float(found.resolutions[best]), f"{text}."
    if surprising.any():
        best = int(np.where(surprising, found.gain, -np.inf).argmax())
        weak = percent(float(found.measured["weak_fraction"][best]))
        return None, (
            f"No recommendation: at resolution {found.resolutions[best]:g} there is more than "
            f"chance ({found.text(best)}), but {weak} of the items are weak; at most "
            f"{percent(most)} are allowed."
        )
    if (found.n_clusters < 2).all():
        return None, "No recommendation: there is one cluster at every resolution tried."
    best = int(np.where(found.n_clusters > 1, found.p_value, np.inf).argmin())
    return None, (
        "No recommendation: no stable structure. The clusters are not more stable than those of "
        f"data without structure at {found.names(np.ones(stable.size, dtype=bool))} (the closest "
        f"is {found.resolutions[best]:g}: {found.text(best)})."
    )


def _parameter_of(estimator: Any) -> str:
    """Return the name of the parameter that is the resolution."""
    get_params = getattr(estimator, "get_params", None)
    if get_params is None or isinstance(estimator, type):
        raise TypeError(
            "estimator must be a clusterer with a parameter resolution, such as Leiden(), got "
            f"{estimator!r}."
        )
    names = [name for name in get_params(deep=True) if name.split("__")[-1] == "resolution"]
    if not names:
        raise ValueError(
            f"estimator must have a parameter resolution, and {type(estimator).__name__} has none; "
            "pass Leiden(), or use select_n_clusters."
        )
    return min(names, key=len)


def _check_resolutions(resolutions: Iterable[float]) -> NDArray[np.float64]:
    values = list(resolutions)
    if not values or not all(is_number(value) and 0 < value < np.inf for value in values):
        raise ValueError(f"resolutions must hold numbers above 0, got {values!r}.")
    return np.unique(np.array(values, dtype=np.float64))


def _check_null(null: Any, is_graph: bool) -> tuple[Callable[[Any, np.random.Generator], Any], str]:
    kinds: dict[str, Any] = GRAPH_NULLS if is_graph else VECTOR_NULLS
    name = next(iter(kinds)) if null == "auto" else null
    if name not in kinds:
        what = "a graph" if is_graph else "vectors"
        raise ValueError(f"null must be one of auto, {', '.join(kinds)} for {what}, got {null!r}.")
    return kinds[name], name


def _check_settings(criterion: Any, n_nulls: Any, level: Any, max_weak: Any) -> None:
    if criterion not in CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}, got {criterion!r}.")
    check_count(n_nulls, "n_nulls", 0)
    if 0 < n_nulls < 3:
        raise ValueError(f"n_nulls must be 3 or more, or 0 for no comparison, got {n_nulls}.")
    if not is_number(level) or not 0 < level < 1:
        raise ValueError(f"level must be a number above 0 and below 1, got {level!r}.")
    check_share(max_weak, "max_weak")
