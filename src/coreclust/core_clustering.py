"""The estimator: cluster, resample, cluster again, and keep what stays together."""

from __future__ import annotations

import copy
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from coreclust._compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    fit_context,
    number_of_items,
    with_callbacks,
)
from coreclust._validation import GUARANTEES, check_confidence
from coreclust.batching import (
    BatchLabeller,
    DatasetLabeller,
    batch_labeller,
    dataset_labeller,
)
from coreclust.cores import Core, core_clusters, core_path, edge_table, pair_share
from coreclust.ensemble import LabelEnsemble
from coreclust.evidence import PairTest, pair_test
from coreclust.frames import is_pandas_frame, is_polars_frame
from coreclust.functions import ClusteringFunction, warn_of_density
from coreclust.inputs import (
    check_classes,
    check_groups,
    check_items,
    check_keeps_models,
    check_scheme,
)
from coreclust.models import CentreModel, Model, label_new
from coreclust.pair_evidence import PairEvidence
from coreclust.pair_sampling import check_distribution, sample_pairs
from coreclust.pairs import NOISE_RULES, agreement_with
from coreclust.path import CorePath, check_values
from coreclust.resampling import (
    Bootstrap,
    KnownDistribution,
    ParametricBootstrap,
    Scheme,
    SmoothedBootstrap,
    check_resampling,
)
from coreclust.runner import label_samples
from coreclust.seeds import draw_entropy, seeds_of
from coreclust.tables import item_table, summary_table

_ALPHAS = np.arange(1, 51) / 100
_REFERENCE = 0  # the seed key of the reference clustering; samples have keys of two numbers


def _can_predict(fitted: CoreClustering) -> bool:
    """Tell whether new items can be labelled; raise with the reason if not."""
    if not fitted.keep_models:
        raise AttributeError("predict needs keep_models=True, set before fit.")
    return True


