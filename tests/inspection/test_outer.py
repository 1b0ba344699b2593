"""The clusters that an item is possibly in."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreclust import CoreClustering
from coreclust._inspection.outer import landing_shares, possible_clusters
from coreclust.cluster import KMeans
from coreclust.evidence import CoreRule, LabelEnsemble
from coreclust.resampling import KnownDistribution


class Fitted:
    """The used part of a fitted estimator, with given labels."""

    def __init__(self, labels, cores, noise="apart", alpha=0.1, spread=1.0):
        self.ensemble_ = LabelEnsemble(labels)
        self.cores_ = [type("Core", (), {"core": np.array(core)}) for core in cores]
        self.noise, self.rule_ = noise, CoreRule(alpha, spread=spread)
        self.cluster_names_ = np.array(list("abc")[: len(cores)])
        self.labels_ = np.full(len(labels), -1)
        for code, core in enumerate(cores):
            self.labels_[core] = code


def twin(labels, cores, noise):
    """The definition, one item and resample at a time."""
    shares = np.full((len(labels), len(cores)), np.nan)
    for i in range(len(labels)):
        for c, core in enumerate(cores):
            landed = seen = 0
            for resample in labels.T:
                members = [x for x in resample[core] if x != -2 and (x, noise) != (-1, "absent")]
                x = resample[i]
                if not members or x == -2 or (x, noise) == (-1, "absent"):
                    continue
                seen += 1
                counts = Counter(members)
                # In a tie the smallest label counts, and noise comes last.
                common = min(counts, key=lambda one: (-counts[one], one == -1, one))
                landed += x == common and (x >= 0 or noise == "together")
            if seen:
                shares[i, c] = landed / seen
    return shares


@given(
    st.integers(2, 7).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(-2, 2), min_size=n, max_size=n), min_size=1, max_size=8
        )
    ),
    st.sampled_from(["apart", "together", "absent"]),
)
def test_shares_follow_the_definition(resamples, noise):
    labels = np.array(resamples).T
    cores = [list(range(len(labels) // 2)), list(range(len(labels) // 2, len(labels)))]
    fitted = Fitted(labels, cores, noise)
    np.testing.assert_allclose(
        landing_shares(fitted), twin(fitted.ensemble_.labels, cores, noise), equal_nan=True
    )


def test_items_between_two_clusters():
    """An item that is with one core in 6 of 10 resamples, and with the other in 4."""
    labels = np.zeros((7, 10), dtype=int)
    labels[3:6] = 1
    labels[6, :4] = 1
    cores = [[0, 1, 2], [3, 4, 5]]
    assert possible_clusters(Fitted(labels, cores))[6] == "a, b"
    assert possible_clusters(Fitted(labels, cores, alpha=0.5))[6] == "a"
    assert possible_clusters(Fitted(labels, cores))[:6].tolist() == [""] * 6
    # With spread 4, a share of 0.4 corresponds to less than 0.3 under the bootstrap.
    assert possible_clusters(Fitted(labels, cores, alpha=0.3))[6] == "a, b"
    assert possible_clusters(Fitted(labels, cores, alpha=0.3, spread=4.0))[6] == "a"
    labels[6] = -1
    assert possible_clusters(Fitted(labels, cores, alpha=0))[6] == ""


def test_in_the_table_of_items():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, 40), rng.normal(3, 1, 40), [1.75]])[:, None]
    cc = CoreClustering(KMeans(2, n_init=3), n_resamples=200, random_state=0).fit(X)
    table = cc.item_table()
    assert table["possible_clusters"].iloc[-1] == "0, 1"
    assert table["status"].iloc[-1] == "weak"
    is_core = table["status"] == "core"
    assert (table.loc[is_core, "possible_clusters"] == "").mean() > 0.9
    # Most weak items land with the core of their cluster.
    named = zip(table["cluster"], table["possible_clusters"], strict=True)
    own = [str(cluster) in possible.split(", ") for cluster, possible in named]
    assert np.mean(np.array(own)[~is_core]) > 0.9
    assert "possible_clusters" not in cc.item_table(details=False)


def test_without_labels_nothing_is_possible():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 1)) + np.repeat([[0.0], [9.0]], 6, axis=0)
    scheme = KnownDistribution(lambda n, rng: X[rng.integers(12, size=n)])
    cc = CoreClustering(KMeans(2, n_init=1), resampling=scheme, n_resamples=20, random_state=0)
    assert set(cc.fit(X).item_table()["possible_clusters"]) == {""}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_same_for_any_number_of_jobs(blobs, n_jobs):
    cc = CoreClustering(KMeans(5, n_init=1), n_resamples=50, random_state=0, n_jobs=n_jobs)
    one = CoreClustering(KMeans(5, n_init=1), n_resamples=50, random_state=0)
    np.testing.assert_array_equal(
        possible_clusters(cc.fit(blobs)), possible_clusters(one.fit(blobs))
    )
