"""The estimator: cluster, resample, cluster again, and keep what stays together."""

from __future__ import annotations

import contextlib
import copy
import functools
import os
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils import get_tags

from coreclust._checkpoint.fingerprint import settings_of
from coreclust._checkpoint.folder import Checkpoint
from coreclust._sampling.adaptive import CutRule, label_until_settled
from coreclust._sampling.models import Model
from coreclust._sampling.native import (
    BatchLabeler,
    batch_labeler,
    dataset_labeler,
)
from coreclust._sampling.pairs import resample_pairs
from coreclust._sampling.problem import Problem, check_problem
from coreclust._sampling.runner import label_resamples, report_dropped
from coreclust._utils.blocks import BlockedItems
from coreclust._utils.compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    fit_context,
    number_of_items,
    with_callbacks,
)
from coreclust._utils.constants import DEFAULT_MAX_MEMORY, NOISE_RULES
from coreclust._utils.frames import is_pandas_frame, is_polars_frame
from coreclust._utils.seeds import draw_entropy
from coreclust._utils.validation import GUARANTEES
from coreclust.answers import CoreAnswers
from coreclust.evidence._ensemble import LabelEnsemble
from coreclust.evidence._pair_evidence import PairEvidence
from coreclust.resampling._schemes import (
    KnownDistribution,
    ParametricBootstrap,
    Scheme,
    SmoothedBootstrap,
)


class _Resampled(NamedTuple):
    """What the resamples have shown."""

    evidence: LabelEnsemble | PairEvidence
    n_resamples: int
    n_dropped: int
    models: list[Model]
    engine: str


