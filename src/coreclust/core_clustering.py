"""The estimator: cluster, resample, cluster again, and keep what stays together."""

from __future__ import annotations

import copy
import os
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils import estimator_html_repr, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from coreclust._inspection import display
from coreclust._inspection.pair import test_pair
from coreclust._inspection.path import alpha_path, confidence_path
from coreclust._inspection.predict import has_models, predict
from coreclust._inspection.tables import item_table, summary
from coreclust._sampling.fit import choose_engine, gather_evidence, open_checkpoint
from coreclust._sampling.problem import check_problem
from coreclust._utils.compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    fit_callbacks,
    fit_context,
    with_callbacks,
)
from coreclust._utils.constants import DEFAULT_MAX_MEMORY, NOISE_RULES
from coreclust._utils.frames import is_pandas_frame, is_polars_frame
from coreclust._utils.seeds import draw_entropy
from coreclust.cores import Core, core_labels, find_cores
from coreclust.evidence._guarantees import GUARANTEES
from coreclust.evidence._rule import CoreRule

__all__ = ["CoreClustering"]

_KEEP: Any = "keep"  # recut: the parameter stays as it is


class CoreClustering(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """Find the part of every cluster that stays together when the data is resampled.

    The data is clustered. Then it is resampled `n_resamples` times, and every resample is
    clustered, which gives for every pair of items an estimate of the probability that they
    get the same label. Inside each cluster of the data, the *core* is the largest set of
    items in which every pair has a probability of at least ``1 - alpha``. The other items are
    *weak points*. The search for the largest set is exact. This is the method of [1]_.

    Parameters
    ----------
    estimator : clusterer, classifier, Pipeline or callable, default=None
        The clustering function. A clusterer has `fit_predict`. A classifier is trained on
        each resample and labels it; `fit` then needs y. A callable takes items and returns
        one label per item: ``labels = f(Z)``; if it has a parameter `random_state`, it gets
        a seed. None is scikit-learn's k-means++ with 8 clusters. Negative integer
        labels mean noise, except from a classifier.
    alpha : float, default=0.1
        Pairs of a core co-occur with an estimated probability of at least ``1 - alpha``.
    n_resamples : int or "auto", default=1000
        Number of resamples, m. At m = 1000 and alpha = 0.1 the standard error of a
        probability near the threshold is 1.5 %. "auto" draws until the cores have settled and
        most pairs are decided; see the notes.
    max_resamples : int, default=5000
        The largest number of resamples with ``n_resamples="auto"``.
    resampling : "bootstrap" or a scheme, default="bootstrap"
        How resamples are drawn and which items get a label in them: a scheme of
        :mod:`coreclust.resampling`, or any object with a method `draw`, see
        :class:`~coreclust.resampling.Scheme`. A
        :class:`~coreclust.resampling.KnownDistribution` stands for the paper's Algorithm 2.
    confidence : float, default=None
        The confidence that pairs of a core reach ``1 - alpha``; see the notes. None compares the
        estimate itself with ``1 - alpha``, as the paper does.
    guarantee : {"simultaneous", "pair"}, default="simultaneous"
        What `confidence` is about: all pairs of all cores at once, or each pair by itself.
    noise : {"apart", "together", "absent"}, default="apart"
        The noise rule. An item with a noise label in a resample counts as together with no
        other item, as together with other noise, or as not drawn. Items that are noise in the
        reference clustering are never core.
    time_limit : float, default=None
        Seconds for the search for cores, once pairs are counted; with ``n_resamples="auto"``,
        for each check of the cores. When the time is up, cores are valid but perhaps not the
        largest; `cores_` then holds a proven upper bound.
    max_memory : float, default=2e9
        Bytes for the conflicts of one cluster during the search. A cluster that is mere
        chance may have more. Its core is then valid but perhaps not the largest, with a
        proven upper bound. None for no limit.
    keep_models : bool, default=False
        Whether to keep the fitted model of every resample, for :meth:`predict`. For k-means only
        the centers are kept.
    engine : {"auto", "batched", "generic"}, default="auto"
        "batched" clusters many resamples in one call of compiled code. It exists for
        the clusterers in :mod:`coreclust.cluster` and for scikit-learn's KMeans and
        AgglomerativeClustering with their usual parameters. "generic" fits one clone of the
        estimator per resample. "auto" uses "batched" where it exists.
    checkpoint : path, default=None
        A folder in which finished resamples are saved, such as ``"run.ccz"``. It is created
        if it is missing. After an interruption the same call continues from there and returns
        the same result; with a larger `n_resamples` it only draws the new ones.
    n_jobs : int, default=None
        Number of resamples that are clustered at the same time, through joblib. None is 1,
        or all cores where compiled code runs. The result does not depend on it, nor on the
        backend.
    random_state : int, RandomState or None, default=None
        Seed of all randomness. Every resample has its own seeds, also for every
        `random_state` inside the estimator. In the reference clustering, a
        `random_state` that is set keeps its value.
    verbose : int, default=0
        Above 0, a progress bar with the remaining time on standard error.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n_items,)
        The core that each item is in, -1 for weak points.
    reference_labels_ : ndarray of int of shape (n_items,)
        The cluster that each item is in, from 0 on, -1 for noise.
    cluster_names_ : ndarray of shape (n_clusters,)
        The label that the estimator gave to each cluster.
    n_clusters_ : int
        Number of clusters in the reference clustering.
    strengths_ : ndarray of float of shape (n_items,)
        For each item, the share of its meetings with members of its cluster, over all resamples,
        in which they had the same label; NaN for trimmed items.
    cores_ : list of Core
        One record per cluster: `label`, `members`, `n_items`, `n_core`, `core`, `upper_bound`,
        `optimal`.
    core_sample_indices_, weak_sample_indices_, trimmed_sample_indices_ : ndarray of int
        Items in a core; items of a cluster that are not in its core; items that are noise
        in the reference clustering. Every item is in one of the three.
    ensemble_ : LabelEnsemble or PairEvidence
        The labels of all items in all resamples; with a KnownDistribution, how often the
        pairs of each cluster were together in resamples of their own.
    rule_ : CoreRule
        The rule that the cores were found by.
    estimator_ : estimator or callable
        Fitted to the data as given; to a resample of it for a dask array and for
        ``Subsample(size=..., label="all")``.
    engine_ : {"batched", "generic"}
        How the resamples were clustered.
    n_resamples_, n_dropped_resamples_ : int
        Number of resamples drawn, and how many of them the estimator failed on. The latter are
        left out.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of features and their names, if X has them.

    Notes
    -----
    The guarantee is about pairs: all items of a core may land together less often, see
    `all_together` in :meth:`summary`. It is about stability: a clustering can be stable without
    being meaningful. There are three levels:

    - *estimate* (``confidence=None``, the paper): a pair was together in a share of about
      ``1 - alpha`` of the resamples that had both items. The search for the largest set favors
      pairs that got there by luck, so some are really below.
    - *pair* (``guarantee="pair"``): a pair that was fixed beforehand and is really below
      ``1 - alpha`` passes with probability at most ``1 - confidence``.
    - *simultaneous*: with probability at least `confidence`, no pair of any core is below
      ``1 - alpha``. The allowed error is divided by the number of pairs.

    The last two use exact binomial bounds. All levels cover the noise of a finite number of
    resamples only, not whether the cores hold on new data.

    With ``n_resamples="auto"`` the cores are checked after 200 resamples, and each time there are
    a quarter more. Sampling stops once at most 1 % of the items changed core since the last check,
    and at most a quarter of the pairs are undecided and could change a core. `confidence` then
    uses confidence sequences [2]_, which hold at all checks together.

    A `checkpoint` belongs to its data, estimator, resampling, groups, seed, `engine` and
    `keep_models`; `fit` raises if one of them differs. Labels of more than 256 MB stay on disk.

    Libraries under the estimator use one thread; use `n_jobs`. Random numbers from numpy's
    global generator are not seeded.

    References
    ----------
    .. [1] A. Henelius, K. Puolamäki, H. Boström, P. Papapetrou, "Clustering with
       Confidence: Finding Clusters with Statistical Guarantees", arXiv:1612.08714, 2016.
    .. [2] S. R. Howard, A. Ramdas, J. McAuliffe, J. Sekhon, "Time-uniform, nonparametric,
       nonasymptotic confidence sequences", Annals of Statistics 49, 2021.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> cc = CoreClustering(KMeans(3), n_resamples=200, random_state=0).fit(load_iris().data)
    >>> sorted(core.n_items for core in cc.cores_)
    [38, 50, 62]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "n_resamples": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_resamples": [Interval(Integral, 1, None, closed="left")],
        "resampling": "no_validation",
        "confidence": [None, Interval(Real, 0, 1, closed="neither")],
        "guarantee": [StrOptions(set(GUARANTEES))],
        "noise": [StrOptions(set(NOISE_RULES))],
        "time_limit": [None, Interval(Real, 0, None, closed="left")],
        "max_memory": [None, Interval(Real, 0, None, closed="neither")],
        "keep_models": ["boolean"],
        "engine": [StrOptions({"auto", "batched", "generic"})],
        "checkpoint": [None, str, os.PathLike],
        "n_jobs": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(Integral, None, -1, closed="right"),
        ],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        alpha: float = 0.1,
        n_resamples: int | str = 1000,
        max_resamples: int = 5000,
        resampling: Any = "bootstrap",
        confidence: float | None = None,
        guarantee: str = "simultaneous",
        noise: str = "apart",
        time_limit: float | None = None,
        max_memory: float | None = DEFAULT_MAX_MEMORY,
        keep_models: bool = False,
        engine: str = "auto",
        checkpoint: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.alpha = alpha
        self.n_resamples = n_resamples
        self.max_resamples = max_resamples
        self.resampling = resampling
        self.confidence = confidence
        self.guarantee = guarantee
        self.noise = noise
        self.time_limit = time_limit
        self.max_memory = max_memory
        self.keep_models = keep_models
        self.engine = engine
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> CoreClustering:
        """Cluster the data and its resamples, and find the cores.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, dask array or list of n items
            A list of anything for a callable; a square matrix for an estimator that
            takes precomputed distances. A dask array is labeled block by block where it is, and the
            reference clustering is fitted to a resample; it needs a scheme with ``label="all"``.
        y : array-like of shape (n_items,), default=None
            Classes, for a classifier; otherwise ignored.
        groups : array-like of shape (n_items,), default=None
            Items that belong together, such as several rows of one patient: whole groups are
            drawn.

        Returns
        -------
        self : CoreClustering

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> cc = CoreClustering(n_resamples=20, random_state=0)
        >>> cc.fit(load_iris().data, groups=[item // 3 for item in range(150)]).labels_.shape
        (150,)
        """
        checked = copy.copy(self)  # gets the names of the features
        problem = check_problem(checked, self._estimator(), X, y, groups)
        engine = choose_engine(problem, self)
        on_resample, on_end = fit_callbacks(self, X, y, self._most_resamples())
        with open_checkpoint(problem, self, engine) as saved:
            entropy = draw_entropy(self.random_state) if saved is None else saved.entropy
            reference, names, fitted = problem.reference(entropy)
            found = gather_evidence(
                problem,
                self,
                entropy,
                reference,
                engine=engine,
                on_resample=on_resample,
                checkpoint=saved,
            )
        rule = self._rule()
        cores = find_cores(found.evidence, reference, rule, n_jobs=self.n_jobs)
        # Only now, so that a fit that fails or is interrupted leaves an earlier one whole.
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(checked, name):
                setattr(self, name, getattr(checked, name))
            elif hasattr(self, name):
                delattr(self, name)
        self.reference_labels_, self.cluster_names_, self.estimator_ = reference, names, fitted
        self.ensemble_, self._models, self.engine_ = found.evidence, found.models, found.engine
        self.n_resamples_, self.n_dropped_resamples_ = found.n_resamples, found.n_dropped
        self.n_clusters_ = len(names)
        # A shallow copy, so that columns added by the user later do not turn up in tables.
        is_frame = is_pandas_frame(X) or is_polars_frame(X)
        self._frame = copy.copy(X) if is_frame else None
        self._set_cores(rule, cores)
        on_end()
        return self

    def recut(
        self,
        *,
        alpha: float = _KEEP,
        confidence: float | None = _KEEP,
        guarantee: str = _KEEP,
        noise: str = _KEEP,
        time_limit: float | None = _KEEP,
        max_memory: float | None = _KEEP,
    ) -> CoreClustering:
        """Find the cores under another rule, from the same resamples.

        Parameters
        ----------
        alpha, confidence, guarantee, noise, time_limit, max_memory
            As for :class:`CoreClustering`; what is not given stays as it is.

        Returns
        -------
        cut : CoreClustering
            A new fitted estimator that shares this one's ensemble.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> cc = CoreClustering(n_resamples=50, random_state=0).fit(load_iris().data)
        >>> cc.recut(alpha=0.05).alpha, cc.alpha
        (0.05, 0.1)
        """
        check_is_fitted(self)
        given = {
            "alpha": alpha,
            "confidence": confidence,
            "guarantee": guarantee,
            "noise": noise,
            "time_limit": time_limit,
            "max_memory": max_memory,
        }
        changes = {name: value for name, value in given.items() if value is not _KEEP}
        cut = copy.copy(self).set_params(**changes)
        cut._validate_params()
        rule = self.rule_.changed(**changes)
        cores = find_cores(cut.ensemble_, cut.reference_labels_, rule, n_jobs=cut.n_jobs)
        cut._set_cores(rule, cores)
        return cut

    # Reports of a fitted estimator: functions of the inspection room, with their documentation.
    alpha_path = alpha_path
    confidence_path = confidence_path
    item_table = item_table
    predict = available_if(has_models)(predict)
    summary = summary
    test_pair = test_pair

    def cooccurrence(self, i: Any, j: Any) -> Any:
        """Estimate the probability that items i and j get the same label.

        Parameters
        ----------
        i, j : int or array-like of int
            Items, by position; arrays are paired up by broadcasting.

        Returns
        -------
        p : float or ndarray of float

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> cc = CoreClustering(n_resamples=50, random_state=0).fit(load_iris().data)
        >>> cc.cooccurrence(0, [1, 149]).shape
        (2,)
        """
        check_is_fitted(self)
        return self.ensemble_.cooccurrence(i, j, noise=self.noise)

    def to_html(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        *,
        ids: Any = None,
        title: str | None = None,
        positions: ArrayLike | None = None,
    ) -> None:
        """Write a report: one HTML file that opens offline and in any browser.

        It holds the verdict in words, a scatter plot with a slider for alpha, the weak fraction
        against alpha, a heat map of co-occurrence, the table of clusters, a table of items to
        search, sort and download, and how the result was made. Of more than 10,000 items, a
        selection is drawn and listed.

        Parameters
        ----------
        path : path
            The file, written whole or not at all.
        X : array-like of shape (n_items, n_features), default=None
            The data, to draw the items: two features as they are, more by their first two
            principal components. By default the fitted frame, if X was one; otherwise
            items are drawn by cluster and strength.
        ids : sequence of n_items names, default=None
            By default the index of the fitted frame, or the positions of the items.
        title : str, default=None
            Of the page.
        positions : array-like of shape (n_items, 2), default=None
            Where to draw the items instead, for instance a UMAP embedding.

        Raises
        ------
        ImportError
            If the packages of ``coreclust[report]`` are missing.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> cc = CoreClustering(n_resamples=50, random_state=0).fit(load_iris().data)
        >>> cc.to_html(Path(mkdtemp()) / "report.html", title="Iris")
        """
        from coreclust.report import write_report

        write_report(self, path, X, ids=ids, title=title, positions=positions)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        settings = super().__repr__(N_CHAR_MAX)
        return f"{settings}\n{display.as_text(self)}" if hasattr(self, "cores_") else settings

    def _repr_html_inner(self) -> str:
        """Return what a notebook shows: the result, and scikit-learn's diagram."""
        diagram = estimator_html_repr(self)
        return display.as_html(self) + diagram if hasattr(self, "cores_") else diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        estimator = self._estimator()
        if hasattr(estimator, "get_params") and not isinstance(estimator, type):
            inner = get_tags(estimator)
            tags.input_tags = copy.deepcopy(inner.input_tags)
            tags.target_tags.required = inner.target_tags.required
            tags.non_deterministic = inner.non_deterministic
        return tags

    def _estimator(self) -> Any:
        return KMeans() if self.estimator is None else self.estimator

    def _most_resamples(self) -> int:
        return self.max_resamples if self.n_resamples == "auto" else int(self.n_resamples)

    def _rule(self) -> CoreRule:
        """Return the rule of the parameters as they are set."""
        return CoreRule(
            self.alpha,
            self.confidence,
            self.guarantee,
            self.noise,
            self.time_limit,
            self.max_memory,
            anytime=self.n_resamples == "auto",
        )

    def _set_cores(self, rule: CoreRule, cores: list[Core]) -> None:
        """Set the attributes that depend on the rule."""
        self.rule_, self.cores_ = rule, cores
        self.labels_ = core_labels(cores, self.ensemble_.n_items)
        self.strengths_ = np.full(self.labels_.size, np.nan)
        for core in cores:
            self.strengths_[core.members] = core.strength
        clustered = self.reference_labels_ >= 0
        self.core_sample_indices_ = np.flatnonzero(self.labels_ >= 0)
        self.weak_sample_indices_ = np.flatnonzero((self.labels_ < 0) & clustered)
        self.trimmed_sample_indices_ = np.flatnonzero(~clustered)
