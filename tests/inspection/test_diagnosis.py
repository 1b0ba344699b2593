import copy
import pickle
import re
import warnings
from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix
from sklearn.cluster import AgglomerativeClustering
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coreclust import CoreClustering, LabelEnsemble
from coreclust._inspection.diagnosis import Diagnosis, findings, quick_diagnosis
from coreclust._inspection.landing import common_labels, landed_together, pairs_that_met, spread
from coreclust._inspection.merge_test import (
    _best_split,
    _principal_components,
    flat_ratio,
    merge_test,
    separation_index,
)
from coreclust._inspection.verdict import verdict
from coreclust.cluster import KMeans
from coreclust.report import report_html
from coreclust.resampling import KnownDistribution
from coreclust.stability import jaccard_stability

ABSENT, NOISE = LabelEnsemble.ABSENT, LabelEnsemble.NOISE


def far_blobs(size=100, n_blobs=3, n_features=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_blobs * size, n_features))
    angles = 2 * np.pi * np.repeat(np.arange(n_blobs), size) / n_blobs
    X[:, 0] += 20 * np.cos(angles)
    X[:, 1] += 20 * np.sin(angles)
    return X


def fitted_to(X, k, **parameters):
    settings = {"n_resamples": 100, "random_state": 0, **parameters}
    return CoreClustering(KMeans(k, n_init=3), **settings).fit(X)


@pytest.fixture(scope="module")
def merged():
    """Three far groups in two clusters."""
    return fitted_to(far_blobs(), 2)


@pytest.fixture(scope="module")
def cut():
    """Three far groups, one of which is cut in two."""
    return fitted_to(far_blobs(), 4)


# ---- where cores land ----


def common_twin(labels, cores, noise):
    """The most common label of each core in each resample, by its definition."""
    common = np.full((labels.shape[1], len(cores)), ABSENT)
    for resample, core in np.ndindex(common.shape):
        seen = [label for label in labels[cores[core], resample].tolist() if label != ABSENT]
        if noise == "absent":
            seen = [label for label in seen if label != NOISE]
        if noise == "together":
            seen = [labels.max() + 1 if label == NOISE else label for label in seen]
        if seen:
            count = Counter(seen)
            order = sorted(count, key=lambda label: (-count[label], label == NOISE, label))
            common[resample, core] = order[0]
    return common


@given(
    arrays(np.int8, (9, 6), elements=st.integers(-2, 3)),
    st.lists(st.integers(0, 3), min_size=9, max_size=9),
    st.sampled_from(["apart", "together", "absent"]),
)
def test_landing_follows_the_definition(labels, codes, noise):
    cores = [np.flatnonzero(np.array(codes) == code) for code in range(4)]
    common = common_labels(np.asfortranarray(labels), cores, noise)
    np.testing.assert_array_equal(common, common_twin(labels, cores, noise))
    pairs = np.array(list(combinations(range(4), 2)))
    together, seen = landed_together(common, pairs)
    for place, (a, b) in enumerate(pairs):
        both = [(x, y) for x, y in common[:, [a, b]].tolist() if ABSENT not in (x, y)]
        assert seen[place] == len(both)
        assert together[place] == sum(x == y != NOISE for x, y in both)
    assert pairs_that_met(common).tolist() == pairs[together > 0].tolist()


def test_large_cores_are_thinned_out_evenly():
    items = np.arange(100_000) * 2
    assert spread(items, 10**6) is items
    some = spread(items, 500)
    assert some.size == 500
    assert some[[0, -1]].tolist() == [0, 199_998]
    assert np.ptp(np.diff(some)) <= 2


# ---- the test ----


