import joblib
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import AgglomerativeClustering, MiniBatchKMeans
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coreclust import CoreClustering
from coreclust._sampling.native import batch_engine
from coreclust._utils.constants import ABSENT
from coreclust.cluster import HierarchicalClustering, KMeans, TClust, TrimmedKMeans
from coreclust.cluster._native import Batch, NativeOffer
from coreclust.resampling import Bootstrap, KnownDistribution, SmoothedBootstrap, Subsample


def fit(estimator, X, **kwargs):
    return CoreClustering(estimator, **({"n_resamples": 80, "random_state": 0} | kwargs)).fit(X)


NATIVE = [
    KMeans(3, n_init=3),
    KMeans(3, tol=1e-3),
    KMeans(2, init=[[0.0, 0.0], [10.0, 10.0]]),
    KMeans(50, n_init=1),  # more clusters than distinct items in nearly every resample
    *(
        HierarchicalClustering(3, linkage=name)
        for name in ("single", "complete", "average", "ward")
    ),
    HierarchicalClustering(3, metric="cityblock"),
    TrimmedKMeans(3, n_init=5),
    TClust(3, n_init=5),
    TClust(2, n_init=5, trim=0.2, restr_factor=5.0, equal_weights=True),
]


@pytest.mark.slow
@pytest.mark.parametrize("estimator", NATIVE, ids=str)
@pytest.mark.filterwarnings("ignore:Only .. of n_clusters=50")
def test_both_paths_give_the_same_answer_to_the_bit(estimator, blobs):
    batched, generic = fit(estimator, blobs), fit(estimator, blobs, engine="generic")
    assert (batched.engine_, generic.engine_) == ("batched", "generic")
    if estimator.n_clusters < 50:
        assert batched.ensemble_ == generic.ensemble_
    np.testing.assert_array_equal(
        batched.ensemble_.cooccurrence_matrix(), generic.ensemble_.cooccurrence_matrix()
    )
    np.testing.assert_array_equal(batched.labels_, generic.labels_)


@pytest.mark.parametrize("how", [{"n_jobs": 1}, {"n_jobs": 2}, {"n_jobs": -1}, {"n_jobs": 3}])
def test_threads_do_not_change_a_bit(how, blobs):
    expected = fit(KMeans(4), blobs, n_resamples=200).ensemble_
    assert fit(KMeans(4), blobs, n_resamples=200, **how).ensemble_ == expected
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert fit(KMeans(4), blobs, n_resamples=200).ensemble_ == expected


@pytest.mark.parametrize(
    "estimator",
    [
        SklearnKMeans(3),
        SklearnKMeans(3, n_init=4, max_iter=50, tol=1e-3, random_state=3),
        SklearnKMeans(2, init=np.array([[0.0, 0.0], [10.0, 10.0]])),
        SklearnKMeans(3, init="random"),
        MiniBatchKMeans(3),
        AgglomerativeClustering(3),
        AgglomerativeClustering(3, linkage="complete"),
        AgglomerativeClustering(3, linkage="single", compute_full_tree=True),
    ],
    ids=str,
)
def test_scikit_learns_usual_clusterers_are_recognized(estimator, blobs):
    cc = fit(estimator, blobs)
    assert cc.engine_ == "batched"
    assert type(cc.estimator_) is type(estimator)
    assert fit(estimator, blobs.astype(np.float32)).engine_ == "batched"


class Mine(SklearnKMeans):
    pass


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [
        SklearnKMeans(3, algorithm="elkan"),
        SklearnKMeans(3, init=lambda X, k, random_state: X[:k], n_init=1),
        Mine(3),
        AgglomerativeClustering(None, distance_threshold=5.0),
        AgglomerativeClustering(3, linkage="average", metric="l1"),
        make_pipeline(StandardScaler(), SklearnKMeans(3, algorithm="elkan")),
        lambda Z: (Z[:, 0] > 5).astype(int),
    ],
)
def test_anything_unusual_takes_the_generic_path(estimator, blobs):
    assert fit(estimator, blobs, n_resamples=30).engine_ == "generic"


def test_sparse_data_takes_the_compiled_path_of_k_means_only(blobs):
    sparse = csr_array(blobs)
    assert fit(SklearnKMeans(3), sparse, n_resamples=30).engine_ == "batched"
    assert fit(Mine(3), sparse, n_resamples=30).engine_ == "generic"


