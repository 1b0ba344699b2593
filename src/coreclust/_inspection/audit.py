"""Predicts which share of the core pairs would hold on new data."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from coreclust._utils.blocks import is_dask_array
from coreclust._utils.compat import is_pairwise, number_of_items, take_items
from coreclust._utils.progress import Progress
from coreclust._utils.seeds import draw_entropy, draw_random_states, seeds_of
from coreclust._utils.text import percent, shorten
from coreclust._utils.validation import check_count, check_seed, is_number
from coreclust.cores import Core, core_path
from coreclust.evidence._pair_evidence import PairEvidence
from coreclust.resampling import Scheme, check_resampling
from coreclust.resampling._nested import draws_of_data

if TYPE_CHECKING:
    import pandas as pd

    from coreclust.core_clustering import CoreClustering

TOLERANCE = 0.02  # by which the probability of a pair that holds may be below 1 - alpha
_PARTS = np.array([0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0])  # of alpha, that are tried
_MOST_PAIRS = 20_000  # of one core that are judged
_MINUTES = 1.0  # that are announced
_KEY, _ROWS, _FIT, _PAIRS, _JUDGE = 5, 0, 1, 2, 3  # keys of seeds, apart from those of resamples


@dataclass(frozen=True, eq=False)
class Audit:
    """The predicted share of core pairs that hold on new data.

    Attributes
    ----------
    share : float
        The predicted share of the core pairs whose probability to get the same label on new data
        is at least ``1 - alpha - 0.02``.
    standard_error : float
        The error of `share` from the finite number of draws.
    clusters : DataFrame
        The prediction for each cluster: `cluster`, `share`, `standard_error`. A pair counts for the
        clusters of both its items.
    alphas : DataFrame
        The prediction for cores that are found at a smaller alpha, judged by the same probability:
        `alpha`, `share`, `standard_error` and `core_fraction` (the mean share of items in a core).
    target : float
    suggested_alpha : float
        The largest alpha of `alphas` whose predicted share is at least `target`; NaN if none is.
    n_draws : int
    sentences : list of str
        The prediction in words, with what it cannot see.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> from coreclust.cluster import KMeans
    >>> X = load_iris().data
    >>> cc = CoreClustering(KMeans(2), n_resamples=100, random_state=0).fit(X)
    >>> cc.audit(X, n_draws=3).clusters.columns.tolist()
    ['cluster', 'share', 'standard_error']
    """

    share: float
    standard_error: float
    clusters: pd.DataFrame
    alphas: pd.DataFrame
    target: float
    suggested_alpha: float
    n_draws: int
    sentences: list[str]

    def __repr__(self) -> str:
        error = f"{100 * self.standard_error:.1f}"
        return f"Audit({percent(self.share)} of core pairs hold on new data, ± {error} %)"


class _Draw(NamedTuple):
    """The cores of one draw of the data, judged."""

    held: NDArray[np.float64]  # (n_alphas,): core pairs that hold
    pairs: NDArray[np.float64]  # (n_alphas,): core pairs
    core_fraction: NDArray[np.float64]  # (n_alphas,): share of items in a core
    held_by_cluster: NDArray[np.float64]  # (n_clusters,): at the largest alpha
    pairs_by_cluster: NDArray[np.float64]


def audit(
    self: CoreClustering,
    X: Any = None,
    y: Any = None,
    *,
    groups: Any = None,
    n_draws: int = 20,
    target: float = 0.97,
    random_state: int | np.random.RandomState | None = None,
) -> Audit:
    """Predict which share of the core pairs would hold on new data.

    Parameters
    ----------
    X, y, groups
        The data that was fitted. If X is None, the fitted frame is used.
    n_draws : int, default=20
        Number of datasets that are drawn. Each is fitted like the data, so this takes `n_draws`
        times as long as :meth:`fit`.
    target : float, default=0.97
        The share that `suggested_alpha` should reach.
    random_state : int, RandomState or None, default=None
        Seed of the draws. None uses the `random_state` of the estimator.

    Returns
    -------
    audit : Audit
        With `share`, `standard_error`, `clusters`, `alphas`, `suggested_alpha` and `sentences`.

    Notes
    -----
    The data plays the part of the population. Datasets are drawn from it, with replacement (half of
    the items without, if the scheme draws no copies), and the cores of each are found as for the
    data itself. (For half of the items, `Leiden` uses half the neighbors, as in resamples.) What
    "new data" does with a pair is then known: it is what the resamples of the data did. A pair
    holds if it was together in at least ``1 - alpha - 0.02`` of them; the 0.02 is for the error of
    that share.

    The prediction cannot see what all draws have in common with the data. If the clustering cuts
    one group in two at random, draws of the data mostly cut the same group, while new data would
    cut another; the prediction is then too high, see :meth:`diagnose`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> from coreclust.cluster import KMeans
    >>> X = load_iris().data
    >>> cc = CoreClustering(KMeans(3), n_resamples=200, random_state=0).fit(X)
    >>> audit = cc.audit(X, n_draws=5)
    >>> 0.5 < audit.share <= 1
    True
    """
    check_is_fitted(self)
    X = self._frame if X is None else X
    _check(self, X, n_draws, target, random_state)
    entropy = draw_entropy(self.random_state if random_state is None else random_state)
    alphas = (self.alpha * _PARTS).round(12) if self.alpha > 0 else np.zeros(1)
    judge = self.ensemble_
    if self.rule_.nested:  # its resamples vary more than draws of the data
        judge = _fit_quietly(self, X, y, groups, _state(entropy, 0, _JUDGE), guarantee="pair")
    draws: list[_Draw] = []
    progress = Progress(n_draws, "draws of the data", enabled=self.verbose > 0)
    begin, error = time.monotonic(), ""
    try:
        for draw in range(n_draws):
            try:
                draws.append(_judge_draw(self, judge, X, y, groups, alphas, entropy, draw))
            except (ArithmeticError, RuntimeError, ValueError) as failure:
                error = f"{type(failure).__name__}: {failure}"
            if draw == 0:
                _announce((time.monotonic() - begin) * (n_draws - 1) / 60)
            progress.update(draw + 1)
    finally:
        progress.close()
    if 2 * len(draws) < n_draws:
        raise RuntimeError(
            f"{n_draws - len(draws)} of {n_draws} draws of the data could not be clustered; the "
            f"last error was {error.rstrip('.')}. Fix the estimator or the data."
        )
    return _summarize(self, draws, alphas, target)


def _check(fitted: CoreClustering, X: Any, n_draws: Any, target: Any, random_state: Any) -> None:
    check_count(n_draws, "n_draws", least=2)
    if not is_number(target) or not 0 < target <= 1:
        raise ValueError(f"target must be a number above 0, up to 1, got {target!r}.")
    check_seed(random_state)
    if isinstance(fitted.ensemble_, PairEvidence):
        raise ValueError(
            "audit cannot be used with draws from a known distribution, which show what new data "
            "does; use cooccurrence or test_pair."
        )
    if X is None:
        raise ValueError("X must be the data that was fitted, got None.")
    if is_dask_array(X):
        raise ValueError("audit cannot be used with a dask array; use a NumPy array, or a part.")
    if number_of_items(X) != fitted.labels_.size:
        raise ValueError(
            f"X must have a row for each of {fitted.labels_.size} items, got {number_of_items(X)}."
        )


def _announce(minutes: float) -> None:
    if minutes > _MINUTES:
        warnings.warn(
            f"audit takes about {minutes:,.0f} more minutes; use a smaller n_draws.", stacklevel=3
        )


def _judge_draw(
    fitted: CoreClustering,
    judge: Any,
    X: Any,
    y: Any,
    groups: Any,
    alphas: NDArray[np.float64],
    entropy: int,
    draw: int,
) -> _Draw:
    """Draw data, find its cores at several values of alpha, and judge their pairs."""
    outer = draws_of_data(check_resampling(fitted.resampling))
    rows, new_groups = _draw_rows(fitted, outer, groups, seeds_of(entropy, _KEY, draw, _ROWS))
    Z = _take(fitted, X, rows)
    classes = None if y is None else take_items(y, rows)
    share = 1.0 if outer.repeats else rows.size / fitted.labels_.size
    found = _fit_quietly(
        fitted,
        Z,
        classes,
        new_groups,
        _state(entropy, draw, _FIT),
        whole=True,
        estimator=_for_share(fitted._estimator(), share),
    )
    rules = [found.rule_.changed(alpha=alpha) for alpha in alphas.tolist()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cores that are not proven are good enough here
        path = core_path(found.ensemble_, found.reference_labels_, rules, n_jobs=fitted.n_jobs)
    rng = np.random.default_rng(seeds_of(entropy, _KEY, draw, _PAIRS))
    held, pairs = np.zeros((2, alphas.size))
    by_cluster = np.zeros((2, fitted.n_clusters_))
    for place, cores in enumerate(path):
        for core in cores:
            first, second, weight = _some_pairs(rows[core.core], rng)
            seen, holds = _hold(fitted, judge, first, second)
            held[place] += weight * holds.sum()
            pairs[place] += weight * seen.sum()
            if place == alphas.size - 1:
                _count_clusters(fitted, first[seen], second[seen], holds[seen], weight, by_cluster)
    fraction = np.array([_core_fraction(cores, rows.size) for cores in path])
    return _Draw(held, pairs, fraction, *by_cluster)


def _draw_rows(
    fitted: CoreClustering, outer: Scheme, groups: Any, seeds: np.random.SeedSequence
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Draw items, or whole groups; each copy of a group is a group of its own."""
    if groups is None:
        return np.sort(outer.draw(fitted.labels_.size, seeds)), None
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    drawn = [members[unit] for unit in outer.draw(len(members), seeds)]
    return np.concatenate(drawn), np.repeat(np.arange(len(drawn)), [part.size for part in drawn])


