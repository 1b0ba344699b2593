"""Support vector machines in place of scikit-learn's: the same optimum, so the same decisions."""

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from coreclust import CoreClustering
from coreclust._classify import smo
from coreclust._classify.scaled import twin_of_pipeline
from coreclust._classify.svm import twin_of_svc
from coreclust._sampling.native import batch_engine
from coreclust.resampling import Bootstrap, KnownDistribution, Subsample

IRIS = load_iris(return_X_y=True)
EXACT = 1e-6  # libsvm, which computes in single precision, hardly gets closer
KERNELS = [
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": "auto", "C": 30.0},
    {"kernel": "linear", "C": 0.3},
    {"kernel": "poly", "gamma": 0.2, "coef0": 1.0, "degree": 2},
]


def random_problem(seed, n_classes=2):
    """Items with copies, a constant column and two equal ones, and classes that overlap."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 50)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d)) * rng.choice([0.1, 1.0, 5.0], d)
    X = np.column_stack([X, np.full(n, 0.1), X[:, 0]])[:, : d + seed % 3]
    noise = rng.normal(size=n) * X[:, 0].std()
    y = np.argsort(np.argsort(X[:, 0] + noise)) * n_classes // n
    rows = np.concatenate([np.arange(n), rng.integers(n, size=n)])
    return X, y, np.sort(rows)


def fit(X, y, estimator=None, **how):
    how = {"n_resamples": 30, "alpha": 0.4, "random_state": 0} | how
    return CoreClustering(SVC() if estimator is None else estimator, **how).fit(X, y)


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("how", KERNELS, ids=str)
def test_the_dual_objective_is_libsvms(how, seed):
    """200 problems with weights, scaled or not, with constant and equal columns."""
    X, y, rows = random_problem(seed)
    counts = np.bincount(rows, minlength=len(X)).astype(np.int32)
    weight = "balanced" if seed % 4 == 0 else None
    svc = SVC(class_weight=weight, **how)
    steps = make_pipeline(StandardScaler(), svc)
    scaled = seed % 2 == 1
    settings = (twin_of_pipeline(steps) if scaled else twin_of_svc(svc))._for(X.shape[1])
    items, begins = smo._by_class(y, 2, counts, counts > 0)
    weights = counts[items].astype(float)
    bounds = settings.bound * weights
    if weight:
        for c in range(2):
            inside = slice(begins[c], begins[c + 1])
            bounds[inside] *= weights.sum() / (2 * weights[inside].sum())
    kernel = smo.kernel_rows(smo._scaled(X[items], weights, settings), weights, settings)
    found = smo.solve(kernel, bounds, (0, begins[1], begins[1], begins[2]), settings)

    Z = StandardScaler().fit_transform(X[rows]) if scaled else X[rows]
    svc.fit(Z, y[rows])
    form = {"metric": svc.kernel}
    if svc.kernel != "linear":
        form["gamma"] = svc._gamma
    if svc.kernel == "poly":
        form |= {"degree": svc.degree, "coef0": svc.coef0}
    K = pairwise_kernels(Z, **form)
    first = np.searchsorted(rows, items)
    ours = _objective(found.beta, K[np.ix_(first, first)])
    theirs = _objective(svc.dual_coef_[0], K[np.ix_(svc.support_, svc.support_)])
    assert ours == pytest.approx(theirs, rel=1e-3)
    assert (np.abs(found.beta) <= bounds).all()
    assert found.beta.sum() == pytest.approx(0, abs=1e-8 * bounds.sum())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bound", [1.0, 1000.0])
@pytest.mark.parametrize("how", KERNELS, ids=str)
def test_no_pair_of_coefficients_can_be_improved(how, bound, seed):
    """The definition of an optimum, by residuals computed anew, after steps with few items left."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] + rng.normal(size=150) > 0).astype(np.int64)
    counts = rng.integers(1, 4, size=150).astype(np.int32)
    settings = twin_of_svc(SVC(**(how | {"C": bound})))._for(3)
    items, begins = smo._by_class(y, 2, counts, counts > 0)
    weights = counts[items].astype(float)
    rows = smo.kernel_rows(np.ascontiguousarray(X[items].T), weights, settings)
    bounds = bound * weights
    found = smo.solve(rows, bounds, (0, begins[1], begins[1], begins[2]), settings)
    form = {"metric": ["linear", "poly", "rbf"][settings.form]}
    if form["metric"] != "linear":
        form["gamma"] = rows.gamma
    if form["metric"] == "poly":
        form |= {"degree": settings.degree, "coef0": settings.coef0}
    sign = 1 - 2 * y[items]
    residual = sign - pairwise_kernels(X[items], **form) @ found.beta
    np.testing.assert_allclose(found.residual, residual, atol=1e-9 * bound * len(X))
    can_grow = found.beta < np.where(sign > 0, bounds, 0)
    can_shrink = found.beta > np.where(sign > 0, 0, -bounds)
    assert residual[can_grow].max() - residual[can_shrink].min() < settings.tolerance + 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_items_that_are_left_out_can_come_back(seed):
    """Shrink at an optimum: those left out are at a bound, and get their residuals back."""
    X, y, _ = random_problem(seed)
    order = np.argsort(y, kind="stable")
    settings = twin_of_svc(SVC())._for(X.shape[1])
    rows = smo.kernel_rows(np.ascontiguousarray(X[order].T), np.ones(len(X)), settings)
    for i in range(len(X)):
        smo._need(rows, i, settings)
    split = int((y == 0).sum())
    part = smo._part_of(rows, np.ones(len(X)), (0, split, split, len(X)))
    part.beta[:] = smo.solve(rows, np.ones(len(X)), (0, split, split, len(X)), settings).beta
    part.residual[:] = np.where(part.high > 0, 1, -1) - rows.values @ part.beta
    before = {int(i): (r, b) for i, r, b in zip(part.items, part.residual, part.beta, strict=True)}
    can_grow, can_shrink = part.beta < part.high, part.beta > part.low
    largest, smallest = part.residual[can_grow].max(), part.residual[can_shrink].min()
    expected = (can_grow | (part.residual <= largest)) & (can_shrink | (part.residual >= smallest))
    kept = set(part.items[expected].tolist())
    n_active = smo._shrink(part, len(X))
    assert set(part.items[:n_active].tolist()) == kept
    assert 0 < n_active < len(X)
    part.residual[n_active:] = np.nan
    assert smo._restore(rows.values, part, n_active) == len(X)
    assert set(part.items.tolist()) == set(before)
    for i, r, b in zip(part.items, part.residual, part.beta, strict=True):
        assert (r, b) == pytest.approx(before[int(i)], abs=1e-12)


