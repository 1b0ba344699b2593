"""Forests in place of scikit-learn's: equal trees where nothing is random, else equal in law."""

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from coreclust import CoreClustering
from coreclust._classify import trees
from coreclust._classify.forest import twin_of_forest
from coreclust._sampling.native import batch_engine
from coreclust.resampling import Bootstrap, KnownDistribution, Subsample
from twins import tree_labels

Forest = RandomForestClassifier
IRIS = load_iris(return_X_y=True)


def labels_of(forest, X, y, counts, seeds, label="drawn"):
    """The labels of resamples by the kernel, -2 for none."""
    engine = batch_engine(forest, X, label, y)
    batch = engine.label(np.asarray(counts, np.int32), np.asarray(seeds))
    assert not batch.failed.any()
    return np.where(batch.labels < 0, -2, np.unique(y)[batch.labels])


def fit(X, y, forest=None, **how):
    how = {"n_resamples": 40, "alpha": 0.3, "random_state": 0} | how
    return CoreClustering(Forest(10) if forest is None else forest, **how).fit(X, y)


@st.composite
def weighted_data(draw):
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 4))
    X = draw(hnp.arrays(np.float64, (n, d), elements=st.integers(0, draw(st.integers(1, 60)))))
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 2)))
    counts = draw(hnp.arrays(np.int32, n, elements=st.integers(0, 3)))
    counts[draw(st.integers(0, n - 1))] = 1
    return X, y, counts


@settings(max_examples=50)
@given(weighted_data(), st.integers(1, 5), st.sampled_from([1, 1, 2, 3]), st.sampled_from([2, 6]))
def test_a_tree_without_randomness_is_scikit_learns(data, depth, min_leaf, min_split):
    """Compared with a plain tree, and with scikit-learn's, wherever the best split is unique."""
    X, y, counts = data
    how = {"max_depth": depth, "min_samples_leaf": min_leaf, "min_samples_split": min_split}
    forest = Forest(1, bootstrap=False, max_features=None, **how)
    (found,) = labels_of(forest, X, y, [counts], [0], "all")
    rows = np.repeat(np.arange(len(X)), counts)
    expected = tree_labels(X, y, rows, depth, min_leaf, min_split)
    unique = expected >= 0
    np.testing.assert_array_equal(found[unique], expected[unique])
    tree = DecisionTreeClassifier(random_state=0, **how).fit(X[rows], y[rows])
    np.testing.assert_array_equal(tree.predict(X)[unique], expected[unique])