def _take(fitted: CoreClustering, X: Any, rows: NDArray[np.int64]) -> Any:
    estimator = fitted._estimator()
    if not (hasattr(estimator, "get_params") and is_pairwise(estimator)):
        return take_items(X, rows)
    return X[rows][:, rows] if hasattr(X, "tocsr") else np.asarray(X)[np.ix_(rows, rows)]


def _for_share(estimator: Any, share: float) -> Any:
    """Return the estimator with parameters that suit a share of the items, as in resamples."""
    if share == 1 or not hasattr(estimator, "get_params"):
        return estimator
    estimator = clone(estimator)
    for part in (estimator, *estimator.get_params(deep=True).values()):
        if hasattr(part, "__coreclust_native__") and not isinstance(part, type):
            in_share = part.__coreclust_native__().in_share
            part.set_params(**({} if in_share is None else in_share(share)))
    return estimator


def _state(entropy: int, *key: int) -> int:
    return draw_random_states(seeds_of(entropy, _KEY, *key), 1)[0]


def _fit_quietly(
    fitted: CoreClustering,
    X: Any,
    y: Any,
    groups: Any,
    state: int,
    *,
    whole: bool = False,
    **changes: Any,
) -> Any:
    """Fit a clone without warnings; return it as a `whole`, or only its resamples."""
    limit = fitted.rule_.time_limit
    changes["time_limit"] = None if limit is None else max(limit / 20, 1.0)
    again = clone(fitted).set_params(
        checkpoint=None, keep_models=False, random_state=state, verbose=0, **changes
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said by the fit to the data
        again.fit(X, y, groups=groups)
    return again if whole else again.ensemble_


def _some_pairs(
    items: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
    """Return all pairs of a core, or some at random, and how many pairs each stands for."""
    n_pairs = items.size * (items.size - 1) // 2
    if n_pairs <= _MOST_PAIRS:
        first, second = np.triu_indices(items.size, 1)
        return items[first], items[second], 1.0
    first = rng.integers(0, items.size, _MOST_PAIRS)
    second = (first + rng.integers(1, items.size, _MOST_PAIRS)) % items.size
    return items[first], items[second], n_pairs / _MOST_PAIRS


def _hold(
    fitted: CoreClustering, judge: Any, first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which pairs can be judged, and which of them hold. A copy of an item is no partner."""
    together, seen = judge.cooccurrence_counts(first, second, noise=fitted.noise)
    judged = (seen > 0) & (first != second)
    most = fitted.rule_.changed(alpha=min(fitted.alpha + TOLERANCE, 1.0)).resampled_alpha
    return judged, judged & (together >= (1 - most) * seen - 1e-9)


def _count_clusters(
    fitted: CoreClustering,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    holds: NDArray[np.bool_],
    weight: float,
    counts: NDArray[np.float64],
) -> None:
    """Count the pairs that hold, and all pairs, for the clusters of their items."""
    mine, other = fitted.reference_labels_[first], fitted.reference_labels_[second]
    for cluster, counted in ((mine, mine >= 0), (other, (other >= 0) & (other != mine))):
        for row, chosen in enumerate((counted & holds, counted)):
            counts[row] += weight * np.bincount(cluster[chosen], minlength=counts.shape[1])


def _core_fraction(cores: list[Core], n_items: int) -> float:
    return sum(core.n_core for core in cores if core.n_core > 1) / n_items


def _summarize(
    fitted: CoreClustering, draws: list[_Draw], alphas: NDArray[np.float64], target: float
) -> Audit:
    import pandas as pd

    held, pairs, fraction, *by_cluster = (np.array(part) for part in zip(*draws, strict=True))
    shares, errors = ratio_of_sums(held, pairs)
    cluster_shares, cluster_errors = ratio_of_sums(*by_cluster)
    reach = np.flatnonzero(np.nan_to_num(shares) >= target)
    suggested = float(alphas[reach[-1]]) if reach.size else math.nan
    share, error = float(shares[-1]), float(errors[-1])
    clusters = pd.DataFrame(
        {
            "cluster": fitted.cluster_names_,
            "share": cluster_shares,
            "standard_error": cluster_errors,
        }
    )
    table = pd.DataFrame(
        {
            "alpha": alphas,
            "share": shares,
            "standard_error": errors,
            "core_fraction": fraction.mean(axis=0),
        }
    )
    sentences = [*_prediction(fitted, share, error, clusters), *_advice(fitted, target, suggested)]
    return Audit(share, error, clusters, table, target, suggested, len(draws), sentences)


def ratio_of_sums(
    held: NDArray[np.float64], pairs: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ratio of sums over the draws (rows), and its standard error."""
    n_draws, total = len(held), pairs.sum(axis=0)
    nan = np.full(total.shape, np.nan)
    ratio = np.divide(held.sum(axis=0), total, out=nan.copy(), where=total > 0)
    squares = ((held - ratio * pairs) ** 2).sum(axis=0)
    scale = total * math.sqrt((n_draws - 1) / n_draws) if n_draws > 1 else np.zeros_like(total)
    return ratio, np.divide(np.sqrt(squares), scale, out=nan, where=scale > 0)


def _prediction(
    fitted: CoreClustering, share: float, error: float, clusters: pd.DataFrame
) -> list[str]:
    if math.isnan(share):
        return ["No core of a draw of the data has two items, so nothing can be predicted."]
    bar = f"{1 - min(fitted.alpha + TOLERANCE, 1.0):g}"
    predicted = (
        f"On new data, {percent(share)} of the core pairs (standard error {percent(error)}) are "
        f"predicted to get the same label with a probability of at least {bar}."
    )
    caution = (
        "The prediction is too high if the clustering cuts one group in two at random, which draws "
        "of the data cannot show."
    )
    lowest = int(np.nanargmin(clusters["share"]))
    if clusters["share"][lowest] >= share - 2 * error:
        return [predicted, caution]
    name, low = shorten(clusters["cluster"][lowest]), percent(clusters["share"][lowest])
    return [predicted, f"In cluster {name} it is {low}.", caution]


def _advice(fitted: CoreClustering, target: float, suggested: float) -> list[str]:
    if math.isnan(suggested):
        return [f"No alpha that was tried is predicted to reach {percent(target)}."]
    if suggested < fitted.alpha:
        return [f"Cores with alpha={suggested:g} are predicted to reach {percent(target)}."]
    return []
