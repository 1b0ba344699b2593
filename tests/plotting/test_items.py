import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import DBSCAN, KMeans

from coreclust import CoreClustering
from coreclust.plotting._items import check_positions, ordered_items, project


@pytest.fixture(scope="module")
def fitted(blobs):
    return CoreClustering(KMeans(3), n_resamples=60, random_state=0).fit(blobs)


@pytest.fixture(scope="module")
def trimmed(blobs):
    X = np.vstack([blobs, [[50.0, 50.0], [-50.0, 50.0]]])
    return CoreClustering(DBSCAN(eps=1.5), n_resamples=60, random_state=0).fit(X)


def test_order_is_by_cluster_then_strength_and_trimmed_last(trimmed):
    order = ordered_items(trimmed, 10**6)
    np.testing.assert_array_equal(np.sort(order), np.arange(62))
    strengths = trimmed.strengths_
    keys = [
        (code if code >= 0 else 99, -strength if strength == strength else 1)
        for code, strength in zip(
            trimmed.reference_labels_[order].tolist(), strengths[order].tolist(), strict=True
        )
    ]
    assert keys == sorted(keys)


@pytest.mark.parametrize("at_most", [5, 12, 30, 61])
def test_a_selection_keeps_every_cluster_and_both_its_ends(trimmed, at_most):
    order, kept = ordered_items(trimmed, 10**6), ordered_items(trimmed, at_most)
    assert kept.size <= at_most
    assert np.unique(kept).size == kept.size
    np.testing.assert_array_equal(kept, order[np.isin(order, kept)])  # in the same order
    clusters = trimmed.reference_labels_
    assert set(clusters[kept]) == set(clusters)
    for cluster in set(clusters.tolist()):
        inside, chosen = order[clusters[order] == cluster], kept[clusters[kept] == cluster]
        assert chosen[0] == inside[0]
        assert chosen.size == 1 or chosen[-1] == inside[-1]
        fair = at_most * inside.size / order.size
        assert chosen.size <= fair + 1
    np.testing.assert_array_equal(kept, ordered_items(trimmed, at_most))


def test_one_feature_is_drawn_against_the_strength(blobs):
    cc = CoreClustering(KMeans(2), n_resamples=60, random_state=0).fit(blobs[:, :1])
    places, names = project(cc, blobs[:, :1])
    assert names == ("feature 1", "strength")
    np.testing.assert_array_equal(places[:, 0], blobs[:, 0])
    np.testing.assert_array_equal(places[:, 1], cc.strengths_)


def test_sparse_data_is_projected_like_dense_data(fitted, blobs):
    wide = np.hstack([blobs, blobs**2])
    dense, names = project(fitted, wide)
    sparse, sparse_names = project(fitted, csr_array(wide))
    np.testing.assert_allclose(np.abs(sparse), np.abs(dense), atol=1e-6)
    assert names == sparse_names
    np.testing.assert_array_equal(project(fitted, csr_array(blobs))[0], blobs)


def test_items_that_are_all_alike_can_be_drawn(fitted):
    places, names = project(fitted, np.ones((60, 3)))
    np.testing.assert_array_equal(places, 0)
    assert "(0% of variance)" in names[0]


def test_positions_are_checked():
    with pytest.raises(ValueError, match="positions must have a row for each of 3 items, got 2"):
        check_positions([[0, 1], [2, 3]], 3)
    with pytest.raises(ValueError, match="positions contains NaN"):
        check_positions([[0, np.nan], [2, 3]], 2)
