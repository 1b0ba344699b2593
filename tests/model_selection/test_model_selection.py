"""Tests of the choice of the number of clusters and of the algorithm."""

import dataclasses
import functools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import t as student
from sklearn.cluster import DBSCAN, FeatureAgglomeration
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from coreclust import CoreClustering
from coreclust.algorithms import make_algorithm
from coreclust.cluster import KMeans
from coreclust.metrics import weak_fraction
from coreclust.model_selection import compare_algorithms, select_n_clusters
from coreclust.model_selection._decision import decide, gains
from coreclust.model_selection._null import permuted_null, uniform_null
from coreclust.model_selection._number import _factory
from coreclust.resampling import KnownDistribution, ParametricBootstrap, Subsample

quick = functools.partial(select_n_clusters, n_nulls=8, n_resamples=60)


def three_gaussians(n_items, separation, rng, n_features=2):
    """Draw from three Gaussians with unit variance and centers at equal distances."""
    radius = separation / np.sqrt(3)
    angles = np.pi / 2 + np.arange(3) * 2 * np.pi / 3
    centers = np.zeros((3, n_features))
    centers[:, 0], centers[:, 1] = radius * np.cos(angles), radius * np.sin(angles)
    return centers[rng.integers(3, size=n_items)] + rng.standard_normal((n_items, n_features))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_three_gaussians_at_separation_3(seed):
    X = three_gaussians(300, 3, np.random.default_rng(seed))
    number = select_n_clusters(None, X, range(2, 7), n_nulls=10, random_state=seed)
    assert number.n_clusters == 3, number.reason
    assert number.stable
    assert number.reason.startswith("3 clusters: they are stable beyond chance")
    assert number.table()["recommended"].tolist() == [False, True, False, False, False]


@pytest.mark.slow
def test_noise_has_no_structure_in_most_cases():
    answers = []
    for seed in range(5):
        X = np.random.default_rng(seed).random((150, 2))
        number = quick(None, X, range(2, 7), random_state=seed)
        answers.append(number.stable)
        assert number.stable or "no stable structure" in number.reason
    assert sum(answers) <= 1


def test_a_single_gaussian_in_many_dimensions_is_one_cluster():
    X = np.random.default_rng(0).standard_normal((120, 10))
    number = quick(None, X, range(2, 6), random_state=0)
    assert number.n_clusters == 1
    assert not number.stable
    assert "at any k from 2 to 5" in number.reason


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["weak_fraction", "mean_jaccard", "ambiguous_pairs"])
def test_every_criterion_finds_groups_far_apart(criterion):
    X = three_gaussians(90, 12, np.random.default_rng(1))
    number = quick(None, X, range(2, 6), criterion=criterion, random_state=0)
    assert number.n_clusters == 3
    assert number.criterion == criterion
    assert number.measured["weak_fraction"][1] == 0
    assert number.measured["mean_jaccard"][1] == 1
    assert number.measured["ambiguous_pairs"][1] == 0


@pytest.mark.slow
def test_structure_with_too_many_weak_items_is_not_recommended():
    X = three_gaussians(300, 3, np.random.default_rng(0))
    number = select_n_clusters(None, X, [2, 3, 4], max_weak=0, n_nulls=10, random_state=0)
    assert number.n_clusters is None
    assert not number.stable
    assert "no stable structure. At k = 3 there is more than chance" in number.reason


def test_other_numbers_that_are_stable_are_named():
    rng = np.random.default_rng(0)
    pairs = np.array([[0.0, 0], [8, 0], [60, 0], [68, 0]])  # two groups of two
    X = np.repeat(pairs, 25, axis=0) + rng.standard_normal((100, 2))
    number = quick(None, X, range(2, 6), random_state=0)
    assert number.n_clusters == 4
    assert ("so are those at k = 2" in number.reason) == bool(
        number.p_value[0] <= 0.01 and number.measured["weak_fraction"][0] <= 0.25
    )


@given(
    p=st.lists(st.floats(0.0, 0.05), min_size=3, max_size=3),
    gain=st.lists(st.floats(-1, 3), min_size=3, max_size=3),
    weak=st.lists(st.floats(0, 0.5), min_size=3, max_size=3),
    level=st.sampled_from([0.01, 0.0005, 0.05]),
)
def test_the_reason_agrees_with_the_p_values_at_the_level(p, gain, weak, level):
    """A p-value of 0.0104 must not be shown as 0.01 and called larger than 0.01."""
    ks, p_value = np.array([2, 3, 4]), np.array(p)
    measured = {"weak_fraction": np.array(weak)}
    null_measures = {"weak_fraction": np.full((5, 3), 0.5)}
    chosen, reason = decide(
        ks,
        measured,
        null_measures,
        np.array(gain),
        p_value,
        criterion="weak_fraction",
        level=level,
        most=0.25,
    )
    shown = re.search(r"p ([<=]) ([0-9.e-]+)[),]", reason)
    is_small = shown[1] == "<" or float(shown[2]) <= level
    assert is_small == (chosen != 1)
    named = set(map(int, re.findall(r"[234]", reason.partition(")")[2])))
    if chosen is not None and chosen > 1:
        assert named | {chosen} == set(ks[p_value <= level].tolist())


