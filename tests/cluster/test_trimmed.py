"""Trimmed k-means."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import cluster, datasets
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from coreclust._utils.constants import ABSENT, NOISE
from coreclust.cluster import _concentration as concentration
from coreclust.cluster._trimmed import TrimmedKMeans, distinct_rows


@parametrize_with_checks([TrimmedKMeans(3), TrimmedKMeans(2, trim=0.0)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def planted(seed, n_outliers=30):
    """Three unit balls of 90 items each, and a tenth of outliers far away on one side."""
    rng = np.random.default_rng(seed)
    centers = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    balls = np.repeat(centers, 90, axis=0) + rng.normal(size=(270, 2))
    outliers = rng.uniform(60, 200, size=(n_outliers, 2))
    truth = np.r_[np.repeat([0, 1, 2], 90), np.full(n_outliers, 3)]
    return np.vstack([balls, outliers]), truth


def one_step(X, weight, to_trim, centers):
    """Trimmed k-means' step in plain numpy: labels, kept weights, inertia, new centers."""
    squared = ((X[:, None] - centers) ** 2).sum(-1)
    label, distance = squared.argmin(1), squared.min(1)
    kept = weight.astype(float)
    for i in np.argsort(-distance, kind="stable"):
        cut = min(kept[i], to_trim)
        kept[i] -= cut
        to_trim -= cut
    moved = [
        np.average(X[label == j], axis=0, weights=kept[label == j]) for j in range(len(centers))
    ]
    return label, kept, (kept * distance).sum(), np.array(moved)


def compiled(X, weight, to_trim, k):
    """The compiled steps on given items, with one slot of clusters."""
    how = TrimmedKMeans(k, n_init=1)._settings()
    room, models, work = concentration._room(*X.shape, how)
    items = concentration._fill(room, X, weight, to_trim)
    return items, how, models, 0, work


@pytest.mark.parametrize("seed", range(5))
def test_a_step_is_that_of_plain_numpy(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3)) + np.repeat([[0.0], [4.0]], 20, axis=0)
    weight = rng.integers(1, 4, size=40).astype(float)
    centers = X[[3, 30, 35]]
    label, kept, inertia, moved = one_step(X, weight, 7.0, centers)
    args = compiled(X, weight, 7.0, 3)
    _, _, models, _, work = args
    models.centers[0] = centers
    objective, _, _ = concentration.expect(*args, -np.inf)
    concentration.maximize(*args)
    np.testing.assert_array_equal(work.label, label)
    np.testing.assert_array_equal(work.kept, kept)
    assert objective == pytest.approx(-inertia)
    np.testing.assert_allclose(models.centers[0], moved)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 0.4]))
@settings(max_examples=30)
def test_inertia_never_rises(seed, trim):
    rng = np.random.default_rng(seed)
    X = np.unique(rng.integers(0, 6, size=(30, 2)).astype(float), axis=0)
    weight = rng.integers(1, 4, size=len(X)).astype(float)
    args = compiled(X, weight, trim * weight.sum(), 4)
    args[2].centers[0] = rng.uniform(0, 6, size=(4, 2))
    objectives = []
    for _ in range(8):
        objectives.append(concentration.expect(*args, -np.inf)[0])
        concentration.maximize(*args)
    assert (np.diff(objectives) >= -1e-9).all()
    assert np.isfinite(args[2].centers).all()


def test_empty_clusters_go_to_the_items_that_fit_worst():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [1000.0]])
    args = compiled(X, np.ones(5), 1.0, 3)
    args[2].centers[0] = [[1.0], [-500.0], [-600.0]]
    concentration.expect(*args, -np.inf)
    concentration.maximize(*args)
    np.testing.assert_array_equal(args[2].centers[0].ravel(), [13 / 4, 10, 0])