@pytest.mark.parametrize(
    ("criterion", "class_weight"), [("gini", None), ("entropy", None), ("gini", "balanced")]
)
@pytest.mark.parametrize("seed", range(5))
def test_a_shallow_tree_of_continuous_data_is_scikit_learns(criterion, class_weight, seed):
    """With many items per node no two splits are equally good."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3)) ** 3
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=300) > 0.5) + 2 * (X[:, 2] > 1)
    counts = np.bincount(rng.integers(300, size=300), minlength=300)
    how = {"criterion": criterion, "class_weight": class_weight, "max_depth": 2}
    forest = Forest(1, bootstrap=False, max_features=None, **how)
    (found,) = labels_of(forest, X, y, [counts], [0], "all")
    rows = np.repeat(np.arange(300), counts)
    tree = DecisionTreeClassifier(**how).fit(X[rows], y[rows])
    np.testing.assert_array_equal(found, tree.predict(X))


@pytest.mark.parametrize("offset", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(5))
def test_values_that_are_nearly_equal_are_not_split(offset, seed):
    """scikit-learn takes values within 1e-7 as equal, in single precision."""
    rng = np.random.default_rng(seed)
    X = offset + 6e-8 * rng.integers(0, 12, size=(80, 2)).cumsum(axis=0) % 2e-6
    y = rng.integers(0, 3, size=80) * (X[:, 0] > np.median(X[:, 0]))
    counts = np.bincount(rng.integers(80, size=80), minlength=80)
    forest = Forest(1, bootstrap=False, max_features=None, max_depth=1)
    (found,) = labels_of(forest, X, y, [counts], [0], "all")
    rows = np.repeat(np.arange(80), counts)
    tree = DecisionTreeClassifier(max_depth=1).fit(X[rows], y[rows])
    np.testing.assert_array_equal(found, tree.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"criterion": "log_loss"},
        {"max_features": 1, "max_depth": 1},
        {"max_features": None, "max_depth": 3},
        {"max_features": 0.6, "min_samples_leaf": 4},
        {"max_features": "log2", "min_samples_split": 15},
        {"max_samples": 0.3},
        {"max_samples": 9, "class_weight": "balanced"},
        {"max_samples": 0.5, "class_weight": "balanced", "criterion": "entropy"},
        {"bootstrap": False, "max_features": 1, "max_depth": 4},
    ],
    ids=str,
)
def test_labels_have_the_distribution_of_scikit_learns(how):
    """On one resample with copies: how often each item, drawn or not, gets each class.

    Each share has a standard error of 0.5 sqrt(1/400 + 1/4000) = 0.026 at most; none of 180 differs
    by more than 4.5 of those but for 1 in 800 times.
    """
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(60, 3)).round(1), np.ones(60)])
    y = np.digitize(X[:, 0] + X[:, 1] / 2 + rng.normal(size=60) / 2, [-1.0, 1.0])
    rows = rng.integers(60, size=60)
    counts = np.bincount(rows, minlength=60)
    forest = Forest(3, **how)
    found = labels_of(forest, X, y, np.tile(counts, (4000, 1)), range(4000), "all")
    expected = np.array(
        [
            forest.set_params(random_state=seed).fit(X[rows], y[rows]).predict(X)
            for seed in range(400)
        ]
    )
    for c in range(3):
        one, other = (found == c).mean(axis=0), (expected == c).mean(axis=0)
        np.testing.assert_allclose(one, other, atol=4.5 * 0.026)


def test_more_trees_than_one_average_the_shares_of_their_leaves():
    """Two equal rows of different classes share a leaf of every tree, so that nothing is random."""
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    y = np.array([0, 1, 1, 2])
    found = labels_of(Forest(5, bootstrap=False), X, y, [[1, 1, 1, 1], [1, 2, 1, 3]], [0, 1])
    np.testing.assert_array_equal(found, [[0, 0, 1, 1], [1, 1, 2, 2]])


@given(
    hnp.arrays(
        np.float64, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.integers(0, 9)
    ),
    st.integers(0, 12),
)
def test_trees_that_are_left_cannot_change_a_settled_label(votes, n_left):
    pending = np.ones(len(votes), bool)
    assert trees._settle(votes, n_left, pending) == pending.sum()
    for i, row in enumerate(votes):
        changes = [np.argmax(row + n_left * unit) != np.argmax(row) for unit in np.eye(row.size)]
        tie = np.sort(row)[::-1]
        near = row.size > 1 and tie[0] - tie[1] == n_left  # a tie goes to the first class
        assert pending[i] == (any(changes) or near or (row.size == 1 and n_left >= row[0]))


@given(hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e30, 1e30)))
def test_ranks_are_those_of_single_precision(column):
    ranks, values = np.empty(column.size, np.int32), np.empty(column.size, np.float32)
    trees.rank_values(column, ranks, values)
    distinct, expected = np.unique(column.astype(np.float32), return_inverse=True)
    np.testing.assert_array_equal(ranks, expected)
    np.testing.assert_array_equal(values[: distinct.size], distinct)


@pytest.mark.parametrize("scheme", [Bootstrap("all"), Bootstrap("oob"), Subsample(0.5)], ids=repr)
@pytest.mark.parametrize("groups", [None, np.arange(150) // 3])
def test_every_scheme_labels_the_items_that_it_asks_for(scheme, groups):
    how = {"resampling": scheme, "alpha": 0.9}
    fits = [
        CoreClustering(Forest(3), n_resamples=8, random_state=0, engine=engine, **how).fit(
            *IRIS, groups=groups
        )
        for engine in ("batched", "generic")
    ]
    assert [cc.engine_ for cc in fits] == ["batched", "generic"]
    one, other = (cc.ensemble_.labels for cc in fits)
    np.testing.assert_array_equal(one == -2, other == -2)
    assert (one == other).mean() > 0.95


@pytest.mark.slow
def test_nothing_depends_on_jobs_or_batches():
    alone = fit(*IRIS, n_jobs=1).ensemble_
    assert alone == fit(*IRIS, n_jobs=2).ensemble_
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert alone == fit(*IRIS).ensemble_
    np.testing.assert_array_equal(alone.labels[:, :15], fit(*IRIS, n_resamples=15).ensemble_.labels)


class Mine(Forest):
    pass


@pytest.mark.parametrize(
    "forest",
    [
        Forest(5, max_leaf_nodes=9),
        Forest(5, ccp_alpha=0.01),
        Forest(5, class_weight={0: 1, 1: 2, 2: 1}),
        Forest(5, class_weight="balanced_subsample"),
        Forest(5, min_samples_leaf=0.1),
        Forest(5, class_weight="balanced", criterion="entropy", bootstrap=False),
        Forest(5, warm_start=True),
        Mine(5),
        ExtraTreesClassifier(5),
    ],
    ids=str,
)
def test_unusual_forests_take_the_generic_path(forest):
    assert fit(*IRIS, forest, n_resamples=5, alpha=0.9).engine_ == "generic"


def test_models_are_kept_by_the_generic_path():
    assert fit(*IRIS, Forest(3), n_resamples=5, alpha=0.9, keep_models=True).engine_ == "generic"
    with pytest.raises(ValueError, match="engine='batched' has no compiled code"):
        fit(*IRIS, keep_models=True, engine="batched")


def test_bad_parameters_and_data_get_the_errors_of_scikit_learn():
    X, y = IRIS
    for bad in ({"n_estimators": 0}, {"max_features": "many"}, {"max_depth": -1}):
        with pytest.raises(ValueError, match=f"'{next(iter(bad))}' parameter of RandomForest"):
            fit(X, y, Forest(**bad))
    assert batch_engine(Forest(), X * 1e300, "drawn", y) is None
    with pytest.raises(ValueError, match="continuous"):
        fit(X, y + 0.5 * X[:, 0])
    missing = np.where(X > 7, np.nan, X)
    assert fit(missing, y, Forest(2), n_resamples=5, alpha=0.9).engine_ == "generic"


@pytest.mark.parametrize("engine", ["batched", "generic"])
def test_degenerate_resamples_are_labeled_as_by_scikit_learn(engine):
    how = {"engine": engine, "n_resamples": 60, "alpha": 0.5}
    constant = fit(np.ones((12, 3)), np.arange(12) // 8, **how)
    assert constant.n_clusters_ == 1
    rare = fit(np.arange(24.0).reshape(12, 2), np.arange(12) == 11, **how)  # absent from a third
    assert rare.n_dropped_resamples_ == 0
    assert set(np.unique(rare.ensemble_.labels)) == {-2, 0, 1}


@pytest.mark.slow
def test_algorithm_2_gives_pairs_the_counts_of_scikit_learn():
    """Counts of 60 resamples, so that a share has a standard error of 0.09 at most."""
    rng = np.random.default_rng(0)
    population = rng.normal(size=(300, 2))
    classes = np.where(population[:, 0] + rng.normal(size=300) / 3 > 0, "a", "b")
    scheme = KnownDistribution(population, y=classes)
    batched, generic = (
        fit(
            population[:7], classes[:7], Forest(5), resampling=scheme, n_resamples=60, engine=engine
        )
        for engine in ("batched", "generic")
    )
    assert (batched.engine_, generic.engine_) == ("batched", "generic")
    for one, other in zip(batched.ensemble_.counts, generic.ensemble_.counts, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_allclose(one[1] / 60, other[1] / 60, atol=0.4)


def test_the_twin_knows_the_parameters():
    forest = twin_of_forest(Forest(7, max_features=0.5, max_samples=0.25, criterion="entropy"))
    found = forest._for(9)
    assert (found.n_trees, found.n_tried, found.share_drawn, found.entropy) == (7, 4, 0.25, True)
