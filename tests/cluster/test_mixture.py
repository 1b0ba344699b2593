import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.mixture import GaussianMixture

from coreclust import CoreClustering
from coreclust.cluster import _em
from coreclust.cluster._mixture import _FORMS, MixtureTwin
from coreclust.resampling import Bootstrap, KnownDistribution, Subsample


class FromLabels(GaussianMixture):
    """scikit-learn's mixture, started from given labels: the slow twin."""

    def _initialize_parameters(self, X, random_state, xp=None):
        resp = np.zeros((len(X), self.n_components))
        resp[np.arange(len(X)), self.labels] = 1
        self._initialize(X, resp)


def overlapping(rng, n, d, k):
    return 2 * rng.normal(size=(k, d))[rng.integers(k, size=n)] + rng.normal(size=(n, d))


def fit_both(X, counts, starts, how):
    """The results of the kernel with weights, and of scikit-learn on copies, the best start."""
    given = _em.Settings(how["n_components"], _FORMS[how["covariance_type"]], 1e-4, 1e-6, 50)
    ours = _em.best_of_starts(np.ascontiguousarray(X.T), counts.astype(float), starts, given)
    copies = np.repeat(X, counts, axis=0)
    theirs = []
    for labels in starts:
        mixture = FromLabels(tol=1e-4, max_iter=50, **how)
        mixture.labels = np.repeat(labels, counts)
        theirs.append(mixture.fit(copies))
    return ours, max(theirs, key=lambda mixture: mixture.lower_bound_)


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(list(_FORMS)))
@settings(max_examples=100, deadline=None)
@pytest.mark.filterwarnings("ignore:Best performing initialization did not converge")
def test_same_likelihood_and_labels_as_scikit_learn_from_the_same_starts(seed, kind):
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(40, 300), rng.integers(1, 8), int(rng.integers(1, 6))
    X = overlapping(rng, n, d, k)
    counts = rng.integers(1, 4, size=n)
    starts = rng.integers(k, size=(1, n)).astype(np.int32)  # two may tie up to rounding
    ours, theirs = fit_both(X, counts, starts, {"n_components": k, "covariance_type": kind})
    shares, means, factors, bound, n_iter, failed = ours
    assert not failed
    assert bound == pytest.approx(theirs.lower_bound_, rel=1e-7)
    assert n_iter == theirs.n_iter_
    np.testing.assert_allclose(shares, theirs.weights_, rtol=1e-4, atol=1e-8)
    np.testing.assert_allclose(means, theirs.means_, rtol=1e-4, atol=1e-5)
    labels = _em.label_items(np.ascontiguousarray(X.T), shares, means, factors)
    probable = np.sort(theirs.predict_proba(X), axis=1)
    clear = np.ones(n, dtype=bool) if k == 1 else probable[:, -1] - probable[:, -2] > 1e-4
    np.testing.assert_array_equal(labels[clear], theirs.predict(X)[clear])


@pytest.mark.parametrize("kind", list(_FORMS))
@pytest.mark.filterwarnings("ignore:Best performing initialization did not converge")
def test_the_most_likely_start_is_used(kind):
    rng = np.random.default_rng(0)
    X = overlapping(rng, 100, 3, 4)
    starts = rng.integers(4, size=(5, 100)).astype(np.int32)
    counts = np.ones(100, dtype=int)
    ours, theirs = fit_both(X, counts, starts, {"n_components": 4, "covariance_type": kind})
    assert ours[3] == pytest.approx(theirs.lower_bound_, rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(_FORMS))
def test_mean_likelihood_is_no_worse_than_scikit_learns(kind):
    """The starts differ, so single fits do. Over 8 datasets and 10 seeds the means agree."""
    differences = []
    for data_seed in range(8):
        X = overlapping(np.random.default_rng(data_seed), 300, 4, 4)
        for seed in range(10):
            mixture = GaussianMixture(4, covariance_type=kind, random_state=seed).fit(X)
            ours = MixtureTwin(4, kind).fit_items(X, np.ones(300, np.int32), seed)
            differences.append(ours[3] - mixture.lower_bound_)
    assert abs(np.mean(differences)) < 0.01
    assert np.abs(differences).max() < 0.3


@pytest.mark.parametrize("kind", list(_FORMS))
def test_both_engines_agree_on_clear_clusters(kind):
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]], 30, axis=0) + rng.normal(size=(90, 2))
    for scheme in (Bootstrap(), Bootstrap("all"), Subsample(0.7)):
        batched, generic = (
            CoreClustering(
                GaussianMixture(3, covariance_type=kind),
                n_resamples=30,
                alpha=0.5,
                resampling=scheme,
                engine=engine,
                random_state=0,
            ).fit(X)
            for engine in ("batched", "generic")
        )
        np.testing.assert_array_equal(
            batched.ensemble_.cooccurrence_matrix(), generic.ensemble_.cooccurrence_matrix()
        )


def test_threads_and_batches_do_not_change_a_bit():
    X = overlapping(np.random.default_rng(0), 100, 3, 3)
    found = [
        CoreClustering(GaussianMixture(3, n_init=2), n_resamples=60, n_jobs=n, random_state=0).fit(
            X
        )
        for n in (1, 2)
    ]
    assert found[0].engine_ == "batched"
    assert found[0].ensemble_ == found[1].ensemble_


def test_pairs_of_a_known_distribution():
    X = overlapping(np.random.default_rng(0), 60, 3, 2)
    cc = CoreClustering(
        GaussianMixture(2), resampling=KnownDistribution(X), n_resamples=2, random_state=0
    )
    assert cc.fit(X[:8]).engine_ == "batched"


@pytest.mark.parametrize(
    "mixture",
    [
        GaussianMixture(2, init_params="random"),
        GaussianMixture(2, means_init=[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]),
        GaussianMixture(2, warm_start=True),
        FromLabels(2),
    ],
)
def test_other_mixtures_take_the_generic_path(mixture):
    mixture.labels = np.arange(40) % 2
    X = overlapping(np.random.default_rng(0), 40, 3, 2)
    with pytest.raises(ValueError, match="no compiled code"):
        CoreClustering(mixture, engine="batched").fit(X)
    with pytest.raises(ValueError, match="no compiled code"):
        CoreClustering(GaussianMixture(2), engine="batched").fit(X.astype(np.float32))


@pytest.mark.parametrize("kind", list(_FORMS))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_degenerate_data_fails_where_scikit_learn_fails(kind):
    """Constant features without regularization; fewer items than components; equal rows."""
    rng = np.random.default_rng(0)
    flat = np.column_stack([rng.normal(size=30), np.zeros(30)])
    few = rng.normal(size=(3, 2))
    equal = np.repeat(few, 10, axis=0)
    for X, reg_covar, k in [(flat, 0.0, 2), (few, 1e-6, 4), (equal, 1e-6, 4), (flat, 1e-6, 2)]:
        ours = MixtureTwin(k, kind, reg_covar=reg_covar).fit_items(X, np.ones(len(X), np.int32), 0)
        try:
            theirs = GaussianMixture(
                k, covariance_type=kind, reg_covar=reg_covar, random_state=0
            ).fit(X)
        except ValueError:
            assert ours is None
        else:
            assert ours[3] == pytest.approx(theirs.lower_bound_, abs=0.5)
