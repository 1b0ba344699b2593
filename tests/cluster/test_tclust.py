"""tclust."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal, ortho_group
from sklearn import cluster
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from coreclust._utils.constants import ABSENT, NOISE
from coreclust.cluster import _concentration as concentration
from coreclust.cluster._tclust import TClust
from coreclust.cluster._trimmed import TrimmedKMeans


@pytest.mark.slow
@parametrize_with_checks([TClust(3), TClust(2, trim=0.0, equal_weights=True)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def cost(m, variances, size, factor):
    """What the truncation minimizes."""
    truncated = np.clip(variances, m, factor * m)
    return (size[:, None] * (np.log(truncated) + variances / truncated)).sum()


def truncation_of_fritz(variances, size, factor):
    """The optimum of each of the 2kd + 1 intervals, and the best of those."""
    edges = np.unique([variances, variances / factor])
    inner = np.r_[edges[0] / 2, (edges[1:] + edges[:-1]) / 2, edges[-1] * 2]
    best = (np.inf, 1.0)
    for point in inner:
        low, high = variances < point, variances > factor * point
        count = (size[:, None] * (low | high)).sum()
        if count == 0:
            return variances
        total = (size[:, None] * (variances * low + variances / factor * high)).sum()
        if total > 0:
            best = min(best, (cost(total / count, variances, size, factor), total / count))
    return np.clip(variances, best[1], factor * best[1])


@st.composite
def truncations(draw):
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    exponents = draw(hnp.arrays(float, shape, elements=st.floats(-3, 3)))
    size = draw(hnp.arrays(float, shape[0], elements=st.integers(1, 50)))
    return 10**exponents, size, draw(st.sampled_from([1.0, 1.5, 10.0, 50.0, 1e9]))


@given(truncations())
def test_truncation_is_the_best_one(example):
    variances, size, factor = example
    restricted = variances.copy()
    concentration.restrict(restricted, size, factor, 0.0)
    np.testing.assert_allclose(restricted, truncation_of_fritz(variances, size, factor), rtol=1e-9)
    assert restricted.max() <= factor * restricted.min() * (1 + 1e-12)
    reached = (size[:, None] * (np.log(restricted) + variances / restricted)).sum()

    def cost_of(exponent):
        return cost(10**exponent, variances, size, factor)

    start = min(np.linspace(-4 - np.log10(factor), 4, 200), key=cost_of)
    searched = minimize_scalar(cost_of, bounds=(start - 0.2, start + 0.2))
    assert reached <= searched.fun + 1e-6 * (1 + abs(searched.fun))


def test_truncation_ignores_empty_clusters_and_has_a_floor():
    variances = np.array([[1.0, 4.0], [1e9, 1e-9]])
    concentration.restrict(variances, np.array([3.0, 0.0]), 10.0, 0.0)
    np.testing.assert_array_equal(variances[0], [1, 4])
    assert variances.max() <= 10 * variances.min()
    zeros = np.zeros((2, 2))
    concentration.restrict(zeros, np.ones(2), 10.0, 0.25)
    np.testing.assert_array_equal(zeros, np.full((2, 2), 0.25))


@given(st.integers(1, 12), st.integers(0, 12), st.integers(0, 10**6))
def test_eigenvectors_are_those_of_lapack(d, rank, seed):
    half = np.random.default_rng(seed).normal(size=(rank, d))
    matrix = half.T @ half / max(rank, 1) / d
    vectors, values, room = np.empty((d, d)), np.empty(d), np.empty(d)
    concentration.eigen(matrix.copy(), vectors, values, room)
    np.testing.assert_allclose(np.sort(values), np.linalg.eigvalsh(matrix), atol=1e-13)
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(d), atol=1e-13)
    np.testing.assert_allclose(vectors.T * values @ vectors, matrix, atol=1e-13)


def test_distances_in_a_thin_cluster_are_exact():
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    variances = np.array([1.0, 1e-10])
    steps = np.random.default_rng(0).normal(size=(20, 2)) * np.sqrt(variances)
    value, label, block = np.empty(20), np.empty(20, dtype=int), np.empty((4, 256))
    columns = np.ascontiguousarray((steps @ turn).T)
    one = np.zeros((1, 2)), turn[None], variances[None], np.zeros(1)
    concentration.assign(columns, 20, False, *one, label, value, block)
    np.testing.assert_allclose(value, -(steps**2 / variances).sum(1) / 2, rtol=1e-8)


def compiled(X, weight, to_trim, estimator):
    """The compiled steps on given items, with one slot of clusters."""
    how = estimator.set_params(n_init=1)._settings()
    room, models, work = concentration._room(*X.shape, how)
    items = concentration._fill(room, X, weight, to_trim)
    return items, how, models, 0, work


def set_clusters(models, centers, covariances, weights):
    models.centers[0] = centers
    models.variances[0], axes = np.linalg.eigh(covariances)
    models.axes[0] = axes.transpose(0, 2, 1)
    logs = np.log(2 * np.pi * models.variances[0]).sum(-1)
    models.constants[0] = np.log(weights) - logs / 2


def one_step(X, weight, to_trim, clusters, factor):
    """tclust's step in plain numpy and scipy: labels, kept weights, objective, clusters."""
    described = zip(*clusters, strict=True)
    values = np.stack([np.log(p) + multivariate_normal(m, S).logpdf(X) for m, S, p in described], 1)
    label, value = values.argmax(1), values.max(1)
    kept = weight.astype(float)
    for i in np.argsort(value, kind="stable"):
        cut = min(kept[i], to_trim)
        kept[i] -= cut
        to_trim -= cut
    means, decomposed, sizes = [], [], []
    for j in range(len(clusters[0])):
        share = kept * (label == j)
        sizes.append(share.sum())
        means.append(share @ X / share.sum())
        step = X - means[-1]
        decomposed.append(np.linalg.eigh((share[:, None] * step).T @ step / share.sum()))
    size = np.array(sizes)
    variances = truncation_of_fritz(np.array([v for v, _ in decomposed]), size, factor)
    covariances = [(U * v) @ U.T for v, (_, U) in zip(variances, decomposed, strict=True)]
    return label, kept, kept @ value, (means, covariances, size / size.sum())


