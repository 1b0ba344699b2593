import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from coreclust import LabelEnsemble
from coreclust._utils.constants import NOISE_RULES
from coreclust.stability import (
    _common,
    ambiguous_pairs,
    consensus,
    jaccard_stability,
    pairwise_rand,
    reference_rand,
)
from twins import ABSENT, NOISE, counts, label_matrices

noise_rules = st.sampled_from(sorted(NOISE_RULES))


@st.composite
def ensembles_with_reference(draw):
    labels = draw(label_matrices())
    n = len(labels)
    reference = draw(st.lists(st.integers(NOISE, 3), min_size=n, max_size=n))
    return LabelEnsemble(labels), np.array(reference)


def shares(ensemble, noise="apart"):
    """A/B for every pair of different items, NaN for the others and where never seen."""
    together, seen = counts(ensemble.labels.astype(int), noise)
    share = np.where(seen > 0, together / np.maximum(seen, 1), np.nan)
    np.fill_diagonal(share, np.nan)
    return share


def mean_of(values):
    values = values[~np.isnan(values)]
    return values.mean() if values.size else np.nan


def best_jaccard(cluster, resample):
    """Similarity of a set of items to the most similar cluster of a resample, by sets."""
    present = {item for item, label in enumerate(resample) if label != ABSENT}
    left = set(cluster) & present
    if not left:
        return np.nan
    found = [
        {item for item in present if resample[item] == name} for name in set(resample) if name >= 0
    ]
    return max((len(left & other) / len(left | other) for other in found), default=0.0)


def rand_index(first, second):
    kept = (first >= 0) & (second >= 0)
    return adjusted_rand_score(first[kept], second[kept]) if kept.sum() > 1 else np.nan


def four_groups(n_items=40, n_resamples=60, seed=0):
    """Make an ensemble with absent, noise and some deviating entries."""
    rng = np.random.default_rng(seed)
    reference = np.arange(n_items) % 4
    strays = rng.random((n_items, n_resamples)) < 0.5 * rng.random((n_items, 1))
    labels = np.where(strays, rng.integers(4, size=strays.shape), reference[:, None])
    labels[rng.random(labels.shape) < 0.37] = ABSENT
    labels[rng.random(labels.shape) < 0.05] = NOISE
    return LabelEnsemble(labels), reference


@pytest.mark.slow
@given(ensembles_with_reference())
def test_jaccard_is_that_of_the_sets_of_items(given):
    ensemble, reference = given
    found = jaccard_stability(ensemble, reference)
    names = np.unique(reference[reference >= 0])
    np.testing.assert_array_equal(found.labels, names)
    assert found.jaccard.shape == (names.size, ensemble.n_resamples)
    for c, name in enumerate(names):
        cluster = np.flatnonzero(reference == name).tolist()
        expected = np.array([best_jaccard(cluster, resample) for resample in ensemble.labels.T])
        np.testing.assert_array_equal(found.jaccard[c], expected)
        assert found.mean_jaccard[c] == pytest.approx(mean_of(expected), nan_ok=True)
        assert found.n_dissolved[c] == sum(value <= 0.5 for value in expected)
        assert found.n_recovered[c] == sum(value > 0.75 for value in expected)


def test_dissolved_and_recovered_at_their_thresholds():
    """As in fpc::clusterboot: dissolved at 0.5 or less, recovered above 0.75, not at it."""
    half, three_quarters, whole = [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]
    ensemble = LabelEnsemble(np.transpose([half, three_quarters, whole]))
    found = jaccard_stability(ensemble, [7, 7, 7, 7])
    np.testing.assert_array_equal(found.jaccard, [[0.5, 0.75, 1.0]])
    assert (found.n_dissolved.tolist(), found.n_recovered.tolist()) == ([1], [1])
    other = jaccard_stability(ensemble, [7, 7, 7, 7], dissolved=0.75, recovered=0.5)
    assert (other.n_dissolved.tolist(), other.n_recovered.tolist()) == ([2], [2])
    strictest = jaccard_stability(ensemble, [7, 7, 7, 7], dissolved=0, recovered=1)
    assert (strictest.n_dissolved.tolist(), strictest.n_recovered.tolist()) == ([0], [0])


def test_reference_noise_makes_a_cluster_of_a_resample_larger():
    ensemble = LabelEnsemble([[0], [0], [0]])
    np.testing.assert_array_equal(jaccard_stability(ensemble, [4, 4, -1]).jaccard, [[2 / 3]])


def test_a_cluster_in_no_resample_has_no_stability():
    ensemble = LabelEnsemble([[0, 0], [ABSENT, ABSENT], [0, ABSENT]])
    found = jaccard_stability(ensemble, ["a", "b", "c"])
    np.testing.assert_array_equal(found.jaccard, [[0.5, 1], [np.nan, np.nan], [0.5, np.nan]])
    np.testing.assert_array_equal(found.mean_jaccard, [0.75, np.nan, 0.5])
    np.testing.assert_array_equal(found.n_dissolved, [1, 0, 1])
    np.testing.assert_array_equal(found.n_recovered, [1, 0, 0])


