"""The guarantee about new data: resamples of draws of the data."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.datasets import load_iris, make_blobs

from coreclust import CoreClustering, LabelEnsemble, core_clusters
from coreclust.cluster import KMeans
from coreclust.evidence._nested import NestedEnsemble
from coreclust.resampling import Bootstrap, SmoothedBootstrap, Subsample
from coreclust.resampling._nested import Nested

IRIS = load_iris().data
SETTINGS = {"guarantee": "new-data", "confidence": 0.9, "random_state": 0}


def fit(X=IRIS, estimator=None, **settings):
    given = {"n_resamples": 300, **SETTINGS, **settings}
    return CoreClustering(KMeans(3) if estimator is None else estimator, **given).fit(X)


def judged_by_hand(fitted, i, j):
    """Tell whether a pair reaches 1 - alpha in enough draws, from the labels."""
    labels = fitted.ensemble_.labels.reshape(len(fitted.labels_), -1, 64)
    first, second = labels[i], labels[j]
    both = (first != -2) & (second != -2)
    seen = both.sum(axis=1)
    together = ((first == second) & (first >= 0) & both).sum(axis=1)
    judged = seen >= 10
    reached = (seen - together)[judged] <= fitted.rule_.alpha * seen[judged] + 1e-9
    enough = judged.sum() >= 1 / (1 - fitted.rule_.confidence) - 1e-9
    return enough and (~reached).sum() <= (1 - fitted.rule_.confidence) * judged.sum() + 1e-9


@pytest.mark.parametrize("label", ["drawn", "all"])
def test_all_pairs_of_a_core_hold_in_enough_draws(label):
    fitted = fit(resampling=Bootstrap(label))
    assert isinstance(fitted.ensemble_, NestedEnsemble)
    assert fitted.ensemble_.n_draws == 30
    for core in fitted.cores_:
        assert core.optimal
        for place, i in enumerate(core.core):
            assert all(judged_by_hand(fitted, i, j) for j in core.core[:place])
        # An item outside has a pair that does not hold.
        for item in core.weak:
            assert not all(judged_by_hand(fitted, item, j) for j in core.core)


def test_the_cores_are_smaller_than_those_of_the_estimate():
    plain = CoreClustering(KMeans(3), n_resamples=300, random_state=0).fit(IRIS)
    assert 0 < (fit().labels_ >= 0).sum() < (plain.labels_ >= 0).sum()


def test_far_groups_are_whole_cores():
    X, _ = make_blobs([20, 20, 20], centers=[[0, 0], [30, 0], [0, 30]], random_state=0)
    assert (fit(X, n_resamples=1000, confidence=0.9).labels_ >= 0).all()


def test_the_engine_the_jobs_and_a_checkpoint_do_not_change_the_answer(tmp_path):
    first = fit(n_resamples=100, confidence=0.6)
    for settings in ({"n_jobs": 2}, {"checkpoint": tmp_path / "kept"}, {"n_jobs": 1}):
        other = fit(n_resamples=100, confidence=0.6, **settings)
        np.testing.assert_array_equal(first.ensemble_.labels, other.ensemble_.labels)
        np.testing.assert_array_equal(first.labels_, other.labels_)
    again = fit(n_resamples=150, confidence=0.6, checkpoint=tmp_path / "kept")
    np.testing.assert_array_equal(again.ensemble_.labels[:, : 10 * 64], first.ensemble_.labels)


def test_another_estimator_works_and_failed_resamples_keep_their_draw():
    calls = []

    def cluster(Z):
        calls.append(len(Z))
        if len(calls) > 1 and Z[0, 0] > 5.5:  # in most tries, so that some resamples fail in all
            raise RuntimeError("unlucky")
        return (Z[:, 2] > 2.5).astype(int)

    with pytest.warns(RuntimeWarning, match="left out"):
        fitted = fit(estimator=cluster, n_resamples=100, confidence=0.6)
    assert fitted.n_dropped_resamples_ > 0
    labels = fitted.ensemble_.labels
    assert labels.shape == (150, 10 * 64)
    assert (labels == -2).all(axis=0).sum() == fitted.n_dropped_resamples_
    in_draw = (labels.reshape(150, 10, 64) != -2).any(axis=2)
    assert 0.5 < in_draw.mean() < 0.7  # a draw has 63 % of the items


def test_recut_and_alpha_path_work_from_the_same_resamples():
    fitted = fit()
    again = fit(alpha=0.3)
    np.testing.assert_array_equal(fitted.recut(alpha=0.3).labels_, again.labels_)
    path = fitted.alpha_path([0.1, 0.3])
    sizes = [sum(core.n_core for core in cores) for cores in path.cores]
    assert sizes == [(fitted.labels_ >= 0).sum(), (again.labels_ >= 0).sum()]
    assert (fitted.recut(confidence=0.7).labels_ >= 0).sum() >= (fitted.labels_ >= 0).sum()


def test_the_promise_is_about_new_data():
    assert "new datasets" in fit().rule_.promise()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"confidence": None}, "guarantee='new-data' needs a confidence"),
        ({"n_resamples": "auto"}, "n_resamples must be a number with guarantee='new-data'"),
        ({"resampling": SmoothedBootstrap()}, "cannot be used with resampling=SmoothedBootstrap"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(settings, message):
    def never(_):
        pytest.fail("it was clustered")

    with pytest.raises(ValueError, match=message):
        fit(estimator=never, **settings)


def test_ensembles_and_guarantees_must_fit_together():
    plain = LabelEnsemble(np.zeros((5, 128), int))
    with pytest.raises(ValueError, match="needs resamples of draws of the data"):
        core_clusters(plain, np.zeros(5, int), confidence=0.9, guarantee="new-data")
    fitted = fit()
    with pytest.raises(ValueError, match="cannot be used with resamples of draws"):
        fitted.recut(guarantee="pair")
    with pytest.raises(ValueError, match="confidence_path cannot be used"):
        fitted.confidence_path([0.5, 0.9])


def test_too_few_draws_are_told():
    with pytest.warns(UserWarning, match="10 draws of the data are too few for confidence=0.9"):
        fit(n_resamples=100)


def test_a_slow_estimator_is_announced(monkeypatch):
    monkeypatch.setattr("coreclust._sampling.fit._LONG", 0.0)
    with pytest.warns(UserWarning, match="clusters 640 resamples, which takes about"):
        fit(estimator=SklearnKMeans(3, n_init=1), engine="generic", n_resamples=100, confidence=0.6)


def test_subsamples_of_draws():
    fitted = fit(resampling=Subsample(0.5), confidence=0.6)
    assert (fitted.labels_ >= 0).sum() > 50


def test_schemes_without_copies_get_draws_without_copies():
    def label(Z):
        assert len(np.unique(Z, axis=0)) == len(Z)
        return (Z[:, 0] > 0).astype(int)

    X = np.random.default_rng(0).normal(size=(80, 2))
    settings = {"guarantee": "new-data", "confidence": 0.5, "n_resamples": 120, "random_state": 0}
    fitted = CoreClustering(label, resampling=Subsample(0.5), **settings).fit(X)
    assert fitted.n_dropped_resamples_ == 0
    seen = (fitted.ensemble_.labels != LabelEnsemble.ABSENT).reshape(80, -1, 64)
    assert (seen.any(axis=2).sum(axis=0) == 40).all()
    assert (seen.sum(axis=0) == 20).all()


def test_the_spread_of_halves_is_that_of_averages():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    scheme = Nested(Subsample(0.5))
    means = [
        x[scheme.draw(400, np.random.SeedSequence(5, spawn_key=(b, 0)))].mean()
        for b in range(64 * 60)
    ]
    within = np.array(means).reshape(60, 64).std(axis=1, ddof=1)
    # 60 draws of 64 resamples: the standard error of this ratio is below 2 %.
    assert within.mean() / (x.std() / 20) == pytest.approx(scheme.spread(400), rel=0.07)
    assert Nested(Subsample(0.5, rescale=False)).spread(400) == 1.0
    assert Nested(Bootstrap()).spread(400) == 1.0