class CoreClustering(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """Find the part of every cluster that stays together when the data is drawn again.

    The data is clustered; then resampled `n_resamples` times and every sample clustered
    again, which gives for every pair of items an estimate of the probability that they
    get the same label. Inside each cluster of the data, the *core* is the largest set of
    items in which every pair has a probability of at least ``1 - alpha``. The other
    items are *weak points*. The search for the largest set is exact.

    This is the method of [1]_, Algorithms 1 and 3.

    Parameters
    ----------
    estimator : clusterer, classifier, Pipeline or callable, default=None
        The clustering function. A clusterer has `fit_predict`; a classifier is trained on
        each sample and labels it (`fit` then needs y); a callable takes items and returns
        a label for each: ``labels = f(Z)``. If it has a parameter `random_state`, it gets
        a seed. None stands for scikit-learn's k-means++ with 8 clusters. Negative integer
        labels mean noise, except from a classifier.
    alpha : float, default=0.1
        Pairs of a core co-occur with an estimated probability of at least ``1 - alpha``.
    n_resamples : int, default=1000
        Number of samples, m. At m = 1000 and alpha = 0.1 the standard error of a
        probability near the threshold is 1.5 %.
    resampling : "bootstrap" or a scheme, default="bootstrap"
        How samples are drawn, and which items get a label in them: a
        :class:`~coreclust.resampling.Bootstrap`,
        :class:`~coreclust.resampling.SmoothedBootstrap`,
        :class:`~coreclust.resampling.Subsample`,
        :class:`~coreclust.resampling.ParametricBootstrap`, or, for the paper's Algorithm 2,
        a :class:`~coreclust.resampling.KnownDistribution`.
    confidence : float, default=None
        How sure to be of ``1 - alpha``, see the notes. None takes the estimate at its word,
        as the paper does.
    guarantee : {"simultaneous", "pair"}, default="simultaneous"
        What `confidence` is about: all pairs of all cores at once, or each pair by itself.
    noise : {"apart", "together", "absent"}, default="apart"
        How two items that are both noise in a sample count: not together, together, or
        as if they had not been in the sample. Items that are noise in the clustering of
        the data itself are never core.
    time_limit : float, default=None
        Seconds for the search for cores. When it strikes, cores are valid but perhaps not
        the largest; `cores_` then holds a proven upper bound.
    keep_models : bool, default=False
        Whether to keep the fitted model of every sample, for :meth:`predict`. Of our k-means
        and scikit-learn's usual one only the centres are kept.
    engine : {"auto", "generic"}, default="auto"
        "auto" uses compiled code that clusters many samples at once where there is some:
        for the clusterers in :mod:`coreclust.cluster` and for scikit-learn's KMeans and
        AgglomerativeClustering with their usual parameters. "generic" always fits a
        clone of the estimator to each sample.
    n_jobs : int, default=None
        Number of samples that are clustered at the same time, through joblib. None is 1,
        or all cores where compiled code runs. It does not change the result; neither does
        the backend.
    random_state : int, RandomState or None, default=None
        Seed of all randomness. Sample b has seeds of its own, also for every
        `random_state` inside the estimator. In the clustering of the data itself, a
        `random_state` that is set is left alone.
    verbose : int, default=0
        Above 0, a progress bar with the time left on standard error.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n_items,)
        The core that each item is in, -1 for weak points.
    reference_labels_ : ndarray of int of shape (n_items,)
        The cluster that each item is in, from 0 on, -1 for noise.
    cluster_names_ : ndarray of shape (n_clusters,)
        The label that the estimator gave to each cluster.
    cores_ : list of Core
        One record a cluster: `label`, `members`, `size`, `core`, `upper_bound`, `optimal`.
    core_sample_indices_, weak_sample_indices_, trimmed_sample_indices_ : ndarray of int
        Items in a core; items of a cluster that are not in its core; items that are noise
        in the clustering of the data. Every item is in one of the three.
    ensemble_ : LabelEnsemble or PairEvidence
        The labels of all items in all samples; with a KnownDistribution, how often the
        pairs of each cluster were together in samples of their own.
    estimator_ : estimator or callable
        Fitted to the data as given.
    engine_ : {"batched", "generic"}
        Which way the samples were clustered.
    n_dropped_resamples_ : int
        Samples left out because the estimator failed on them.
    n_features_in_ : int
        Number of features, where X has features.
    feature_names_in_ : ndarray of str
        Their names, where X has names.

    Notes
    -----
    The guarantee is about pairs, and about stability: a pair of core items lands together
    in at least ``1 - alpha`` of the samples, but all of them together may do so less often
    (`summary` has that share), and a clustering can be stable without being meaningful.

    How much is promised of a pair of core items is one of three:

    - *the estimate* (``confidence=None``, the paper): it was together in a share of about
      ``1 - alpha`` of the samples that had both. The search for the largest set favours pairs
      that got there by luck, so some of them are really below.
    - *per pair* (``guarantee="pair"``): for a pair fixed beforehand, the chance to be counted
      as ``1 - alpha`` and be below it is at most ``1 - confidence``. Among many pairs, some are.
    - *simultaneous* (the default with a `confidence`): the chance that *any* pair of any core
      is below ``1 - alpha`` is at most ``1 - confidence``. The level is divided by the number
      of pairs compared, which costs some items of the cores.

    The last two rest on exact binomial bounds. All three are about the noise of a finite number
    of samples, and none about whether resampling the data stands in for new data.

    While samples are clustered, libraries under the estimator are held to one thread; use
    `n_jobs`. Random numbers that an estimator or a callable draws from numpy's global
    generator are not seeded.

    References
    ----------
    .. [1] A. Henelius, K. Puolamäki, H. Boström, P. Papapetrou, "Clustering with
       Confidence: Finding Clusters with Statistical Guarantees", arXiv:1612.08714, 2016.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> X = load_iris().data
    >>> cc = CoreClustering(KMeans(3), n_resamples=200, random_state=0).fit(X)
    >>> sorted(core.size for core in cc.cores_)
    [38, 50, 62]
    >>> cc.recut(alpha=0.5).weak_sample_indices_.size <= cc.weak_sample_indices_.size
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "n_resamples": [Interval(Integral, 1, None, closed="left")],
        "resampling": "no_validation",
        "confidence": [None, Interval(Real, 0, 1, closed="neither")],
        "guarantee": [StrOptions(set(GUARANTEES))],
        "noise": [StrOptions(set(NOISE_RULES))],
        "time_limit": [None, Interval(Real, 0, None, closed="left")],
        "keep_models": ["boolean"],
        "engine": [StrOptions({"auto", "generic"})],
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
        n_resamples: int = 1000,
        resampling: Any = "bootstrap",
        confidence: float | None = None,
        guarantee: str = "simultaneous",
        noise: str = "apart",
        time_limit: float | None = None,
        keep_models: bool = False,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.alpha = alpha
        self.n_resamples = n_resamples
        self.resampling = resampling
        self.confidence = confidence
        self.guarantee = guarantee
        self.noise = noise
        self.time_limit = time_limit
        self.keep_models = keep_models
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> CoreClustering:
        """Cluster the data and its samples, and find the cores.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or list of n items
            A list of anything for a callable; a square matrix for an estimator that
            takes precomputed distances.
        y : array-like of shape (n_items,), default=None
            Classes, for a classifier; otherwise ignored.
        groups : array-like of shape (n_items,), default=None
            Items that belong together, such as several rows of one patient: whole groups are
            drawn.

        Returns
        -------
        self : CoreClustering
        """
        function = ClusteringFunction.of(self._estimator())
        scheme = check_resampling(self.resampling)
        items = check_items(self, X, function)
        classes = check_classes(y, items, function)
        entropy = draw_entropy(self.random_state)
        on_sample, on_end = self._callbacks(X, y)

        group_codes = check_groups(groups, items, scheme)
        if type(scheme) is Bootstrap:
            warn_of_density(function.estimator)
        if self.keep_models:
            check_keeps_models(function, scheme)
        if isinstance(scheme, KnownDistribution):
            check_distribution(function, items, classes, scheme)
        else:
            n_units = number_of_items(items) if group_codes is None else group_codes.max() + 1
            check_scheme(
                scheme,
                function,
                items,
                n_units=int(n_units),
                n_resamples=self.n_resamples,
                alpha=self.alpha,
            )
        reference, names, fitted = function.label_all(items, classes, seeds_of(entropy, _REFERENCE))
        ensemble: LabelEnsemble | PairEvidence
        labeller: BatchLabeller | DatasetLabeller | None
        if isinstance(scheme, KnownDistribution):
            labeller = (
                dataset_labeller(function.estimator, items) if self.engine == "auto" else None
            )
            models: list[Model] = []
            ensemble, n_dropped = sample_pairs(
                function,
                items,
                classes,
                reference,
                scheme=scheme,
                n_resamples=self.n_resamples,
                entropy=entropy,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
                labeller=labeller,
            )
        else:
            labeller = self._batch_labeller(function, items, scheme)
            ensemble, n_dropped, models = label_samples(
                function,
                items,
                classes,
                scheme=scheme,
                n_resamples=self.n_resamples,
                entropy=entropy,
                groups=group_codes,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
                on_sample=on_sample,
                labeller=labeller,
                keep_models=self.keep_models,
            )
        # Only now, so that a fit that fails or is interrupted leaves an earlier one whole.
        self.reference_labels_, self.cluster_names_, self.estimator_ = reference, names, fitted
        self.ensemble_, self.n_dropped_resamples_ = ensemble, n_dropped
        self._models = models
        self.engine_ = "generic" if labeller is None else "batched"
        # A shallow copy, so that columns added by the user later do not turn up in tables.
        is_frame = is_pandas_frame(X) or is_polars_frame(X)
        self._frame = copy.copy(X) if is_frame else None
        self._find_cores()
        on_end()
        return self

    def recut(self, **changes: Any) -> CoreClustering:
        """Answer again from the same samples, under other rules.

        Parameters
        ----------
        **changes : alpha, confidence, guarantee, noise or time_limit
            The parameters to change.

        Returns
        -------
        cut : CoreClustering
            A new fitted estimator that shares this one's ensemble.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> cc = CoreClustering(n_resamples=50, random_state=0).fit(load_iris().data)
        >>> strict = cc.recut(alpha=0.05)
        >>> strict.alpha, cc.alpha
        (0.05, 0.1)
        """
        check_is_fitted(self)
        allowed = ("alpha", "confidence", "guarantee", "noise", "time_limit")
        for name in changes:
            if name not in allowed:
                raise TypeError(
                    f"recut() changes {', '.join(allowed)}, not {name!r}; "
                    "for anything else, fit again."
                )
        cut = copy.copy(self).set_params(**changes)
        cut._validate_params()
        cut._find_cores()
        return cut

    def alpha_path(self, alphas: ArrayLike | None = None) -> CorePath:
        """Find the cores at many values of alpha, from the same samples.

        Pairs are counted only once, and a core at one alpha is where the search for the next
        one starts.

        Parameters
        ----------
        alphas : array-like of float, default=None
            By default 0.01 to 0.5 in steps of 0.01, from where on a pair that is seen about as
            often as most can pass.

        Returns
        -------
        path : CorePath
            With the cores and the weak fraction at each alpha, ascending. Where several
            largest cores tie, the choice may be another than that of :meth:`recut`.

        Examples
        --------
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> cc = CoreClustering(KMeans(3), n_resamples=200, random_state=0).fit(load_iris().data)
        >>> path = cc.alpha_path([0.05, 0.1, 0.2])
        >>> bool((path.weak_fraction[:-1] >= path.weak_fraction[1:]).all())
        True
        """
        check_is_fitted(self)
        given = self._reachable_alphas() if alphas is None else alphas
        values = check_values(given, "alphas", open_ends=False)
        return self._path("alpha", values, [(alpha, self.confidence) for alpha in values.tolist()])

    def confidence_path(self, confidences: ArrayLike) -> CorePath:
        """Find the cores at many values of confidence, from the same samples.

        Parameters
        ----------
        confidences : array-like of float
            Above 0 and below 1.

        Returns
        -------
        path : CorePath
            With the cores and the weak fraction at each confidence, ascending.
        """
        check_is_fitted(self)
        values = check_values(confidences, "confidences", open_ends=True)
        # From the strictest on: the highest confidence.
        rules = [(self.alpha, level) for level in values[::-1].tolist()]
        return self._path("confidence", values, rules, backwards=True)

    def cooccurrence(self, i: Any, j: Any) -> Any:
        """Estimate the probability that items i and j get the same label.

        Parameters
        ----------
        i, j : int or array-like of int
            Items, by position; arrays are paired up by broadcasting.

        Returns
        -------
        p : float or ndarray of float
        """
        check_is_fitted(self)
        return self.ensemble_.cooccurrence(i, j, noise=self.noise)

    def test_pair(self, i: Any, j: Any, *, confidence: float = 0.95) -> PairTest:
        """Test whether items i and j co-occur with probability at least ``1 - alpha``.

        Each pair is tested by itself; for many pairs at once, compare `p_value` with
        ``(1 - confidence)`` divided by their number.

        Parameters
        ----------
        i, j : int or array-like of int
            Items, by position; arrays are paired up by broadcasting.
        confidence : float, default=0.95
            Of the interval, and 1 minus the level of the test.

        Returns
        -------
        test : PairTest
            With `estimate`, `lower`, `upper`, `p_value`, `together`, `n_together` and
            `n_seen`, numbers or arrays. The test is one-sided and the interval is not: of a
            pair that is `together`, `lower` may be a little below ``1 - alpha``.

        Examples
        --------
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> cc = CoreClustering(KMeans(3), random_state=0).fit(load_iris().data)
        >>> test = cc.test_pair(0, 1)
        >>> test.together, test.lower > 0.98
        (True, True)
        """
        check_is_fitted(self)
        if confidence is None:
            raise ValueError("confidence must be a number above 0 and below 1, got None.")
        check_confidence(confidence)
        together, seen = self.ensemble_.cooccurrence_counts(i, j, noise=self.noise)
        n_prior = None if isinstance(self.ensemble_, PairEvidence) else self.ensemble_.n_items
        return pair_test(together, seen, n_prior, alpha=self.alpha, confidence=confidence)

    @available_if(_can_predict)
    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the core that each new item belongs to, -1 for none.

        The model of each sample labels the new items. An item belongs to a core if it passes
        the rule of the cores with *every* member: it gets the member's label in enough of
        the samples that labelled the member. If there are several, that with which it is
        together most often.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)

        Returns
        -------
        labels : ndarray of int of shape (n_new,)

        Examples
        --------
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> X = load_iris().data
        >>> cc = CoreClustering(KMeans(3), keep_models=True, random_state=0).fit(X[::2])
        >>> labels = cc.predict(X[1::2])
        >>> labels.shape, bool((labels[:25] == labels[0]).all())
        ((75,), True)
        """
        check_is_fitted(self)
        new = label_new(self._models, self._check_new(X))
        labels = np.full(len(new), -1, dtype=np.int64)
        highest = np.full(len(new), -1.0)
        ensemble = cast(LabelEnsemble, self.ensemble_)
        sizes = np.array([core.size for core in self.cores_])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # too few samples were told of in fit
            table = edge_table(ensemble, sizes, self.alpha, self.confidence, self.guarantee)
        for core in self.cores_:
            members = ensemble.labels[core.core]
            fits, together, seen = agreement_with(new, members, table, self.noise)
            share = together / np.maximum(seen, 1)
            better = fits & (share > highest)
            labels[better], highest[better] = core.label, share[better]
        return labels

    def summary(self) -> Any:
        """Return a data frame with a row a cluster.

        Returns
        -------
        summary : DataFrame
            With columns `cluster` (its name), `size`, `core`, `weak` (counts),
            `weak_fraction`, `all_together` (the share of samples in which *all* members
            of the core that were present, if two or more, had one label), `upper_bound`
            (on the size of the core) and `optimal`.
        """
        check_is_fitted(self)
        return summary_table(self)

    def item_table(self, *, details: bool = True) -> Any:
        """Return a data frame with a row an item.

        Parameters
        ----------
        details : bool, default=True
            Whether to compute the last three columns, too: every item is compared with the
            whole core of its cluster, which for clusters of many thousands takes a while.

        Returns
        -------
        items : DataFrame
            If X was a pandas or polars frame, of the same kind, with its index and its
            columns first. Then `cluster` (the name of the item's cluster), `core_label`
            (as in `labels_`), `status` ("core", "weak" or "trimmed"), `strength` (the
            share of the item's meetings with members of its cluster in which they had the
            same label), `mean_cooccurrence` and `min_cooccurrence` (with the other members of
            the cluster's core) and `core_alpha` (the smallest alpha at which the item is in
            a core, out of those of :meth:`alpha_path` and `alpha` itself; NaN if there is
            none). Cores need not be nested: a weak item may have a `core_alpha` below `alpha`.
        """
        check_is_fitted(self)
        return item_table(self, details=details)

    def _estimator(self) -> Any:
        return KMeans() if self.estimator is None else self.estimator

    def _batch_labeller(
        self, function: ClusteringFunction, items: Any, scheme: Scheme
    ) -> BatchLabeller | None:
        if self.engine != "auto" or isinstance(scheme, (SmoothedBootstrap, ParametricBootstrap)):
            return None
        labeller = batch_labeller(function.estimator, items, everyone=scheme.label != "sample")
        can_keep = hasattr(labeller, "label_and_keep")
        return labeller if can_keep or not self.keep_models else None

    def _check_new(self, X: Any) -> Any:
        """Return new items as the kept models take them."""
        if not isinstance(self._models[0], CentreModel):
            return validate_data(self, X, reset=False, skip_check_array=True)
        return validate_data(self, X, reset=False, dtype=np.float64)

    def _find_cores(self) -> None:
        self.cores_: list[Core] = core_clusters(
            self.ensemble_,
            self.reference_labels_,
            alpha=self.alpha,
            confidence=self.confidence,
            guarantee=self.guarantee,
            noise=self.noise,
            time_limit=self.time_limit,
        )
        self.labels_ = _core_labels(self.cores_, self.ensemble_.n_items)
        clustered = self.reference_labels_ >= 0
        self.core_sample_indices_ = np.flatnonzero(self.labels_ >= 0)
        self.weak_sample_indices_ = np.flatnonzero((self.labels_ < 0) & clustered)
        self.trimmed_sample_indices_ = np.flatnonzero(~clustered)

    def _reachable_alphas(self) -> NDArray[np.float64]:
        """Return the usual alphas, without those at which hardly any pair can be an edge."""
        sizes = np.array([core.size for core in self.cores_], dtype=np.int64)
        seen = int(0.8 * pair_share(self.ensemble_) * self.ensemble_.n_resamples)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reachable = [
                edge_table(self.ensemble_, sizes, alpha, self.confidence, self.guarantee)[seen] >= 0
                for alpha in _ALPHAS.tolist()
            ]
        return _ALPHAS[reachable] if any(reachable) else _ALPHAS[-1:]

    def _path(
        self,
        parameter: str,
        values: NDArray[np.float64],
        rules: list[tuple[float, float | None]],
        *,
        backwards: bool = False,
    ) -> CorePath:
        cores = core_path(
            self.ensemble_,
            self.reference_labels_,
            rules,
            guarantee=self.guarantee,
            noise=self.noise,
            time_limit=self.time_limit,
        )
        cores = cores[::-1] if backwards else cores
        labels = np.array([_core_labels(found, self.ensemble_.n_items) for found in cores])
        return CorePath(parameter, values, cores, labels)

    def _callbacks(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return what to call after each sample and at the end, for scikit-learn's callbacks."""
        if not hasattr(self, "_init_callback_context"):
            return None, lambda: None
        context = self._init_callback_context(max_subtasks=int(self.n_resamples))
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)

        def on_sample() -> None:
            sample = context.subcontext(task_name="resample")
            sample.call_on_fit_task_begin(estimator=self)
            sample.call_on_fit_task_end(estimator=self)

        def on_end() -> None:
            context.call_on_fit_task_end(estimator=self, X=X, y=y)

        has_callbacks = bool(getattr(self, "_skl_callbacks", []))
        return (on_sample if has_callbacks else None), on_end

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        estimator = self._estimator()
        if hasattr(estimator, "get_params") and not isinstance(estimator, type):
            inner = get_tags(estimator)
            tags.input_tags = copy.deepcopy(inner.input_tags)
            tags.target_tags.required = inner.target_tags.required
            tags.non_deterministic = inner.non_deterministic
        return tags


def _core_labels(cores: list[Core], n_items: int) -> NDArray[np.int64]:
    """Return the core that each item is in, -1 for none."""
    labels = np.full(n_items, -1, dtype=np.int64)
    for core in cores:
        labels[core.core] = core.label
    return labels
