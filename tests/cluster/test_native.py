"""The offers of the clusterers to CoreClustering give the labels of their own methods."""

import numpy as np
import pytest

from coreclust._utils.constants import ABSENT
from coreclust.cluster import HierarchicalClustering, KMeans, TClust, TrimmedKMeans

CLUSTERERS = [
    KMeans(4, n_init=2),
    HierarchicalClustering(4, linkage="average"),
    TrimmedKMeans(4, n_init=6, n_refine=3),
    TClust(4, n_init=6, n_refine=3),
]
SEEDS = np.random.default_rng(1).integers(2**31, size=6)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return 6 * rng.normal(size=(4, 2))[rng.integers(4, size=80)] + rng.normal(size=(80, 2))


@pytest.fixture(scope="module")
def counts(data):
    rng = np.random.default_rng(2)
    return rng.multinomial(len(data), np.full(len(data), 1 / len(data)), size=6).astype(np.int32)


def seeded(clusterer, seed):
    if "random_state" in clusterer.get_params():
        clusterer.set_params(random_state=int(seed))
    return clusterer


@pytest.mark.slow
@pytest.mark.parametrize("clusterer", CLUSTERERS, ids=lambda c: type(c).__name__)
def test_drawn_items_get_the_labels_of_fit_predict(clusterer, data, counts):
    offer = clusterer.__coreclust_native__()
    assert isinstance(clusterer, offer.owner)
    assert offer.weights_from == 4
    assert offer.seeded == ("random_state" in clusterer.get_params())
    batch = offer.label_drawn(data)(counts, SEEDS)
    assert not batch.failed.any()
    for labels, count, seed in zip(batch.labels, counts, SEEDS, strict=True):
        drawn = count > 0
        expected = seeded(clusterer, seed).fit_predict(data[drawn], sample_weight=count[drawn])
        np.testing.assert_array_equal(labels[drawn], expected)
        assert (labels[~drawn] == ABSENT).all()


@pytest.mark.slow
@pytest.mark.parametrize("clusterer", CLUSTERERS, ids=lambda c: type(c).__name__)
def test_datasets_get_the_labels_of_fit_predict(clusterer, data):
    datasets = data + np.random.default_rng(3).normal(size=(6, *data.shape))
    batch = clusterer.__coreclust_native__().label_datasets(2)(datasets, 30, SEEDS)
    assert not batch.failed.any()
    for labels, dataset, seed in zip(batch.labels, datasets, SEEDS, strict=True):
        np.testing.assert_array_equal(labels, seeded(clusterer, seed).fit_predict(dataset)[:30])


def test_all_items_get_the_labels_of_predict_and_of_the_models(data, counts):
    offer = KMeans(4, n_init=2).__coreclust_native__()
    batch = offer.label_all(data)(counts, SEEDS)
    for labels, count, seed, centers in zip(batch.labels, counts, SEEDS, batch.models, strict=True):
        kmeans = KMeans(4, n_init=2, random_state=int(seed))
        kmeans.fit(data[count > 0], sample_weight=count[count > 0])
        np.testing.assert_array_equal(labels, kmeans.predict(data))
        np.testing.assert_array_equal(offer.make_model(centers).label(data), labels)


def test_datasets_need_euclidean_distances():
    offer = HierarchicalClustering(3, metric="cityblock").__coreclust_native__()
    assert offer.label_datasets(2) is None