@pytest.mark.parametrize("factor", [1.0, 5.0, 1e5, 1e9])
@pytest.mark.parametrize("seed", range(3))
def test_a_step_is_that_of_plain_numpy(seed, factor):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)) * [3, 1, 0.3] + np.repeat([[0.0], [4.0]], 30, axis=0)
    weight = rng.integers(1, 4, size=60).astype(float)
    clusters = (X[[3, 40]], [np.eye(3), np.diag([1.0, 2.0, 3.0])], [0.3, 0.7])
    args = compiled(X, weight, 7.0, TClust(2, restr_factor=factor))
    _, _, models, _, work = args
    set_clusters(models, *clusters)
    for _ in range(3):
        label, kept, objective, clusters = one_step(X, weight, 7.0, clusters, factor)
        assert concentration.expect(*args, -np.inf)[0] == pytest.approx(objective)
        np.testing.assert_array_equal(work.label, label)
        np.testing.assert_array_equal(work.kept, kept)
        concentration.maximize(*args)
        np.testing.assert_allclose(models.centers[0], clusters[0])
        covariances = np.einsum(
            "jva,jv,jvb->jab", models.axes[0], models.variances[0], models.axes[0]
        )
        np.testing.assert_allclose(covariances, clusters[1], atol=1e-9)
        np.testing.assert_allclose(models.shares[0], clusters[2])


