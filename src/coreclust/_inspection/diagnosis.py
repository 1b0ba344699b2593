"""Tells which clusters could be one, and which hold several stable groups."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import is_classifier
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import check_is_fitted

from coreclust._inspection.landing import Pairs, common_labels, landed_together, pairs_that_met
from coreclust._inspection.merge_test import MOST_ITEMS, MergeTest, merge_test
from coreclust._inspection.modes import Mode, find_modes, mode_sentences, splits_in_words
from coreclust._inspection.returns import find_returns, return_in_words, return_sentences
from coreclust._inspection.stable_groups import StableGroup, are_distinct, stable_groups
from coreclust._utils.compat import number_of_items
from coreclust._utils.seeds import seeds_of
from coreclust._utils.text import percent, shorten

if TYPE_CHECKING:
    import pandas as pd

    from coreclust.core_clustering import CoreClustering

_LEVEL = 0.05  # of the test, over all pairs together
_MOST_LISTED = 100  # clusters, up to which the table has all pairs
_MOST_TESTS = 200
_MOST_PARTNERS = 3  # clusters that a cluster is tested with because they landed together
_NAMED_PAIRS = 2  # in sentences
_NUMBERS = ("no", "one", "two", "three", "four", "five")


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Which clusters could be one, and which hold several stable groups.

    Attributes
    ----------
    pairs : DataFrame
        One row per pair of clusters: `cluster_1`, `cluster_2` (their names), `together` (the share
        of resamples in which the cores of both land in one cluster), `n_resamples` (those with
        both cores), `index` and `p_value` of the test, NaN for pairs that were not tested, and
        `shown_two`. With more than 100 clusters, only pairs that landed together or were tested.
    groups : DataFrame
        The groups of each cluster that holds two or more: `cluster`, `n_items` and `all_together`
        (the share of resamples in which all items of the group that are present have one label).
    items : list of ndarray of int
        The items of each group in `groups`.
    clusters : DataFrame
        One row per cluster: `cluster`, `mean_jaccard` (the index with the most similar cluster of a
        resample), `missing` (the share of resamples in which it is at most 0.5) and `why` (what the
        cluster mostly is there: "merged", "split" or "noise"; empty if it is never missing).
    modes : list of Mode
        The distinct solutions among the resamples, the most common first, each with `share`,
        `merged`, `split` and `lost` (positions in `cluster_names_`). See Notes of `diagnose`.
    sentences : list of str
        The findings in words; empty if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from coreclust import CoreClustering
    >>> X = np.random.default_rng(0).normal(size=(300, 2)) * 0.5
    >>> X[100:200] += 20, 0
    >>> X[200:] += 10, 17.3
    >>> cc = CoreClustering(KMeans(2), n_resamples=100, random_state=0).fit(X)
    >>> cc.diagnose(X).groups["n_items"].tolist()
    [100, 100]
    """

    pairs: pd.DataFrame
    groups: pd.DataFrame
    items: list[NDArray[np.intp]]
    clusters: pd.DataFrame
    modes: list[Mode]
    sentences: list[str]

    def __repr__(self) -> str:
        n_doubtful = int((~self.pairs["shown_two"]).sum())
        n_mixed = self.groups["cluster"].nunique()
        return (
            f"Diagnosis({n_doubtful} of {len(self.pairs)} pairs of clusters not shown to be two, "
            f"{n_mixed} clusters with several groups)"
        )


