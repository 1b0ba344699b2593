"""Defines the estimator, which finds the core of every cluster by resampling."""

from __future__ import annotations

import copy
import os
from numbers import Integral, Real
from typing import Any, ClassVar, cast

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils import estimator_html_repr, get_tags
from sklearn.utils.validation import check_is_fitted

from coreclust._inspection import diagnosis, display, pair
from coreclust._inspection.audit import audit
from coreclust._inspection.path import alpha_path, confidence_path
from coreclust._inspection.predict import has_models, predict
from coreclust._inspection.tables import item_table, summary
from coreclust._inspection.undecided import find_undecided
from coreclust._sampling.fit import (
    choose_engine,
    cluster_reference,
    gather_evidence,
    open_checkpoint,
)
from coreclust._sampling.problem import check_problem, most_resamples
from coreclust._utils.compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    available_if,
    fit_callbacks,
    fit_context,
    with_callbacks,
)
from coreclust._utils.constants import DEFAULT_MAX_MEMORY, DEFAULT_SECONDS, NOISE_RULES
from coreclust._utils.frames import is_pandas_frame, is_polars_frame
from coreclust._utils.seeds import draw_entropy
from coreclust.cores import Core, core_labels, find_cores
from coreclust.evidence._guarantees import GUARANTEES
from coreclust.evidence._rule import CoreRule
from coreclust.report._method import to_html

__all__ = ["CoreClustering"]

_KEEP: Any = "keep"  # in recut: leave the parameter unchanged