@given(
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.1, 0.4]),
    st.sampled_from([1.0, 5.0, 1e10]),
    st.booleans(),
)
@settings(max_examples=60)
def test_the_objective_never_falls(seed, trim, factor, equal_weights):
    rng = np.random.default_rng(seed)
    X = np.unique(rng.integers(0, 5, size=(30, 3)).astype(float), axis=0)
    weight = rng.integers(1, 4, size=len(X)).astype(float)
    estimator = TClust(4, restr_factor=factor, equal_weights=equal_weights)
    args = compiled(X, weight, trim * weight.sum(), estimator)
    items, how, models, slot, work = args
    state = concentration.random_state_of(seed)
    concentration._start(items, how, models, slot, work, state, seed % 2 == 1)
    objectives = []
    for _ in range(10):
        objectives.append(concentration.expect(*args, -np.inf)[0])
        concentration.maximize(*args)
        assert models.variances[0].max() <= factor * models.variances[0].min() * (1 + 1e-12)
    assert np.isfinite(objectives).all()
    assert (np.diff(objectives) >= -1e-9 * np.abs(objectives[1:])).all()


def planted(seed):
    """Three ellipses of different size, 300 items, and a tenth of outliers far away."""
    rng = np.random.default_rng(seed)
    wide = rng.normal(size=(150, 2)) * [6, 1]
    tall = rng.normal(size=(100, 2)) * [1, 4] + [0, 25]
    small = rng.normal(loc=[25, 10], size=(50, 2))
    outliers = rng.uniform(100, 300, size=(30, 2))
    return np.vstack([wide, tall, small, outliers]), np.repeat([0, 1, 2, 3], [150, 100, 50, 30])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_outliers_are_trimmed_where_k_means_follows_them(seed):
    X, truth = planted(seed)
    found = TClust(3, trim=30 / 330, random_state=seed).fit(X)
    kept = found.labels_ >= 0
    assert kept.sum() == 300
    assert adjusted_rand_score(truth[kept], found.labels_[kept]) > 0.95
    np.testing.assert_allclose(found.weights_, [1 / 2, 1 / 3, 1 / 6], atol=0.02)
    plain = cluster.KMeans(3, n_init=10, random_state=seed).fit_predict(X)
    assert adjusted_rand_score(truth[:300], plain[:300]) < 0.7


def m5(rng, n=1000):
    """Data like the M5 of García-Escudero et al. (2008); their exact numbers were not at hand.

    Three Gaussians in proportions 1:2:2: one small and round, one large, one oblique, and
    some overlap. A tenth of the items is uniform in a rectangle around them, outside the
    99 % ellipses of all three.
    """
    means = np.array([[0.0, 8.0], [8.0, 0.0], [-8.0, -8.0]])
    covariances = np.array([[[1, 0], [0, 1]], [[45, 0], [0, 30]], [[15, -10], [-10, 15]]])
    sizes = (np.array([0.18, 0.36, 0.36]) * n).astype(int)
    parts = [rng.multivariate_normal(*s) for s in zip(means, covariances, sizes, strict=True)]
    noise = rng.uniform(-30, 30, size=(20 * n, 2))
    step = noise[:, None] - means
    distance = np.einsum("ija,jab,ijb->ij", step, np.linalg.inv(covariances), step).min(1)
    noise = noise[distance > 9.2][: n - sizes.sum()]
    truth = np.repeat([0, 1, 2, 3], [*sizes, len(noise)])
    return np.vstack([*parts, noise]), truth


@pytest.mark.parametrize("seed", range(5))
def test_shapes_are_found_where_trimmed_k_means_sees_balls(seed):
    X, truth = m5(np.random.default_rng(seed))

    def score(estimator):
        labels = estimator.set_params(trim=0.1, random_state=seed).fit_predict(X)
        return adjusted_rand_score(truth, labels)

    with_shapes, with_balls = score(TClust(3)), score(TrimmedKMeans(3))
    assert with_shapes > 0.75
    assert with_shapes > with_balls + 0.1


