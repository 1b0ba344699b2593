"""Paths of cores against separate cuts, and what the item table says of them."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coreclust import CoreClustering, LabelEnsemble, core_clusters
from coreclust.cluster import KMeans, TrimmedKMeans
from coreclust.cores import core_path
from coreclust.evidence import CoreRule
from coreclust.resampling import KnownDistribution

ALPHAS = [0.0, 0.02, 0.1, 0.13, 0.25, 0.5, 0.9, 1.0]


@pytest.fixture(scope="module")
def cc():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 2)) + np.repeat([[0, 0], [2, 0], [1, 2]], 30, axis=0)
    return CoreClustering(KMeans(3, n_init=2), n_resamples=400, random_state=0).fit(X)


@pytest.mark.slow
@given(
    seed=st.integers(0, 2**32 - 1),
    shakiness=st.sampled_from([0.05, 0.3, 1.0]),
    noise=st.sampled_from(["apart", "together", "absent"]),
    confidence=st.sampled_from([None, 0.5]),
)
@settings(max_examples=80)
def test_a_path_is_a_cut_at_every_value(seed, shakiness, noise, confidence):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 16)), int(rng.integers(5, 70))
    reference = rng.integers(-1, 3, size=n)
    labels = np.repeat(np.maximum(reference, 0)[:, None], m, axis=1)
    shaky = rng.random((n, m)) < (shakiness * rng.random(n))[:, None]
    labels[shaky] = rng.integers(-2, 3, size=shaky.sum())
    ensemble = LabelEnsemble(labels)
    rules = [(alpha, confidence) for alpha in ALPHAS]
    path = core_path(ensemble, reference, [CoreRule(*rule, noise=noise) for rule in rules])
    for (alpha, _), cores in zip(rules, path, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            cut = core_clusters(
                ensemble, reference, alpha=alpha, confidence=confidence, noise=noise
            )
        assert [core.label for core in cores] == [core.label for core in cut]
        for found, expected in zip(cores, cut, strict=True):
            assert found.core.size == expected.core.size == found.upper_bound
            np.testing.assert_array_equal(found.members, expected.members)
            np.testing.assert_array_equal(found.strength, expected.strength)
            pairs = ensemble.cooccurrence_matrix(found.core, noise=noise)
            if confidence is None and 0 < alpha < 1:
                assert (pairs >= 1 - alpha - 1e-12).all()


def test_the_path_of_an_estimator(cc):
    path = cc.alpha_path([0.3, 0.1, 0.05, 0.1])
    np.testing.assert_array_equal(path.values, [0.05, 0.1, 0.3])
    for alpha, labels, sizes in zip(path.values, path.labels, path.core_sizes, strict=True):
        cut = cc.recut(alpha=alpha)
        assert sizes.tolist() == [core.n_core for core in cut.cores_]
        assert np.bincount(labels[labels >= 0], minlength=3).tolist() == sizes.tolist()
    assert path.weak_fraction.tolist() == [np.mean(labels < 0) for labels in path.labels]
    assert repr(path) == "CorePath(alpha from 0.05 to 0.3, 3 values)"
    frame = path.to_frame()
    assert frame.columns[0] == "alpha"
    assert frame["n_core"].tolist() == path.core_sizes.ravel().tolist()
    assert cc.alpha_path().values.size >= 49


def test_the_path_of_confidences(cc):
    path = cc.confidence_path([0.99, 0.5, 0.9])
    np.testing.assert_array_equal(path.values, [0.5, 0.9, 0.99])
    assert (np.diff(path.core_sizes, axis=0) <= 0).all()
    for confidence, sizes in zip(path.values, path.core_sizes, strict=True):
        cut = cc.recut(confidence=confidence)
        assert sizes.tolist() == [core.n_core for core in cut.cores_]
    strict = cc.recut(confidence=0.9).alpha_path([0.1, 0.2])
    assert strict.core_sizes[0].tolist() == path.core_sizes[1].tolist()


def test_first_core(cc):
    path = cc.alpha_path()
    first = path.first_core()
    for item in range(90):
        alphas = [
            a for a, labels in zip(path.values, path.labels, strict=True) if labels[item] > -1
        ]
        assert (first[item] == alphas[0]) if alphas else np.isnan(first[item])


@pytest.mark.slow
def test_the_path_of_pairs_with_their_own_resamples(blobs):
    scheme = KnownDistribution(blobs)
    cc = CoreClustering(KMeans(3), resampling=scheme, n_resamples=30, random_state=0).fit(blobs)
    path = cc.alpha_path([0.05, 0.4])
    assert path.core_sizes[1].tolist() == [c.core.size for c in cc.recut(alpha=0.4).cores_]


def test_the_item_table_compares_items_with_their_core():
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(20, 2)) + 3, [[90.0, 90.0]]])
    cc = CoreClustering(TrimmedKMeans(2, n_init=5), n_resamples=150, random_state=0).fit(X)
    table = cc.item_table()
    p = cc.ensemble_.cooccurrence_matrix()
    for core in cc.cores_:
        for item in core.members:
            others = core.core[core.core != item]
            assert table.mean_cooccurrence[item] == pytest.approx(p[item, others].mean())
            assert table.min_cooccurrence[item] == pytest.approx(p[item, others].min())
    assert table[["mean_cooccurrence", "min_cooccurrence", "core_alpha"]].iloc[-1].isna().all()
    first = cc.alpha_path().first_core()
    weak = table.status != "core"
    np.testing.assert_array_equal(table.core_alpha[weak], first[weak])
    assert "core_alpha" not in cc.item_table(details=False)


def test_core_alpha_does_not_contradict_the_status(cc):
    table = cc.item_table()
    assert (table.core_alpha[table.status == "core"] <= 0.1).all()


def test_hopeless_alphas_are_left_out_by_default():
    """A pair is in about 80 of 200 resamples, and needs 99 for 0.99."""
    labels = np.where(np.random.default_rng(0).random((400, 200)) < 0.37, -2, 0)
    cc = CoreClustering(KMeans(1), n_resamples=200, random_state=0).fit(np.arange(400.0)[:, None])
    assert 0.01 < cc.alpha_path().values[0] < 0.03
    assert core_path(LabelEnsemble(labels), np.zeros(400, int), [CoreRule(0.5)])[0][0].optimal


def test_a_path_warns_if_the_time_limit_was_reached():
    rng = np.random.default_rng(0)
    ensemble = LabelEnsemble(rng.integers(0, 2, size=(150, 40)))
    with pytest.warns(UserWarning, match="time_limit=0 was too little"):
        core_path(ensemble, np.zeros(150, int), [CoreRule(0.4, time_limit=0)])


def test_rules_must_be_in_order_and_right(cc):
    how = (cc.ensemble_, cc.reference_labels_)
    with pytest.raises(ValueError, match="rules must be in order"):
        core_path(*how, [CoreRule(0.5), CoreRule(0.1)])
    with pytest.raises(ValueError, match="alpha must be"):
        core_path(*how, [CoreRule(7)])
    with pytest.raises(ValueError, match="guarantee must be"):
        core_path(*how, [CoreRule(0.1, 0.9, "nonsense")])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda cc: cc.alpha_path([]), "alphas must be one or more numbers between 0 and 1"),
        (lambda cc: cc.alpha_path([0.1, 1.2]), "alphas must be"),
        (lambda cc: cc.alpha_path(["a"]), "alphas must be numbers"),
        (lambda cc: cc.confidence_path([1.0]), "confidences must be .* above 0 and below 1"),
        (lambda cc: cc.confidence_path([np.nan]), "confidences must be"),
        (lambda cc: cc.test_pair(0, 1, confidence=2), "confidence must be"),
        (lambda cc: cc.test_pair(0, 1, confidence=None), "confidence must be a number"),
    ],
)
def test_bad_input_is_named(cc, call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call(cc)
