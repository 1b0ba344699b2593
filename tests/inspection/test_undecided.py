"""Items that are weak for lack of evidence, not by conflict."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from coreclust import CoreClustering, LabelEnsemble
from coreclust._inspection.undecided import undecided_items
from coreclust._inspection.verdict import verdict
from coreclust.cluster import KMeans
from coreclust.cores import find_cores
from coreclust.evidence import CoreRule
from coreclust.resampling import Bootstrap, KnownDistribution, Subsample
from twins import counts, label_matrices

X = load_iris().data


def one_cluster(Z):
    return np.zeros(len(Z), dtype=int)


def far_blobs():
    centers = np.repeat([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]], 100, axis=0)
    return centers + np.random.default_rng(0).normal(size=(300, 2))


def test_a_function_that_never_separates_anything_has_no_item_in_conflict():
    cc = CoreClustering(one_cluster, n_resamples=20, random_state=0)
    with pytest.warns(UserWarning, match="103 of 150 items are undecided.* fewer than 9 ") as said:
        cc.fit(X)
    assert len(said) == 1
    np.testing.assert_array_equal(cc.undecided_sample_indices_, cc.weak_sample_indices_)
    assert cc.summary()["n_undecided"].tolist() == [103]
    assert cc.item_table(details=False)["status"].value_counts().to_dict() == {
        "undecided": 103,
        "core": 47,
    }
    assert "47 of 150 items are core, 103 weak. All of the weak items are undecided" in verdict(cc)


def test_items_that_are_rarely_out_of_bag_together_are_undecided():
    cc = CoreClustering(KMeans(3), n_resamples=100, resampling=Bootstrap("oob"), random_state=0)
    with pytest.warns(UserWarning, match="107 of 300 items are undecided.*at least 175 resamples"):
        cc.fit(far_blobs())
    assert cc.summary()["n_undecided"].sum() == cc.weak_sample_indices_.size == 107
    # With the number that the warning names, one pair is expected to be seen too rarely.
    more = cc.set_params(n_resamples=175).fit(far_blobs())
    assert more.core_sample_indices_.size >= 297


def test_weak_by_conflict_is_not_undecided():
    cc = CoreClustering(KMeans(3), random_state=0).fit(X)
    assert cc.weak_sample_indices_.size > 0
    assert cc.undecided_sample_indices_.size == 0
    assert "undecided" not in verdict(cc)
    assert set(cc.item_table(details=False)["status"]) == {"core", "weak"}


def test_all_weak_items_are_undecided_if_no_pair_can_pass():
    with pytest.warns(UserWarning, match="too few") as said:
        cc = CoreClustering(KMeans(3), n_resamples=6, random_state=0).fit(X)
    assert len(said) == 1  # no second warning
    assert cc.undecided_sample_indices_.size == 147
    with pytest.warns(UserWarning, match="seen in no resample, too few .*at least 18 resamples"):
        cut = cc.recut(alpha=0.9)
    assert cut.undecided_sample_indices_.size == 22
    with pytest.warns(UserWarning, match="too few for confidence") as said:
        cut = cc.recut(alpha=0.2, confidence=0.95)
    assert len(said) == 1
    assert cut.undecided_sample_indices_.size == 147


def test_a_few_undecided_items_are_counted_without_a_warning():
    cc = CoreClustering(one_cluster, n_resamples=40, random_state=0).fit(X)
    n_undecided = cc.undecided_sample_indices_.size
    assert 0 < n_undecided < 15
    assert n_undecided == cc.weak_sample_indices_.size


def test_pairs_with_their_own_resamples_are_all_seen():
    source = KnownDistribution(lambda n, rng: rng.normal(size=(n, 1)))
    cc = CoreClustering(KMeans(2), n_resamples=20, resampling=source, random_state=0)
    assert cc.fit(X[:12, :1]).undecided_sample_indices_.size == 0


@pytest.mark.filterwarnings("ignore:.*resamples are too few")
@pytest.mark.filterwarnings("ignore:No number of resamples")
@given(
    labels=label_matrices(),
    noise=st.sampled_from(["apart", "together", "absent"]),
    alpha=st.sampled_from([0.0, 0.1, 0.2, 0.35, 0.5, 1.0]),
    confidence=st.sampled_from([None, 0.3]),
    data=st.data(),
)
def test_undecided_items_follow_the_definition(labels, noise, alpha, confidence, data):
    n_items = len(labels)
    codes = data.draw(st.lists(st.integers(0, 1), min_size=n_items, max_size=n_items))
    evidence, rule = LabelEnsemble(labels), CoreRule(alpha, confidence, "pair", noise)
    cores = find_cores(evidence, codes, rule)
    table = rule.table(evidence, np.array([core.n_items for core in cores]))
    together, seen = counts(labels, noise)
    conflict = seen - together > table[seen]
    cannot_pass = table[seen] < 0
    expected = []
    for core in cores:
        for item in core.weak:
            with_core = conflict[item, core.core]
            if with_core.any() and cannot_pass[item, core.core][with_core].all():
                expected.append(item)
    np.testing.assert_array_equal(undecided_items(evidence, cores, rule), np.sort(expected))


def test_a_subsample_of_most_items_needs_more_resamples():
    cc = CoreClustering(KMeans(3), n_resamples=250, resampling=Subsample(0.8), random_state=0)
    with pytest.warns(UserWarning, match="are undecided.* fewer than 191 resamples.*at least 347"):
        cc.fit(X)
