"""Logistic regression in place of scikit-learn's: the same optimum, so the same decisions."""

import warnings

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from coreclust import CoreClustering
from coreclust._classify import softmax
from coreclust._classify.logistic import twin_of_logistic
from coreclust._classify.scaled import twin_of_pipeline
from coreclust._sampling.native import batch_engine
from coreclust.resampling import Bootstrap, KnownDistribution, Subsample

X_IRIS, Y_IRIS = IRIS = load_iris(return_X_y=True)
EXACT = {"tol": 1e-9, "max_iter": 100_000}


def random_problem(seed, n_classes):
    """Items with copies, a constant column and two equal ones, and classes that overlap."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4 * n_classes, 60)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d)) * rng.choice([0.3, 1.0, 3.0], d)
    X = np.column_stack([X, np.full(n, 0.1), X[:, 0]])[:, : d + seed % 3]
    noise = rng.normal(size=n) * X[:, 0].std()
    y = np.argsort(np.argsort(X[:, 0] + noise)) * n_classes // n
    rows = np.concatenate([np.arange(n), rng.integers(n, size=n)])
    return X, y, np.sort(rows)


def fit(X, y, estimator=None, **how):
    how = {"n_resamples": 30, "alpha": 0.4, "random_state": 0} | how
    scaled = make_pipeline(StandardScaler(), LogisticRegression(**EXACT))
    return CoreClustering(scaled if estimator is None else estimator, **how).fit(X, y)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"C": 100.0},
        {"C": 0.01, "class_weight": "balanced"},
        {"fit_intercept": False},
    ],
    ids=str,
)
def test_the_coefficients_are_scikit_learns(how, n_classes, seed):
    """With weights instead of copies, from the solution of all data and from none.

    Those of Newton's method, because L-BFGS stops when the loss is exact to 14 digits. Then half
    of the digits of the coefficients are right.
    """
    X, y, rows = random_problem(seed, n_classes)
    counts = np.bincount(rows, minlength=len(X)).astype(np.int32)
    estimator = LogisticRegression(**EXACT, **how)
    settings = twin_of_logistic(estimator).settings
    estimator.set_params(solver="newton-cholesky", max_iter=100).fit(X[rows], y[rows])
    problem = softmax._problem_of(X, y, counts, n_classes, settings)
    start = softmax.solve_all(X, y, n_classes, settings)
    for which in (start, softmax.no_start()):
        coefs = softmax.solve(problem, which, EXACT["tol"])
        np.testing.assert_allclose(coefs[:, :-1], estimator.coef_, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(coefs[:, -1], estimator.intercept_, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_derivatives_are_those_of_the_loss(n_classes):
    """By differences; the second derivatives are the product of the factor with its transpose."""
    X, y, rows = random_problem(3, n_classes)
    counts = np.bincount(rows, minlength=len(X)).astype(np.int32)
    settings = twin_of_logistic(LogisticRegression(C=0.5)).settings
    problem = softmax._problem_of(X, y, counts, n_classes, settings)
    state = softmax._state_of(problem)
    shape = state.gradient.shape
    point = np.random.default_rng(0).normal(size=shape) / 3

    def gradient_at(flat):
        loss = softmax._evaluate(problem, flat.reshape(shape), state)
        return loss, state.gradient.ravel().copy()

    _, gradient = gradient_at(point.ravel())
    factor = softmax._factor(problem, state)
    found = np.tril(factor) @ np.tril(factor).T
    if n_classes > 2:  # what fixes the sum of the intercepts
        ones = np.zeros(shape)
        ones[:, -1] = 1.0
        found -= np.outer(ones, ones) / n_classes
    for e, unit in enumerate(1e-5 * np.eye(point.size)):
        (above, slope_above), (below, slope_below) = (
            gradient_at(point.ravel() + sign * unit) for sign in (1, -1)
        )
        assert (above - below) / 2e-5 == pytest.approx(gradient[e], abs=1e-8)
        np.testing.assert_allclose((slope_above - slope_below) / 2e-5, found[e], atol=1e-8)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("weight", [None, "balanced"])
def test_exact_solutions_give_the_same_labels(scaled, seed, weight):
    """For two to five classes, of which a resample may lack some, and items drawn or not."""
    X, y, rows = random_problem(seed, n_classes=2 + seed % 4)
    resamples = [rows, rows[np.isin(rows, rows[::2])], rows[y[rows] > 0], rows[y[rows] != 1]]
    resamples = [rows for rows in resamples if np.unique(y[rows]).size > 1]
    estimator = LogisticRegression(class_weight=weight, **EXACT)
    if scaled:
        estimator = make_pipeline(StandardScaler(), estimator)
    counts = np.array([np.bincount(rows, minlength=len(X)) for rows in resamples], np.int32)
    batch = batch_engine(estimator, X, "all", y).label(counts, np.zeros(len(counts), np.int64))
    assert not batch.failed.any()
    for found, rows in zip(batch.labels, resamples, strict=True):
        np.testing.assert_array_equal(found, estimator.fit(X[rows], y[rows]).predict(X))


@pytest.mark.slow
@pytest.mark.parametrize("data", [IRIS, load_wine(return_X_y=True)], ids=["iris", "wine"])
@pytest.mark.parametrize("scheme", [Bootstrap(), Bootstrap("oob")], ids=repr)
def test_few_labels_differ_at_the_usual_tolerance(data, scheme):
    """Both solvers stop near the same optimum, but not at the same point.

    An item whose best two scores are about equal can then get either label: at most 1 of 1000.
    """
    estimator = make_pipeline(StandardScaler(), LogisticRegression())
    one, other = (
        fit(*data, estimator, engine=engine, n_resamples=200, resampling=scheme).ensemble_.labels
        for engine in ("batched", "generic")
    )
    np.testing.assert_array_equal(one == -2, other == -2)
    assert np.mean(one != other, where=one >= 0) <= 1 / 1000


@pytest.mark.parametrize(
    "scheme", [Bootstrap(), Bootstrap("oob"), Bootstrap("all"), Subsample(0.5)], ids=repr
)
@pytest.mark.parametrize("groups", [None, np.arange(150) // 3])
def test_every_scheme_gives_the_labels_of_scikit_learn(scheme, groups):
    how = {"n_resamples": 10, "alpha": 0.95, "resampling": scheme, "random_state": 0}
    estimator = make_pipeline(StandardScaler(), LogisticRegression(**EXACT))
    fits = [
        CoreClustering(estimator, engine=engine, **how).fit(*IRIS, groups=groups)
        for engine in ("batched", "generic")
    ]
    assert [cc.engine_ for cc in fits] == ["batched", "generic"]
    assert fits[0].ensemble_ == fits[1].ensemble_


@pytest.mark.slow
def test_nothing_depends_on_jobs_or_batches():
    alone = fit(*IRIS, n_jobs=1).ensemble_
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert alone == fit(*IRIS).ensemble_
    np.testing.assert_array_equal(alone.labels[:, :7], fit(*IRIS, n_resamples=7).ensemble_.labels)


def test_algorithm_2_gives_the_counts_of_scikit_learn():
    rng = np.random.default_rng(0)
    population = rng.normal(size=(100, 2))
    classes = np.where(population[:, 0] + rng.normal(size=100) / 3 > 0, "a", "b")
    scheme = KnownDistribution(population, y=classes)
    batched, generic = (
        fit(population[:8], classes[:8], resampling=scheme, engine=engine)
        for engine in ("batched", "generic")
    )
    assert (batched.engine_, generic.engine_) == ("batched", "generic")
    assert batched.n_dropped_resamples_ == generic.n_dropped_resamples_
    for one, other in zip(batched.ensemble_.counts, generic.ensemble_.counts, strict=True):
        np.testing.assert_array_equal(one, other)


class Mine(LogisticRegression):
    pass


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(solver="newton-cg"),
        LogisticRegression(C=np.inf, max_iter=5),
        LogisticRegression(class_weight={0: 1, 1: 2, 2: 1}),
        LogisticRegression(warm_start=True),
        LogisticRegression(max_iter=20),  # too few
        Mine(),
        LogisticRegressionCV(Cs=2, cv=2),
        SGDClassifier(),
        make_pipeline(MinMaxScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), StandardScaler(), LogisticRegression()),
    ],
    ids=range(10),
)
def test_unusual_models_take_the_generic_path(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scikit-learn, about its parameters
        assert fit(*IRIS, estimator, n_resamples=5, alpha=0.9).engine_ == "generic"


def test_models_are_kept_by_the_generic_path():
    cc = fit(*IRIS, n_resamples=5, alpha=0.9, keep_models=True)
    assert cc.engine_ == "generic"
    assert cc.predict(X_IRIS).shape == (150,)


def test_large_problems_take_the_generic_path():
    y = np.arange(60) % 3
    for n_features, engine_is_there in ((100, True), (200, False)):
        X = np.random.default_rng(0).normal(size=(60, n_features))
        assert (batch_engine(LogisticRegression(), X, "drawn", y) is not None) == engine_is_there
    assert twin_of_logistic(LogisticRegression(), scale=True)._dataset_labeler(41) is None


def test_values_that_are_too_large_or_missing_take_the_generic_path():
    for factor in (1e61, np.nan):
        assert batch_engine(LogisticRegression(), X_IRIS * factor, "drawn", Y_IRIS) is None


@pytest.mark.parametrize("engine", ["batched", "generic"])
def test_a_resample_of_one_class_is_drawn_again(engine):
    X, y = np.arange(80.0).reshape(40, 2), np.arange(40) >= 38
    with pytest.warns(RuntimeWarning, match="resamples were drawn again"):
        cc = fit(X, y, engine=engine, n_resamples=60)
    assert cc.n_dropped_resamples_ == 0
    assert set(np.unique(cc.ensemble_.labels)) <= {-2, 0, 1}


def test_bad_parameters_and_data_get_the_errors_of_scikit_learn():
    for bad in ({"C": -1}, {"tol": -1}, {"max_iter": -1}, {"solver": "none"}):
        with pytest.raises(ValueError, match=f"'{next(iter(bad))}' parameter of Logistic"):
            fit(*IRIS, LogisticRegression(**bad))
    with pytest.raises(ValueError, match="at least 2 classes"):
        fit(X_IRIS, np.zeros(150))


def test_separable_classes_without_much_of_a_penalty_have_a_solution():
    """All coefficients grow for long; the solver still ends, and separates the classes."""
    X = np.column_stack([np.arange(20.0), np.ones(20)])
    y = np.arange(20) // 7
    settings = twin_of_logistic(LogisticRegression(C=1e9, tol=1e-12)).settings
    counts = np.ones((1, 20), np.int32)
    labels, failed = softmax.label_resamples(X, y, 3, counts, False, softmax.no_start(), settings)
    assert not failed.any()
    np.testing.assert_array_equal(labels[0], y)


def test_the_twin_knows_the_parameters():
    estimator = LogisticRegression(C=3, tol=0.01, fit_intercept=False, class_weight="balanced")
    pipeline = make_pipeline(StandardScaler(with_mean=False), estimator)
    found = twin_of_pipeline(pipeline).settings
    assert found == softmax.Settings(3.0, 0.01, False, True, False, True)
