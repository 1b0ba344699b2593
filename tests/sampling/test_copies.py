"""Copies of items in bootstrap resamples: when they matter, there is one warning."""

import random
import warnings

import numpy as np
import pytest
from sklearn.cluster import (
    DBSCAN,
    HDBSCAN,
    AffinityPropagation,
    AgglomerativeClustering,
    Birch,
    BisectingKMeans,
    KMeans,
    MeanShift,
    MiniBatchKMeans,
    SpectralClustering,
)
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coreclust import CoreClustering
from coreclust._sampling import copies
from coreclust._sampling.function import ClusteringFunction
from coreclust._sampling.problem import Problem
from coreclust.cluster import Leiden
from coreclust.resampling import Bootstrap, Subsample

SAID = "finds other clusters if rows are repeated|treats the copies of rows"


def far_blobs():
    return make_blobs(400, centers=[[0, 0], [30, 0]], random_state=0)[0]


def in_a_callable(Z):
    return HDBSCAN(copy=True).fit_predict(Z)


def problem_of(estimator, X):
    return Problem(ClusteringFunction.of(estimator), X, None, Bootstrap())


def settings(**more):
    return {"n_resamples": 50, "random_state": 0, **more}


@pytest.mark.parametrize(
    "estimator",
    [HDBSCAN(copy=True), in_a_callable, make_pipeline(StandardScaler(), HDBSCAN(copy=True))],
    ids=["estimator", "callable", "pipeline"],
)
def test_hdbscan_warns_once(estimator):
    X = far_blobs()
    with pytest.warns(UserWarning, match=SAID) as caught:
        CoreClustering(estimator, **settings()).fit(X)
    assert len([one for one in caught if "copies" in str(one.message)]) == 1
    assert "Subsample()" in str(caught[0].message)


@pytest.mark.parametrize("estimator", [HDBSCAN(copy=True), in_a_callable])
def test_hdbscan_without_copies_keeps_nearly_every_item(estimator):
    how = settings(resampling=Subsample(0.5), n_resamples=100)
    assert CoreClustering(estimator, **how).fit(far_blobs()).core_sample_indices_.size > 380


@pytest.mark.parametrize("n_blobs", [2, 4])
def test_the_hdbscan_package_warns(n_blobs):
    hdbscan = pytest.importorskip("hdbscan", reason="the package hdbscan is not installed")
    X = make_blobs(400, centers=4, cluster_std=2.0, random_state=1)[0]
    X = X if n_blobs == 4 else far_blobs()
    for estimator in (hdbscan.HDBSCAN(), lambda Z: hdbscan.HDBSCAN().fit_predict(Z)):
        with pytest.warns(UserWarning, match=SAID):
            CoreClustering(estimator, **settings()).fit(X)


def test_graphs_of_neighbors_in_a_callable_warn():
    pytest.importorskip("igraph", reason="the extra graph is not installed")

    def leiden(Z, random_state=None):
        return Leiden(random_state=random_state).fit_predict(Z)

    with pytest.warns(UserWarning, match=r"^leiden finds other clusters"):
        CoreClustering(leiden, **settings()).fit(load_iris().data)


DATA = {
    "far": far_blobs(),
    "overlapping": make_blobs(200, centers=4, cluster_std=2.0, random_state=1)[0],
    "iris": load_iris().data,
    "moons": make_moons(200, noise=0.08, random_state=0)[0],
    "uniform": np.random.default_rng(0).uniform(size=(200, 2)),
}