def index_of(line, second):
    """The definition: each part without the 5 % that are furthest from the other part."""
    right, left = np.sort(line[second]), np.sort(line[~second])[::-1]
    right, left = (part[: part.size - part.size // 20] for part in (right, left))
    between = (right.mean() - left.mean()) ** 2 / 4
    within = (right.var() + left.var()) / 2
    return within / (within + between)


@pytest.mark.parametrize(("n_items", "share"), [(50, 0.3), (200, 0.1), (400, 0.5)])
def test_the_index_follows_the_definition(n_items, share):
    rng = np.random.default_rng(0)
    X, second = rng.normal(size=(n_items, 4)), rng.random(n_items) < share
    line = X @ (X[second].mean(axis=0) - X[~second].mean(axis=0))
    assert separation_index(X, second) == pytest.approx(index_of(line, second))


def test_the_index_has_known_values():
    """With 200,000 items the error is about 0.002."""
    rng = np.random.default_rng(0)
    gaussian, flat = rng.normal(size=200_000), rng.uniform(-1, 1, size=200_000)
    # Flat parts of width 0.95 whose centers are 0.95 apart: 1 / 12 against 1 / 4.
    assert separation_index(flat[:, None], flat > 0) == pytest.approx(0.25, abs=0.005)
    for share in (0.5, 0.4):
        parts = [index_of(x, x > np.quantile(x, 1 - share)) for x in (gaussian, flat)]
        assert flat_ratio(share) == pytest.approx(parts[1] / parts[0], abs=0.01)
    assert flat_ratio(0.1) == flat_ratio(0.9) == 1.0


def test_a_few_outliers_do_not_hide_two_groups():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    X[40:, 0] += 6
    second = np.arange(80) >= 40
    clean = merge_test(X, second, np.random.default_rng(1))
    X[[0, 79]] += [[-60, 0], [60, 0]]
    spoiled = merge_test(X, second, np.random.default_rng(1))
    assert clean.p_value < 1e-6
    assert spoiled.p_value < 1e-6


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(4, 40))
def test_the_best_split_cannot_be_improved_by_a_step(seed, n_features, n_items):
    X = np.random.default_rng(seed).normal(size=(n_items, n_features))
    second = _best_split(X)
    centers = np.array([X[~second].mean(axis=0), X[second].mean(axis=0)])
    squares = ((X[:, None] - centers) ** 2).sum(axis=2)
    np.testing.assert_array_equal(second, squares[:, 1] < squares[:, 0])


@pytest.mark.parametrize("shape", [(30, 4), (20, 60)])
def test_principal_components_are_those_of_the_singular_values(shape):
    X = np.random.default_rng(0).normal(size=shape) * 1e6 + 5
    axes, lengths = _principal_components(X)
    centered = X - X.mean(axis=0)
    expected = np.linalg.svd(centered / np.abs(centered).max(), compute_uv=False)[: lengths.size]
    np.testing.assert_allclose(lengths, expected, rtol=1e-6)
    assert lengths.size == min(shape[0] - 1, shape[1])
    np.testing.assert_allclose(axes.T @ axes, np.eye(lengths.size), atol=1e-7)


@pytest.mark.parametrize(
    ("X", "second"),
    [
        (np.zeros((10, 3)), np.arange(10) < 5),
        (np.eye(2), np.array([True, False])),
        (np.ones((8, 1)) * 1e300, np.arange(8) < 1),
        (np.array([[-1.7e308], [1.7e308], [1.7e308]]), np.arange(3) < 1),
        (np.arange(6.0)[:, None], np.zeros(6, dtype=bool)),
    ],
)
def test_data_that_shows_nothing_is_not_two(X, second):
    assert merge_test(X, second, np.random.default_rng(0)).p_value == 1


def test_long_and_narrow_groups_are_two():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) * [20, 1]
    X[100:, 1] += 8
    result = merge_test(X, np.arange(200) >= 100, rng)
    assert result.p_value < 1e-6
    assert result.index < 0.1


def p_values(draw, n_datasets, k=2):
    found = []
    for seed in range(n_datasets):
        rng = np.random.default_rng(seed)
        X = draw(rng)
        labels = KMeans(k, n_init=10, random_state=seed).fit_predict(X)
        found.append(merge_test(X[labels < 2], labels[labels < 2] == 1, rng).p_value)
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("n_features", [1, 2, 10, 50])
def test_halves_of_one_group_rarely_pass(n_features):
    """At most 5 % may pass; 6 of 40 would be 3.1 standard errors above."""
    scales = np.linspace(1, 3, n_features)
    p = p_values(lambda rng: rng.normal(size=(60, n_features)) * scales, 40)
    assert (p <= 0.05).sum() < 6