@given(hnp.arrays(float, st.integers(1, 30), elements=st.integers(0, 5)), st.data())
def test_threshold_is_a_weighted_quantile(values, data):
    n = len(values)
    weight = data.draw(hnp.arrays(float, n, elements=st.integers(1, 3)))
    to_trim = data.draw(st.integers(1, int(weight.sum())))
    guess = data.draw(st.sampled_from([-np.inf, 1.0, 3.0, np.inf]))
    items, _, _, _, work = compiled(np.zeros((n, 1)), weight, float(to_trim), 1)
    work.value[:] = values
    expected = np.sort(np.repeat(values, weight.astype(int)))[to_trim - 1]
    assert concentration._threshold(items, work, guess) == expected


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_without_trimming_the_inertia_is_that_of_k_means(seed):
    X = datasets.make_blobs(60, n_features=3, centers=4, cluster_std=2.0, random_state=seed)[0]
    best = cluster.KMeans(4, n_init=50, random_state=1, tol=0).fit(X)
    found = TrimmedKMeans(4, trim=0.0, max_iter=100, random_state=seed).fit(X)
    assert found.inertia_ == pytest.approx(best.inertia_, rel=1e-6)
    assert found.objective_ == -found.inertia_
    assert found.converged_
    assert (found.labels_ >= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_outliers_are_trimmed_where_k_means_follows_them(seed):
    X, truth = planted(seed)
    found = TrimmedKMeans(3, trim=0.1, random_state=seed).fit(X)
    kept = found.labels_ >= 0
    assert kept.sum() == 270
    assert adjusted_rand_score(truth[kept], found.labels_[kept]) > 0.95
    plain = cluster.KMeans(3, n_init=10, random_state=seed).fit_predict(X)
    assert adjusted_rand_score(truth[:270], plain[:270]) < 0.7


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.05, 0.3]))
@settings(max_examples=30)
def test_weights_are_copies_in_any_order(seed, trim):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 20, size=(25, 2)) / 7
    counts = rng.integers(0, 4, size=25)
    copies = rng.permutation(np.repeat(np.arange(25), counts))
    weighted = TrimmedKMeans(3, trim=trim, n_init=5, random_state=seed)
    weighted.fit(X, sample_weight=counts)
    copied = TrimmedKMeans(3, trim=trim, n_init=5, random_state=seed).fit(X[copies])
    np.testing.assert_array_equal(weighted.cluster_centers_, copied.cluster_centers_)
    np.testing.assert_array_equal(weighted.labels_[copies], copied.labels_)
    assert weighted.objective_ == copied.objective_


def test_part_of_an_item_can_be_trimmed():
    X = np.array([[0.0], [1.0], [3.0]])
    weight = [10, 6, 3]
    mostly_kept = TrimmedKMeans(1, trim=1 / 19, random_state=0).fit(X, sample_weight=weight)
    assert mostly_kept.labels_.tolist() == [0, 0, 0]
    assert mostly_kept.cluster_centers_[0, 0] == pytest.approx((6 + 2 * 3) / 18)
    mostly_trimmed = TrimmedKMeans(1, trim=2 / 19, random_state=0).fit(X, sample_weight=weight)
    assert mostly_trimmed.labels_.tolist() == [0, 0, NOISE]
    assert mostly_trimmed.cluster_centers_[0, 0] == pytest.approx((6 + 3) / 17)


