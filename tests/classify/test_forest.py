"""Forests in place of scikit-learn's: equal trees where nothing is random, else equal in law."""

import signal
import subprocess
import sys
import time
from subprocess import PIPE

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
from coreclust._utils.jit import random_state_of
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
    st.data(),
)
def test_trees_that_are_left_cannot_change_a_settled_label(votes, data):
    pending = np.ones(len(votes), bool)
    n_open = data.draw(hnp.arrays(np.int32, len(votes), elements=st.integers(0, 12)))
    assert trees._settle(votes, n_open, pending) == pending.sum()
    for i, row in enumerate(votes):
        n_left = n_open[i]
        changes = [np.argmax(row + n_left * unit) != np.argmax(row) for unit in np.eye(row.size)]
        tie = np.sort(row)[::-1]
        near = row.size > 1 and tie[0] - tie[1] == n_left  # a tie goes to the first class
        assert pending[i] == (any(changes) or near or (row.size == 1 and n_left >= row[0]))


def prepared(X, y, forest):
    """The ranks, their values, the settings, and the sure items."""
    ranks, values = np.empty(X.shape[::-1], np.int32), np.empty(X.shape[::-1], np.float32)
    for f in range(X.shape[1]):
        trees.rank_values(X[:, f], ranks[f], values[f])
    settings = twin_of_forest(forest)._for(X.shape[1])
    return ranks, values, settings, trees.sure_items(ranks, values, y, settings)


@given(weighted_data())
def test_an_item_is_sure_if_no_equal_item_has_another_class(data):
    X, y, _ = data
    *_, sure = prepared(X, y, Forest())
    equal = (X[:, None] == X[None]).all(axis=2)
    np.testing.assert_array_equal(sure, ~(equal & (y[:, None] != y[None])).any(axis=1))


@pytest.mark.parametrize(
    "how", [{"max_depth": 29}, {"min_samples_leaf": 2}, {"min_samples_split": 3}], ids=str
)
def test_no_item_is_sure_where_leaves_can_have_several_classes(how):
    X, y = np.arange(30.0)[:, None] / 100, np.arange(30) % 2
    assert prepared(X, y, Forest())[-1].all()
    assert prepared(X, y, Forest(max_depth=30))[-1].all()
    assert not prepared(X, y, Forest(**how))[-1].any()
    X[7] = X[8] + 3e-8  # too close to be told apart from 8, but different in single precision
    assert not prepared(X, y, Forest())[-1].any()


@given(weighted_data(), st.sampled_from([{}, {"max_samples": 0.4}, {"class_weight": "balanced"}]))
def test_trees_vote_for_the_class_of_a_sure_item_that_they_draw(data, how):
    X, y, counts = data
    ranks, values, settings, sure = prepared(X, y, Forest(9, **how))
    here = np.flatnonzero(counts)
    items = trees._items_of(ranks, values, y, 3, counts, here, settings)
    tree, sure = trees._work_space(items, 3), sure[here]
    n_drawn = trees._n_drawn(int(counts.sum()), settings)
    draws, picks = random_state_of(1), random_state_of(2)
    foreseen, n_open = np.zeros((here.size, 3)), np.full(here.size, 9, np.int32)
    trees._foresee(items, tree, settings, n_drawn, sure, draws, foreseen, n_open)
    draws[:] = 1
    votes, everyone, nobody = np.zeros((here.size, 3)), np.ones(here.size, bool), sure & False
    for _ in range(9):
        trees._draw_items(items, tree, settings, n_drawn, draws)
        before = votes.copy()
        trees._grow(items, tree, settings, nobody, everyone, votes, picks)
        known = sure & (tree.weights > 0)
        own = np.eye(3)[y[here[known]]]
        np.testing.assert_allclose((votes - before)[known], own, atol=1e-12)
        foreseen[~known] += (votes - before)[~known]
        n_open[~known] -= 1
    np.testing.assert_allclose(foreseen, votes)
    assert not n_open.any()


@pytest.mark.parametrize("label", ["drawn", "all"])
@pytest.mark.parametrize("how", [{}, {"max_depth": 3}], ids=str)
def test_labels_do_not_depend_on_how_many_trees_a_call_grows(monkeypatch, how, label):
    X, y = IRIS
    counts = np.array([np.bincount(np.arange(150) * k % 150, minlength=150) for k in (1, 2, 3)])
    expected = labels_of(Forest(11, **how), X, y, counts, [0, 1, 2], label)
    monkeypatch.setattr("coreclust._classify.forest._MOST_PER_CALL", 3 * 150 * 2 * 4)
    np.testing.assert_array_equal(
        labels_of(Forest(11, **how), X, y, counts, [0, 1, 2], label), expected
    )


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.999, 1.0])
@pytest.mark.filterwarnings("ignore:Using the fractional value")
def test_a_tree_draws_as_many_rows_as_scikit_learns(share):
    forest = Forest(1, max_samples=share)
    settings = twin_of_forest(forest)._for(1)
    for n in (11, 60, 151):
        fitted = forest.fit(np.arange(n)[:, None], np.arange(n) % 2).estimators_[0].tree_
        assert trees._n_drawn(n, settings) == fitted.weighted_n_node_samples[0]


@pytest.mark.slow
def test_a_forest_of_very_many_trees_can_be_interrupted():
    code = """
import numpy as np
from sklearn.ensemble import RandomForestClassifier as Forest
from coreclust import CoreClustering
rng = np.random.default_rng(0)
X, y = rng.normal(size=(300, 4)), rng.integers(2, size=300)
how = {"n_jobs": 1, "engine": "batched", "random_state": 0}
CoreClustering(Forest(2, max_depth=9), n_resamples=10, alpha=0.5, **how).fit(X, y)  # compiles
from coreclust._sampling.native import batch_engine
label = batch_engine(Forest(10**7, max_depth=9), X, "drawn", y).label
print("begins", flush=True)
label(np.ones((1, 300), np.int32), np.zeros(1, np.int64))
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=PIPE, stderr=PIPE) as process:
        assert process.stdout.readline() == b"begins\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    assert b"KeyboardInterrupt" in errors


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
    with pytest.raises(ValueError, match="keep_models=True cannot be used with engine='batched'"):
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