def diagnose(self: CoreClustering, X: Any = None) -> Diagnosis:
    """Tell which clusters are not shown to be two, and which hold several stable groups.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_items, n_features), default=None
        The data that was fitted. None uses the fitted frame if X was one. Data that is not
        numeric, distances, and the data of a classifier are not used.

    Returns
    -------
    diagnosis : Diagnosis
        With `pairs`, `groups`, `items`, `clusters`, `modes` and `sentences`.

    Notes
    -----
    With numeric data, each cluster is tested with the nearest one and with those that its core
    landed together with. The null hypothesis is that the two clusters are parts of one group, for
    which a Gaussian group of any covariance is simulated, as in sigclust [1]_. The p-values are
    adjusted for the number of tests; a pair is shown to be two if the p-value is at most 0.05 and
    the clusters are further apart than the halves of flat data. Pipelines are tested on the data
    that their last step gets.

    Other pairs, and all pairs if there are no numeric features, are shown to be two if the cores
    land in one cluster in at most a share `alpha` of the resamples. This test is weaker: the
    halves of one group can be stable. The most common label decides where a core lands.

    To find the groups of a cluster, the search for cores is repeated among its weak items. Two
    groups are reported if they pass the same test or, without features, if hardly any resample
    divides them and they hold at least 95 % of the cluster.

    A cluster is reported as not found again if most of at most 200 resamples have no cluster with a
    Jaccard index above 0.5, or if the mean of the largest index is below 0.6, as in
    :func:`~coreclust.stability.jaccard_stability` [2]_.

    To find the modes, at most 200 resamples are grouped by their adjusted Rand index with each
    other. A cluster is merged with another if at least 75 % of both have one label, and split if
    no label has 75 % of it.

    References
    ----------
    .. [1] Y. Liu, D. N. Hayes, A. Nobel, J. S. Marron, "Statistical Significance of Clustering for
       High-Dimension, Low-Sample Size Data", JASA 103, 2008.
    .. [2] C. Hennig, "Cluster-wise assessment of cluster stability", Computational Statistics &
       Data Analysis 52, 2007.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> X = load_iris().data
    >>> cc = CoreClustering(KMeans(2), n_resamples=100, random_state=0).fit(X)
    >>> cc.diagnose(X)
    Diagnosis(0 of 1 pairs of clusters not shown to be two, 0 clusters with several groups)
    """
    check_is_fitted(self)
    return _diagnose(self, _euclidean(self, self._frame if X is None else X))


def quick_diagnosis(fitted: CoreClustering) -> Diagnosis:
    """Return the diagnosis without the data. It is kept until the cores change."""
    labels, known = getattr(fitted, "_diagnosis", (None, None))
    if known is None or labels is not fitted.labels_:
        known = _diagnose(fitted, None)
        fitted._diagnosis = (fitted.labels_, known)
    return known


def findings(diagnosis: Diagnosis, names: NDArray[Any]) -> list[str]:
    """Return the findings about each cluster in a few words, empty for none."""
    pairs = diagnosis.pairs[~diagnosis.pairs["shown_two"]]
    ends = [*zip(pairs["cluster_1"], pairs["cluster_2"], strict=True)]
    found = {
        name: return_in_words(*how) for name, *how in diagnosis.clusters.itertuples(index=False)
    }
    words = []
    splits = splits_in_words(diagnosis.modes, names.size)
    for name, split in zip(names.tolist(), splits, strict=True):
        others = [shorten(b if a == name else a) for a, b in ends if name in (a, b)]
        more = f" and {len(others) - _NAMED_PAIRS} more" if len(others) > _NAMED_PAIRS else ""
        apart = f"not shown apart from {', '.join(others[:_NAMED_PAIRS])}{more}" if others else ""
        n_groups = int((diagnosis.groups["cluster"] == name).sum())
        groups = f"holds {n_groups} groups" if n_groups else ""
        words.append("; ".join(part for part in (apart, groups, found[name] or split) if part))
    return words


def _diagnose(fitted: CoreClustering, X: Any) -> Diagnosis:
    pairs = _pair_columns(fitted, X)
    groups = _distinct_groups(fitted, X)
    modes = find_modes(fitted)
    returns = find_returns(fitted)
    merged = set(pairs["pair"][~pairs["shown_two"]].ravel().tolist())
    names = fitted.cluster_names_
    import pandas as pd

    return Diagnosis(
        pd.DataFrame(
            {
                "cluster_1": names[pairs["pair"][:, 0]],
                "cluster_2": names[pairs["pair"][:, 1]],
                **{name: column for name, column in pairs.items() if name != "pair"},
            }
        ),
        pd.DataFrame(
            {
                "cluster": names[np.array([group.cluster for group in groups], dtype=np.intp)],
                "n_items": np.array([group.n_items for group in groups], dtype=np.int64),
                "all_together": np.array([group.all_together for group in groups], dtype=float),
            }
        ),
        [group.items for group in groups],
        pd.DataFrame(
            {
                "cluster": names,
                "mean_jaccard": returns.mean,
                "missing": returns.missing,
                "why": returns.why,
            }
        ),
        modes,
        [
            *_pair_sentences(fitted, pairs),
            *_group_sentences(fitted, groups),
            *return_sentences(fitted, returns, merged),
            *mode_sentences(fitted, modes),
        ],
    )