def test_of_ties_the_first_are_trimmed():
    X = np.array([[1.0, 0.0], [0.0, -1.0], [0.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    args = compiled(X[np.lexsort(X.T[::-1])], np.ones(5), 2.0, 1)
    concentration.expect(*args, -np.inf)
    np.testing.assert_array_equal(args[-1].kept, [0, 0, 1, 1, 1])


@pytest.mark.parametrize(("n", "trim", "trimmed"), [(100, 0.07, 7), (150, 0.05, 8), (20, 0.0, 0)])
def test_the_number_of_trimmed_items_is_rounded_up(n, trim, trimmed):
    X = np.random.default_rng(0).normal(size=(n, 2))
    labels = TrimmedKMeans(2, trim=trim, random_state=0).fit_predict(X)
    assert (labels == NOISE).sum() == trimmed


def test_weights_that_are_not_whole_numbers_are_not_rounded():
    X = np.random.default_rng(0).normal(size=(40, 2))
    unit = TrimmedKMeans(2, trim=0.05, random_state=0).fit(X)
    small = TrimmedKMeans(2, trim=0.05, random_state=0).fit(X, sample_weight=np.full(40, 1 / 64))
    np.testing.assert_allclose(unit.cluster_centers_, small.cluster_centers_)
    np.testing.assert_array_equal(unit.labels_, small.labels_)


def test_predict_repeats_the_labels_and_trims_what_is_far(blobs):
    found = TrimmedKMeans(3, trim=0.1, random_state=0).fit(blobs)
    np.testing.assert_array_equal(found.predict(blobs), found.labels_)
    np.testing.assert_array_equal(found.predict(found.cluster_centers_), [0, 1, 2])
    assert found.predict([[1e6, 0.0]]) == [NOISE]
    everything = TrimmedKMeans(3, trim=0.0, random_state=0).fit(blobs)
    assert everything.predict([[1e6, 0.0]]) >= 0


def test_items_of_weight_zero_get_a_label_but_do_not_move_centers(blobs):
    weight = np.r_[np.zeros(5), np.ones(55)]
    found = TrimmedKMeans(3, random_state=0).fit(blobs, sample_weight=weight)
    without = TrimmedKMeans(3, random_state=0).fit(blobs[5:])
    np.testing.assert_array_equal(found.cluster_centers_, without.cluster_centers_)
    np.testing.assert_array_equal(found.labels_[5:], without.labels_)
    np.testing.assert_array_equal(found.labels_[:5], without.predict(blobs[:5]))


def test_clusters_come_by_size_and_steps_are_counted(blobs):
    found = TrimmedKMeans(2, random_state=0).fit(blobs)
    assert found.weights_[0] >= found.weights_[1]
    assert found.weights_.sum() == pytest.approx(1)
    short = TrimmedKMeans(3, max_iter=1, random_state=0).fit(blobs)
    assert (short.n_iter_, short.converged_) == (1, False)
    assert TrimmedKMeans(3, random_state=0).fit(blobs).converged_


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(0)])
def test_other_random_states(blobs, random_state):
    assert TrimmedKMeans(3, random_state=random_state).fit(blobs).converged_


def test_too_few_items_are_refused():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    with pytest.raises(ValueError, match="n_clusters=3 is more than the 2 distinct items"):
        TrimmedKMeans(3).fit(X)
    with pytest.raises(ValueError, match="n_clusters=3 is more than the 2 distinct items"):
        TrimmedKMeans(3).__coreclust_native__().label_drawn(X)
    with pytest.raises(ValueError, match=r"trim=0.95 keeps 1 of n_samples=20.*n_clusters=2"):
        TrimmedKMeans(2, trim=0.95).fit(X)
    with pytest.raises(ValueError, match="squares are too large"):
        TrimmedKMeans(2).fit(np.arange(20.0)[:, None] * 1e200)


@pytest.mark.parametrize("trim", [-0.1, 1.0, 2, "some"])
def test_trim_must_be_a_share(trim):
    with pytest.raises(ValueError, match="'trim' parameter of TrimmedKMeans must be"):
        TrimmedKMeans(trim=trim).fit(np.zeros((20, 1)))


@pytest.mark.parametrize("weight", [-np.ones(60), np.zeros(60), np.ones(3)])
def test_bad_weights_are_refused(blobs, weight):
    with pytest.raises(ValueError, match="weight"):
        TrimmedKMeans(2).fit(blobs, sample_weight=weight)


@given(
    hnp.arrays(
        float, st.tuples(st.integers(2, 12), st.integers(1, 3)), elements=st.integers(-2, 2)
    ),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.3]),
)
@settings(max_examples=60)
def test_any_data_is_clustered_or_refused(X, k, trim):
    found = TrimmedKMeans(k, trim=trim, n_init=4, random_state=0)
    n_distinct = len(np.unique(X, axis=0))
    if n_distinct < k or len(X) - np.ceil(trim * len(X)) < k:
        with pytest.raises(ValueError, match="n_clusters"):
            found.fit(X)
        return
    found.fit(X)
    assert np.isfinite(found.cluster_centers_).all()
    assert found.inertia_ >= 0
    assert found.labels_.min() >= NOISE
    assert found.labels_.max() < k


def test_distinct_rows_are_sorted_and_found_again():
    X = np.array([[1.0, 0.0], [-0.0, 2.0], [0.0, 2.0], [1.0, -1.0], [1.0, 0.0]])
    distinct, group = distinct_rows(X)
    np.testing.assert_array_equal(distinct, [[0, 2], [1, -1], [1, 0]])
    np.testing.assert_array_equal(distinct[group], X)


@pytest.mark.parametrize("name", ["blobs", "copies"])
def test_a_batch_has_the_labels_of_the_estimator(blobs, name):
    X = blobs if name == "blobs" else np.vstack([blobs.round(), blobs.round()])
    rng = np.random.default_rng(0)
    counts = rng.multinomial(len(X), np.full(len(X), 1 / len(X)), size=20).astype(np.int32)
    counts[3] = 0
    counts[3, :2] = [30, 30]  # too few different items
    counts[4] = 0
    counts[4, :4] = 1  # trims too much of them
    seeds = rng.integers(2**31, size=20)
    estimator = TrimmedKMeans(4, trim=0.1, n_init=10, n_refine=3)
    offer = estimator.__coreclust_native__()
    labeler = pickle.loads(pickle.dumps(offer.label_drawn(X)))  # noqa: S301
    labels, failed, _ = labeler(counts, seeds)
    np.testing.assert_array_equal(np.flatnonzero(failed), [3, 4])
    for resample in np.flatnonzero(~failed):
        items = np.flatnonzero(counts[resample])
        expected = np.full(len(X), ABSENT)
        estimator.set_params(random_state=int(seeds[resample]))
        expected[items] = estimator.fit_predict(X[items], sample_weight=counts[resample, items])
        np.testing.assert_array_equal(labels[resample], expected)
    again, _, _ = labeler(counts[::-1], seeds[::-1])
    np.testing.assert_array_equal(again[::-1], labels)


def test_labels_are_those_of_predict_before_convergence(blobs):
    for seed in range(20):
        found = TrimmedKMeans(5, max_iter=1, n_init=3, random_state=seed).fit(blobs)
        assert not found.converged_
        np.testing.assert_array_equal(found.predict(blobs), found.labels_)
