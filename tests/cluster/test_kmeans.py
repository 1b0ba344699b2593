import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

from coreclust.cluster import KMeans, _lloyd


@parametrize_with_checks(
    [KMeans(3)],
    expected_failed_checks=lambda _: {
        f"check_sample_weight_equivalence_on_{kind}_data": "shuffles the rows, see the next test"
        for kind in ("dense", "sparse")
    },
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_scikit_learns_check_of_weights_fails_by_its_shuffle_alone():
    # A seed draws the rows of k-means++ by their position, as in scikit-learn's own KMeans, which
    # fails the check, too. Without weights, other positions give other clusters. From given
    # centers nothing is drawn, and the check passes.
    X = np.random.RandomState(42).rand(15, 30)  # the data of the check
    order = np.random.RandomState(0).permutation(15)
    labels, shuffled = (KMeans(3, random_state=0).fit(Z).predict(X) for Z in (X, X[order]))
    assert adjusted_rand_score(labels, shuffled) < 1
    check_sample_weight_equivalence_on_dense_data("KMeans", KMeans(3, init=X[:3]))
    check_sample_weight_equivalence_on_sparse_data("KMeans", KMeans(3, init=X[:3]))


def mixture(seed, n=None, d=None, k=None):
    rng = np.random.default_rng(seed)
    n, d, k = n or rng.integers(20, 300), d or rng.integers(1, 9), k or rng.integers(2, 9)
    centers = 3 * rng.normal(size=(k, d))
    return centers[rng.integers(k, size=n)] + rng.normal(size=(n, d)), int(k)


@pytest.mark.parametrize("seed", range(50))
def test_same_inertia_as_scikit_learn_from_the_same_centers(seed):
    X, k = mixture(seed)
    rng = np.random.default_rng([1, seed])
    init = X[rng.choice(len(X), k, replace=False)]
    weights = rng.integers(1, 5, size=len(X)) if seed % 2 else None
    ours = KMeans(k, init=init).fit(X, sample_weight=weights)
    theirs = SklearnKMeans(k, init=init, n_init=1, tol=0).fit(X, sample_weight=weights)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-6)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-8)


def lloyd_twin(X, weights, centers):
    """Lloyd's algorithm in plain numpy, from centers that leave no cluster empty."""
    labels = None
    while True:
        distances = ((X[:, None] - centers[None]) ** 2).sum(-1)
        new = distances.argmin(1)
        if labels is not None and (new == labels).all():
            return labels, centers
        labels = new
        if np.unique(labels).size < len(centers):
            return None, None
        centers = np.array(
            [
                np.average(X[labels == c], axis=0, weights=weights[labels == c])
                for c in range(len(centers))
            ]
        )


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60)
def test_same_result_as_plain_lloyd(seed):
    X, k = mixture(seed)
    rng = np.random.default_rng([2, seed])
    weights = rng.random(len(X)) + 0.1
    init = X[rng.choice(len(X), k, replace=False)]
    labels, centers = lloyd_twin(X, weights, init)
    if labels is None:
        return
    ours = KMeans(k, init=init).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(ours.labels_, labels)
    np.testing.assert_allclose(ours.cluster_centers_, centers)


@given(seed=st.integers(0, 10**6), on_grid=st.booleans())
@settings(max_examples=60, deadline=None)
def test_bounds_give_the_labels_of_all_distances(seed, on_grid):
    """Centers walk, in steps that become small, as in Lloyd's iterations; on a grid, many tie."""
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(1, 900), rng.integers(1, 9), int(rng.integers(1, 12))
    columns = rng.normal(size=(d, n))
    centers = rng.normal(size=(d, k))
    if on_grid:
        columns, centers = np.round(columns), np.round(centers)
    labels, expected = np.zeros((2, n), dtype=np.int64)
    room = _lloyd.new_room(d, n)
    room.bounds[0] = np.inf
    moves = np.zeros(k)
    for step in range(12):
        old = labels.copy()
        n_moved = _lloyd._reassign(columns, centers, labels, moves, room)
        _lloyd._assign(columns, centers, expected, np.empty(n))
        np.testing.assert_array_equal(labels, expected)
        np.testing.assert_array_equal(room.moved[0, :n_moved], np.flatnonzero(labels != old))
        np.testing.assert_array_equal(room.moved[1, :n_moved], old[labels != old])
        before = centers
        centers = before + rng.normal(size=(d, k)) * rng.integers(0, 2, size=k) * 0.5**step
        if on_grid:
            centers = np.round(centers)
        moves = np.sqrt(((centers - before) ** 2).sum(axis=0))


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60)
def test_weights_draw_like_copies_in_place(seed):
    X, k = mixture(seed)
    counts = np.random.default_rng([4, seed]).integers(0, 4, size=len(X))
    weighted, copies = (KMeans(k, n_init=2, random_state=seed) for _ in range(2))
    weighted.fit(X, sample_weight=counts)
    copies.fit(np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, copies.cluster_centers_)
    np.testing.assert_array_equal(weighted.labels_, copies.predict(X))
    assert weighted.inertia_ == pytest.approx(copies.inertia_)