def _euclidean(fitted: CoreClustering, X: Any) -> Any:
    """Return the data as points of a Euclidean space; None if they are not."""
    if X is None:
        return None
    if number_of_items(X) != fitted.labels_.size:
        raise ValueError(
            f"X must have a row for each of {fitted.labels_.size} items, got {number_of_items(X)}."
        )
    n_features = getattr(fitted, "n_features_in_", None)
    if n_features is not None and n_features != np.shape(X)[-1]:
        return None  # for instance a projection to be plotted
    estimator = fitted._estimator()
    if takes_distances(estimator):
        return None
    if hasattr(estimator, "get_params") and is_classifier(estimator):
        return None  # classes may overlap and still be two
    try:
        if isinstance(estimator, Pipeline) and len(estimator.steps) > 1:
            X = fitted.estimator_[:-1].transform(X)
        return check_array(X, accept_sparse="csr", dtype=np.float64)
    except (TypeError, ValueError):  # not a table of finite numbers
        return None


def takes_distances(estimator: Any) -> bool:
    """Tell whether an estimator takes distances, or similarities, and not features."""
    if not hasattr(estimator, "get_params"):
        return False
    values = estimator.get_params(deep=True).values()
    precomputed = any(isinstance(value, str) and value == "precomputed" for value in values)
    return precomputed or bool(get_tags(estimator).input_tags.pairwise)


def _pair_columns(fitted: CoreClustering, X: Any) -> dict[str, NDArray[Any]]:
    """Return the columns of the table of pairs, with the clusters as numbers in `pair`."""
    n_clusters = fitted.n_clusters_
    labels = getattr(fitted.ensemble_, "labels", None)  # evidence on pairs has none
    met = np.empty((0, 2), dtype=np.int64)
    if labels is not None:
        cores = [np.flatnonzero(fitted.labels_ == code) for code in range(n_clusters)]
        common = common_labels(labels, cores, fitted.noise)
        met = pairs_that_met(common)
    near = _nearest_pairs(fitted, X) if X is not None and n_clusters > 1 else met[:0]
    if n_clusters <= _MOST_LISTED and labels is not None:
        pair = np.array(list(combinations(range(n_clusters), 2)), dtype=np.int64).reshape(-1, 2)
    else:
        pair = np.unique(np.concatenate([met, near]), axis=0)
    together, seen = np.zeros((2, len(pair)), dtype=np.int64)
    if labels is not None:
        together, seen = landed_together(common, pair)
    share = np.divide(together, seen, out=np.full(len(pair), np.nan), where=seen > 0)
    most = fitted.rule_.resampled_alpha
    index, p_value = np.full((2, len(pair)), np.nan)
    if X is not None:
        tested = _worth_testing(pair, share, near)
        results = [_test(fitted, X, *pair[place].tolist()) for place in tested.tolist()]
        index[tested] = [result.index for result in results]
        # By Bonferroni, not Holm: which group was cut in two may have been chosen among all.
        p_value[tested] = np.minimum([len(results) * result.p_value for result in results], 1.0)
    return {
        "pair": pair,
        "together": share,
        "n_resamples": seen,
        "index": index,
        "p_value": p_value,
        "shown_two": np.where(np.isnan(p_value), ~(share > most), p_value <= _LEVEL),
    }


def _nearest_pairs(fitted: CoreClustering, X: Any) -> Pairs:
    """Return each cluster with the one whose center is nearest."""
    inside = np.flatnonzero(fitted.reference_labels_ >= 0)
    codes = fitted.reference_labels_[inside]
    shape = (fitted.n_clusters_, fitted.labels_.size)
    members = csr_array((1 / np.bincount(codes)[codes], (codes, inside)), shape=shape)
    centers = members @ X
    distances = euclidean_distances(centers.toarray() if issparse(centers) else centers)
    np.fill_diagonal(distances, np.inf)
    pairs = np.column_stack([np.arange(len(distances)), distances.argmin(axis=1)])
    return np.unique(np.sort(pairs, axis=1), axis=0).astype(np.int64)