def _objective(beta, K):
    return beta @ K @ beta / 2 - np.abs(beta).sum()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("how", KERNELS, ids=str)
@pytest.mark.parametrize("weight", [None, "balanced"])
def test_exact_solutions_give_the_same_labels(how, seed, weight):
    """Two to five classes, one against one, ties of votes included, for items drawn or not."""
    X, y, rows = random_problem(seed, n_classes=2 + seed % 4)
    rows = rows[np.isin(rows, rows[::2])]
    svc = SVC(tol=EXACT, class_weight=weight, **how)
    estimator = make_pipeline(StandardScaler(), svc) if seed % 2 else svc
    engine = batch_engine(estimator, X, "all", y)
    counts = np.bincount(rows, minlength=len(X)).astype(np.int32)
    batch = engine.label(counts[None], np.zeros(1, np.int64))
    expected = estimator.fit(X[rows], y[rows]).predict(X)
    np.testing.assert_array_equal(batch.labels[0], expected)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("n_first", [3, 4, 7])
def test_equal_items_of_different_classes(kernel, n_first):
    """With nothing to tell the classes apart, all items get one label: that of scikit-learn."""
    X, y = np.full((9, 2), 0.3), np.arange(9) >= n_first
    engine = batch_engine(SVC(kernel=kernel), X, "drawn", y)
    batch = engine.label(np.ones((1, 9), np.int32), np.zeros(1, np.int64))
    np.testing.assert_array_equal(batch.labels[0], SVC(kernel=kernel).fit(X, y).predict(X))


@pytest.mark.slow
@pytest.mark.parametrize("data", [IRIS, load_wine(return_X_y=True)], ids=["iris", "wine"])
@pytest.mark.parametrize("scheme", [Bootstrap(), Bootstrap("oob")], ids=repr)
def test_few_labels_differ_at_the_usual_tolerance(data, scheme):
    """Both solvers stop within `tol` of the same optimum, but not at the same point of it.

    An item whose decision is about 0 can then be on either side: at most 1 label of 500.
    """
    how = {"n_resamples": 200, "resampling": scheme}
    estimator = make_pipeline(StandardScaler(), SVC(gamma="auto"))
    one, other = (
        fit(*data, estimator, engine=engine, **how).ensemble_.labels
        for engine in ("batched", "generic")
    )
    np.testing.assert_array_equal(one == -2, other == -2)
    assert np.mean(one != other, where=one >= 0) <= 1 / 500