def test_the_objective_is_that_of_the_attributes(blobs):
    found = TClust(3, trim=0.1, restr_factor=5, random_state=0).fit(blobs)
    kept = found.labels_ >= 0
    clusters = zip(found.weights_, found.cluster_centers_, found.covariances_, strict=True)
    values = np.stack([np.log(p) + multivariate_normal(m, S).logpdf(blobs) for p, m, S in clusters])
    assert found.objective_ == pytest.approx(values.max(0)[kept].sum())
    np.testing.assert_array_equal(values.argmax(0)[kept], found.labels_[kept])
    np.testing.assert_array_equal(np.sort(np.argsort(values.max(0))[:6]), np.flatnonzero(~kept))


@pytest.mark.parametrize("factor", [1.0, 3.0, 50.0])
def test_the_restriction_holds(blobs, factor):
    found = TClust(3, restr_factor=factor, random_state=0).fit(blobs * [1, 30])
    eigenvalues = np.linalg.eigvalsh(found.covariances_)
    assert eigenvalues.max() <= factor * eigenvalues.min() * (1 + 1e-9)


def test_balls_of_one_size_and_weight_are_trimmed_k_means(blobs):
    found = TClust(3, restr_factor=1, equal_weights=True, trim=0.1, random_state=0).fit(blobs)
    balls = TrimmedKMeans(3, trim=0.1, random_state=0).fit(blobs)
    assert adjusted_rand_score(found.labels_, balls.labels_) == 1
    np.testing.assert_allclose(found.weights_, 1 / 3)


@given(st.integers(0, 10**6))
@settings(max_examples=10)
def test_clusters_move_turn_and_scale_with_the_data(seed):
    rng = np.random.default_rng(seed)
    X, _ = planted(seed)
    turn = ortho_group.rvs(2, random_state=rng) * 10 ** rng.uniform(-20, 20)
    move = X.std() * rng.normal(size=2) @ turn
    found = TClust(3, trim=30 / 330, random_state=0).fit(X)
    other = TClust(3, trim=30 / 330, random_state=0).fit(X @ turn + move)
    np.testing.assert_array_equal(found.labels_, other.labels_)
    np.testing.assert_allclose(found.weights_, other.weights_)
    np.testing.assert_allclose(found.cluster_centers_ @ turn + move, other.cluster_centers_)
    scale = np.abs(other.covariances_).max()
    np.testing.assert_allclose(
        turn.T @ found.covariances_ @ turn / scale, other.covariances_ / scale, atol=1e-9
    )


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.05, 0.3]))
@settings(max_examples=30)
def test_weights_are_copies_in_any_order(seed, trim):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 20, size=(25, 2)) / 7
    counts = rng.integers(0, 4, size=25)
    copies = rng.permutation(np.repeat(np.arange(25), counts))
    weighted = TClust(3, trim=trim, n_init=5, random_state=seed).fit(X, sample_weight=counts)
    copied = TClust(3, trim=trim, n_init=5, random_state=seed).fit(X[copies])
    np.testing.assert_array_equal(weighted.cluster_centers_, copied.cluster_centers_)
    np.testing.assert_array_equal(weighted.covariances_, copied.covariances_)
    np.testing.assert_array_equal(weighted.labels_[copies], copied.labels_)


def test_predict_repeats_the_labels_and_trims_what_is_far(blobs):
    found = TClust(3, trim=0.1, random_state=0).fit(blobs)
    np.testing.assert_array_equal(found.predict(blobs), found.labels_)
    assert found.predict([[1e6, 0.0]]) == [NOISE]
    everything = TClust(3, trim=0.0, random_state=0).fit(blobs)
    np.testing.assert_array_equal(everything.predict(blobs), everything.labels_)
    assert everything.predict([[1e6, 0.0]]) >= 0


def singular(name):
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [9.0, 9.0]], 15, axis=0) + rng.normal(size=(30, 2))
    return {
        "constant": np.c_[X, np.full(30, 7.0)],
        "collinear": np.c_[X, X[:, 0] - 2 * X[:, 1]],
        "wide": np.c_[X, rng.normal(size=(30, 50)) / 10],
        "points": np.repeat(X[[0, 29]], 15, axis=0),
        "line": X[:, :1] * [1.0, 2.0],
    }[name]