@pytest.mark.slow
@pytest.mark.parametrize("draw", ["uniform", "exponential"])
def test_halves_of_other_shapes_pass_at_most_half_of_the_time(draw):
    """The index of flat data is the threshold; 20 of 24 would be 3.3 standard errors above."""
    p = p_values(lambda rng: getattr(rng, draw)(size=(200, 2)), 24)
    assert (p <= 0.05).sum() < 20


# ---- the diagnosis ----


def test_a_cluster_of_two_groups_is_found(merged):
    for diagnosis in (merged.diagnose(), merged.diagnose(far_blobs())):
        (name,) = diagnosis.groups["cluster"].unique()
        assert diagnosis.groups["n_items"].tolist() == [100, 100]
        assert diagnosis.groups["all_together"].tolist() == [1, 1]
        whole = np.concatenate(diagnosis.items)
        cluster = np.flatnonzero(merged.reference_labels_ == name)
        assert np.sort(whole).tolist() == cluster.tolist()
        text = f"Cluster {name} holds two groups of 100 that never separate internally."
        assert text in diagnosis.sentences
    assert text in verdict(merged)


def test_two_halves_are_found_with_and_without_data(cut):
    names = cut.cluster_names_.tolist()
    halves = [name for name in names if (cut.reference_labels_ == names.index(name)).sum() < 100]
    assert len(halves) == 2
    for diagnosis in (cut.diagnose(), cut.diagnose(far_blobs())):
        assert len(diagnosis.pairs) == 6
        (row,) = diagnosis.pairs[~diagnosis.pairs["shown_two"]].to_dict("records")
        assert {row["cluster_1"], row["cluster_2"]} == set(halves)
        share = f"their cores got the same label in {100 * row['together']:.0f} % of the resamples"
        assert share in diagnosis.sentences[0]
        assert diagnosis.groups.empty
    assert "are no further apart than parts of one group can be" in diagnosis.sentences[0]
    assert share in verdict(cut)
    tested = diagnosis.pairs.dropna(subset="p_value")
    assert (tested["p_value"] <= 0.05).tolist() == tested["shown_two"].tolist()


def test_separate_clusters_give_no_sentence():
    X = far_blobs()
    diagnosis = fitted_to(X, 3).diagnose(X)
    assert diagnosis.sentences == []
    assert diagnosis.pairs["shown_two"].all()
    assert repr(diagnosis) == (
        "Diagnosis(0 of 3 pairs of clusters not shown to be two, 0 clusters with several groups)"
    )


def test_it_is_the_same_each_time_and_in_any_format(cut):
    X = far_blobs()
    first = cut.diagnose(X)
    for same in (X.tolist(), pd.DataFrame(X)):
        pd.testing.assert_frame_equal(cut.diagnose(same).pairs, first.pairs)
    sparse = cut.diagnose(csr_matrix(X)).pairs
    pd.testing.assert_frame_equal(sparse, first.pairs)


def test_a_fitted_frame_is_used(cut):
    frame = pd.DataFrame(far_blobs(), columns=["x", "y"])
    cc = fitted_to(frame, 4)
    assert cc.diagnose().pairs["p_value"].notna().any()
    assert cut.diagnose().pairs["p_value"].isna().all()


def test_a_pipeline_is_tested_on_what_its_last_step_gets():
    X = far_blobs()
    X[:, 0] *= 1e6
    cc = CoreClustering(
        make_pipeline(StandardScaler(), KMeans(4, n_init=3)), n_resamples=50, random_state=0
    ).fit(X)
    scaled = StandardScaler().fit_transform(X)
    plain = fitted_to(scaled, 4, n_resamples=50)
    plain.reference_labels_, plain.labels_ = cc.reference_labels_, cc.labels_
    plain.ensemble_ = cc.ensemble_
    pd.testing.assert_frame_equal(cc.diagnose(X).pairs, plain.diagnose(scaled).pairs)


