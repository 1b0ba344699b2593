"""Pipelines with compiled code: the slow twin is the generic engine, which fits every step."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import AgglomerativeClustering
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    Normalizer,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)

from coreclust import CoreClustering
from coreclust._sampling import pipelines
from coreclust.cluster import HierarchicalClustering, KMeans, Leiden, TClust, TrimmedKMeans
from coreclust.resampling import Bootstrap, KnownDistribution, Subsample


def fit(estimator, X, engine="batched", **how):
    how = {"n_resamples": 30, "alpha": 0.5, "random_state": 0} | how
    return CoreClustering(estimator, engine=engine, **how).fit(X)


def assert_same(estimator, X, **how):
    batched, generic = (fit(estimator, X, engine, **how) for engine in ("batched", "generic"))
    np.testing.assert_array_equal(batched.ensemble_.labels, generic.ensemble_.labels)
    np.testing.assert_array_equal(batched.labels_, generic.labels_)


def blobs_of(seed, n=120, d=6, k=4):
    rng = np.random.default_rng(seed)
    X = 2 * rng.normal(size=(k, d))[rng.integers(k, size=n)] + rng.normal(size=(n, d))
    return X * np.geomspace(1, 50, d) + np.arange(d)


DATA = {
    "iris": load_iris().data,
    "wine": load_wine().data,
    "overlapping": blobs_of(0),
    "integers": load_wine().data.round().astype(int),
}

PIPELINES = [
    make_pipeline(StandardScaler(), KMeans(3, n_init=2)),
    make_pipeline(StandardScaler(with_mean=False), KMeans(3, n_init=2)),
    make_pipeline(StandardScaler(with_std=False), KMeans(3, n_init=2)),
    make_pipeline(StandardScaler(), PCA(2), KMeans(3, n_init=2)),
    make_pipeline(PCA(), KMeans(3, n_init=2)),
    make_pipeline(PCA(0.95, svd_solver="full"), StandardScaler(), KMeans(3, n_init=2)),
    make_pipeline(Normalizer(copy=False), KMeans(3, n_init=2)),
    make_pipeline(MinMaxScaler(copy=False), Normalizer(), KMeans(3, n_init=2)),
    make_pipeline(FunctionTransformer(np.log1p), RobustScaler(), KMeans(3, n_init=2)),
    # The clusterer's seed is the second one of the Pipeline.
    Pipeline([("a", PCA(2)), ("none", "passthrough"), ("z", KMeans(3, n_init=2))]),
    make_pipeline(StandardScaler(), HierarchicalClustering(3, linkage="average")),
    make_pipeline(StandardScaler(), TrimmedKMeans(3, n_init=5)),
    make_pipeline(PCA(2), TClust(3, n_init=5)),
]


@pytest.mark.parametrize("name", ["iris", "wine"])
@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda pipeline: str(pipeline.steps))
def test_same_labels_as_the_generic_engine(pipeline, name):
    assert_same(pipeline, DATA[name])


@pytest.mark.parametrize("scheme", [Bootstrap("all"), Bootstrap("oob"), Subsample(0.6)], ids=repr)
@pytest.mark.parametrize("name", ["overlapping", "integers"])
def test_same_labels_with_every_scheme(name, scheme):
    pipeline = make_pipeline(StandardScaler(), PCA(3), KMeans(3, n_init=2))
    assert_same(pipeline, DATA[name], resampling=scheme)


def test_same_labels_with_groups_threads_and_frames():
    pipeline, X = make_pipeline(StandardScaler(), KMeans(3, n_init=2)), DATA["wine"]
    frame = pd.DataFrame(X, columns=[f"f{f}" for f in range(X.shape[1])])
    expected = fit(pipeline, X).ensemble_
    assert fit(pipeline, X, n_jobs=2).ensemble_ == expected
    assert fit(pipeline, frame).ensemble_ == expected
    assert fit(pipeline, frame, "generic").ensemble_ == expected
    groups = np.arange(len(X)) // 3
    found = [
        CoreClustering(pipeline, n_resamples=20, engine=engine, alpha=0.5, random_state=0)
        .fit(X, groups=groups)
        .ensemble_
        for engine in ("batched", "generic")
    ]
    assert found[0] == found[1]


def test_wide_and_single_precision_data():
    X = blobs_of(1, d=30).astype(np.float32)
    assert_same(make_pipeline(StandardScaler(), KMeans(4, n_init=2)), X)
    assert_same(make_pipeline(PCA(5), KMeans(4, n_init=2)), blobs_of(1, n=40, d=60))
    with pytest.raises(ValueError, match="no compiled code"):
        fit(make_pipeline(PCA(5), KMeans(4)), X)


def test_scikit_learns_clusterers_are_recognized_behind_transformers():
    X = np.repeat([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]], 30, axis=0)
    X += np.random.default_rng(0).normal(size=X.shape)
    for last in (SklearnKMeans(3, n_init=5), GaussianMixture(3), AgglomerativeClustering(3)):
        pipeline = make_pipeline(StandardScaler(), last)
        batched, generic = (fit(pipeline, X, engine) for engine in ("batched", "generic"))
        np.testing.assert_array_equal(
            batched.ensemble_.cooccurrence_matrix(), generic.ensemble_.cooccurrence_matrix()
        )


def test_pairs_of_a_known_distribution():
    X = DATA["overlapping"]
    how = {"resampling": KnownDistribution(X), "n_resamples": 3}
    steps = [("a", PCA(2, svd_solver="full")), ("s", StandardScaler()), ("z", KMeans(2, n_init=1))]
    found = [fit(Pipeline(steps), X[:8], engine, **how) for engine in ("batched", "generic")]
    for one, other in zip(*(cc.ensemble_.counts for cc in found), strict=True):
        np.testing.assert_array_equal(one, other)


class Standard(StandardScaler):
    """May do anything."""


class OtherPrediction(KMeans):
    def predict(self, X):
        return self.n_clusters - 1 - super().predict(X)


@pytest.mark.parametrize(
    ("pipeline", "how"),
    [
        (make_pipeline(Standard(), KMeans(3)), {}),
        (make_pipeline(PowerTransformer(), KMeans(3)), {}),
        (make_pipeline(TruncatedSVD(2), KMeans(3)), {}),
        (make_pipeline(FunctionTransformer(lambda Z: Z - Z.mean(axis=0)), KMeans(3)), {}),
        (make_pipeline(PCA(2, whiten=True), KMeans(3)), {}),
        (make_pipeline(PCA("mle", svd_solver="full"), KMeans(3)), {}),
        (make_pipeline(PCA(2, svd_solver="randomized"), KMeans(3)), {}),
        (make_pipeline(StandardScaler(), KMeans(3), memory="cache"), {}),
        (make_pipeline(StandardScaler(), SklearnKMeans(3, algorithm="elkan")), {}),
        (make_pipeline(StandardScaler(), Leiden()), {}),
        (make_pipeline(StandardScaler(), OtherPrediction(3)), {"resampling": Bootstrap("all")}),
    ],
)
def test_other_pipelines_take_the_generic_engine(pipeline, how):
    with pytest.raises(ValueError, match="no compiled code"):
        fit(pipeline, DATA["iris"], **how)


def test_models_need_the_generic_engine():
    with pytest.raises(ValueError, match="keep_models=True cannot be used with engine='batched'"):
        fit(make_pipeline(StandardScaler(), KMeans(3)), DATA["iris"], keep_models=True)


def test_pca_that_scikit_learn_approximates_takes_the_generic_engine():
    assert not pipelines._is_usual(PCA(10), 600, 100)
    assert pipelines._is_usual(PCA(90), 600, 100)
    assert pipelines._is_usual(PCA(10), 1000, 100)
    assert pipelines._is_usual(PCA(10), 500, 100)
    assert pipelines._is_usual(PCA(10, svd_solver="full"), 600, 100)
    assert not pipelines._is_usual(PCA(101), 1000, 100)
    for n, d, wanted in [(600, 100, 10), (600, 100, 90), (1000, 100, 10), (500, 100, 10)]:
        fitted = PCA(wanted).fit(np.random.default_rng(0).normal(size=(n, d)))
        approximate = fitted._fit_svd_solver == "randomized"
        assert approximate is not pipelines._is_usual(PCA(wanted), n, d)


@pytest.mark.parametrize("pipeline", [PIPELINES[0], PIPELINES[3]], ids=str)
def test_models_of_the_generic_engine_label_new_items(pipeline):
    X = DATA["iris"]
    cc = fit(pipeline, X, "generic", keep_models=True)
    assert (cc.predict(X + 1e-9) == cc.labels_).mean() > 0.95


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
@pytest.mark.filterwarnings("ignore:invalid value encountered in divide")  # constant data
def test_transforms_agree_with_scikit_learns_on_copies(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(2, 40), rng.integers(1, 12)
    X = rng.normal(size=(n, d)) * rng.choice([1e-3, 1.0, 1e8], size=d)
    X += rng.choice([0.0, 1.0, 1e3], size=d)
    X[:, rng.random(d) < 0.2] = 0.1  # constant features
    counts = rng.integers(0, 4, size=n)
    counts[rng.integers(n)] += 2
    copies = np.repeat(X, counts, axis=0)
    expected = StandardScaler().fit(copies).transform(X)
    found = pipelines._standardize(True, True, X, counts)
    np.testing.assert_allclose(
        found, expected, rtol=1e-6, atol=1e-6 * max(1, np.abs(expected).max())
    )
    drawn = counts > 0
    expected = PCA(svd_solver="full").fit(copies).transform(X[drawn])
    found = pipelines._rotate(None, X[drawn], counts[drawn])
    scale = np.abs(X - X.mean(axis=0)).max() + 1e-12 * np.abs(X).max() + 1e-300
    gram = [((Z - Z[0]) / scale) @ ((Z - Z[0]) / scale).T for Z in (found, expected)]
    np.testing.assert_allclose(*gram, atol=1e-6)