class CoreClustering(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """Find the part of every cluster that stays together when the data is resampled.

    The data is clustered; this is the reference clustering. Then it is resampled `n_resamples`
    times, and each resample is clustered. This estimates, for every pair of items, the probability
    that both get the same label. The *core* of a cluster is its largest set of items in which every
    pair has a probability of at least ``1 - alpha``; its other items are *weak points*. The search
    for the largest set is exact. This is the method of [1]_.

    Parameters
    ----------
    estimator : clusterer, classifier, Pipeline or callable, default=None
        The clustering function. A clusterer must have `fit_predict`. A classifier is trained on
        each resample and predicts its labels; `fit` then requires y. A callable takes items and
        returns one label per item, ``labels = f(Z)``; if it has a parameter `random_state`, a seed
        is passed. None uses scikit-learn's KMeans with 8 clusters. Negative integer labels mean
        noise, except for a classifier.
    alpha : float, default=0.1
        The pairs of a core co-occur with an estimated probability of at least ``1 - alpha``.
    n_resamples : int or "auto", default=1000
        Number of resamples, m. "auto" draws resamples until the cores no longer change and most
        pairs are decided; see Notes.
    max_resamples : int, default=5000
        The largest number of resamples with ``n_resamples="auto"``.
    resampling : "bootstrap" or a scheme, default="bootstrap"
        How resamples are drawn, and which items are labeled in them: a scheme of
        :mod:`coreclust.resampling`, or any object with a method `draw`, see
        :class:`~coreclust.resampling.Scheme`. Use
        :class:`~coreclust.resampling.KnownDistribution` for Algorithm 2 of the paper.
    confidence : float, default=None
        The confidence that pairs of a core reach ``1 - alpha``; see Notes. None compares the
        estimate itself with ``1 - alpha``, as in the paper.
    guarantee : {"simultaneous", "pair", "new-data"}, default="simultaneous"
        Whether `confidence` is about all pairs of all cores at once, about each pair by itself, or
        about new data. The last takes 6.4 times as many resamples; see Notes.
    noise : {"apart", "together", "absent"}, default="apart"
        The noise rule. An item with a noise label in a resample counts as together with no other
        item ("apart"), as together with other noise ("together"), or as not drawn ("absent").
        Items that are noise in the reference clustering are never in a core.
    time_limit : float, "auto" or None, default="auto"
        Time limit in seconds of the search for cores; with ``n_resamples="auto"``, of each check.
        If it is reached, the cores are valid but may not be the largest; `cores_` has a proven
        upper bound of their size. "auto" is 30 seconds, or as long as resampling took.
    max_memory : float, default=2e9
        Memory limit in bytes of the search in one cluster, with the same effect as `time_limit`.
        None sets no limit, here and for `time_limit`.
    keep_models : bool, default=False
        Whether to keep the model of every resample (of k-means, the centers), for :meth:`predict`.
    engine : {"auto", "batched", "generic"}, default="auto"
        "batched" clusters many resamples in one call of compiled code, for the clusterers of
        :mod:`coreclust.cluster`, and for scikit-learn's KMeans, MiniBatchKMeans,
        AgglomerativeClustering, GaussianMixture, RandomForestClassifier, SVC and
        LogisticRegression with their usual parameters. "generic" fits one clone of the estimator
        per resample. "auto" uses "batched" where it is available.
    checkpoint : path, default=None
        A folder in which finished resamples are saved, such as ``"run.ccz"``. It is created if it
        does not exist. After an interruption, the same call continues from there and returns the
        same result. With a larger `n_resamples`, only the additional resamples are drawn.
    n_jobs : int, default=None
        Number of resamples that are clustered in parallel, through joblib. None uses 1, or all
        processors for compiled code. The result does not depend on it, nor on the backend.
    random_state : int, RandomState or None, default=None
        Pass an int for reproducible results. Each resample has its own seeds, including one for
        every `random_state` inside the estimator. In the reference clustering, a `random_state`
        that is set keeps its value.
    verbose : int, default=0
        Above 0, show a progress bar with the remaining time on standard error.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n_items,)
        The core of each item, -1 for items that are in no core.
    reference_labels_ : ndarray of int of shape (n_items,)
        The cluster of each item, numbered from 0 on, -1 for noise.
    cluster_names_ : ndarray of shape (n_clusters,)
        The label that the estimator gave to each cluster.
    n_clusters_ : int
        Number of clusters in the reference clustering.
    strengths_ : ndarray of float of shape (n_items,)
        For each item, the share of joint resamples with another member of its cluster in which
        both had the same label, pooled over the members; NaN for trimmed items.
    cores_ : list of Core
        One record per cluster, with `label`, `members`, `core`, `n_items`, `n_core`,
        `upper_bound`, `optimal` and more.
    core_sample_indices_, weak_sample_indices_, trimmed_sample_indices_ : ndarray of int
        Items in a core; items of a cluster that are not in its core; noise in the reference
        clustering. Every item is in exactly one of the three.
    undecided_sample_indices_ : ndarray of int
        Weak items that are so only because they were seen too rarely with items of the core.
    ensemble_ : LabelEnsemble or PairEvidence
        The labels of all items in all resamples, or counts of pairs with a KnownDistribution.
    rule_ : CoreRule
        The rule under which the cores were found.
    estimator_ : estimator or callable
        The estimator fitted to the data, or to a subset if X is a dask array or with
        ``Subsample(size=..., label="all")``.
    engine_ : {"batched", "generic"}
        How the resamples were clustered.
    n_resamples_, n_dropped_resamples_ : int
        Number of resamples drawn, and of those left out because the estimator failed.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of features, and their names if X has any.

    Notes
    -----
    The guarantee is about pairs: all items of a core at once can be together less often, see
    `all_together` in :meth:`summary`. It is about stability: a stable clustering need not be
    meaningful. There are four levels:

    - *estimate* (``confidence=None``, as in the paper): the estimated probability of every pair is
      at least ``1 - alpha``. The search for the largest set favors pairs with an estimate that is
      too high by chance, so the true probability of some pairs is below ``1 - alpha``.
    - *pair* (``guarantee="pair"``): a pair that was fixed beforehand, and whose probability is
      below ``1 - alpha``, passes with probability at most ``1 - confidence``.
    - *simultaneous*: with probability at least `confidence`, no pair of any core is below
      ``1 - alpha``. The allowed error is divided by the number of pairs.
    - *new-data*: one dataset per ten `n_resamples` is drawn from the data, with replacement, and
      resampled 64 times. A pair passes if it reaches ``1 - alpha`` in a share `confidence` of them.

    The first three account only for the finite number of resamples, not for new data.

    With ``n_resamples="auto"``, the cores are checked after 200 resamples, and again when there are
    a quarter more. Sampling stops once at most 1 % of the items changed core since the last check
    and at most a quarter of the pairs could still change a core. `confidence` then uses confidence
    sequences [2]_, which hold at all checks together.

    A `checkpoint` continues only with the same data, estimator, resampling, groups, seed, `engine`
    and `keep_models`. Labels of more than 256 MB stay on disk.
    Libraries used by the estimator run in one thread. NumPy's global generator is not seeded.

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

    # Codes and names of clusters to use as the reference; set for single cells.
    _given_reference: tuple[Any, Any] | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "n_resamples": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_resamples": [Interval(Integral, 1, None, closed="left")],
        "resampling": "no_validation",
        "confidence": [None, Interval(Real, 0, 1, closed="neither")],
        "guarantee": [StrOptions(GUARANTEES.keys())],  # a view, which includes later entries
        "noise": [StrOptions(set(NOISE_RULES))],
        "time_limit": [None, StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
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
        time_limit: float | str | None = "auto",
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
            The data: a list of any objects for a callable, a square matrix for an estimator that
            takes precomputed distances. A dask array is labeled block by block, and the reference
            clustering is fitted to a subset; this requires a scheme with ``label="all"``.
        y : array-like of shape (n_items,), default=None
            Classes, for a classifier; otherwise ignored.
        groups : array-like of shape (n_items,), default=None
            The group of each item, for instance its patient. Groups are drawn as a whole.

        Returns
        -------
        self : CoreClustering

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> cc = CoreClustering(n_resamples=60, random_state=0)
        >>> cc.fit(load_iris().data, groups=[item // 3 for item in range(150)]).labels_.shape
        (150,)
        """
        checked = copy.copy(self)  # gets the names of the features
        problem = check_problem(checked, self._estimator(), X, y, groups)
        engine = choose_engine(problem, self)
        on_resample, on_end = fit_callbacks(self, X, y, most_resamples(self))
        with open_checkpoint(problem, self, engine) as saved:
            entropy = draw_entropy(self.random_state) if saved is None else saved.entropy
            reference, names, fitted = cluster_reference(problem, self, entropy, engine)
            found = gather_evidence(problem, self, entropy, reference, engine, on_resample, saved)
        rule = self._rule(found.seconds, problem.spread)
        cores = find_cores(
            found.evidence, reference, rule, n_jobs=self.n_jobs, verbose=self.verbose
        )
        # Set only now, so that a fit that fails or is interrupted leaves an earlier one unchanged.
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(checked, name):
                setattr(self, name, getattr(checked, name))
            elif hasattr(self, name):
                delattr(self, name)
        self.reference_labels_, self.cluster_names_, self.estimator_ = reference, names, fitted
        self.ensemble_, self._models, self.engine_ = found.evidence, found.models, found.engine
        self.n_resamples_, self.n_dropped_resamples_ = found.n_resamples, found.n_dropped
        self.n_clusters_ = len(names)
        # A shallow copy, so that columns added to X later do not appear in the tables.
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
        time_limit: float | str | None = _KEEP,
        max_memory: float | None = _KEEP,
    ) -> CoreClustering:
        """Find the cores under another rule, from the same resamples.

        Parameters
        ----------
        alpha, confidence, guarantee, noise, time_limit, max_memory
            As for :class:`CoreClustering`. Parameters that are not given keep their values.

        Returns
        -------
        cut : CoreClustering
            A new fitted estimator with the same ensemble.

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
        if changes.get("time_limit") == "auto":
            changes["time_limit"] = DEFAULT_SECONDS
        rule = self.rule_.changed(**changes)
        cores = find_cores(
            cut.ensemble_, cut.reference_labels_, rule, n_jobs=cut.n_jobs, verbose=cut.verbose
        )
        cut._set_cores(rule, cores)
        return cut

    # Reports of a fitted estimator, defined and documented in coreclust._inspection and .report.
    alpha_path = alpha_path
    audit = audit
    confidence_path = confidence_path
    diagnose = diagnosis.diagnose
    item_table = item_table
    predict = available_if(has_models, predict)
    summary = summary
    test_pair = pair.test_pair
    to_html = to_html

    def cooccurrence(self, i: Any, j: Any) -> Any:
        """Estimate the probability that items i and j get the same label.

        Parameters
        ----------
        i, j : int or array-like of int
            Items, by position; arrays are broadcast against each other.

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

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        settings = super().__repr__(N_CHAR_MAX)
        return f"{settings}\n{display.as_text(self)}" if hasattr(self, "cores_") else settings

    def _repr_html_inner(self) -> str:
        """Return the HTML for a notebook: the result, and scikit-learn's diagram."""
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

    def _rule(self, seconds: float, spread: float) -> CoreRule:
        """Return the rule, if resampling took some seconds and the scheme has some spread."""
        limit = max(DEFAULT_SECONDS, seconds) if self.time_limit == "auto" else self.time_limit
        return CoreRule(
            self.alpha,
            self.confidence,
            self.guarantee,
            self.noise,
            cast("float | None", limit),
            self.max_memory,
            anytime=self.n_resamples == "auto",
            spread=spread,
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
        self.undecided_sample_indices_ = find_undecided(self)