@pytest.mark.parametrize("X", DATA.values(), ids=DATA)
@pytest.mark.parametrize(
    "estimator",
    [
        KMeans(4, init="random", n_init=1),
        MiniBatchKMeans(4, n_init=3),
        BisectingKMeans(4),
        GaussianMixture(4),
        AgglomerativeClustering(4),
        AgglomerativeClustering(3, linkage="single"),
        Birch(threshold=0.1, n_clusters=4),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_clusterers_that_only_vary_do_not_warn(estimator, X):
    assert copies.copies_matter(problem_of(estimator, X)) is None


@pytest.mark.parametrize("X", DATA.values(), ids=DATA)
@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_other_solutions_by_other_seeds_are_no_fault_of_copies(k, X):
    def one_start(Z, random_state):
        return KMeans(k, n_init=1, random_state=random_state).fit_predict(Z)

    def unseeded(Z):
        seed = random.randrange(2**31)  # noqa: S311
        return KMeans(k, n_init=1, random_state=seed).fit_predict(Z)

    assert copies.copies_matter(problem_of(one_start, X)) is None
    random.seed(0)
    assert copies.copies_matter(problem_of(unseeded, X)) is None


def in_hdbscan(Z):
    return HDBSCAN(min_cluster_size=10, copy=True).fit_predict(Z)


def in_a_graph(Z, random_state=None):
    return Leiden(random_state=random_state).fit_predict(Z)


@pytest.mark.parametrize("X", DATA.values(), ids=DATA)
def test_a_graph_of_neighbors_has_more_communities_with_copies(X):
    pytest.importorskip("igraph", reason="the extra graph is not installed")
    found = copies.copies_matter(problem_of(in_a_graph, X))
    assert found.clusters_with >= 1.1 * max(found.clusters, found.clusters_without)


@pytest.mark.parametrize(
    ("estimator", "name", "harmed"),
    [
        (in_a_callable, "far", True),
        (in_a_callable, "overlapping", True),
        (in_a_callable, "moons", True),
        (in_a_callable, "uniform", True),
        (in_hdbscan, "moons", True),
        (in_hdbscan, "overlapping", False),
        (AffinityPropagation(random_state=0), "moons", False),
        # These depend on the number of rows: without the copies there are too few.
        (AgglomerativeClustering(None, distance_threshold=6.0), "overlapping", False),
        (AgglomerativeClustering(None, distance_threshold=6.0), "iris", False),
        (DBSCAN(eps=0.6), "overlapping", False),
        (DBSCAN(eps=0.2), "moons", False),
        (MeanShift(bandwidth=1.5), "overlapping", False),
        (SpectralClustering(3, gamma=1.0, random_state=0), "iris", False),
    ],
)
def test_clusterers_are_harmed_where_copies_make_clusters(estimator, name, harmed):
    found = copies.copies_matter(problem_of(estimator, DATA[name]))
    assert (found is not None) == harmed
    if harmed:
        assert (
            found.agreement_with <= found.agreement_without - 0.1
            or found.clusters_with > found.clusters_without
        )


def test_the_warning_tells_what_the_trial_showed():
    with pytest.warns(UserWarning, match=SAID) as caught:
        CoreClustering(in_a_callable, **settings()).fit(far_blobs())
    assert "clusters with the copies, 2 without, and 2 in the data" in str(caught[0].message)


def test_the_trial_leaves_seeds_and_results_alone(monkeypatch):
    def noisy(Z):
        noise = np.random.normal(size=len(Z)) + random.random()  # noqa: NPY002, S311
        return (Z[:, 0] + 0.3 * noise > 6).astype(int)

    def fit():
        np.random.seed(5)  # noqa: NPY002
        random.seed(5)
        return CoreClustering(noisy, **settings()).fit(DATA["iris"])

    tried = fit()
    calls = []
    monkeypatch.setattr(copies, "copies_matter", lambda problem: calls.append(problem))
    assert tried.ensemble_ == fit().ensemble_
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("estimator", "more"),
    [
        (KMeans(3), {}),
        (KMeans(3), {"engine": "generic"}),
        (in_a_callable, {"resampling": Subsample(0.5)}),
        (in_a_callable, {"n_resamples": 49}),
    ],
)
def test_no_trial_where_it_is_not_needed_or_too_expensive(monkeypatch, estimator, more):
    def fail(problem):
        raise AssertionError("a trial")

    monkeypatch.setattr(copies, "copies_matter", fail)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        CoreClustering(estimator, **settings(**more)).fit(DATA["iris"])


def test_the_trial_is_bounded_and_an_error_in_it_is_not_raised():
    sizes = []

    def count(Z):
        sizes.append(len(Z))
        return np.zeros(len(Z), dtype=int)

    def broken(Z):
        raise ValueError("no")

    X = np.random.default_rng(0).normal(size=(5000, 2))
    assert copies.copies_matter(problem_of(count, X)) is None
    assert max(sizes) <= 400
    assert len(sizes) == 9  # the data, and four resamples in which nothing changes
    assert copies.copies_matter(problem_of(broken, X)) is None
