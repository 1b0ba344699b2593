"""Bad input to compiled classifiers gets what the generic path gives: labels, warnings, errors."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from coreclust import CoreClustering
from coreclust.resampling import Bootstrap, Subsample

# A forest of one feature that varies, and of all rows, does not depend on random numbers: of
# equally good splits, the first is taken. Machines are not balanced: with all coefficients at their
# bounds, the rounding errors of libsvm tell where between two items its intercept is.
ESTIMATORS = {
    "forest": RandomForestClassifier(2, bootstrap=False, max_features=None, max_depth=3),
    "rbf": SVC(tol=1e-6),
    "linear": SVC(kernel="linear", tol=1e-6),
    "scaled": make_pipeline(StandardScaler(), SVC(tol=1e-6)),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(tol=1e-8, max_iter=10_000)),
}


def _data(case, n_features):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, n_features))
    y = np.repeat([0, 1], 15)
    X[y == 1] += 1.0
    if case == "a class with one item":
        y[4] = 2
    elif case == "two classes, one with one item":
        y = (np.arange(30) == 3).astype(int)
    elif case == "two classes, one with two items":
        y = np.isin(np.arange(30), (3, 17)).astype(int)
    elif case == "only constant features":
        X = np.full((30, 2), 0.1)
        y[:20] = 0
    elif case == "a constant feature":
        X = np.column_stack([np.full(30, 3.1), X])
    elif case == "a feature constant in most resamples":
        X[:, -1] = np.arange(30) == 7
    elif case == "every item three times, with different classes":
        X, y = np.repeat(X[::3], 3, axis=0), np.arange(30) % 3
    return X, y


def _outcome(X, y, estimator, engine, **how):
    """What a fit ends with: labels and the warnings, or an error, without random numbers."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cc = CoreClustering(
            estimator, n_resamples=40, alpha=0.9, random_state=0, engine=engine, **how
        )
        try:
            cc.fit(X, y)
        except (RuntimeError, ValueError) as error:
            return type(error), None, None
    assert cc.engine_ == engine
    begins = sorted(str(warning.message).split(";")[0].split(":")[0] for warning in caught)
    return begins, cc.n_dropped_resamples_, cc.ensemble_.labels


@pytest.mark.parametrize(
    "case",
    [
        "a class with one item",
        "two classes, one with one item",
        "two classes, one with two items",
        "only constant features",
        "a constant feature",
        "a feature constant in most resamples",
        "every item three times, with different classes",
    ],
)
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("scheme", [Bootstrap(), Bootstrap("all"), Subsample(size=3)], ids=repr)
def test_bad_input_gets_what_the_generic_path_gives(case, name, scheme):
    X, y = _data(case, 1 if name == "forest" else 2)
    batched, generic = (
        _outcome(X, y, ESTIMATORS[name], engine, resampling=scheme)
        for engine in ("batched", "generic")
    )
    assert batched[:2] == generic[:2]
    np.testing.assert_array_equal(batched[2], generic[2])