def test_weights_equal_copies():
    for seed in range(20):
        X, k = mixture(seed)
        rng = np.random.default_rng([3, seed])
        counts = rng.integers(1, 4, size=len(X))
        init = X[rng.choice(len(X), k, replace=False)]
        weighted = KMeans(k, init=init).fit(X, sample_weight=counts)
        copies = KMeans(k, init=init).fit(np.repeat(X, counts, axis=0))
        assert weighted.inertia_ == pytest.approx(copies.inertia_, rel=1e-9)
        np.testing.assert_array_equal(np.repeat(weighted.labels_, counts), copies.labels_)


@pytest.mark.slow
def test_seeding_with_weights_draws_like_copies():
    # One iteration from k-means++ on four items: how often does each share the first one's
    # cluster? 6000 runs each: the standard error of a difference is 0.009 at most.
    X = np.array([[0.0], [1.0], [4.0], [9.0]])
    counts = np.array([1, 3, 1, 2])
    shares = np.zeros((2, 4))
    for seed in range(6000):
        for way, (data, weight) in enumerate([(X, counts), (np.repeat(X, counts, 0), None)]):
            kmeans = KMeans(2, n_init=1, max_iter=1, random_state=seed).fit(
                data, sample_weight=weight
            )
            shares[way] += kmeans.predict(X) == kmeans.predict(X[:1])
    np.testing.assert_allclose(shares[0] / 6000, shares[1] / 6000, atol=0.04)


@pytest.mark.slow
def test_mean_inertia_is_no_worse_than_scikit_learns():
    # Over 8 datasets and 15 seeds; a worse seeding would differ by several percent.
    ratios = []
    for data_seed in range(8):
        X, _ = mixture(data_seed, n=200, d=4, k=6)
        ours = [KMeans(8, random_state=s).fit(X).inertia_ for s in range(15)]
        theirs = [SklearnKMeans(8, n_init=10, random_state=s).fit(X).inertia_ for s in range(15)]
        ratios.append(np.mean(ours) / np.mean(theirs))
    assert np.mean(ratios) < 1.002
    assert max(ratios) < 1.01


def test_more_runs_are_never_worse():
    X, _ = mixture(0, n=150, d=3, k=7)
    for seed in range(10):
        inertias = [KMeans(7, n_init=n, random_state=seed).fit(X).inertia_ for n in (1, 3, 10)]
        assert inertias == sorted(inertias, reverse=True)


def test_empty_clusters_are_filled():
    X = np.vstack([np.zeros((5, 1)), np.full((5, 1), 10.0), [[11.0]]])
    init = [[0.0], [100.0], [200.0]]  # the last two get nothing at first
    kmeans = KMeans(3, init=init).fit(X)
    assert np.unique(kmeans.labels_).size == 3
    assert kmeans.inertia_ == pytest.approx(0.0)


def test_fewer_distinct_rows_than_clusters():
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 4, axis=0)
    with pytest.warns(ConvergenceWarning, match="Only 2 of n_clusters=5 clusters have items"):
        kmeans = KMeans(5, random_state=0).fit(X)
    assert adjusted_rand_score(kmeans.labels_, np.repeat([0, 1], 4)) == 1
    assert set(kmeans.labels_) == {0, 1}
    assert kmeans.cluster_centers_.shape == (2, 2)
    assert kmeans.inertia_ == 0
    assert np.isfinite(kmeans.cluster_centers_).all()


def test_items_of_weight_zero_get_a_label_but_do_not_move_centers():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [1000.0]])
    kmeans = KMeans(2, random_state=0).fit(X, sample_weight=[1, 1, 1, 1, 0])
    np.testing.assert_allclose(np.sort(kmeans.cluster_centers_.ravel()), [0.5, 10.5])
    assert kmeans.labels_[4] == kmeans.labels_[3]


def test_predict_is_the_nearest_center():
    X, k = mixture(3)
    kmeans = KMeans(k, random_state=0).fit(X)
    new = np.random.default_rng(0).normal(size=(50, X.shape[1]))
    distances = ((new[:, None] - kmeans.cluster_centers_[None]) ** 2).sum(-1)
    np.testing.assert_array_equal(kmeans.predict(new), distances.argmin(1))
    np.testing.assert_array_equal(kmeans.predict(X), kmeans.labels_)