def test_the_measures_are_those_of_a_fit():
    X = three_gaussians(60, 4, np.random.default_rng(0))
    seen = []

    class Recorded(KMeans):
        def __coreclust_native__(self):  # use the generic engine, with weights
            return dataclasses.replace(super().__coreclust_native__(), label_drawn=None)

    def make(k):
        seen.append(k)
        return Recorded(k)

    number = select_n_clusters(make, X, [2, 3], n_nulls=3, n_resamples=30, n_jobs=1, random_state=5)
    assert seen == [2, 3] * 4
    from coreclust._utils.seeds import seeds_of

    for position, k in enumerate([2, 3]):
        seed = int(seeds_of(5, 2, 0, k).generate_state(1)[0] >> 1)
        cc = CoreClustering(KMeans(k), n_resamples=30, random_state=seed).fit(X)
        assert number.measured["weak_fraction"][position] == weak_fraction(cc.labels_)


def slow_gains(measured, null_measured, n_items):
    """Compute gains and p-values from the definition, one k at a time."""
    log_odds = lambda share: np.log((n_items * share + 0.5) / (n_items * (1 - share) + 0.5))  # noqa: E731
    n_nulls, n_k = len(null_measured), len(measured)
    middle = [np.mean([log_odds(row[k]) for row in null_measured]) for k in range(n_k)]

    def lead(row, k):
        gain = [middle[j] - log_odds(row[j]) for j in range(n_k)]
        others = [min(gain[j], 0) for j in range(n_k) if j != k]
        return gain[k] - (np.mean(others) if others else 0)

    gain = [middle[k] - log_odds(measured[k]) for k in range(n_k)]
    p_value = []
    for k in range(n_k):
        leads = [lead(row, k) for row in null_measured]
        share = np.mean([row[k] for row in null_measured])
        least = np.sqrt(1 / (n_items * share + 0.5) + 1 / (n_items * (1 - share) + 0.5))
        spread = max(np.std(leads, ddof=1), least) * np.sqrt(1 + 1 / n_nulls)
        p_value.append(student.sf((lead(measured, k) - np.mean(leads)) / spread, n_nulls - 1))
    return gain, p_value


@given(
    arrays(float, st.tuples(st.integers(3, 6), st.integers(1, 5)), elements=st.floats(0, 1)),
    st.integers(5, 500),
    st.data(),
)
def test_gains_follow_the_definition(null_measured, n_items, data):
    measured = data.draw(arrays(float, null_measured.shape[1], elements=st.floats(0, 1)))
    gain, p_value = gains(measured, null_measured, n_items)
    slow_gain, slow_p = slow_gains(measured, null_measured, n_items)
    np.testing.assert_allclose(gain, slow_gain, atol=1e-9)
    np.testing.assert_allclose(p_value, slow_p, atol=1e-9)
    turned = gains(1 - measured, 1 - null_measured, n_items, less_is_better=False)
    np.testing.assert_allclose(turned[0], gain, atol=1e-6)
    np.testing.assert_allclose(turned[1], p_value, atol=1e-6)


def test_more_stable_than_chance_is_a_gain_and_a_small_p_value():
    null_measured = np.random.default_rng(0).uniform(0.4, 0.6, size=(20, 3))
    gain, p_value = gains(np.array([0.5, 0.02, 0.5]), null_measured, 200)
    assert gain[1] > 2
    assert p_value[1] < 1e-6
    assert (p_value[[0, 2]] > 0.2).all()


def test_the_answer_does_not_depend_on_jobs_or_on_the_other_numbers_tried():
    X = three_gaussians(60, 4, np.random.default_rng(0))
    options = {"n_nulls": 4, "n_resamples": 40, "random_state": 3}
    first = select_n_clusters(None, X, [2, 3, 4], n_jobs=1, **options)
    second = select_n_clusters(None, X, [4, 3, 2, 3], n_jobs=2, **options)
    alone = select_n_clusters(None, X, [3], n_jobs=1, **options)
    other = select_n_clusters(None, X, [3], **{**options, "random_state": 4})
    assert first.table().equals(second.table())
    assert first.reason == second.reason
    for name in first.measured:
        assert alone.measured[name][0] == first.measured[name][1]
        np.testing.assert_array_equal(
            alone.null_measures[name][:, 0], first.null_measures[name][:, 1]
        )
    assert (other.null_measures["weak_fraction"] != alone.null_measures["weak_fraction"]).any()


