"""Clusters that are not found again in the resamples."""

from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier

from coreclust import CoreClustering, LabelEnsemble
from coreclust._inspection.returns import find_returns, is_doubtful, return_sentences
from coreclust._inspection.verdict import verdict
from coreclust.resampling import KnownDistribution
from coreclust.stability import jaccard_stability

ABSENT, NOISE = LabelEnsemble.ABSENT, LabelEnsemble.NOISE
REFERENCE = np.repeat([0, 1, 2], 40)
LOST = "Cluster 2 is not found again in 60 % of the resamples: mostly it is"


def fitted_with(labels, reference=REFERENCE):
    """A fitted estimator whose resamples are replaced."""
    cc = CoreClustering(lambda X: X[:, 0].astype(int), n_resamples=50, random_state=0)
    cc.fit(reference[:, None].astype(float))
    cc.ensemble_ = LabelEnsemble(labels)
    return cc.recut()


@lru_cache
def fitted_once():
    """Three clusters of twelve items, to be changed by the caller."""
    reference = np.repeat([0, 1, 2], 4)
    return fitted_with(np.repeat(reference[:, None], 50, axis=1), reference)


def by_sets(labels, reference):
    """The mean Jaccard index, the share of missing and the most common reason, item by item."""
    results = []
    for cluster in range(reference.max() + 1):
        best, reasons = [], []
        for column in labels.T:
            present = {item for item in range(reference.size) if column[item] != ABSENT}
            mine = {item for item in present if reference[item] == cluster}
            if not mine:
                continue
            found = [{i for i in present if column[i] == one} for one in range(labels.max() + 1)]
            noise = {item for item in mine if column[item] == NOISE}
            best.append(max((len(mine & one) / len(mine | one) for one in found), default=0.0))
            if best[-1] > 0.5:
                continue
            largest = max((len(mine & one) for one in found), default=0)
            if len(noise) >= largest:
                reasons.append("noise")
            else:
                reasons.append("split" if largest < 0.75 * len(mine) else "merged")
        why = max(("merged", "split", "noise"), key=reasons.count) if reasons else ""
        mean = np.mean(best) if best else np.nan
        results.append((mean, len(reasons) / len(best) if best else np.nan, why))
    return results


@given(
    labels=arrays(np.int64, (12, 5), elements=st.integers(NOISE, 3) | st.just(ABSENT)),
    reference=arrays(np.int64, 12, elements=st.integers(-1, 2)),
)
@settings(deadline=None)
def test_returns_by_sets(labels, reference):
    reference[:3] = [0, 1, 2]  # so that there are three clusters
    cc = fitted_once()
    cc.reference_labels_, cc.ensemble_ = reference, LabelEnsemble(labels)
    found = find_returns(cc)
    mean, missing, why = zip(*by_sets(labels, reference), strict=True)
    assert found.mean == pytest.approx(np.array(mean), nan_ok=True)
    assert found.missing == pytest.approx(np.array(missing), nan_ok=True)
    assert found.why == list(why)
    assert found.n_labels.tolist() == [len({*column} - {ABSENT, NOISE}) for column in labels.T]
    known = jaccard_stability(cc.ensemble_, reference)
    assert found.mean == pytest.approx(known.mean_jaccard, nan_ok=True)


def test_clusters_that_are_found_again_are_not_mentioned():
    labels = np.repeat(REFERENCE[:, None], 30, axis=1)
    cc = fitted_with(labels)
    found = find_returns(cc)
    assert found.mean.tolist() == [1, 1, 1]
    assert return_sentences(cc, found, set()) == []
    assert cc.diagnose().sentences == []


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([2, 3], f"{LOST} split."),
        ([NOISE], f"{LOST} noise."),
        ([0], f"{LOST} part of a larger cluster."),
    ],
)
def test_what_happens_to_a_cluster_is_said(labels, said):
    other = np.r_[REFERENCE[:80], np.resize(labels, 40)]
    cc = fitted_with(np.array([REFERENCE] * 20 + [other] * 30).T)
    found = find_returns(cc)
    assert found.missing[2] == pytest.approx(0.6)
    assert said in return_sentences(cc, found, set())
    about_it = [one for one in return_sentences(cc, found, {0, 1, 2}) if "Cluster 2" in one]
    assert about_it == ([] if "larger" in said else [said])  # the pairs have said this
    doubtful = cc.summary()["finding"].str.contains("not found again in 60 % of resamples: mostly ")
    assert doubtful.tolist() == ["larger" in said, False, True]  # 0 is part of it, too


def test_a_cluster_that_is_never_the_same_is_named_though_never_missing():
    """All Jaccard indices are 0.55, so that no resample dissolves the cluster."""
    reference = np.repeat([0, 1], [40, 60])
    other = np.repeat([0, 1], [22, 78])
    cc = fitted_with(np.repeat(other[:, None], 30, axis=1), reference)
    found = find_returns(cc)
    assert found.missing[0] == 0
    assert found.mean[0] == pytest.approx(0.55)
    said = "Cluster 0 is found again only in part: its mean Jaccard index is 0.55."
    assert said in return_sentences(cc, found, set())
    assert "found again only in part: mean Jaccard index 0.55" in cc.summary()["finding"][0]


def test_many_lost_clusters_are_counted():
    reference = np.repeat(np.arange(10), 10)
    rng = np.random.default_rng(0)
    labels = np.array([rng.permutation(reference) for _ in range(30)]).T
    cc = fitted_with(labels, reference)
    found = find_returns(cc)
    sentences = return_sentences(cc, found, set())
    assert len(sentences) == 3
    assert sentences[0].startswith(f"Cluster {found.mean.argmin()} is not found again in 100 %")
    assert sentences[2] == "8 more clusters are rarely found again, or only in part: see summary()."
    assert cc.summary()["finding"].str.contains("not found again").all()


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([2] * 30, "All resamples have 2 clusters; this clustering has 3."),
        ([1] * 30, "All resamples have 1 cluster; this clustering has 3."),
        (
            [2] * 18 + [3] * 12,
            "The resamples have 2 to 3 clusters, most often 2; 40 % have 3, as here.",
        ),
        (
            [2] * 15 + [4] * 14,
            "The resamples have 2 to 4 clusters, most often 2; none has 3, as here.",
        ),
        ([2] * 12 + [3] * 18, None),
        ([2] * 6 + [4] * 8 + [3] * 10, None),
    ],
)
def test_the_number_of_clusters_is_told_if_most_resamples_have_another(numbers, said):
    cc = fitted_with(np.array([np.arange(120) * number // 120 for number in numbers]).T)
    about = [
        one for one in return_sentences(cc, find_returns(cc), set()) if "resamples have" in one
    ]
    assert about == ([] if said is None else [said])


def test_classes_and_pairs_have_no_number_of_clusters():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 1))
    forest = CoreClustering(RandomForestClassifier(3), n_resamples=20, random_state=0).fit(X, y)
    assert "resamples have" not in verdict(forest)
    points = np.r_[np.zeros(5), np.ones(5)][:, None] + np.linspace(0, 0.1, 10)[:, None]
    cc = CoreClustering(KMeans(2), resampling=KnownDistribution(points), n_resamples=20).fit(points)
    found = find_returns(cc)
    assert np.isnan(found.mean).all()
    assert return_sentences(cc, found, set()) == []
    assert not is_doubtful(found.mean, found.missing).any()