def test_precomputed_distances(blobs):
    distances = squareform(pdist(blobs))
    plain = fit(HierarchicalClustering(3), blobs)
    for estimator in (
        HierarchicalClustering(3, metric="precomputed"),
        AgglomerativeClustering(3, linkage="complete", metric="precomputed"),
    ):
        cc = fit(estimator, distances)
        assert cc.engine_ == "batched"
        assert cc.ensemble_ == plain.ensemble_


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [SklearnKMeans(3, n_init=2), AgglomerativeClustering(3, linkage="average")],
    ids=str,
)
def test_the_kernels_label_like_scikit_learn(estimator, blobs):
    """The two paths draw the same resamples: for a clusterer without randomness the labels

    agree; for k-means the co-occurrences do within sampling error. Each is a mean over
    about 0.4 x 2000 resamples, so a difference has a standard error of 0.025 at most, and
    the largest of 1770 stays below 4.5 of those but for 1 in 80 times.
    """
    paths = [
        fit(estimator, blobs, n_resamples=2000, engine=engine).ensemble_.cooccurrence_matrix()
        for engine in ("auto", "generic")
    ]
    tolerance = 0.112 if isinstance(estimator, SklearnKMeans) else 1e-12
    np.testing.assert_allclose(paths[0], paths[1], atol=tolerance)


def test_nothing_is_offered_where_nothing_is_known(blobs):
    assert batch_engine(StandardScaler(), blobs) is None
    assert batch_engine(KMeans(3), blobs.tolist()) is None


def test_engine_is_checked():
    with pytest.raises(ValueError, match="'engine' parameter of CoreClustering must be"):
        CoreClustering(KMeans(2), engine="fast").fit(np.zeros((5, 2)))


@pytest.mark.parametrize("scheme", [Bootstrap(), Bootstrap("all"), Subsample(0.7)], ids=repr)
@pytest.mark.filterwarnings("ignore:Only . of n_clusters=5")
def test_equal_rows_get_equal_labels_on_both_paths(scheme):
    """Nearly as many clusters as distinct rows, so that resamples often have fewer."""
    # No row lies halfway between two others: a tie would go to either.
    X = np.array([[0.0], [0.0], [0.0], [1.0], [2.3], [3.9], [6.1], [9.7]])
    how = {"resampling": scheme, "n_resamples": 200}
    batched, generic = (fit(KMeans(5), X, engine=engine, **how) for engine in ("auto", "generic"))
    for b in range(200):
        one, other = batched.ensemble_.labels[:, b], generic.ensemble_.labels[:, b]
        here = one != -2
        np.testing.assert_array_equal(here, other != -2)
        np.testing.assert_array_equal(
            one[here][:, None] == one[here], other[here][:, None] == other[here]
        )
    assert batched.cooccurrence(0, 1) > 0.9


@pytest.mark.parametrize("engine", ["auto", "generic"])
@pytest.mark.parametrize(
    "estimator", [KMeans(8), SklearnKMeans(8), HierarchicalClustering(8), TrimmedKMeans(8)], ids=str
)
def test_fewer_items_than_clusters_cannot_be_clustered(estimator, engine, blobs):
    with pytest.raises(RuntimeError, match="could not be clustered"):
        fit(estimator, blobs, engine=engine, resampling=Subsample(size=5))