@given(given=ensembles_with_reference(), noise=noise_rules)
def test_consensus_averages_the_shares_of_pairs(given, noise):
    ensemble, reference = given
    found = consensus(ensemble, reference, noise=noise)
    share = shares(ensemble, noise)
    names = np.unique(reference[reference >= 0])
    np.testing.assert_array_equal(found.labels, names)
    upper = np.triu(np.ones_like(share, dtype=bool), 1)
    for c, name in enumerate(names):
        inner = (reference == name)[:, None] & (reference == name)
        expected = mean_of(share[inner & upper])
        assert found.cluster_consensus[c] == pytest.approx(expected, nan_ok=True)
    for i, name in enumerate(reference):
        own = mean_of(share[i, reference == name]) if name >= 0 else np.nan
        assert found.item_consensus[i] == pytest.approx(own, nan_ok=True)
        others = {
            c: mean_of(share[i, reference == other])
            for c, other in enumerate(names)
            if other != name
        }
        others = {c: mean for c, mean in others.items() if not np.isnan(mean)}
        if not others:
            assert found.closest_other[i] == -1
            assert np.isnan(found.closest_consensus[i])
        else:
            assert found.closest_consensus[i] == pytest.approx(max(others.values()))
            assert others[found.closest_other[i]] == pytest.approx(found.closest_consensus[i])


def test_consensus_weighs_pairs_and_not_resamples():
    """One pair is seen 4 times and always together, one once and apart: 1/2, not 4/5."""
    labels = [[0] * 4 + [ABSENT], [0] * 5, [ABSENT] * 4 + [1]]
    found = consensus(LabelEnsemble(labels), [0, 0, 0])
    np.testing.assert_array_equal(found.item_consensus, [1.0, 0.5, 0.0])
    np.testing.assert_array_equal(found.cluster_consensus, [0.5])


def test_consensus_of_items_in_no_cluster_or_alone():
    ensemble = LabelEnsemble([[0, 0], [0, 0], [0, 1], [ABSENT, ABSENT]])
    found = consensus(ensemble, ["a", "a", "b", "a"])
    np.testing.assert_array_equal(found.item_consensus, [1, 1, np.nan, np.nan])
    np.testing.assert_array_equal(found.cluster_consensus, [1, np.nan])
    np.testing.assert_array_equal(found.closest_other, [1, 1, 0, -1])
    np.testing.assert_array_equal(found.closest_consensus, [0.5, 0.5, 0.5, np.nan])
    trimmed = consensus(ensemble, [0, 0, -1, -1])
    np.testing.assert_array_equal(trimmed.closest_other, [-1, -1, 0, -1])
    np.testing.assert_array_equal(trimmed.closest_consensus, [np.nan, np.nan, 0.5, np.nan])
    nobody = consensus(ensemble, [-1] * 4)
    assert nobody.labels.size == nobody.cluster_consensus.size == 0
    assert np.isnan(nobody.item_consensus).all()
    assert (nobody.closest_other == -1).all()


@given(labels=label_matrices(), noise=noise_rules, lower=st.sampled_from([0, 0.1, 0.25, 0.5]))
def test_ambiguous_pairs_lie_strictly_between(labels, noise, lower):
    ensemble = LabelEnsemble(labels)
    share = shares(ensemble, noise)[np.triu_indices(len(labels), 1)]
    share = share[~np.isnan(share)]
    found = ambiguous_pairs(ensemble, noise=noise, lower=lower, upper=0.75)
    expected = mean_of((share > lower) & (share < 0.75)) if share.size else np.nan
    assert found.proportion == pytest.approx(expected, nan_ok=True)
    assert (found.n_pairs, found.exact, found.standard_error) == (share.size, True, 0.0)


def test_a_pair_at_a_threshold_is_not_ambiguous():
    """Two items together in 1, 5 and 9 of 10 resamples."""
    for together, expected in ((1, 0.0), (5, 1.0), (9, 0.0)):
        ensemble = LabelEnsemble([[0] * 10, [0] * together + [1] * (10 - together)])
        assert ambiguous_pairs(ensemble).proportion == expected


def test_blocks_do_not_change_the_answers(monkeypatch):
    ensemble, reference = four_groups()
    whole = consensus(ensemble, reference), ambiguous_pairs(ensemble)
    resamples = pairwise_rand(ensemble, n_pairs=200, random_state=0)
    monkeypatch.setattr(_common, "BLOCK", 37)  # less than a row of pairs
    assert ambiguous_pairs(ensemble) == whole[1]
    found = pairwise_rand(ensemble, n_pairs=200, random_state=0)
    np.testing.assert_array_equal(found.values, resamples.values)
    in_rows = consensus(ensemble, reference)
    np.testing.assert_array_equal(in_rows.item_consensus, whole[0].item_consensus)
    np.testing.assert_array_equal(in_rows.closest_other, whole[0].closest_other)


