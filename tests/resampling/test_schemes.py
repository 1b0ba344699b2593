"""The schemes: what they draw, which items they label, and that both engines agree."""

from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import DBSCAN, HDBSCAN, AgglomerativeClustering
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity
from sklearn.svm import SVC

from coreclust import CoreClustering, LabelEnsemble
from coreclust._utils.seeds import ROWS, seeds_of
from coreclust.cluster import HierarchicalClustering, KMeans, TrimmedKMeans
from coreclust.resampling import (
    Bootstrap,
    KnownDistribution,
    ParametricBootstrap,
    SmoothedBootstrap,
    Subsample,
    required_resamples,
)

ABSENT = LabelEnsemble.ABSENT
SCHEMES = [
    *(Bootstrap(label) for label in ("drawn", "all", "oob")),
    *(Subsample(0.6, label=label) for label in ("drawn", "all", "oob")),
    Subsample(size=20),
]


def fit(estimator, X, y=None, *, scheme, m=80, groups=None, **parameters):
    return CoreClustering(
        estimator, resampling=scheme, n_resamples=m, random_state=5, **parameters
    ).fit(X, y, groups=groups)


def drawn(scheme, n_units, m, entropy=5):
    """How often each unit is in each resample: (n_units, m)."""
    seeds = [seeds_of(entropy, b, ROWS) for b in range(m)]
    rows = [np.bincount(scheme.draw(n_units, seed), minlength=n_units) for seed in seeds]
    np.testing.assert_array_equal(scheme.counts(n_units, seeds), rows)
    return np.array(rows).T


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
@pytest.mark.parametrize("engine", ["auto", "generic"])
def test_which_items_get_a_label(scheme, engine, blobs):
    labels = fit(KMeans(3, n_init=2), blobs, scheme=scheme, engine=engine, m=150).ensemble_.labels
    counts = drawn(scheme, len(blobs), 150)
    labeled = {"drawn": counts > 0, "all": counts >= 0, "oob": counts == 0}[scheme.label]
    np.testing.assert_array_equal(labels != ABSENT, labeled)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_both_engines_agree(scheme, blobs):
    batched = fit(KMeans(3, n_init=2), blobs, scheme=scheme, m=150)
    generic = fit(KMeans(3, n_init=2), blobs, scheme=scheme, m=150, engine="generic")
    assert (batched.engine_, generic.engine_) == ("batched", "generic")
    assert batched.ensemble_ == generic.ensemble_


@pytest.mark.parametrize("label", ["all", "oob"])
def test_labels_are_those_of_predict(label, blobs):
    scheme = Bootstrap(label)
    cc = fit(KMeans(3, n_init=2), blobs, scheme=scheme, m=30, alpha=0.5)
    for b in range(30):
        rows = scheme.draw(60, seeds_of(5, b, ROWS))
        seed = int(seeds_of(5, b, 1).generate_state(1, np.uint32)[0] >> 1)
        model = KMeans(3, n_init=2, random_state=seed)
        items, counts = np.unique(rows, return_counts=True)
        expected = model.fit(blobs[items], sample_weight=counts).predict(blobs)
        found = cc.ensemble_.labels[:, b]
        where = found != ABSENT
        np.testing.assert_array_equal(found[where], expected[where])


@pytest.mark.filterwarnings("ignore:Only 2 of n_clusters=3 clusters have items")
def test_fewer_distinct_values_than_clusters():
    X = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    for engine in ("auto", "generic"):
        with np.errstate(all="raise"):
            cc = fit(KMeans(3, n_init=1), X, scheme=Subsample(5 / 12, label="all"), engine=engine)
        assert (cc.ensemble_.labels >= 0).all()


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_pair_share_is_the_share_of_resamples_that_label_a_pair(scheme):
    """Over 4,000 resamples and all pairs of 30 units; the standard error is below 0.003."""
    counts = drawn(scheme, 30, 4000)
    labeled = {"drawn": counts > 0, "all": counts >= 0, "oob": counts == 0}[scheme.label]
    both = (labeled.astype(float) @ labeled.T)[np.triu_indices(30, 1)] / 4000
    assert both.mean() == pytest.approx(scheme.pair_share(30), abs=0.01)


class FewItems(SklearnKMeans):
    """Notes how many items it is fitted to."""

    fitted: ClassVar[list[int]] = []

    def fit(self, X, y=None, sample_weight=None):
        self.fitted.append(len(X))
        return super().fit(X, y, sample_weight)