@given(
    seed=st.integers(0, 10**6), max_iter=st.integers(1, 4), tol=st.sampled_from([0.0, 0.01, 1.0])
)
@settings(max_examples=100)
@pytest.mark.filterwarnings("ignore:Only .* clusters have items")
def test_labels_are_those_of_predict_before_convergence(seed, max_iter, tol):
    X, k = mixture(seed)
    rng = np.random.default_rng([5, seed])
    weights = rng.integers(0, 3, size=len(X)) if seed % 2 else None
    kmeans = KMeans(k, n_init=2, max_iter=max_iter, tol=tol, random_state=seed)
    kmeans.fit(X, sample_weight=weights)
    np.testing.assert_array_equal(kmeans.labels_, kmeans.predict(X))
    distances = ((X - kmeans.cluster_centers_[kmeans.labels_]) ** 2).sum(1)
    assert kmeans.inertia_ == pytest.approx(
        np.average(distances, weights=weights) * (len(X) if weights is None else weights.sum())
    )


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_same_centers_as_scikit_learn_before_convergence(seed):
    X, k = mixture(seed)
    init = X[np.random.default_rng([6, seed]).choice(len(X), k, replace=False)]
    for max_iter in (1, 2, 3):
        ours = KMeans(k, init=init, max_iter=max_iter).fit(X)
        theirs = SklearnKMeans(k, init=init, n_init=1, max_iter=max_iter, tol=0).fit(X)
        np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-8)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        assert ours.inertia_ == pytest.approx(theirs.inertia_)


def test_tolerance_stops_early():
    X, k = mixture(5, n=300, d=5, k=8)
    strict = KMeans(k, n_init=1, random_state=0).fit(X)
    loose = KMeans(k, n_init=1, tol=0.5, random_state=0).fit(X)
    assert loose.n_iter_ < strict.n_iter_
    assert loose.inertia_ >= strict.inertia_
    assert KMeans(k, n_init=1, max_iter=1, random_state=0).fit(X).n_iter_ == 1


@pytest.mark.parametrize(
    ("params", "X", "message"),
    [
        ({"n_clusters": 5}, np.zeros((3, 2)), "n_clusters=5 must not exceed .* n_samples=3"),
        ({"n_clusters": 0}, np.zeros((3, 2)), "'n_clusters' parameter"),
        ({"n_clusters": 2, "init": "first"}, np.zeros((3, 2)), "'init' parameter"),
        (
            {"n_clusters": 2, "init": [[1.0, 2.0]]},
            np.zeros((3, 2)),
            r"shape \(2, 2\), got shape \(1, 2\)",
        ),
        ({"n_clusters": 2, "n_init": 0}, np.zeros((3, 2)), "'n_init' parameter"),
        ({"n_clusters": 2, "tol": -1}, np.zeros((3, 2)), "'tol' parameter"),
        ({"n_clusters": 2}, [[np.nan], [1.0]], "contains NaN"),
    ],
)
def test_bad_input(params, X, message):
    with pytest.raises(ValueError, match=message):
        KMeans(**params).fit(X)


def test_negative_weights_are_refused():
    with pytest.raises(ValueError, match=r"[Nn]egative values in data passed to `sample_weight`"):
        KMeans(2).fit(np.arange(4.0)[:, None], sample_weight=[1, 1, 1, -1])


def test_values_that_cannot_be_squared_are_refused():
    with pytest.raises(ValueError, match="squares are too large"):
        KMeans(2).fit(np.arange(6.0)[:, None] * 1e200)


def test_an_empty_cluster_is_not_taken_for_equal_rows():
    X = np.array([[-0.7, 0.6], [0.4, -4.9], [1.5, -3], [-0.6, 2.6], [-2.1, -0.4], [-1.3, 1.6]])
    init = [[-3.5, -4.7], [-6.2, 6.5], [2, 4.9]]
    with pytest.warns(ConvergenceWarning, match="Only 2 of n_clusters=3 clusters .* max_iter"):
        KMeans(3, init=init, max_iter=1).fit(X)


@pytest.mark.parametrize("label_all", [False, True])
def test_data_in_single_precision_is_not_copied(label_all):
    X = mixture(0, n=200, d=3, k=4)[0].astype(np.float32)
    counts = np.random.default_rng(0).integers(3, size=(8, 200)).astype(np.int32)
    seeds = np.arange(8)
    double = X.astype(np.float64)
    copied = KMeans(4, n_init=2)._labeler(double, label_all=label_all)(counts, seeds)
    labeler = KMeans(4, n_init=2)._labeler(X, label_all=label_all)
    assert labeler.args[0] is X
    batch = labeler(counts, seeds)
    np.testing.assert_array_equal(batch.labels, copied.labels)
    np.testing.assert_array_equal(batch.models, copied.models)