def test_data_without_a_euclidean_space_is_judged_by_resamples(cut):
    X = far_blobs(20)
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    precomputed = AgglomerativeClustering(3, metric="precomputed", linkage="average")
    cases = [
        (CoreClustering(precomputed, n_resamples=30, random_state=0).fit(distances), distances),
        (CoreClustering(lambda Z: [word[0] for word in Z], n_resamples=30).fit(["ab", "b"] * 9),
         ["ab", "b"] * 9),
        (CoreClustering(LogisticRegression(), n_resamples=30).fit(X, np.arange(60) % 2), X),
        (cut, np.full((300, 2), np.nan)),
        (cut, far_blobs(n_features=5)),
    ]  # fmt: skip
    for cc, data in cases:
        assert cc.diagnose(data).pairs["p_value"].isna().all()


def test_a_wrong_number_of_rows_is_refused(cut):
    with pytest.raises(ValueError, match="X must have a row for each of 300 items, got 60"):
        cut.diagnose(far_blobs(20))


def test_pairs_of_a_known_distribution_have_only_the_test():
    def draw(n, rng):
        return rng.normal(size=(n, 2)) + 9 * rng.integers(2, size=(n, 1))

    X = draw(40, np.random.default_rng(0))
    cc = fitted_to(X, 2, resampling=KnownDistribution(draw), n_resamples=30)
    assert cc.diagnose().pairs.empty
    (row,) = cc.diagnose(X).pairs.to_dict("records")
    assert np.isnan(row["together"])
    assert row["shown_two"]
    assert verdict(cc)


