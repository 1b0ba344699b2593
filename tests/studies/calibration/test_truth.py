"""Tests of the truth against enumeration, Algorithm 2 of the package, and plain loops."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from coreclust import CoreClustering, core_clusters
from coreclust._utils.seeds import draw_random_states, seeds_of
from coreclust.cluster import HierarchicalClustering, KMeans
from coreclust.resampling import KnownDistribution
from studies.calibration import truth as module
from studies.calibration.designs import Design, Mixture
from studies.calibration.truth import (
    Truth,
    block_counts,
    cluster_pairs,
    exact_counts,
    find_truth,
    in_bands,
    quick_counts,
)

pytestmark = pytest.mark.slow

ATOMS = np.array([0.0, 1.7, 5.0])


@dataclass(frozen=True)
class Atoms:
    """Three values on a line, equally probable."""

    n_features: int = 1

    def draw(self, n_items, rng):
        return rng.choice(ATOMS, size=(n_items, 1))


class ManyStarts(Design):
    """k-means that finds the best clustering of four items."""

    def estimator(self):
        return KMeans(self.n_clusters, n_init=20)


class GenericLinkage(Design):
    """Average linkage as a callable."""

    can_predict = False

    def estimator(self):
        return HierarchicalClustering(self.n_clusters, linkage="average").fit_predict


def best_two_clusters(values):
    """All splits in two, and the one with the least sum of squares."""
    splits = [
        np.array((0, *rest))
        for rest in itertools.product((0, 1), repeat=len(values) - 1)
        if any(rest)
    ]

    def inertia(split):
        return sum(((values[split == k] - values[split == k].mean()) ** 2).sum() for k in (0, 1))

    return min(splits, key=inertia)


def test_exact_truth_is_what_enumeration_gives():
    X = np.array([[0.4], [2.3], [4.1], [6.2]])
    design = ManyStarts("atoms", "atoms", Atoms(), 4, n_clusters=2)
    pairs = np.array(list(itertools.combinations(range(4), 2)))
    m = 4000
    found = exact_counts(design, X, pairs, m, seed=0) / m
    expected = []
    for pair in pairs:
        together = 0
        for others in itertools.product(ATOMS, repeat=2):
            split = best_two_clusters(np.array([*X[pair, 0], *others]))
            together += split[0] == split[1]
        expected.append(together / 9)
    assert sum(0 < p < 1 for p in expected) == 3
    np.testing.assert_allclose(found, expected, atol=4.5 * 0.5 / np.sqrt(m))


def test_exact_truth_is_algorithm_2_of_the_package():
    design = Design("small", "small", Mixture(), 20)
    X = design.mixture.draw(20, np.random.default_rng(0))
    seed, m = 7, 150
    cc = CoreClustering(
        design.estimator(),
        n_resamples=m,
        resampling=KnownDistribution(design.mixture.draw),
        random_state=draw_random_states(seeds_of(seed, module._EXACT), 1)[0],
    ).fit(X)
    truth = find_truth(design, X, cc.reference_labels_, n_resamples=m, seed=seed)
    first, second = truth.pairs.T
    together, seen = cc.ensemble_.cooccurrence_counts(first, second)
    np.testing.assert_array_equal(truth.exact, together)
    assert (seen == m).all()
    cores = core_clusters(truth.evidence(cc.reference_labels_), cc.reference_labels_, alpha=0.1)
    assert [core.core.tolist() for core in cores] == [core.core.tolist() for core in cc.cores_]


@pytest.mark.parametrize("m", [70, 250])  # less and more than a block
def test_quick_truth_is_a_fit_and_a_prediction(m):
    design = Design("small", "small", Mixture(side=2.0), 15, n_clusters=4)
    X = design.mixture.draw(15, np.random.default_rng(1))
    pairs = np.array(list(itertools.combinations(range(15), 2)))
    together = np.zeros(len(pairs), dtype=int)
    for start in range(0, m, module._BLOCK):
        seeds = seeds_of(3, module._FRESH, start)
        drawn = design.mixture.draw(module._BLOCK * 15, np.random.default_rng(seeds))
        states = draw_random_states(seeds, module._BLOCK)
        for number in range(min(module._BLOCK, m - start)):
            kmeans = design.estimator().set_params(random_state=states[number])
            labels = kmeans.fit(drawn[15 * number : 15 * number + 15]).predict(X)
            together += [labels[i] == labels[j] for i, j in pairs]
    np.testing.assert_array_equal(quick_counts(design, X, pairs, m, seed=3), together)


def test_quick_and_exact_agree_far_from_borders():
    design = Design("far", "far", Mixture(side=25.0), 30)
    X = design.mixture.draw(30, np.random.default_rng(2))
    reference = KMeans(3, random_state=0).fit_predict(X)
    truth = find_truth(design, X, reference, n_resamples=200)
    assert np.abs(truth.exact - truth.quick).max() <= 2


def test_blocks_of_two_are_algorithm_2():
    design = Design("small", "small", Mixture(side=3.0), 24, algorithm="average linkage")
    X = design.mixture.draw(24, np.random.default_rng(3))
    reference = design.estimator().fit_predict(X).astype(np.int64)
    m = 300
    blocks = block_counts(design, X, reference, m, seed=1) / m
    pairs = cluster_pairs(reference)
    exact = exact_counts(design, X, pairs, m, seed=2) / m
    assert len(blocks) == len(pairs) > 30
    assert (blocks <= 1).all()
    # The standard error of a difference is at most 0.041; there are fewer than 300 pairs.
    np.testing.assert_allclose(blocks, exact, atol=4.5 * 0.041)
    assert abs((blocks - exact).mean()) < 0.02


def test_larger_blocks_and_functions_without_compiled_code_agree():
    design = Design("small", "small", Mixture(side=3.0), 48, algorithm="average linkage")
    generic = GenericLinkage("small", "small", Mixture(side=3.0), 48)
    X = design.mixture.draw(48, np.random.default_rng(4))
    reference = design.estimator().fit_predict(X).astype(np.int64)
    found = block_counts(design, X, reference, 40, seed=1)
    np.testing.assert_array_equal(found, block_counts(generic, X, reference, 40, seed=1))
    exact = exact_counts(design, X, cluster_pairs(reference), 40, seed=1)
    assert abs((found - exact).mean() / 40) < 0.03


def test_pairs_are_those_of_one_cluster():
    reference = np.array([1, 0, 1, -1, 0, 1])
    assert cluster_pairs(reference).tolist() == [[1, 4], [0, 2], [0, 5], [2, 5]]
    assert cluster_pairs(np.full(3, -1)).shape == (0, 2)


def test_exact_counts_replace_quick_ones():
    pairs = cluster_pairs(np.zeros(3, dtype=int))
    truth = Truth(pairs, np.array([10, 20, 30]), np.array([1]), np.array([40]), 40)
    assert truth.together.tolist() == [10, 40, 30]
    assert truth.probabilities.tolist() == [0.25, 1.0, 0.75]
    only_exact = Truth(pairs, None, np.arange(3), np.array([1, 2, 3]), 40)
    assert only_exact.together.tolist() == [1, 2, 3]


def test_pairs_near_the_bar_are_sampled_those_of_cores_first():
    rng = np.random.default_rng(0)
    reference = np.zeros(30, dtype=int)
    pairs = cluster_pairs(reference)
    quick = rng.uniform(0.5, 1.0, len(pairs))
    core = np.where(np.arange(30) < 12, 0, -1)
    first, second = in_bands(quick, pairs, [core, core])
    for (i, j), p, is_first, is_second in zip(pairs, quick, first, second, strict=True):
        judged = i < 12 and j < 12
        assert is_first == (judged and 0.70 <= p <= 0.95)
        assert is_second == (not is_first and 0.80 <= p <= 0.95)
    assert first.any()
    everything = module._choose(first, second, 10**6, 7, seed=0)
    assert set(np.flatnonzero(first | second)) < set(everything)
    assert everything.size == (first | second).sum() + 7
    few = module._choose(first, second, int(first.sum()) + 2, 0, seed=0)
    assert set(np.flatnonzero(first)) < set(few)
    assert few.size == first.sum() + 2


def test_oracle_is_the_largest_set_whose_pairs_all_meet_the_bar():
    rng = np.random.default_rng(5)
    reference = np.array([0] * 8 + [1] * 5)
    pairs = cluster_pairs(reference)
    counts = rng.integers(85, 101, len(pairs))
    truth = Truth(pairs, None, np.arange(len(pairs)), counts, 100)
    meets = {(i, j) for (i, j), count in zip(pairs.tolist(), counts, strict=True) if count >= 90}
    for core in core_clusters(truth.evidence(reference), reference, alpha=0.1):
        assert all(pair in meets for pair in itertools.combinations(core.core.tolist(), 2))
        larger = itertools.combinations(core.members.tolist(), core.core.size + 1)
        assert not any(meets.issuperset(itertools.combinations(items, 2)) for items in larger)
