"""Tests of the weak fractions of the paper's Table 4, with both engines."""

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans, kmeans_plusplus

from coreclust import CoreClustering

pytestmark = pytest.mark.slow

DATASETS = ["yeast", "bcw", "glass", "wine", "iris"]


def plain_seeding(X, n_clusters, random_state):
    """k-means++ as in the paper; scikit-learn's own draws several candidates for each center."""
    return kmeans_plusplus(X, n_clusters, random_state=random_state, n_local_trials=1)[0]


ALGORITHMS = {
    "kmeans": lambda k: KMeans(k, n_init=10),
    "plain kmeans": lambda k: KMeans(k, init=plain_seeding, n_init=10),
    "hclust": lambda k: AgglomerativeClustering(k, linkage="complete"),
}


def weak_fraction(data, algorithm, engine):
    X, classes = data
    estimator = ALGORITHMS[algorithm](np.unique(classes).size)
    cc = CoreClustering(estimator, alpha=0.1, engine=engine, random_state=0).fit(X)
    assert all(core.optimal for core in cc.cores_)
    return 1 - cc.core_sample_indices_.size / len(X)


GREEDY = pytest.mark.xfail(
    reason="0.70 where the paper has 0.77: scikit-learn's seeding is greedy, the paper's is not"
)

# The results of the authors' package vary by up to 0.04 between seeds.
CASES = [
    *((dataset, "hclust", engine) for dataset in DATASETS for engine in ("generic", "auto")),
    *((dataset, "kmeans", engine) for dataset in DATASETS[1:] for engine in ("generic", "auto")),
    ("yeast", "plain kmeans", "generic"),
    pytest.param("yeast", "kmeans", "auto", marks=GREEDY),
]


@pytest.mark.parametrize(("dataset", "algorithm", "engine"), CASES)
def test_weak_fractions_are_the_published_ones(
    dataset, algorithm, engine, paper_data, paper_tables
):
    weak = weak_fraction(paper_data(dataset), algorithm, engine)
    assert weak == pytest.approx(paper_tables[dataset, algorithm.split()[-1]], abs=0.05)


@pytest.mark.parametrize("engine", ["generic", "auto"])
def test_a_better_seeding_leaves_fewer_weak_items_on_yeast(engine, paper_data, paper_tables):
    """Ten clusters in yeast have many optima; an algorithm that finds better ones is more stable.

    Over ten seeds, the greedy seeding gives 0.697 to 0.728 with our kernels, and 0.707 to 0.728
    over four seeds with scikit-learn. Our kernels with 1, 3 and 50 runs instead of 10 give about
    0.82, 0.77 and 0.67 (the last with 300 resamples). The plain seeding of the paper gives 0.733
    and 0.746 for two seeds; the paper has 0.77.
    """
    weak = weak_fraction(paper_data("yeast"), "kmeans", engine)
    assert 0.67 < weak < 0.75 < paper_tables["yeast", "kmeans"]
