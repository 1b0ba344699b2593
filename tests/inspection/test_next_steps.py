"""What a report says beyond the cores: confusion, profiles and advice."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import AgglomerativeClustering, KMeans

from coreclust import CoreClustering, LabelEnsemble
from coreclust._inspection.actions import find_actions
from coreclust._inspection.confusion import find_confusion
from coreclust._inspection.outer import landing_shares, possible_members
from coreclust._inspection.profiles import find_profiles
from coreclust._inspection.verdict import explanation, explanation_at, headline
from coreclust._utils.constants import ABSENT
from coreclust.resampling import KnownDistribution


@pytest.fixture(scope="module")
def fitted(blobs):
    return CoreClustering(KMeans(3), n_resamples=60, random_state=0).fit(blobs)


@pytest.fixture(scope="module")
def cut_in_two():
    """Two groups as three clusters, so that two clusters land together."""
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [30.0, 0.0]], [60, 30], axis=0) + rng.normal(size=(90, 2))
    return X, CoreClustering(KMeans(3, n_init=1), n_resamples=80, random_state=1).fit(X)


class TestConfusion:
    def test_it_is_the_mean_of_the_shares_of_items(self, fitted):
        shares = landing_shares(fitted)
        found = find_confusion(fitted, 10)
        assert sorted(found.clusters.tolist()) == [0, 1, 2]
        n_weak = 0
        for row, cluster in enumerate(found.clusters.tolist()):
            core = fitted.cores_[cluster]
            expected = shares[core.core][:, found.clusters].mean(axis=0)
            np.testing.assert_allclose(found.core[row], expected)
            if core.n_weak:
                n_weak += 1
                expected = shares[core.weak][:, found.clusters].mean(axis=0)
                np.testing.assert_allclose(found.weak[row], expected)
            else:
                assert np.isnan(found.weak[row]).all()
        assert n_weak

    def test_confused_clusters_are_neighbors_and_come_first_under_a_limit(self, fitted):
        # Clusters 0 and 3 share a label in half of the resamples, and so do 1 and 4.
        reference = np.repeat(np.arange(6), 5)
        labels = np.tile(reference[:, None], 60)
        labels[reference == 3, :30] = 0
        labels[reference == 4, :25] = 1
        cc = fitted.recut()
        cc.ensemble_, cc.reference_labels_ = LabelEnsemble(labels), reference
        cc.cluster_names_, cc.n_clusters_ = np.arange(6), 6
        cc = cc.recut()
        order = find_confusion(cc, 6).clusters.tolist()
        assert abs(order.index(0) - order.index(3)) == 1
        assert abs(order.index(1) - order.index(4)) == 1
        assert sorted(find_confusion(cc, 2).clusters.tolist()) == [0, 3]
        assert sorted(find_confusion(cc, 4).clusters.tolist()) == [0, 1, 3, 4]

    def test_there_is_none_without_labels_or_with_one_cluster(self, blobs):
        one = CoreClustering(lambda Z: [0] * len(Z), n_resamples=40, random_state=0).fit(blobs)
        assert find_confusion(one, 10) is None
        scheme = KnownDistribution(lambda n, rng: rng.normal(size=(n, 2)))
        pairs = CoreClustering(
            lambda Z: Z[:, 0] > 1, n_resamples=20, resampling=scheme, random_state=0
        ).fit(blobs[10:30])
        assert find_confusion(pairs, 10) is None
        assert not possible_members(pairs, np.arange(4)).any()

    def test_items_that_were_never_seen_are_left_out(self, fitted):
        cc = fitted.recut()
        labels = fitted.ensemble_.labels.copy()
        item = int(cc.cores_[0].core[0])
        labels[item] = ABSENT
        cc.ensemble_ = LabelEnsemble(labels)
        found = find_confusion(cc, 10)
        assert not np.isnan(found.core).any()

    def test_shares_of_some_items_are_rows_of_all(self, fitted):
        items = np.array([3, 50, 7])
        np.testing.assert_array_equal(landing_shares(fitted, items), landing_shares(fitted)[items])
        np.testing.assert_array_equal(
            possible_members(fitted, items), possible_members(fitted)[items]
        )


class TestProfiles:
    def by_hand(self, cc, values, cluster):
        core, weak = cc.cores_[cluster].core, cc.cores_[cluster].weak
        rest = np.flatnonzero(cc.reference_labels_ != cluster)
        means = [np.nanmean(values[some]) if some.size else np.nan for some in (core, weak, rest)]
        spreads = [np.nanstd(values[some]) for some in (core, rest)]
        return means, spreads, (means[0] - means[2]) / np.sqrt(np.mean(np.square(spreads)))

    @pytest.mark.parametrize("kind", ["array", "frame", "sparse", "shifted"])
    def test_they_follow_the_definition(self, fitted, blobs, kind):
        X = np.column_stack([blobs, np.zeros(60), blobs[:, 0] ** 2])
        if kind == "shifted":
            X = X + 1e6
        if kind == "frame":
            X[5, 0] = np.nan
        given = {"frame": pd.DataFrame(X, columns=list("abcd")), "sparse": csr_array(X)}
        found = find_profiles(fitted, given.get(kind, X), 4)
        assert len(found) == 12
        names = list("abcd") if kind == "frame" else [f"feature {i}" for i in range(1, 5)]
        for one in found:
            values = X[:, names.index(one.feature)]
            if one.feature == names[2]:
                assert one.difference == 0  # constant
                continue
            means, spreads, difference = self.by_hand(fitted, values, one.cluster)
            np.testing.assert_allclose([one.core, one.weak, one.rest], means, rtol=1e-9)
            np.testing.assert_allclose([one.core_spread, one.rest_spread], spreads, rtol=1e-5)
            assert one.difference == pytest.approx(difference, rel=1e-5)
        for cluster in range(3):
            sizes = [abs(one.difference) for one in found if one.cluster == cluster]
            assert sizes == sorted(sizes, reverse=True)

    def test_values_of_columns_that_are_not_numbers_are_features(self, fitted, blobs):
        colors = np.array(["red", "green", "blue"])[fitted.reference_labels_]
        ids = [f"id {i}" for i in range(60)]
        frame = pd.DataFrame({"x": blobs[:, 0], "color": colors, "id": ids})
        found = find_profiles(fitted, frame, 2)
        best = {one.cluster: one for one in reversed(found)}
        for cluster, color in enumerate(["red", "green", "blue"]):
            one = best[cluster]
            assert (one.feature, one.is_share) == (f"color = {color}", True)
            assert (one.core, one.rest) == pytest.approx((1.0, 0.0), abs=1e-12)
            assert one.difference == np.inf
        assert not any("id" in one.feature for one in found)

    def test_there_are_none_without_features(self, fitted, blobs):
        assert find_profiles(fitted, None, 3) == []
        assert find_profiles(fitted, [object()] * 60, 3) == []
        distances = np.linalg.norm(blobs[:, None] - blobs[None], axis=2)
        clusterer = AgglomerativeClustering(3, metric="precomputed", linkage="average")
        cc = CoreClustering(clusterer, n_resamples=40, random_state=0).fit(distances)
        assert find_profiles(cc, distances, 3) == []


class TestActions:
    def test_clusters_that_land_together_are_to_be_merged(self, cut_in_two):
        X, cc = cut_in_two
        pairs = cc.diagnose(X).pairs
        (pair,) = pairs[~pairs["shown_two"]].to_dict("records")
        assert pair["together"] > 0.25  # otherwise this test is about something else
        first = find_actions(cc, cc.diagnose(X))[0]
        names = (pair["cluster_1"], pair["cluster_2"])
        assert first.text.startswith(f"Merge clusters {names[0]} and {names[1]}, or fit again")
        assert first.clusters == names

    def test_halves_that_stay_apart_are_only_doubted(self, cut_in_two):
        X, cc = cut_in_two
        diagnosis = cc.diagnose(X)
        diagnosis.pairs["together"] = 0.0
        texts = [one.text for one in find_actions(cc, diagnosis)]
        assert not any(text.startswith("Merge") for text in texts)
        assert sum(text.startswith("Do not report clusters") for text in texts) == 1

    def test_weak_items_are_to_be_dropped(self, fitted, blobs):
        n_weak = fitted.weak_sample_indices_.size
        assert n_weak > 1
        (drop,) = [one for one in find_actions(fitted, fitted.diagnose(blobs)) if one.status]
        assert drop.text.startswith(f"Drop these {n_weak} weak items before you name")
        assert drop.status == "weak"

    def test_undecided_items_need_more_resamples(self, fitted, blobs):
        cc = fitted.recut()
        cc.undecided_sample_indices_ = cc.weak_sample_indices_[:1]
        first = find_actions(cc, cc.diagnose(blobs))[0]
        assert first.status == "undecided"
        assert first.text.startswith("Draw more resamples (")
        assert "1 item is undecided" in first.text

    def test_a_cluster_with_two_groups_is_to_be_split(self):
        X = np.random.default_rng(0).normal(size=(300, 2)) * 0.5
        X[100:200] += 20, 0
        X[200:] += 10, 17.3
        cc = CoreClustering(KMeans(2), n_resamples=100, random_state=0).fit(X)
        texts = [one.text for one in find_actions(cc, cc.diagnose(X))]
        assert any("it holds 2 groups" in text and text.startswith("Split") for text in texts)

    def test_nothing_to_do_and_no_clusters(self, blobs):
        far = np.repeat([[0.0, 0.0], [50.0, 0.0]], 20, axis=0)
        X = far + np.random.default_rng(0).normal(size=(40, 2))
        cc = CoreClustering(KMeans(2), n_resamples=60, random_state=0).fit(X)
        (only,) = find_actions(cc, cc.diagnose(X))
        assert only.text.startswith("Nothing")
        none = CoreClustering(lambda Z: [-1] * len(Z), n_resamples=40, random_state=0).fit(blobs)
        (only,) = find_actions(none, none.diagnose(blobs))
        assert "found no cluster" in only.text

    def test_small_cores_and_failures_are_named(self, fitted, blobs):
        strict = fitted.recut(alpha=0.05)
        small = [core.label for core in strict.cores_ if 2 * core.n_core < core.n_items]
        assert small
        strict.n_dropped_resamples_ = 3
        actions = find_actions(strict, strict.diagnose(blobs))
        (doubt,) = [one for one in actions if one.text.startswith("Do not interpret cluster")]
        assert doubt.clusters == tuple(small)
        assert "why 3 resamples could not be clustered" in actions[-1].text


@pytest.mark.parametrize("alpha", [0.02, 0.3])
def test_the_verdict_at_another_alpha_is_that_of_recut(fitted, alpha):
    cut = fitted.recut(alpha=alpha)
    cut.undecided_sample_indices_ = cut.undecided_sample_indices_[:0]
    assert headline(fitted, cut.cores_) == headline(cut)
    assert explanation_at(fitted, cut.cores_, alpha) == explanation(cut)