def test_max_items_limits_the_items_used():
    X = np.random.default_rng(0).random((200, 2))
    number = quick(None, X, [2], max_items=50, n_nulls=3, random_state=0)
    assert (number.n_items, number.n_items_given) == (50, 200)
    assert quick(None, X, [2], max_items=None, n_nulls=3, random_state=0).n_items == 200


def test_a_subsample_and_permuted_null_data():
    X = three_gaussians(90, 12, np.random.default_rng(1))
    number = quick(None, X, range(2, 5), resampling=Subsample(), null="permuted", random_state=0)
    assert number.n_clusters == 3
    assert number.null == "permuted"


class FirstHalf:
    """A scheme that shares no base class with those of the package."""

    def draw(self, n_units, seeds):
        return np.random.default_rng(seeds).permutation(n_units)[: n_units // 2]


def test_any_scheme_that_draws_rows_can_be_used():
    X = three_gaussians(90, 12, np.random.default_rng(1))
    assert quick(None, X, [2, 3], resampling=FirstHalf(), random_state=0).n_clusters == 3
    found = compare_algorithms(
        X, "kmeans", n_clusters=3, resampling=FirstHalf(), n_resamples=30, random_state=0
    )
    assert found.table()["clusters"].tolist() == [3]


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (KMeans(), "n_clusters"),
        (SklearnKMeans(), "n_clusters"),
        (GaussianMixture(), "n_components"),
        (make_pipeline(PCA(n_components=1), KMeans()), "kmeans__n_clusters"),
        (make_pipeline(PCA(n_components=1), GaussianMixture()), "gaussianmixture__n_components"),
        (
            make_pipeline(FeatureAgglomeration(5), GaussianMixture()),
            "gaussianmixture__n_components",
        ),
    ],
)
def test_where_the_number_goes(estimator, name):
    made = _factory(estimator)(7)
    assert made is not estimator
    assert made.get_params()[name] == 7
    assert made.get_params().get("pca__n_components", 1) == 1


def test_a_function_from_k_to_a_clusterer():
    assert _factory(functools.partial(make_algorithm, "hclust"))(4).n_clusters == 4
    assert _factory(KMeans)(4).n_clusters == 4


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"estimator": DBSCAN()}, ValueError, "DBSCAN has none"),
        ({"estimator": make_pipeline(PCA(2), DBSCAN())}, ValueError, "Pipeline has none"),
        ({"estimator": "kmeans"}, TypeError, "estimator must be a clusterer"),
        ({"k_range": []}, ValueError, "k_range must hold"),
        ({"k_range": [1, 2]}, ValueError, "k_range must hold"),
        ({"k_range": [2.5]}, ValueError, "k_range must hold"),
        ({"k_range": [True]}, ValueError, "k_range must hold"),
        ({"k_range": [2, 30]}, ValueError, "k_range must stay below the number of items, 30"),
        ({"criterion": "silhouette"}, ValueError, "criterion must be one of"),
        ({"null": "normal"}, ValueError, "null must be one of"),
        ({"n_nulls": 2}, ValueError, "n_nulls"),
        ({"level": 0}, ValueError, "level"),
        ({"max_weak": 1.5}, ValueError, "max_weak"),
        ({"max_items": 5}, ValueError, "max_items"),
        ({"resampling": KnownDistribution(np.zeros((9, 2)))}, ValueError, "does not draw items"),
        ({"resampling": ParametricBootstrap(GaussianMixture())}, ValueError, "does not draw items"),
        ({"X": np.full((30, 2), np.nan)}, ValueError, "NaN"),
    ],
)
def test_wrong_arguments_are_refused_before_any_work(changes, error, message, monkeypatch):
    monkeypatch.setattr(CoreClustering, "fit", lambda *_: pytest.fail("fit was called"))
    arguments = {"estimator": None, "X": np.eye(30)[:, :2], "k_range": [2]} | changes
    with pytest.raises(error, match=message):
        select_n_clusters(**arguments)