def test_the_size_of_every_fit_is_bounded_with_a_subsample_of_fixed_size():
    X = np.random.default_rng(0).normal(size=(300, 2))
    scheme = Subsample(size=50, label="all")
    FewItems.fitted.clear()
    cc = CoreClustering(FewItems(2), resampling=scheme, n_resamples=20, random_state=0).fit(X)
    assert FewItems.fitted == [50] * 21  # the reference clustering, too
    np.testing.assert_array_equal(cc.reference_labels_, cc.estimator_.predict(X))


def test_the_reference_of_a_subsample_of_groups_and_of_a_classifier(blobs):
    scheme = Subsample(size=6, label="all")
    groups = np.repeat(np.arange(12), 5)
    classes = np.arange(60) % 3
    cc = CoreClustering(SVC(), resampling=scheme, n_resamples=30, random_state=0)
    cc.fit(blobs, classes, groups=groups)
    assert cc.estimator_.shape_fit_ == (30, 2)  # six groups of five
    np.testing.assert_array_equal(
        cc.cluster_names_[cc.reference_labels_], cc.estimator_.predict(blobs)
    )


def test_subsamples_are_even():
    """Each of 10 items is in 3 of 10: 1,200 of 4,000 times, with a standard error of 29."""
    counts = drawn(Subsample(0.3), 10, 4000)
    assert set(counts.ravel().tolist()) == {0, 1}
    assert (counts.sum(axis=0) == 3).all()
    np.testing.assert_allclose(counts.sum(axis=1), 1200, atol=4 * 29)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES[:6], ids=repr)
@pytest.mark.parametrize("engine", ["auto", "generic"])
def test_whole_groups_are_drawn(scheme, engine, blobs):
    groups = np.array([f"patient {i // 4}" for i in range(60)])
    shuffled = np.random.default_rng(0).permutation(60)
    cc = fit(
        KMeans(3, n_init=1), blobs[shuffled], scheme=scheme, groups=groups[shuffled], engine=engine
    )
    present = cc.ensemble_.labels != ABSENT
    for group in np.unique(groups):
        rows = present[groups[shuffled] == group]
        assert (rows == rows[0]).all()
    codes = np.unique(groups[shuffled], return_inverse=True)[1]
    counts = drawn(scheme, 15, 80)[codes]
    labeled = {"drawn": counts > 0, "all": counts >= 0, "oob": counts == 0}[scheme.label]
    np.testing.assert_array_equal(present, labeled)


def test_groups_of_one_are_items(blobs):
    alone = fit(KMeans(3, n_init=1), blobs, scheme=Bootstrap())
    grouped = fit(KMeans(3, n_init=1), blobs, scheme=Bootstrap(), groups=np.arange(60))
    assert alone.ensemble_ == grouped.ensemble_


