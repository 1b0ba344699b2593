"""Distinct solutions among the clusterings of the resamples."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import KMeans

from coreclust import CoreClustering, LabelEnsemble
from coreclust._inspection.modes import (
    Mode,
    _difference,
    _groups,
    _landing,
    _shows,
    _some_of_each,
    find_modes,
    mode_sentences,
    splits_in_words,
)
from coreclust._inspection.verdict import verdict
from coreclust.resampling import KnownDistribution

ABSENT, NOISE = LabelEnsemble.ABSENT, LabelEnsemble.NOISE
REFERENCE = np.repeat([0, 1, 2], 40)
MERGED = np.r_[np.zeros(80, dtype=int), np.repeat([1, 2], 20)]  # 0 and 1 in one, 2 in two


def planted(solutions, shares, seed=0, noise=0.02):
    """An ensemble whose resamples are noisy copies of some solutions, on 80 % of the items."""
    rng = np.random.default_rng(seed)
    which = np.repeat(np.arange(len(solutions)), shares)
    rng.shuffle(which)
    labels = np.array([solutions[one] for one in which]).T
    moved = rng.random(labels.shape) < noise
    labels = np.where(moved, rng.permuted(labels, axis=0), labels)
    return np.where(rng.random(labels.shape) < 0.8, labels, ABSENT)


def fitted_with(labels, reference=REFERENCE):
    cc = CoreClustering(KMeans(3), n_resamples=20, random_state=0)
    cc.fit(reference[:, None] + 0.01 * np.random.default_rng(0).normal(size=(len(reference), 1)))
    cc.n_clusters_ = int(reference.max()) + 1
    cc.reference_labels_ = reference
    cc.cluster_names_ = np.array(list("abcdefgh"))[: cc.n_clusters_]
    cc.ensemble_ = LabelEnsemble(labels)
    return cc


@pytest.mark.parametrize("seed", range(4))
def test_planted_solutions_are_found_and_named(seed):
    cc = fitted_with(planted([REFERENCE, MERGED], [62, 38], seed))
    first, second = find_modes(cc)
    assert first.agrees
    assert (second.merged, second.split, second.lost) == (((0, 1),), (2,), ())
    assert first.share == pytest.approx(0.62, abs=0.02)
    assert second.share == pytest.approx(0.38, abs=0.02)
    (said,) = mode_sentences(cc, [first, second])
    assert said == (
        f"{round(100 * first.share)} % of the resamples agree with this clustering; "
        f"{round(100 * second.share)} % merge clusters a and b and split cluster c."
    )
    assert said in cc.diagnose().sentences


def test_the_summary_names_the_cluster_that_is_split():
    """It never meets another cluster, and is found again well enough: only the modes show it."""
    part = np.where(np.arange(120) >= 112, 3, np.where(np.arange(120) >= 104, 4, REFERENCE))
    summary = fitted_with(planted([REFERENCE, part], [60, 40])).summary()
    assert summary["finding"].tolist() == ["", "", "split in 40 % of resamples"]


def test_splits_in_a_few_words():
    modes = [
        Mode(0.5, (), (), ()),
        Mode(0.2, ((0, 1),), (2,), ()),
        Mode(0.1, (), (1, 2), (3,)),
        Mode(0.04, (), (0,), ()),  # too rare
    ]
    assert splits_in_words(modes, 4) == [
        "",
        "split in 10 % of resamples",
        "split in 30 % of resamples",
        "noise in 10 % of resamples",
    ]
    assert splits_in_words(modes[1:], 4) == [""] * 4  # the others differ in many ways


def test_one_solution_is_not_mentioned():
    cc = fitted_with(planted([REFERENCE], [100]))
    (mode,) = find_modes(cc)
    assert mode.agrees
    assert mode_sentences(cc, [mode]) == []


def test_a_single_solution_that_differs_is_mentioned():
    cc = fitted_with(planted([MERGED], [100]))
    assert mode_sentences(cc, find_modes(cc)) == [
        "100 % of the resamples merge clusters a and b and split cluster c."
    ]


def test_resamples_that_differ_in_many_ways_are_mentioned():
    """Each of ten clusters is split in a third of the resamples, at random."""
    rng = np.random.default_rng(0)
    reference = np.repeat(np.arange(8), 20)
    halves = np.tile(np.arange(20) < 10, 8)
    labels = np.array(
        [np.where(halves & (rng.random(8) < 0.35)[reference], 8, reference) for _ in range(100)]
    ).T
    cc = fitted_with(labels, reference)
    agree = (labels == reference[:, None]).all(axis=0).mean()
    share = "No resample agrees" if not agree else f"{round(100 * agree)} % of the resamples agree"
    (said,) = mode_sentences(cc, find_modes(cc))
    assert said == f"{share} with this clustering; the others differ from it in many ways."
    (said,) = mode_sentences(cc, [Mode(0.001, (), (), ()), Mode(0.2, ((0, 1),), (), ())])
    assert said.startswith("Less than 1 % of the resamples agree with this clustering; the others")
    (said,) = mode_sentences(cc, [Mode(0.0, (), (), ()), Mode(0.2, ((0, 1),), (), ())])
    assert said == "No resample agrees with this clustering; they differ from it in many ways."


def test_clusters_that_become_noise_are_named():
    lost = np.where(REFERENCE == 1, NOISE, REFERENCE)
    cc = fitted_with(planted([REFERENCE, lost], [50, 50]))
    assert {mode.lost for mode in find_modes(cc)} == {(), (1,)}
    assert "take for noise cluster b" in mode_sentences(cc, find_modes(cc))[0]


def test_resamples_that_vary_without_distinct_groups_are_one():
    labels = np.random.default_rng(0).integers(3, size=(120, 60))
    assert np.unique(_groups(labels)).size == 1


def test_too_few_resamples_and_pairs_have_no_modes():
    assert find_modes(fitted_with(planted([REFERENCE], [19]))) == []
    X = np.r_[np.zeros(5), np.ones(5)][:, None] + np.linspace(0, 0.1, 10)[:, None]
    cc = CoreClustering(KMeans(2), resampling=KnownDistribution(X), n_resamples=20).fit(X)
    assert find_modes(cc) == []


def test_the_verdict_of_a_wrong_number_of_clusters():
    """Two overlapping groups merge in some resamples, and a clean one is split instead."""
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [2.5, 0.0], [30.0, 0.0]], 200, axis=0) + rng.normal(size=(600, 2))
    cc = CoreClustering(KMeans(3, n_init=1), n_resamples=200, random_state=0).fit(X)
    clean = cc.cluster_names_[cc.reference_labels_[-1]]
    others = sorted(set(cc.cluster_names_.tolist()) - {clean})
    said = f"merge clusters {others[0]} and {others[1]} and split cluster {clean}."
    assert said in verdict(cc)


@given(
    labels=arrays(np.int64, (12, 5), elements=st.integers(NOISE, 3) | st.just(ABSENT)),
    reference=arrays(np.int64, 12, elements=st.integers(0, 2)),
)
@settings(deadline=None)
def test_where_clusters_land_by_counting(labels, reference):
    whole, main, share = _landing(labels, reference, 3)
    for b in range(5):
        for cluster in range(3):
            seen = [
                label
                for label, mine in zip(labels[:, b], reference, strict=True)
                if mine == cluster and label != ABSENT
            ]
            count = Counter(seen)
            if not seen:
                assert (main[b, cluster], share[b, cluster]) == (ABSENT, 1)
            else:
                most = max(count.values())
                assert main[b, cluster] == min(one for one in count if count[one] == most)
                assert share[b, cluster] == most / len(seen)
            is_whole = seen and share[b, cluster] >= 0.75 and main[b, cluster] >= 0
            assert whole[b, cluster] == (main[b, cluster] if is_whole else -1)
    merged, split, lost = _difference(whole, main, share)
    for cluster in range(3):
        assert (cluster in split) == ((share[:, cluster] < 0.75).sum() > 2.5)
    for some in merged:
        for one in some:
            assert any((whole[:, one] == whole[:, other]).sum() > 2 for other in set(some) - {one})
    shown = _shows((merged, split, lost), whole, main, share)
    for b in range(5):
        same = all(len({whole[b, one] for one in some} | {-1}) == 2 for some in merged)
        in_place = all(whole[b, one] >= 0 for some in merged for one in some)
        noise = all(main[b, one] == NOISE and share[b, one] >= 0.75 for one in lost)
        if merged or split or lost:
            assert shown[b] == (
                same and in_place and noise and (share[b, list(split)] < 0.75).all()
            )


def test_each_cluster_has_items_in_the_comparison():
    reference = np.r_[np.zeros(100_000, dtype=int), np.ones(60, dtype=int), [2], [-1]]
    items = _some_of_each(reference)
    assert np.bincount(reference[items]).tolist() == [1999, 50, 1]
    np.testing.assert_array_equal(items, np.unique(items))