@pytest.mark.parametrize("scheme", [Bootstrap(), Bootstrap("oob"), Subsample(0.5)], ids=repr)
@pytest.mark.parametrize("groups", [None, np.arange(150) // 3])
def test_every_scheme_gives_the_labels_of_scikit_learn(scheme, groups):
    fits = [
        CoreClustering(
            SVC(tol=EXACT), n_resamples=10, alpha=0.95, resampling=scheme, random_state=0, engine=e
        ).fit(*IRIS, groups=groups)
        for e in ("batched", "generic")
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
        fit(population[:8], classes[:8], SVC(tol=EXACT), resampling=scheme, engine=engine)
        for engine in ("batched", "generic")
    )
    assert (batched.engine_, generic.engine_) == ("batched", "generic")
    assert batched.n_dropped_resamples_ == generic.n_dropped_resamples_
    for one, other in zip(batched.ensemble_.counts, generic.ensemble_.counts, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("last", [SVC(tol=EXACT), LogisticRegression(tol=1e-9, max_iter=10_000)])
def test_frames_give_the_labels_of_arrays(frame, last):
    X, y = IRIS
    estimator = make_pipeline(StandardScaler(), last)
    given = frame(dict(zip("abcd", X.T, strict=True)))
    one, other = (fit(Z, y, estimator, n_resamples=10, alpha=0.9) for Z in (X, given))
    assert [one.engine_, other.engine_] == ["batched", "batched"]
    assert one.ensemble_ == other.ensemble_
    words = frame({"a": list(map(str, X[:, 0])), "b": ["word"] * 150})
    assert batch_engine(estimator, words, "drawn", y) is None


class Mine(SVC):
    pass


@pytest.mark.parametrize(
    "estimator",
    [
        SVC(kernel="sigmoid"),
        SVC(kernel=lambda A, B: A @ B.T),
        SVC(class_weight={0: 1, 1: 2, 2: 1}),
        SVC(break_ties=True),
        SVC(C=np.inf),
        SVC(kernel="poly", coef0=-1.0),
        Mine(),
        NuSVC(nu=0.1),
        LinearSVC(),
        make_pipeline(MinMaxScaler(), SVC()),
        make_pipeline(StandardScaler(), StandardScaler(), SVC()),
        make_pipeline(StandardScaler(), SVC(), memory=joblib.Memory(None)),
    ],
    ids=range(12),
)
def test_unusual_machines_take_the_generic_path(estimator):
    assert fit(*IRIS, estimator, n_resamples=5, alpha=0.9).engine_ == "generic"


def test_large_data_takes_the_generic_path():
    assert batch_engine(SVC(), np.zeros((4001, 1)), "drawn", np.arange(4001) % 2) is None
    assert batch_engine(SVC(), np.zeros((4000, 1)), "drawn", np.arange(4000) % 2) is not None


@pytest.mark.parametrize("engine", ["batched", "generic"])
def test_a_resample_of_one_class_is_drawn_again(engine):
    X, y = np.arange(80.0).reshape(40, 2), np.arange(40) >= 38
    with pytest.warns(RuntimeWarning, match="resamples were drawn again"):
        cc = fit(X, y, engine=engine, n_resamples=60)
    assert cc.n_dropped_resamples_ == 0
    assert set(np.unique(cc.ensemble_.labels)) <= {-2, 0, 1}
    with pytest.raises(RuntimeError, match="number of classes has to be greater than one"):
        fit(X, y, engine=engine, resampling=Subsample(size=2), n_resamples=60)


def test_bad_parameters_and_data_get_the_errors_of_scikit_learn():
    X, y = IRIS
    for bad in ({"C": -1}, {"gamma": "much"}, {"kernel": "none"}, {"degree": 0.5}):
        with pytest.raises(ValueError, match=f"'{next(iter(bad))}' parameter of SVC"):
            fit(X, y, SVC(**bad))
    with pytest.raises(ValueError, match="greater than one"):
        fit(X, np.zeros(150))


def test_values_that_are_too_large_fail():
    X, y = IRIS
    batch = batch_engine(SVC(kernel="linear"), X * 1e200, "drawn", y).label(
        np.ones((1, 150), np.int32), np.zeros(1, np.int64)
    )
    assert batch.failed.all()