@pytest.mark.slow
def test_a_forest_is_perfect_on_its_training_items_but_not_out_of_bag():
    """Classes without any relation to the features: nothing can be predicted."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.repeat([0, 1], 30)
    forest = RandomForestClassifier(20)
    in_bag = fit(forest, X, y, scheme=Bootstrap(), m=100)
    out_of_bag = fit(forest, X, y, scheme=Bootstrap("oob"), m=100)
    assert in_bag.weak_sample_indices_.size < 10
    assert out_of_bag.weak_sample_indices_.size > 45


def test_a_smoothed_bootstrap_has_no_duplicates(blobs):
    seen = []

    def cluster(Z):
        seen.append(Z)
        return (Z[:, 0] > 5).astype(int)

    cc = fit(cluster, blobs, scheme=SmoothedBootstrap(0.05), m=30)
    for b, Z in enumerate(seen[1:]):
        rows = Bootstrap().draw(60, seeds_of(5, b, ROWS))
        assert len(np.unique(Z, axis=0)) == 60
        assert 0.03 < np.std((Z - blobs[rows]) / blobs.std(axis=0)) < 0.07
        items, first = np.unique(rows, return_index=True)
        np.testing.assert_array_equal(cc.ensemble_.labels[items, b], Z[first, 0] > 5)


@pytest.mark.slow
@pytest.mark.parametrize("label", ["drawn", "all", "oob"])
@pytest.mark.parametrize("estimator", [SklearnKMeans(3, n_init=1), LogisticRegression()], ids=repr)
def test_a_smoothed_bootstrap_of_any_estimator(label, estimator, blobs):
    y = np.repeat([0, 1, 2], 20)
    cc = fit(estimator, blobs, y, scheme=SmoothedBootstrap(0.1, label), m=60, alpha=0.5)
    assert cc.engine_ == "generic"
    assert cc.ensemble_.n_resamples == 60
    # The third group lies apart from the others.
    assert np.isin(np.arange(40, 60), cc.core_sample_indices_).all()


@pytest.mark.parametrize("model", [GaussianMixture(3, random_state=0), KernelDensity()], ids=repr)
def test_a_parametric_bootstrap_draws_from_the_model(model, blobs):
    scheme = ParametricBootstrap(model.fit(blobs))
    one, two = scheme.draw_items(50, 1), scheme.draw_items(50, 2)
    assert one.shape == (50, 2)
    assert not np.array_equal(one, two)
    np.testing.assert_array_equal(one, scheme.draw_items(50, 1))
    cc = fit(KMeans(3), blobs, scheme=scheme, m=40)
    assert (cc.ensemble_.labels >= 0).all()
    assert np.isin(np.arange(40, 60), cc.core_sample_indices_).all()


@pytest.mark.parametrize("dataset", ["iris", "bcw"])
def test_labeling_all_items_agrees_with_the_paper(dataset, paper_data):
    """The cores of label="all" and of the default are the same for 93 % of the items."""
    X, classes = paper_data(dataset)
    k = np.unique(classes).size
    default, everyone = (
        CoreClustering(KMeans(k), resampling=scheme, random_state=0).fit(X).labels_
        for scheme in (Bootstrap(), Bootstrap(label="all"))
    )
    assert np.mean(default == everyone) >= 0.93


def test_required_resamples_are_those_of_the_paper():
    assert required_resamples(0.1, 0.01, resampling=Bootstrap("all")) == 900
    assert required_resamples(0.1, 0.015) == pytest.approx(400 / 0.4, rel=0.01)
    # p_s^2 for few items is a little more.
    assert required_resamples(0.1, 0.015, n_items=10) < required_resamples(0.1, 0.015)
    assert required_resamples(0.1, 0.01, resampling=Subsample(0.5)) == pytest.approx(3600, abs=1)
    scheme = KnownDistribution(np.zeros((9, 1)))
    assert required_resamples(0.5, 0.05, resampling=scheme) == 100


class Unseeded:
    def sample(self, n):
        return np.zeros((n, 2))


class Narrow:
    random_state = 0

    def sample(self, n):
        return np.zeros((n, 1))


X60 = np.arange(120.0).reshape(60, 2)
MIXTURE = ParametricBootstrap(GaussianMixture(2, random_state=0).fit(X60))


@pytest.mark.parametrize(
    ("estimator", "X", "y", "scheme", "message"),
    [
        (HierarchicalClustering(2), X60, None, Bootstrap("all"), "HierarchicalClustering has none"),
        (DBSCAN(), X60, None, Bootstrap("oob"), "labels items by the predict"),
        (len, X60, None, Bootstrap("all"), "len has none"),
        (KMeans(2), X60, None, Subsample(size=60), "draws 60 of 60 items"),
        (KMeans(2), X60, None, Subsample(0.01), "draws 0 of 60 items"),
        (LogisticRegression(), X60, [0, 1] * 30, MIXTURE, "items without classes"),
        (KMeans(2), X60[:, :1], None, MIXTURE, "like those of X: 3 items gave shape"),
        (KMeans(2), X60, None, ParametricBootstrap(Narrow()), "like those of X"),
        (SVC(), X60 > 9, [0, 1] * 30, SmoothedBootstrap(), "not of categories, got dtype bool"),
        (len, [["a"], ["b"]], None, SmoothedBootstrap(), "not of categories, got list"),
        (SVC(), sparse.csr_array(X60), [0, 1] * 30, SmoothedBootstrap(), "got csr_array"),
        (
            AgglomerativeClustering(2, metric="precomputed", linkage="average"),
            np.ones((6, 6)),
            None,
            SmoothedBootstrap(),
            "no distances or affinities",
        ),
    ],
)
def test_schemes_that_cannot_apply_are_refused(estimator, X, y, scheme, message):
    with pytest.raises(ValueError, match=message):
        fit(estimator, X, y, scheme=scheme)


def test_missing_values_cannot_be_smoothed(blobs):
    X = blobs.copy()
    X[3, 0] = np.nan
    with pytest.raises(ValueError, match="needs X without NaN"):
        fit(HistGradientBoostingClassifier(), X, [0, 1] * 30, scheme=SmoothedBootstrap())


def test_pairs_that_are_never_out_of_bag_together(blobs):
    scheme = Subsample(size=59, label="oob")
    with pytest.raises(ValueError, match="never leaves two of 60 items out of bag together"):
        fit(KMeans(3), blobs, scheme=scheme)
    with pytest.raises(ValueError, match="never labels two of 60 items together"):
        required_resamples(resampling=scheme, n_items=60)
    with pytest.raises(ValueError, match="n_items is needed"):
        required_resamples(resampling=scheme)
    # Two groups: the items of one are out of bag together.
    fit(KMeans(3, n_init=1), blobs, scheme=Bootstrap("oob"), groups=np.arange(60) % 2, m=200)


def test_density_clusterers_are_warned_of_copies_only(blobs):
    with pytest.warns(UserWarning, match="copies of rows in bootstrap resamples"):
        fit(HDBSCAN(copy=True), blobs, scheme=Bootstrap(), m=60)
    fit(HDBSCAN(copy=True), blobs, scheme=Subsample(0.5), m=90)
    fit(HDBSCAN(copy=True), blobs, scheme=SmoothedBootstrap(), m=60)


def test_too_few_resamples_for_out_of_bag_pairs_are_refused(blobs):
    with pytest.raises(ValueError, match=r"n_resamples=30 is too few.*about 4 resamples.*takes 9"):
        fit(KMeans(3), blobs, scheme=Bootstrap("oob"), m=30)
    fit(KMeans(3), blobs, scheme=Bootstrap("oob"), m=30, alpha=0.5)


@pytest.mark.parametrize(
    ("groups", "scheme", "message"),
    [
        ([0, 1], Bootstrap(), "groups must hold a group for each of the 60 items"),
        ([0] * 60, Bootstrap(), "at least 2 groups"),
        ([0, 1] * 30, MIXTURE, "groups has no meaning"),
        ([0, 1] * 30, KnownDistribution(X60), "groups has no meaning"),
        ([0, None] * 30, Bootstrap(), "groups must be"),
        ([0, 1] * 30, Subsample(0.5), r"draws 1 of 2 items \(or groups\)"),
    ],
)
def test_wrong_groups_are_refused(groups, scheme, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(KMeans(2), X60, scheme=scheme, groups=groups)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bootstrap("some"), "label must be one of 'drawn', 'all', 'oob', got 'some'"),
        (lambda: SmoothedBootstrap(0), "scale must be a number above 0"),
        (lambda: SmoothedBootstrap("wide"), "scale must be"),
        (lambda: Subsample(1.0), "fraction must be a number above 0 and below 1, got 1.0"),
        (lambda: Subsample(size=1), "size must be a whole number of items, 2 or more"),
        (lambda: Subsample(0.5, size=9), "either fraction or size"),
        (lambda: ParametricBootstrap(3), "model must have a method sample"),
        (lambda: ParametricBootstrap(Unseeded()), "model must be reproducible"),
        (lambda: required_resamples(0, 0.1), "alpha must be a number above 0"),
        (lambda: required_resamples(0.1, 2), "sigma must be a number above 0"),
        (lambda: required_resamples(n_items=1), "n_items must be a whole number"),
        (lambda: required_resamples(resampling="jackknife"), "resampling must be 'bootstrap'"),
    ],
)
def test_wrong_arguments_are_named(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_trimmed_items_that_are_predicted_can_be_noise(blobs):
    X = np.vstack([blobs, [[500.0, 500.0]]])
    cc = fit(TrimmedKMeans(3, trim=0.05, n_init=5), X, scheme=Bootstrap("all"), m=20)
    assert cc.engine_ == "generic"
    assert (cc.ensemble_.labels[-1] == LabelEnsemble.NOISE).all()


@pytest.mark.parametrize(
    "scheme",
    [*SCHEMES, SmoothedBootstrap(0.2), SmoothedBootstrap(0.2, "oob"), MIXTURE],
    ids=repr,
)
def test_representations_can_be_read(scheme):
    assert type(scheme).__name__ in repr(scheme)
    if not isinstance(scheme, ParametricBootstrap):
        assert vars(eval(repr(scheme))) == vars(scheme)  # noqa: S307
