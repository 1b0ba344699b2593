"""Dask arrays: resamples are fetched, blocks are labeled where they are."""

import numpy as np
import pytest
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.svm import SVC

from coreclust import CoreClustering
from coreclust._utils.blocks import BlockedItems
from coreclust.cluster import KMeans
from coreclust.resampling import Bootstrap, KnownDistribution, SmoothedBootstrap, Subsample

da = pytest.importorskip("dask.array", reason="needs the extra 'dask'")

SCHEME = Subsample(size=150, label="all")


def blobs(n=600, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) + 4 * (np.arange(n) % 3)[:, None]


def fit(X, scheme=SCHEME, estimator=None, **settings):
    estimator = SklearnKMeans(3, n_init=2) if estimator is None else estimator
    settings = {"n_resamples": 40, "random_state": 0} | settings
    return CoreClustering(estimator, resampling=scheme, **settings).fit(X)


def test_resamples_are_labeled_as_in_memory():
    X = blobs()
    blocked = fit(da.from_array(X, chunks=(97, 2)))
    here = fit(X, engine="generic")
    np.testing.assert_array_equal(blocked.ensemble_.labels, here.ensemble_.labels)
    np.testing.assert_array_equal(blocked.reference_labels_, here.reference_labels_)
    np.testing.assert_array_equal(blocked.labels_, here.labels_)
    assert blocked.n_features_in_ == 3
    assert blocked.core_sample_indices_.size == 600


def test_neither_chunks_nor_n_jobs_change_the_answer():
    X = blobs()
    first = fit(da.from_array(X, chunks=(600, 3)))
    again = fit(da.from_array(X, chunks=(50, 1)), n_jobs=2)
    np.testing.assert_array_equal(first.ensemble_.labels, again.ensemble_.labels)
    np.testing.assert_array_equal(first.labels_, again.labels_)


def test_our_clusterers_and_the_bootstrap_work_too():
    X = da.from_array(blobs(), chunks=(200, 3))
    cc = fit(X, Bootstrap(label="all"), KMeans(3))
    assert cc.engine_ == "generic"
    assert cc.core_sample_indices_.size == 600


def test_data_is_never_whole(monkeypatch):
    X = da.from_array(blobs(), chunks=(100, 3))
    fetched = []
    take = BlockedItems.take

    def noted(self, rows):
        found = take(self, rows)
        fetched.append(len(found))
        return found

    monkeypatch.setattr(BlockedItems, "take", noted)
    monkeypatch.setattr(da.Array, "__array__", lambda *_: pytest.fail("it was read whole"))
    fit(X, n_resamples=20)
    assert fetched == [150] * 21  # the resamples, and that of the reference


def test_rows_are_fetched_in_the_order_asked_for():
    X = blobs(50)
    rows = np.array([30, 2, 2, 49, 0])
    items = BlockedItems(da.from_array(X, chunks=(7, 2)))
    np.testing.assert_array_equal(items.take(rows), X[rows])
    np.testing.assert_array_equal(np.vstack(list(items.blocks())), X)
    np.testing.assert_array_equal(items.label(lambda Z: Z[:, 0] > 1), X[:, 0] > 1)


def test_a_checkpoint_knows_the_data_in_blocks(tmp_path):
    X = blobs(1000)
    first = fit(da.from_array(X, chunks=(300, 3)), checkpoint=tmp_path / "kept")
    again = fit(da.from_array(X, chunks=(300, 3)), checkpoint=tmp_path / "kept")
    np.testing.assert_array_equal(first.ensemble_.labels, again.ensemble_.labels)
    with pytest.raises(ValueError, match="was made with"):
        fit(da.from_array(X + 1, chunks=(300, 3)), checkpoint=tmp_path / "kept")


@pytest.mark.parametrize("scheme", [Bootstrap(), Subsample(0.5), SmoothedBootstrap(label="all")])
def test_schemes_that_need_all_items_here_are_refused(scheme):
    with pytest.raises(ValueError, match="does not work with a dask array"):
        fit(da.from_array(blobs(), chunks=200), scheme)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (lambda: da.ones(30), "X must have one row per item"),
        (lambda: da.ones((1, 3)), "X must have at least 2 items"),
        (lambda: da.from_array(np.array([["a"], ["b"]])), "X must hold numbers"),
        (lambda: da.ones((30, 2))[da.ones(30) > 0], "X must be a dask array of known size"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(X, message):
    with pytest.raises(ValueError, match=message):
        fit(X())


def test_classifiers_and_known_distributions_want_data_in_memory():
    X = da.from_array(blobs(60), chunks=20)
    with pytest.raises(ValueError, match="X must be in memory for a classifier"):
        CoreClustering(SVC(), resampling=SCHEME).fit(X, np.arange(60) % 2)
    with pytest.raises(ValueError, match="X must be in memory with resampling=KnownDistribution"):
        fit(X, KnownDistribution(blobs(60)))