class Signs(KMeans):
    """Clusters something else than it is given: its parent's kernel is not for it."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(np.sign(X), sample_weight=sample_weight)


def test_a_subclass_that_fits_in_its_own_way_is_taken_at_its_word(blobs):
    X = blobs - blobs.mean(axis=0)
    found = CoreClustering(Signs(2), n_resamples=40, random_state=0).fit(X)
    asked = CoreClustering(Signs(2), n_resamples=40, engine="generic", random_state=0).fit(X)
    assert found.engine_ == "generic"
    np.testing.assert_array_equal(found.ensemble_.labels, asked.ensemble_.labels)


class Turned(KMeans):
    """Gives new items another label than the kernel would."""

    def predict(self, X):
        return self.n_clusters - 1 - super().predict(X)


def test_a_subclass_that_predicts_in_its_own_way_is_taken_at_its_word(blobs):
    found, plain = (fit(kind(3), blobs, resampling=Bootstrap("all")) for kind in (Turned, KMeans))
    assert found.engine_ == "generic"
    np.testing.assert_array_equal(found.ensemble_.labels, 2 - plain.ensemble_.labels)


class Renamed(KMeans):
    """Changes nothing about how to fit."""


def test_a_subclass_that_fits_as_its_parent_does_is_as_fast(blobs):
    cc = CoreClustering(Renamed(3), n_resamples=40, random_state=0).fit(blobs)
    assert cc.engine_ == "batched"


@pytest.mark.parametrize(
    ("estimator", "how"),
    [
        (SklearnKMeans(3, algorithm="elkan"), {}),
        (Signs(3), {}),
        (KMeans(3), {"resampling": SmoothedBootstrap()}),
        (Signs(3), {"resampling": KnownDistribution(np.zeros((5, 2)))}),
        (make_pipeline(StandardScaler(), Signs(3)), {}),
    ],
    ids=str,
)
def test_batched_is_refused_without_compiled_code(estimator, how, blobs):
    name = type(estimator).__name__
    told = rf"^engine='batched' has no compiled code for {name} with .*; use engine='auto'\.$"
    with pytest.raises(ValueError, match=told):
        fit(estimator, blobs, engine="batched", **how)


@pytest.mark.parametrize("estimator", [KMeans(3), SklearnKMeans(3)], ids=repr)
def test_batched_is_auto_where_there_is_compiled_code(estimator, blobs):
    asked, found = (fit(estimator, blobs, engine=engine) for engine in ("batched", "auto"))
    assert asked.engine_ == found.engine_ == "batched"
    assert asked.ensemble_ == found.ensemble_


class ThirdParty(ClusterMixin, BaseEstimator):
    """Splits the items at weighted quantiles of their first feature."""

    weighted = []  # noqa: RUF012 - shared by all clones
    batches = []  # noqa: RUF012

    def __init__(self, n_components=2):
        self.n_components = n_components

    def fit(self, X, y=None, sample_weight=None):
        self.weighted.append(sample_weight is not None)
        weights = np.ones(len(X)) if sample_weight is None else sample_weight
        self.labels_ = self._split(X[:, 0], weights)
        return self

    def fit_predict(self, X, y=None, sample_weight=None):
        return self.fit(X, sample_weight=sample_weight).labels_

    def _split(self, values, weights):
        order = np.argsort(values, kind="stable")
        shares = np.cumsum(weights[order]) / weights.sum()
        cuts = values[order][
            np.searchsorted(shares, np.arange(1, self.n_components) / self.n_components)
        ]
        return np.searchsorted(cuts, values)

    def __coreclust_native__(self):
        return NativeOffer(
            ThirdParty, label_drawn=self._batches, seeded=False, weights_from=self.n_components
        )

    def _batches(self, X):
        def label(counts, seeds):
            self.batches.append(len(counts))
            labels = np.full(counts.shape, ABSENT, np.int32)
            for row, weights in zip(labels, counts, strict=True):
                items = np.flatnonzero(weights)
                row[items] = np.unique(
                    self._split(X[items, 0], weights[items]), return_inverse=True
                )[1]
            return Batch(labels, np.zeros(len(counts), bool))

        return label


def test_a_clusterer_of_another_package_can_offer_weights_and_batches(blobs, monkeypatch):
    for name in ("weighted", "batches"):
        monkeypatch.setattr(ThirdParty, name, [])
    generic = fit(ThirdParty(n_components=3), blobs, engine="generic")
    assert generic.engine_ == "generic"
    assert not ThirdParty.batches
    assert ThirdParty.weighted == [False] + [True] * 80  # the reference, and the resamples
    batched = fit(ThirdParty(n_components=3), blobs, engine="batched", n_jobs=1)
    assert sum(ThirdParty.batches) == 80 > len(ThirdParty.batches)
    assert len(ThirdParty.weighted) == 82  # only the reference
    assert batched.ensemble_ == generic.ensemble_
    np.testing.assert_array_equal(batched.labels_, generic.labels_)


def test_weights_are_used_only_from_the_number_of_items_that_is_offered(blobs, monkeypatch):
    monkeypatch.setattr(ThirdParty, "weighted", [])
    fit(ThirdParty(30), blobs, engine="generic", resampling=Subsample(size=29))
    assert not any(ThirdParty.weighted)


@pytest.mark.parametrize("make", [TrimmedKMeans, TClust])
@pytest.mark.parametrize("wrap", [lambda clusterer: clusterer, make_pipeline])
def test_resamples_get_fewer_starts_than_the_reference(make, wrap, blobs):
    auto = wrap(make(6, random_state=0))
    few, many = (wrap(make(6, n_init=n, random_state=0)) for n in (50, 500))
    cc = fit(auto, blobs, n_resamples=10, alpha=0.5)
    assert cc.ensemble_ == fit(few, blobs, n_resamples=10, alpha=0.5).ensemble_
    assert cc.ensemble_ == fit(auto, blobs, n_resamples=10, alpha=0.5, engine="generic").ensemble_
    np.testing.assert_array_equal(cc.reference_labels_, many.fit_predict(blobs))


def test_pairs_get_as_many_starts_as_resamples(blobs):
    how = {"n_resamples": 3, "alpha": 0.5, "resampling": KnownDistribution(blobs)}
    few = fit(TClust(2, n_init=50), blobs[::6], **how).ensemble_
    for engine in ("batched", "generic"):
        auto = fit(TClust(2), blobs[::6], engine=engine, **how).ensemble_
        for counts, expected in zip(auto.counts, few.counts, strict=True):
            np.testing.assert_array_equal(counts, expected)