@given(
    arrays(float, st.tuples(st.integers(3, 12), st.integers(1, 4)), elements=st.floats(-9, 9)),
    st.integers(0, 5),
)
def test_null_data_stays_in_the_box_and_keeps_the_columns(X, seed):
    rng = np.random.default_rng(seed)
    uniform, permuted = uniform_null(X, rng), permuted_null(X, rng)
    assert uniform.shape == permuted.shape == X.shape
    np.testing.assert_array_equal(np.sort(permuted, axis=0), np.sort(X, axis=0))
    # Within the ranges along the principal axes of X, and nowhere else.
    _, _, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    scores, drawn = (X - X.mean(axis=0)) @ axes.T, (uniform - X.mean(axis=0)) @ axes.T
    assert (drawn >= scores.min(axis=0) - 1e-7).all()
    assert (drawn <= scores.max(axis=0) + 1e-7).all()
    np.testing.assert_allclose(uniform, drawn @ axes + X.mean(axis=0), atol=1e-7)


def test_comparison_of_algorithms(blobs):
    classes = np.repeat(["a", "b", "c"], 20)
    found = compare_algorithms(
        blobs, ["kmeans", "hclust", "svm"], n_clusters=3, y=classes, n_resamples=60, random_state=0
    )
    assert found.names == ["kmeans", "hclust", "svm"]
    kmeans, hclust, _ = found.fitted
    alone = CoreClustering(make_algorithm("kmeans", 3), n_resamples=60, random_state=0).fit(blobs)
    np.testing.assert_array_equal(alone.labels_, kmeans.labels_)
    alike = ((kmeans.labels_ >= 0) == (hclust.labels_ >= 0)).mean()
    assert found.agreement[0, 1] == found.agreement[1, 0] == pytest.approx(alike)
    both = (kmeans.labels_ >= 0) & (hclust.labels_ >= 0)
    assert found.core_rand[0, 1] == adjusted_rand_score(kmeans.labels_[both], hclust.labels_[both])
    np.testing.assert_array_equal(np.diag(found.agreement), 1)
    table = found.table()
    assert table["sizes"].map(sum).tolist() == [60, 60, 60]
    assert (table["core_purity"] >= table["cluster_purity"] - 0.2).all()
    assert table["weak_fraction"].tolist() == [weak_fraction(cc.labels_) for cc in found.fitted]


def test_comparison_of_estimators_with_given_names(blobs):
    found = compare_algorithms(
        blobs, {"two": KMeans(2), "three": KMeans(3)}, n_resamples=40, random_state=0
    )
    assert found.table()["clusters"].tolist() == [2, 3]
    assert found.purity is None
    again = compare_algorithms(blobs, "kmeans", n_clusters=2, n_resamples=40)
    assert again.names == ["kmeans"]


def test_nothing_in_common_has_no_rand_index(blobs):
    def all_noise(Z):
        return np.full(len(Z), -1)

    found = compare_algorithms(
        blobs, {"two": KMeans(2), "none": all_noise}, n_resamples=30, random_state=0
    )
    assert np.isnan(found.core_rand[0, 1])
    assert found.agreement[0, 1] == weak_fraction(found.fitted[0].labels_)


@pytest.mark.parametrize(
    ("algorithms", "n_clusters", "message"),
    [
        (["kmeans", "nope"], 3, "got 'nope'"),
        (["kmeans"], None, "n_clusters is needed"),
        ([], 3, "at least one"),
        ({}, 3, "at least one"),
    ],
)
def test_wrong_algorithms(algorithms, n_clusters, message, blobs):
    with pytest.raises(ValueError, match=message):
        compare_algorithms(blobs, algorithms, n_clusters=n_clusters)


def test_classifiers_need_no_number(blobs):
    found = compare_algorithms(
        blobs, {"svc": SVC()}, y=np.repeat([0, 1, 2], 20), n_resamples=30, random_state=0
    )
    assert found.table()["clusters"].tolist() == [3]


def test_resamples_for_every_pair_cannot_be_compared():
    scheme = KnownDistribution(np.zeros((9, 2)))
    with pytest.raises(ValueError, match=r"resampling=.*separate resamples for every pair"):
        compare_algorithms(np.zeros((5, 2)), ["kmeans"], n_clusters=2, resampling=scheme)


@pytest.mark.parametrize(
    ("ks", "told"),
    [
        ([2, 3, 4], "not more stable than those of data without structure at any k from 2 to 4 ("),
        ([2, 4], "not more stable than those of data without structure at any of k = 2, 4 ("),
        ([3], "not more stable than those of data without structure at k = 3 ("),
    ],
)
def test_the_reason_names_only_numbers_that_were_tried(ks, told):
    weak = np.full(len(ks), 0.5)
    number, reason = decide(
        np.array(ks),
        {"weak_fraction": weak},
        {"weak_fraction": np.full((5, len(ks)), 0.5)},
        weak,
        weak,
        criterion="weak_fraction",
        level=0.05,
        most=0.25,
    )
    assert number == 1
    assert told in reason