class CoreClustering(CallbackSupportMixin, CoreAnswers, ClusterMixin, BaseEstimator):
    """Find the part of every cluster that stays together when the data is drawn again.

    The data is clustered; then resampled `n_resamples` times and every resample clustered
    again, which gives for every pair of items an estimate of the probability that they
    get the same label. Inside each cluster of the data, the *core* is the largest set of
    items in which every pair has a probability of at least ``1 - alpha``. The other
    items are *weak points*. The search for the largest set is exact.

    This is the method of [1]_, Algorithms 1 and 3.

    Parameters
    ----------
    estimator : clusterer, classifier, Pipeline or callable, default=None
        The clustering function. A clusterer has `fit_predict`; a classifier is trained on
        each resample and labels it (`fit` then needs y); a callable takes items and returns
        a label for each: ``labels = f(Z)``. If it has a parameter `random_state`, it gets
        a seed. None stands for scikit-learn's k-means++ with 8 clusters. Negative integer
        labels mean noise, except from a classifier.
    alpha : float, default=0.1
        Pairs of a core co-occur with an estimated probability of at least ``1 - alpha``.
    n_resamples : int or "auto", default=1000
        Number of resamples, m. At m = 1000 and alpha = 0.1 the standard error of a
        probability near the threshold is 1.5 %. "auto" draws until the cores stay as they are
        and most pairs are decided, see the notes.
    max_resamples : int, default=5000
        When to stop at the latest with ``n_resamples="auto"``.
    resampling : "bootstrap" or a scheme, default="bootstrap"
        How resamples are drawn, and which items get a label in them: a
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
        How an item that is noise in a resample counts: as together with no other, as together
        with others that are noise, or as if it had not been in the resample. Items that are noise
        in the clustering of the data itself are never core.
    time_limit : float, default=None
        Seconds for the search for cores, once pairs are counted; with ``n_resamples="auto"``,
        each time that the cores are looked at. When it strikes, cores are valid but perhaps not
        the largest; `cores_` then holds a proven upper bound.
    max_memory : float, default=2e9
        Bytes for the conflicts of a cluster while its core is searched for. A cluster that is
        pure chance may have more; its core is then valid but perhaps not the largest, with a
        proven upper bound. None for no limit.
    keep_models : bool, default=False
        Whether to keep the fitted model of every resample, for :meth:`predict`. Of our k-means
        and scikit-learn's usual one only the centers are kept.
    engine : {"auto", "generic"}, default="auto"
        "auto" uses compiled code that clusters many resamples at once where there is some:
        for the clusterers in :mod:`coreclust.cluster` and for scikit-learn's KMeans and
        AgglomerativeClustering with their usual parameters. "generic" always fits a
        clone of the estimator to each resample.
    checkpoint : path, default=None
        A folder in which finished resamples are kept, made if it is missing, such as
        ``"run.ccz"``. After a crash, a loss of power or an interrupt the same call goes on from
        there, and ends with the same answer; with a larger `n_resamples` it only runs what is
        new. See the notes.
    n_jobs : int, default=None
        Number of resamples that are clustered at the same time, through joblib. None is 1,
        or all cores where compiled code runs. It does not change the result; neither does
        the backend.
    random_state : int, RandomState or None, default=None
        Seed of all randomness. Resample b has seeds of its own, also for every
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
        The labels of all items in all resamples; with a KnownDistribution, how often the
        pairs of each cluster were together in resamples of their own.
    estimator_ : estimator or callable
        Fitted to the data as given; to a resample of it for a dask array, and under
        ``Subsample(size=..., label="all")``.
    engine_ : {"batched", "generic"}
        Which way the resamples were clustered.
    n_resamples_ : int
        Resamples drawn, with those that were dropped.
    n_dropped_resamples_ : int
        Resamples left out because the estimator failed on them.
    n_features_in_ : int
        Number of features, where X has features.
    feature_names_in_ : ndarray of str
        Their names, where X has names.

    Notes
    -----
    The guarantee is about pairs, and about stability: a pair of core items lands together
    in at least ``1 - alpha`` of the resamples, but all of them together may do so less often
    (`summary` has that share), and a clustering can be stable without being meaningful.

    How much is promised of a pair of core items is one of three:

    - *the estimate* (``confidence=None``, the paper): it was together in a share of about
      ``1 - alpha`` of the resamples that had both. The search for the largest set favors pairs
      that got there by luck, so some of them are really below.
    - *per pair* (``guarantee="pair"``): for a pair fixed beforehand, the chance to be counted
      as ``1 - alpha`` and be below it is at most ``1 - confidence``. Among many pairs, some are.
    - *simultaneous* (the default with a `confidence`): the chance that *any* pair of any core
      is below ``1 - alpha`` is at most ``1 - confidence``. The level is divided by the number
      of pairs compared, which costs some items of the cores.

    The last two rest on exact binomial bounds. All three are about the noise of a finite number
    of resamples, and none about whether resampling the data stands in for new data; how far it does
    is measured in the calibration study of the documentation.

    With ``n_resamples="auto"`` the resamples are looked at as they come: after 200, and each time
    there are a quarter more. Enough there are when no more than 1 % of the items are in another
    core than at the look before, and of the pairs inside of clusters no more than a quarter are
    undecided and could change a core. A pair is decided when its confidence sequence has left
    ``1 - alpha`` behind [2]_; with 95 % confidence no pair is taken for decided wrongly, at any
    look. As the number of resamples then depends on what they show, `confidence` rests on such
    sequences, too, instead of the binomial bounds. More resamples than that change little but still
    something: the cores of a fit with 5,000 resamples differ by some items from those of another.

    A `checkpoint` belongs to its data, estimator, resampling, groups, seed, `engine` and
    `keep_models`; if one of them is another, `fit` says which and raises. (Of a callable only its
    name and text can be compared, not the values that it finds elsewhere.) The other parameters
    may change. With ``random_state=None`` the run that goes on takes the seed of the one that
    began. Labels of more than 256 MB stay on the disk: `ensemble_` is then a read-only memory map
    of a file in that folder. Models are kept only where they are the centers of k-means.

    While resamples are clustered, libraries under the estimator are held to one thread; use
    `n_jobs`. Random numbers that an estimator or a callable draws from numpy's global
    generator are not seeded.

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
        "n_resamples": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_resamples": [Interval(Integral, 1, None, closed="left")],
        "resampling": "no_validation",
        "confidence": [None, Interval(Real, 0, 1, closed="neither")],
        "guarantee": [StrOptions(set(GUARANTEES))],
        "noise": [StrOptions(set(NOISE_RULES))],
        "time_limit": [None, Interval(Real, 0, None, closed="left")],
        "max_memory": [None, Interval(Real, 0, None, closed="neither")],
        "keep_models": ["boolean"],
        "engine": [StrOptions({"auto", "generic"})],
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
            takes precomputed distances. Of a dask array, resamples are fetched and all items
            labeled block by block, where they are; also the reference clustering is then
            fitted to a resample. It needs a scheme with ``label="all"``.
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
        >>> import numpy as np
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> patients = np.repeat(np.arange(50), 3)  # three rows each
        >>> cc = CoreClustering(KMeans(3), n_resamples=50, random_state=0)
        >>> cc.fit(load_iris().data, groups=patients).labels_.shape
        (150,)
        """
        features = copy.copy(self)  # gets their names
        problem = check_problem(features, self._estimator(), X, y, groups)
        on_resample, on_end = self._callbacks(X, y)
        with self._open_checkpoint(problem) as kept:
            entropy = draw_entropy(self.random_state) if kept is None else kept.entropy
            reference, names, fitted = problem.reference(entropy)
            if isinstance(problem.scheme, KnownDistribution):
                found = self._resample_pairs(problem, entropy, reference)
            else:
                found = self._label_resamples(problem, entropy, reference, on_resample, kept)
        anytime = self.n_resamples == "auto"
        cores = self._cut(found.evidence, reference, anytime=anytime)
        # Only now, so that a fit that fails or is interrupted leaves an earlier one whole.
        self._take_features(features)
        self.reference_labels_, self.cluster_names_, self.estimator_ = reference, names, fitted
        self.ensemble_, self._models, self.engine_ = found.evidence, found.models, found.engine
        self.n_resamples_, self.n_dropped_resamples_ = found.n_resamples, found.n_dropped
        self._anytime = anytime
        # A shallow copy, so that columns added by the user later do not turn up in tables.
        is_frame = is_pandas_frame(X) or is_polars_frame(X)
        self._frame = copy.copy(X) if is_frame else None
        self._keep_cores(cores)
        on_end()
        return self

    def _take_features(self, checked: CoreClustering) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(checked, name):
                setattr(self, name, getattr(checked, name))
            elif hasattr(self, name):
                delattr(self, name)

    def _estimator(self) -> Any:
        return KMeans() if self.estimator is None else self.estimator

    def _most_resamples(self) -> int:
        return self.max_resamples if self.n_resamples == "auto" else int(self.n_resamples)

    def _open_checkpoint(
        self, problem: Problem
    ) -> contextlib.AbstractContextManager[Checkpoint | None]:
        """Return the checkpoint if there is to be one; raise if it cannot be used."""
        if self.checkpoint is None:
            return contextlib.nullcontext()
        if isinstance(problem.scheme, KnownDistribution):
            raise ValueError(
                f"checkpoint has no meaning for resampling={problem.scheme!r}, which keeps no "
                "samples; use checkpoint=None."
            )
        if self.keep_models and self._batch_labeler(problem) is None:
            raise ValueError(
                "checkpoint keeps models only where they are the centers of k-means under "
                "engine='auto'; use keep_models=False or checkpoint=None."
            )
        settings = settings_of(
            problem.function.estimator,
            problem.items,
            problem.classes,
            problem.scheme,
            problem.groups,
            random_state=self.random_state,
            engine=self.engine,
            keep_models=self.keep_models,
        )
        n_items = number_of_items(problem.items)
        return Checkpoint(self.checkpoint, settings, n_items, self.random_state)

    def _label_resamples(
        self,
        problem: Problem,
        entropy: int,
        reference: NDArray[np.int64],
        on_resample: Callable[[], None] | None,
        kept: Checkpoint | None,
    ) -> _Resampled:
        """Algorithm 3: the same resamples for all pairs."""
        labeler = self._batch_labeler(problem)
        label = functools.partial(
            label_resamples,
            problem.function,
            problem.items,
            problem.classes,
            scheme=cast(Scheme, problem.scheme),
            entropy=entropy,
            groups=problem.groups,
            # Blocks are what runs in parallel then.
            n_jobs=1 if isinstance(problem.items, BlockedItems) else self.n_jobs,
            verbose=self.verbose,
            on_resample=on_resample,
            labeler=labeler,
            keep_models=self.keep_models,
            checkpoint=kept,
        )
        if self.n_resamples == "auto":
            rule = CutRule(
                self.alpha,
                self.confidence,
                self.guarantee,
                self.noise,
                self.time_limit,
                self.max_memory,
                self.n_jobs,
            )
            labeling = label_until_settled(label, reference, rule, self.max_resamples)
        else:
            labeling = label(n_resamples=int(self.n_resamples))
        report_dropped(labeling.errors, labeling.n_tried)
        return _Resampled(
            labeling.ensemble,
            labeling.n_tried,
            len(labeling.errors),
            labeling.models,
            "generic" if labeler is None else "batched",
        )

    def _resample_pairs(
        self, problem: Problem, entropy: int, reference: NDArray[np.int64]
    ) -> _Resampled:
        """Algorithm 2: resamples for each pair."""
        labeler = None
        if self.engine == "auto":
            labeler = dataset_labeler(problem.function.estimator, problem.items)
        evidence, n_dropped = resample_pairs(
            problem.function,
            problem.items,
            problem.classes,
            reference,
            scheme=cast(KnownDistribution, problem.scheme),
            n_resamples=int(self.n_resamples),
            entropy=entropy,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            labeler=labeler,
        )
        engine = "generic" if labeler is None else "batched"
        return _Resampled(evidence, int(self.n_resamples), n_dropped, [], engine)

    def _batch_labeler(self, problem: Problem) -> BatchLabeler | None:
        scheme = cast(Scheme, problem.scheme)
        if self.engine != "auto" or isinstance(scheme, (SmoothedBootstrap, ParametricBootstrap)):
            return None
        estimator, everyone = problem.function.estimator, scheme.label != "drawn"
        labeler = batch_labeler(estimator, problem.items, everyone=everyone)
        can_keep = hasattr(labeler, "label_and_keep")
        return labeler if can_keep or not self.keep_models else None

    def _callbacks(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return what to call after each resample and at the end, for scikit-learn's callbacks."""
        if not hasattr(self, "_init_callback_context"):
            return None, lambda: None
        context = self._init_callback_context(max_subtasks=self._most_resamples())
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)

        def on_resample() -> None:
            resample = context.subcontext(task_name="resample")
            resample.call_on_fit_task_begin(estimator=self)
            resample.call_on_fit_task_end(estimator=self)

        def on_end() -> None:
            context.call_on_fit_task_end(estimator=self, X=X, y=y)

        has_callbacks = bool(getattr(self, "_skl_callbacks", []))
        return (on_resample if has_callbacks else None), on_end

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        estimator = self._estimator()
        if hasattr(estimator, "get_params") and not isinstance(estimator, type):
            inner = get_tags(estimator)
            tags.input_tags = copy.deepcopy(inner.input_tags)
            tags.target_tags.required = inner.target_tags.required
            tags.non_deterministic = inner.non_deterministic
        return tags
