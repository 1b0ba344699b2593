"""Resamples that keep the data, or only some of its features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans as SklearnKMeans

from coreclust import CoreClustering
from coreclust.cluster import HierarchicalClustering, KMeans
from coreclust.model_selection import instability_sources
from coreclust.resampling import Bootstrap, Reseed, Subsample, required_resamples

SEEDS = [np.random.SeedSequence(0, spawn_key=(b, 0)) for b in range(20)]


class TestReseed:
    def test_all_items_are_drawn_every_time(self):
        np.testing.assert_array_equal(Reseed().draw(7, SEEDS[0]), np.arange(7))
        np.testing.assert_array_equal(Reseed().counts(7, SEEDS), 1)
        assert Reseed().pair_share(7) == Reseed().spread(7) == 1
        assert repr(Reseed()) == "Reseed()"
        assert required_resamples(0.1, 0.01, resampling=Reseed()) == 900

    def test_a_deterministic_clusterer_never_changes(self, blobs):
        cc = CoreClustering(
            HierarchicalClustering(3), resampling=Reseed(), n_resamples=20, random_state=0
        ).fit(blobs)
        expected = np.repeat(cc.reference_labels_[:, None], 20, axis=1)
        same = cc.ensemble_.labels[:, None] == cc.ensemble_.labels[None]
        np.testing.assert_array_equal(same, expected[:, None] == expected[None])
        assert cc.weak_sample_indices_.size == 0

    def test_resamples_are_clusterings_of_the_data_with_other_seeds(self, blobs):
        """The labels are those of scikit-learn with the seed of the resample."""
        seeds = []

        class Noted(SklearnKMeans):
            def fit(self, X, y=None, sample_weight=None):
                seeds.append((self.random_state, len(X)))
                return super().fit(X, y, sample_weight)

        estimator = Noted(5, init="random", n_init=1)
        cc = CoreClustering(estimator, resampling=Reseed(), n_resamples=10, random_state=0)
        cc.fit(blobs)
        assert {size for _, size in seeds} == {len(blobs)}
        resamples = [seed for seed, _ in seeds][-10:]
        assert len(set(resamples)) == 10
        for seed, labels in zip(resamples, cc.ensemble_.labels.T, strict=True):
            again = SklearnKMeans(5, init="random", n_init=1, random_state=seed).fit_predict(blobs)
            np.testing.assert_array_equal(labels[:, None] == labels, again[:, None] == again)

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_both_engines_agree(self, blobs, n_jobs):
        batched, generic = (
            CoreClustering(
                KMeans(4, n_init=1),
                resampling=Reseed(),
                n_resamples=30,
                engine=engine,
                n_jobs=n_jobs,
                random_state=0,
            ).fit(blobs)
            for engine in ("batched", "generic")
        )
        assert batched.ensemble_ == generic.ensemble_


class TestSources:
    X = np.arange(40.0)[:, None]

    def sources(self, function, n_resamples=400, **settings):
        cc = CoreClustering(function, n_resamples=n_resamples, random_state=0, **settings)
        return instability_sources(cc, self.X)

    def test_of_the_algorithm_alone(self):
        """With a probability of 0.3 the border is elsewhere, whatever the data."""

        def function(Z, random_state):
            rare = np.random.default_rng(random_state).random() < 0.3
            return (Z[:, 0] >= (25 if rare else 20)).astype(int)

        table = self.sources(function)
        last = table.iloc[-1]
        assert last["cluster"] == "all"
        assert last["n_items"] == 40
        assert last["algorithm"] > 0.02
        assert abs(last["sampling"]) < 0.015
        assert last["total"] == pytest.approx(last["algorithm"] + last["sampling"])

    def test_of_sampling_alone(self):
        table = self.sources(lambda Z: (Z[:, 0] >= Z[:, 0].mean()).astype(int))
        np.testing.assert_array_equal(table["algorithm"], 0)
        np.testing.assert_array_equal(table["n_weak_algorithm"], 0)
        assert (table["sampling"] > 0).all()

    def test_it_is_the_mean_instability_of_the_items(self):
        cc = CoreClustering(KMeans(3, n_init=1), n_resamples=50, random_state=3)
        table = instability_sources(cc, self.X)
        given = CoreClustering(KMeans(3, n_init=1), n_resamples=50, random_state=3).fit(self.X)
        for code, row in table.iloc[:-1].iterrows():
            members = given.reference_labels_ == code
            assert row["total"] == pytest.approx(1 - given.strengths_[members].mean())
            assert row["n_weak"] == (given.labels_[members] < 0).sum()
        assert not hasattr(cc, "cores_")

    @pytest.mark.parametrize("random_state", [None, np.random.RandomState(0), 5])
    def test_both_fits_have_the_same_reference(self, random_state, monkeypatch):
        references = []
        fit = CoreClustering.fit

        def noted(self, *arguments, **options):
            fit(self, *arguments, **options)
            references.append(self.reference_labels_)
            return self

        monkeypatch.setattr(CoreClustering, "fit", noted)
        cc = CoreClustering(
            KMeans(6, n_init=1), n_resamples=20, random_state=random_state, resampling=Bootstrap()
        )
        instability_sources(cc, self.X)
        np.testing.assert_array_equal(*references)

    def test_a_clusterer_is_not_enough(self):
        with pytest.raises(TypeError, match=r"pass CoreClustering\(estimator\)"):
            instability_sources(KMeans(3), self.X)


class TestFeatures:
    @given(st.integers(1, 30), st.floats(0.01, 0.99), st.integers(0, 5))
    def test_some_columns_in_their_order(self, n_features, share, seed):
        X = np.arange(4)[:, None] * 100.0 + np.arange(n_features)
        moved = Subsample(features=share).move(X, np.array([2, 0]), np.random.default_rng(seed))
        columns = (moved[1] % 100).astype(int)
        assert columns.size == max(1, round(share * n_features))
        assert (np.diff(columns) > 0).all()
        np.testing.assert_array_equal(moved, X[[2, 0]][:, columns])

    def test_every_resample_is_clustered_by_other_features(self):
        rng = np.random.default_rng(0)
        X, widths = rng.normal(size=(30, 10)), []

        def function(Z):
            widths.append(Z.shape)
            return (Z.sum(axis=1) > 0).astype(int)

        scheme = Subsample(0.5, features=0.8)
        CoreClustering(function, resampling=scheme, n_resamples=15, random_state=0).fit(X)
        assert widths[0] == (30, 10)  # the reference uses all
        assert set(widths[1:]) == {(15, 8)}
        assert repr(scheme) == "Subsample(0.5, features=0.8)"
        assert repr(Subsample(0.8)) == "Subsample(0.8)"
        assert scheme.spread(30) == 1

    def test_a_feature_that_decides_makes_items_weak(self):
        """One feature separates the clusters; resamples without it do not."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 4))
        X[20:, 0] += 30
        settings = {"n_resamples": 100, "random_state": 0}
        plain = CoreClustering(KMeans(2, n_init=3), resampling=Subsample(0.5), **settings).fit(X)
        some = CoreClustering(
            KMeans(2, n_init=3), resampling=Subsample(0.5, features=0.75), **settings
        ).fit(X)
        assert plain.weak_sample_indices_.size == 0
        assert some.weak_sample_indices_.size > 20

    def test_the_same_for_any_number_of_jobs(self):
        X = np.random.default_rng(0).normal(size=(30, 6))
        one, two = (
            CoreClustering(
                KMeans(3, n_init=1),
                resampling=Subsample(0.5, features=0.5),
                n_resamples=20,
                n_jobs=n_jobs,
                random_state=0,
            ).fit(X)
            for n_jobs in (1, 2)
        )
        assert one.ensemble_ == two.ensemble_

    @pytest.mark.parametrize("features", [0, 1, -0.5, "all"])
    def test_wrong_shares(self, features):
        with pytest.raises(ValueError, match="features must be a number above 0 and below 1"):
            Subsample(features=features)

    def test_what_it_cannot_do(self, blobs):
        with pytest.raises(ValueError, match="features needs label='drawn', got 'all'"):
            Subsample(label="all", features=0.5)
        cc = CoreClustering(KMeans(2), resampling=Subsample(features=0.5), keep_models=True)
        with pytest.raises(ValueError, match="whose models know only some features"):
            cc.fit(blobs)