@pytest.mark.parametrize("name", ["constant", "collinear", "wide", "points", "line"])
@pytest.mark.parametrize("factor", [1.0, 50.0, 1e12])
def test_singular_data_is_clustered(name, factor):
    X = singular(name)
    found = TClust(2, restr_factor=factor, random_state=0).fit(X)
    assert np.isfinite(found.cluster_centers_).all()
    assert np.isfinite(found.objective_)
    eigenvalues = np.linalg.eigvalsh(found.covariances_)
    assert (eigenvalues > 0).all() or factor == 1e12  # LAPACK's rounding at 1e-12 of the rest
    kept = found.labels_ >= 0
    if factor == 50:
        truth = np.repeat([0, 1], 15)
        assert adjusted_rand_score(truth[kept], found.labels_[kept]) == 1


def test_one_point_is_a_cluster():
    found = TClust(1, random_state=0).fit(np.full((10, 2), 3.0))
    np.testing.assert_array_equal(found.cluster_centers_, [[3, 3]])
    np.testing.assert_array_equal(found.covariances_, [np.eye(2)])


def test_an_empty_cluster_has_no_weight_and_comes_last():
    # Two lines of points; a third cluster costs more weight than it gains density.
    X = np.r_[np.arange(10), np.arange(100, 110)][:, None] * 1.0
    found = TClust(3, trim=0.0, restr_factor=1, n_init=20, random_state=0).fit(X)
    assert np.isfinite(found.cluster_centers_).all()
    assert found.weights_.sum() == pytest.approx(1)
    assert (np.diff(found.weights_) <= 0).all()
    used = np.unique(found.labels_)
    np.testing.assert_array_equal(used, np.arange(used.size))
    assert found.weights_[-1] == 0
    assert used.size == 2


def test_too_few_items_are_refused():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    with pytest.raises(ValueError, match="n_clusters=3 is more than the 2 distinct items"):
        TClust(3).fit(X)
    with pytest.raises(ValueError, match=r"trim=0.95 keeps 1 of n_samples=20.*n_clusters=2"):
        TClust(2, trim=0.95).fit(X)
    with pytest.raises(ValueError, match="squares are too large"):
        TClust(2).fit(np.arange(20.0)[:, None] * 1e200)


@pytest.mark.parametrize(
    ("name", "value"),
    [("restr_factor", 0.5), ("restr_factor", np.inf), ("trim", 1.0), ("trim", -1)],
)
def test_parameters_out_of_range_are_refused(blobs, name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of TClust must be"):
        TClust(2, **{name: value}).fit(blobs)
    with pytest.raises(ValueError, match=f"'{name}' parameter of TClust must be"):
        TClust(2, **{name: value}).__coreclust_native__().label_drawn(blobs)


@pytest.mark.slow
@pytest.mark.parametrize("equal_weights", [False, True])
@pytest.mark.parametrize("name", ["blobs", "copies"])
def test_a_batch_has_the_labels_of_the_estimator(blobs, name, equal_weights):
    X = blobs if name == "blobs" else np.vstack([blobs.round(), blobs.round()])
    rng = np.random.default_rng(0)
    counts = rng.multinomial(len(X), np.full(len(X), 1 / len(X)), size=15).astype(np.int32)
    counts[3] = 0
    counts[3, :2] = [30, 30]  # too few different items
    counts[4] = 0
    counts[4, :4] = 1  # trims too much of them
    seeds = rng.integers(2**31, size=15)
    estimator = TClust(4, trim=0.1, equal_weights=equal_weights, n_init=10, n_refine=3)
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
        found = TClust(5, max_iter=1, n_init=3, random_state=seed).fit(blobs)
        assert not found.converged_
        np.testing.assert_array_equal(found.predict(blobs), found.labels_)