def test_chosen_pairs_are_unbiased_with_the_stated_error():
    """Over 400 choices, the mean and the standard error are correct."""
    ensemble, _ = four_groups()
    exact = ambiguous_pairs(ensemble)
    assert 0.2 < exact.proportion < 0.8
    for max_pairs in (100, 600):  # of 780 pairs: one size drawn by rejection, one directly
        found = [ambiguous_pairs(ensemble, max_pairs=max_pairs, random_state=s) for s in range(400)]
        assert {(f.n_pairs, f.exact) for f in found} == {(max_pairs, False)}
        proportions = np.array([f.proportion for f in found])
        stated = np.sqrt(np.mean([f.standard_error**2 for f in found]))
        assert proportions.std() == pytest.approx(stated, rel=4 / np.sqrt(2 * 400))
        assert abs(proportions.mean() - exact.proportion) < 4 * stated / np.sqrt(400)


def test_a_choice_of_all_pairs_is_exact_and_a_seed_repeats_one():
    ensemble, _ = four_groups()
    assert ambiguous_pairs(ensemble, max_pairs=780) == ambiguous_pairs(ensemble)
    some = [ambiguous_pairs(ensemble, max_pairs=99, random_state=s) for s in (0, 0, 1, 2, 3)]
    assert some[0] == some[1]
    assert len({found.proportion for found in some}) > 1
    state = np.random.RandomState(0)
    drawn = {ambiguous_pairs(ensemble, max_pairs=99, random_state=state) for _ in range(4)}
    assert len(drawn) > 1


def test_no_pair_to_look_at():
    alone = ambiguous_pairs(LabelEnsemble([[0, 1]]))
    assert np.isnan(alone.proportion)
    assert alone.n_pairs == 0
    strangers = LabelEnsemble([[0, ABSENT, ABSENT], [ABSENT, 0, ABSENT], [ABSENT, ABSENT, 0]])
    found = ambiguous_pairs(strangers, max_pairs=1, random_state=0)
    assert np.isnan([found.proportion, found.standard_error]).all()
    assert (found.n_pairs, found.exact) == (0, False)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9, 10])
def test_pairs_are_each_listed_once(n):
    rng = np.random.default_rng(0)
    every = [
        sorted(p)
        for block in _common.pairs_of(n, None, rng)
        for p in np.stack(block, axis=1).tolist()
    ]
    assert sorted(map(tuple, every)) == list(itertools.combinations(range(n), 2))


@given(st.data())
def test_chosen_pairs_are_different(data):
    n = data.draw(st.integers(2, 12))
    size = data.draw(st.integers(1, n * (n - 1) // 2))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    chosen = [
        frozenset(p)
        for block in _common.pairs_of(n, size, rng)
        for p in np.stack(block, axis=1).tolist()
    ]
    assert len(chosen) == len(set(chosen)) == size
    assert all(len(pair) == 2 and pair <= set(range(n)) for pair in chosen)


@pytest.mark.slow
@given(label_matrices(max_items=15))
def test_pairwise_rand_is_scikit_learns(labels):
    found = pairwise_rand(LabelEnsemble(labels))
    pairs = list(itertools.combinations(range(labels.shape[1]), 2))
    assert list(map(tuple, found.pairs.tolist())) == pairs
    expected = np.array([rand_index(labels[:, a], labels[:, b]) for a, b in pairs])
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)
    assert found.exact
    assert found.mean == pytest.approx(mean_of(expected), nan_ok=True)
    known = expected[~np.isnan(expected)]
    assert found.std == pytest.approx(known.std() if known.size else np.nan, nan_ok=True)