def _worth_testing(pair: Pairs, share: NDArray[np.float64], near: Pairs) -> NDArray[np.intp]:
    """Return the places of pairs that could be one: neighbors, and those that landed together."""
    near_codes = {tuple(one) for one in near.tolist()}
    n_partners: dict[int, int] = {}
    tested = []
    for place in np.argsort(-np.nan_to_num(share), kind="stable").tolist():
        first, second = pair[place].tolist()
        fewest = min(n_partners.get(first, 0), n_partners.get(second, 0))
        met = share[place] > 0 and fewest < _MOST_PARTNERS
        if met:
            for cluster in (first, second):
                n_partners[cluster] = n_partners.get(cluster, 0) + 1
        if met or (first, second) in near_codes:
            tested.append(place)
    return np.sort(np.array(tested[:_MOST_TESTS], dtype=np.intp))


def _test(fitted: CoreClustering, X: Any, first: int, second: int) -> MergeTest:
    rng = np.random.default_rng(seeds_of(0, first, second))
    items, points = _some_items(fitted, X, (first, second), rng)
    return merge_test(points, fitted.reference_labels_[items] == second, rng)


def _some_items(
    fitted: CoreClustering, X: Any, clusters: tuple[int, ...], rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the items of some clusters, at most 500 at random, and their features."""
    items = np.flatnonzero(np.isin(fitted.reference_labels_, clusters))
    if items.size > MOST_ITEMS:
        items = np.sort(rng.choice(items, size=MOST_ITEMS, replace=False))
    return items, _rows(X, items)


def _rows(X: Any, items: NDArray[np.intp]) -> NDArray[np.float64]:
    return X[items].toarray() if issparse(X) else X[items]


def _distinct_groups(fitted: CoreClustering, X: Any) -> list[StableGroup]:
    """Return the stable groups of clusters that hold more than parts of one group."""
    by_cluster: dict[int, list[StableGroup]] = {}
    for group in stable_groups(fitted):
        by_cluster.setdefault(group.cluster, []).append(group)
    return [
        group
        for groups in by_cluster.values()
        if are_distinct(fitted, groups)
        or (X is not None and _test_groups(fitted, X, groups) * len(by_cluster) <= _LEVEL)
        for group in groups
    ]


def _test_groups(fitted: CoreClustering, X: Any, groups: list[StableGroup]) -> float:
    """Return the p-value of the two largest groups; all items go with the nearer of the two."""
    cluster = groups[0].cluster
    rng = np.random.default_rng(seeds_of(0, cluster))
    _, points = _some_items(fitted, X, (cluster,), rng)
    centers = [_rows(X, group.items[:MOST_ITEMS]).mean(axis=0) for group in groups[:2]]
    distances = euclidean_distances(points, np.array(centers))
    return merge_test(points, distances[:, 1] < distances[:, 0], rng).p_value


def _pair_sentences(fitted: CoreClustering, pairs: dict[str, NDArray[Any]]) -> list[str]:
    doubtful = np.flatnonzero(~pairs["shown_two"])
    order = doubtful[np.argsort(-np.nan_to_num(pairs["together"][doubtful]), kind="stable")]
    sentences = []
    for place in order[:_NAMED_PAIRS].tolist():
        first, second = (shorten(fitted.cluster_names_[code]) for code in pairs["pair"][place])
        reasons = []
        if pairs["together"][place] > 0:
            share = percent(pairs["together"][place])
            reasons.append(f"their cores got the same label in {share} of the resamples")
        if not np.isnan(pairs["p_value"][place]):
            they = "" if reasons else "they "
            reasons.append(f"{they}are no further apart than parts of one group can be")
        sentences.append(
            f"Clusters {first} and {second} are not shown to be two clusters: "
            f"{' and '.join(reasons)}."
        )
    n_more = order.size - _NAMED_PAIRS
    if n_more > 0:
        more = "1 more pair" if n_more == 1 else f"{n_more:,} more pairs"
        sentences.append(f"The same is true of {more} of clusters.")
    return sentences


def _group_sentences(fitted: CoreClustering, groups: list[StableGroup]) -> list[str]:
    sentences = []
    for cluster in sorted({group.cluster for group in groups}):
        mine = [group for group in groups if group.cluster == cluster]
        sizes = [f"{group.n_items:,}" for group in mine]
        of = sizes[0] if len(set(sizes)) == 1 else f"{', '.join(sizes[:-1])} and {sizes[-1]}"
        least = min(group.all_together for group in mine)
        how = "never separate internally"
        if least < 1:
            how = f"stay whole in {percent(least)} of the resamples"
        name = shorten(fitted.cluster_names_[cluster])
        sentences.append(f"Cluster {name} holds {_NUMBERS[len(mine)]} groups of {of} that {how}.")
    return sentences