@settings(max_examples=25)
@given(
    arrays(np.int64, (12, 8), elements=st.integers(-2, 3)),
    arrays(np.int64, 12, elements=st.integers(-1, 3)),
    st.sampled_from(["apart", "together", "absent"]),
)
def test_odd_clusters_are_no_problem(labels, reference, noise):
    X = np.column_stack([np.ones(12), np.arange(12) // 2])
    cc = CoreClustering(lambda Z: reference[Z[:, 1].astype(int)], n_resamples=5, noise=noise)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        cc.fit(np.column_stack([np.ones(12), np.arange(12)]))
        cc.ensemble_ = LabelEnsemble(labels)
        again = cc.recut(alpha=0.5)
        diagnosis = again.diagnose(X)
    assert len(diagnosis.pairs) == again.n_clusters_ * (again.n_clusters_ - 1) // 2
    assert len(diagnosis.items) == len(diagnosis.groups)
    assert diagnosis.pairs["shown_two"].dtype == bool


def test_many_clusters_list_only_pairs_of_interest():
    X = np.repeat(np.arange(150.0), 4)[:, None] * 10
    cc = CoreClustering(lambda Z: Z[:, 0].astype(int) // 10, n_resamples=40, random_state=0).fit(X)
    assert cc.diagnose().pairs.empty
    assert 75 <= len(cc.diagnose(X).pairs) < 150


def test_the_quick_diagnosis_is_kept_until_the_cores_change(cut):
    cc = copy.copy(cut)
    first = quick_diagnosis(cc)
    assert quick_diagnosis(cc) is first
    assert quick_diagnosis(cc.recut(alpha=0.9)) is not first
    assert quick_diagnosis(pickle.loads(pickle.dumps(cc))).sentences == first.sentences  # noqa: S301


def test_long_findings_are_cut_short():
    labels = np.arange(8)[:, None] * np.ones(50, dtype=int)
    labels[:, ::2] = 0
    names = [name * 10_000 for name in "abcdefgh"]
    cc = CoreClustering(lambda Z: [names[z] for z in Z], n_resamples=50, random_state=0)
    cc.fit(list(range(8)))
    cc.ensemble_ = LabelEnsemble(labels)
    sentences = cc.diagnose().sentences
    assert len(sentences) == 4
    assert sentences[2] == "The same is true of 26 more pairs of clusters."
    assert sentences[3].endswith(" and 6 others.")
    assert all(len(sentence) < 200 for sentence in sentences)


def test_the_report_has_the_findings_and_the_pairs(cut):
    for library in ("jinja2", "matplotlib", "vl_convert"):
        pytest.importorskip(library)
    html = report_html(cut, far_blobs())
    diagnosis = cut.diagnose(far_blobs())
    assert all(f"<li>{sentence}</li>" in html for sentence in diagnosis.sentences)
    table = re.search(r'<table id="pairs">.*?</table>', html, re.DOTALL)[0]
    assert "the 3 closest of 6" in table  # the others are shown to be two, far apart
    assert table.count('scope="row"') == 3
    first = diagnosis.pairs[~diagnosis.pairs["shown_two"]].iloc[0]
    assert f"{first['cluster_1']} and {first['cluster_2']}</th>" in table.split("<td")[0]
    assert table.count("<td>no</td>") == 1


# ---- error rates ----


def triangle(side, n_features=2, weights=(1 / 3, 1 / 3, 1 / 3)):
    def draw(n_items, rng):
        group = rng.choice(3, size=n_items, p=weights)
        X = rng.normal(size=(n_items, n_features))
        X[:, 0] += side / np.sqrt(3) * np.cos(2 * np.pi * group / 3)
        X[:, 1] += side / np.sqrt(3) * np.sin(2 * np.pi * group / 3)
        return X

    return draw


def one_group(n_items, rng):
    return rng.normal(size=(n_items, 2))


def share_flagged(draw, n_items, k, n_datasets=30):
    n_flagged = 0
    for seed in range(n_datasets):
        X = draw(n_items, np.random.default_rng(seed))
        diagnosis = fitted_to(X, k, n_resamples=50, random_state=seed).diagnose(X)
        n_flagged += not diagnosis.pairs["shown_two"].all()
    return n_flagged / n_datasets


@pytest.mark.slow
@pytest.mark.parametrize(("side", "n_features"), [(4, 2), (6, 2), (5, 10)])
def test_the_right_number_of_clusters_is_rarely_flagged(side, n_features):
    """At most 10 % in the long run; the standard error over 30 datasets is 5 %."""
    assert share_flagged(triangle(side, n_features), 100, 3) <= 0.2


@pytest.mark.slow
@pytest.mark.parametrize(("side", "n_features"), [(4, 2), (6, 2), (5, 10)])
def test_one_cluster_too_many_is_flagged(side, n_features):
    """At least 90 % in the long run; the standard error over 30 datasets is 5 %."""
    assert share_flagged(triangle(side, n_features), 100, 4) >= 0.8


@pytest.mark.slow
def test_one_group_cut_in_three_is_flagged():
    assert share_flagged(one_group, 100, 3) == 1


def test_the_summary_names_the_findings_of_each_cluster(merged, cut):
    assert sum("holds 2 groups" in finding for finding in merged.summary()["finding"]) == 1
    pairs, modes = quick_diagnosis(cut).pairs, quick_diagnosis(cut).modes
    doubtful = pairs[~pairs["shown_two"]][["cluster_1", "cluster_2"]].to_numpy().tolist()
    assert doubtful
    jaccard = jaccard_stability(cut.ensemble_, cut.reference_labels_).mean_jaccard
    for cluster, finding in enumerate(cut.summary()["finding"]):
        others = [sum(pair) - cluster for pair in doubtful if cluster in pair]
        expected = [f"not shown apart from {', '.join(map(str, others))}"] if others else []
        if jaccard[cluster] < 0.6:
            expected.append(f"found again only in part: mean Jaccard index {jaccard[cluster]:.2f}")
        elif split := sum(mode.share for mode in modes if cluster in mode.split):
            expected.append(f"split in {100 * split:.0f} % of resamples")
        assert finding == "; ".join(expected)


def test_many_findings_are_shortened():
    pairs = pd.DataFrame({"cluster_1": list("aaaa"), "cluster_2": list("bcde"), "shown_two": False})
    groups = pd.DataFrame({"cluster": ["b", "b"]})
    clusters = pd.DataFrame(
        {
            "cluster": list("abfg"),
            "mean_jaccard": [0.9, 0.3, np.nan, 0.55],
            "missing": [0.0, 0.8, np.nan, 0.1],
            "why": ["", "noise", "", "merged"],
        }
    )
    words = findings(Diagnosis(pairs, groups, [], clusters, [], []), np.array(list("abfg")))
    lost = "not found again in 80 % of resamples: mostly noise"
    assert words == [
        "not shown apart from b, c and 2 more",
        f"not shown apart from a; holds 2 groups; {lost}",
        "",
        "found again only in part: mean Jaccard index 0.55",
    ]