@pytest.mark.slow
@given(ensembles_with_reference())
def test_reference_rand_is_scikit_learns(given):
    ensemble, reference = given
    expected = [rand_index(reference, resample) for resample in ensemble.labels.T]
    found = reference_rand(ensemble, reference)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_rand_of_many_items_does_not_overflow():
    """The number of pairs, squared, is beyond 64 bits."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=(120_000, 2))
    labels[:60_000, 1] = labels[:60_000, 0]
    found = pairwise_rand(LabelEnsemble(labels))
    assert found.values[0] == pytest.approx(adjusted_rand_score(*labels.T), abs=1e-12)
    assert 0.2 < found.mean < 0.3


def test_random_pairs_of_resamples_are_different_and_seeded():
    ensemble, _ = four_groups()
    every = pairwise_rand(ensemble, n_pairs=60 * 59 // 2)
    assert every.exact
    values = dict(zip(map(tuple, every.pairs.tolist()), every.values, strict=True))
    some = pairwise_rand(ensemble, n_pairs=50, random_state=3)
    chosen = list(map(tuple, some.pairs.tolist()))
    assert not some.exact
    assert len(set(chosen)) == 50
    np.testing.assert_array_equal(some.values, [values[pair] for pair in chosen])
    again = pairwise_rand(ensemble, n_pairs=50, random_state=3)
    np.testing.assert_array_equal(some.pairs, again.pairs)
    other = pairwise_rand(ensemble, n_pairs=50, random_state=4)
    assert not np.array_equal(some.pairs, other.pairs)


def test_one_resample_has_no_pair():
    found = pairwise_rand(LabelEnsemble([[0], [1]]))
    assert found.values.shape == (0,)
    assert np.isnan([found.mean, found.std]).all()


def test_all_noise():
    ensemble = LabelEnsemble([[NOISE, NOISE]] * 3)
    np.testing.assert_array_equal(jaccard_stability(ensemble, [0, 0, 1]).jaccard, np.zeros((2, 2)))
    np.testing.assert_array_equal(consensus(ensemble, [0, 0, 1]).cluster_consensus, [0, np.nan])
    together = consensus(ensemble, [0, 0, 1], noise="together")
    np.testing.assert_array_equal(together.cluster_consensus, [1, np.nan])
    assert np.isnan(pairwise_rand(ensemble).values).all()
    assert np.isnan(reference_rand(ensemble, [0, 0, 1])).all()


@given(given=ensembles_with_reference(), seed=st.integers(0, 9))
def test_names_of_clusters_do_not_matter(given, seed):
    """Strings for reference labels, and other numbers for the labels of each resample."""
    ensemble, reference = given
    assume((reference >= 0).all())
    rng = np.random.default_rng(seed)
    renamed = ensemble.labels.astype(int)
    for resample in renamed.T:
        new = rng.permutation(resample.max(initial=0) + 1)
        resample[resample >= 0] = new[resample[resample >= 0]]
    other = LabelEnsemble(renamed)
    names = np.array(["a", "b", "c", "d"])[reference]
    before, after = jaccard_stability(ensemble, reference), jaccard_stability(other, names)
    np.testing.assert_array_equal(before.jaccard, after.jaccard)
    assert after.labels.tolist() == sorted(set(names.tolist()))
    before, after = consensus(ensemble, reference), consensus(other, names)
    np.testing.assert_array_equal(before.item_consensus, after.item_consensus)
    np.testing.assert_array_equal(before.closest_other, after.closest_other)
    before, after = ambiguous_pairs(ensemble), ambiguous_pairs(other)
    assert before.n_pairs == after.n_pairs
    np.testing.assert_equal(before.proportion, after.proportion)  # or both NaN
    np.testing.assert_array_equal(reference_rand(ensemble, reference), reference_rand(other, names))


TWO = LabelEnsemble([[0, 0], [1, 0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jaccard_stability([[0]], [0]), "ensemble must be a LabelEnsemble, got list"),
        (lambda: consensus(None, [0]), "ensemble must be a LabelEnsemble"),
        (lambda: ambiguous_pairs([[0]]), "ensemble must be a LabelEnsemble"),
        (lambda: pairwise_rand([[0]]), "ensemble must be a LabelEnsemble"),
        (lambda: reference_rand(TWO, [0]), "reference_labels must have a label for each of the 2"),
        (lambda: jaccard_stability(TWO, [0, "a"]), "reference_labels must be all integers"),
        (lambda: jaccard_stability(TWO, [0, 0], dissolved=2), "dissolved must be a number"),
        (lambda: jaccard_stability(TWO, [0, 0], recovered="x"), "recovered must be a number"),
        (lambda: jaccard_stability(TWO, [0, 0], recovered=np.nan), "recovered must be a number"),
        (lambda: consensus(TWO, [0, 0], noise="loud"), "noise must be one of"),
        (lambda: ambiguous_pairs(TWO, noise=0), "noise must be one of"),
        (lambda: ambiguous_pairs(TWO, lower=-0.1), "lower must be a number between 0 and 1"),
        (lambda: ambiguous_pairs(TWO, upper=True), "upper must be a number between 0 and 1"),
        (lambda: ambiguous_pairs(TWO, lower=0.5, upper=0.5), "lower must be less than upper"),
        (lambda: ambiguous_pairs(TWO, max_pairs=0), "max_pairs must be a whole number"),
        (lambda: pairwise_rand(TWO, n_pairs=1.5), "n_pairs must be a whole number, 1 or more"),
        (lambda: pairwise_rand(TWO, random_state=-1), "random_state must be None"),
        (lambda: ambiguous_pairs(TWO, random_state="x"), "random_state must be None"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
