import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import coo_matrix, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.cluster import DBSCAN, HDBSCAN, OPTICS, AgglomerativeClustering, KMeans
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.metrics import pairwise_distances
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.utils import get_tags

from coreclust import CoreClustering, LabelEnsemble, core_clusters
from coreclust._inspection import tables
from coreclust.resampling import Subsample


def fit(estimator, X, y=None, **kwargs):
    return CoreClustering(estimator, **({"n_resamples": 60, "random_state": 0} | kwargs)).fit(X, y)


def answer(cc):
    return cc.labels_.tolist()


def assert_consistent(cc, n):
    """What holds for every fitted core clustering."""
    assert cc.labels_.shape == cc.reference_labels_.shape == (n,)
    parts = [cc.core_sample_indices_, cc.weak_sample_indices_, cc.trimmed_sample_indices_]
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(n))
    np.testing.assert_array_equal(cc.labels_[parts[0]], cc.reference_labels_[parts[0]])
    assert (cc.labels_[np.concatenate(parts[1:])] == -1).all()
    assert len(cc.cores_) == len(cc.cluster_names_) == cc.reference_labels_.max() + 1
    for core in cc.cores_:
        np.testing.assert_array_equal(core.core, np.flatnonzero(cc.labels_ == core.label))
        np.testing.assert_array_equal(
            core.members, np.flatnonzero(cc.reference_labels_ == core.label)
        )
        assert 1 <= core.n_core <= core.n_items
        assert core.optimal
    assert cc.ensemble_.n_items == n
    assert len(cc.item_table()) == n
    assert len(cc.summary()) == len(cc.cores_)


def test_the_promise_of_the_first_page(blobs):
    cc = CoreClustering(KMeans(3, n_init=10), alpha=0.1, n_resamples=300, random_state=0).fit(blobs)
    assert_consistent(cc, 60)
    p = cc.ensemble_.cooccurrence_matrix()
    for core in cc.cores_:
        assert (p[np.ix_(core.core, core.core)] >= 0.9).all()
    far = np.arange(40, 60)  # a group far from the others is all core
    assert len(set(cc.labels_[far])) == 1
    assert cc.labels_[40] >= 0
    assert cc.cooccurrence(40, 41) > 0.99
    assert cc.cooccurrence(0, 41) < 0.01
    assert cc.weak_sample_indices_.size > 0


def test_the_reference_clustering_is_the_estimator_on_the_data(blobs):
    estimator = KMeans(3, n_init=1, random_state=4)
    cc = fit(estimator, blobs)
    np.testing.assert_array_equal(cc.reference_labels_, clone(estimator).fit_predict(blobs))
    np.testing.assert_allclose(
        cc.estimator_.cluster_centers_, clone(estimator).fit(blobs).cluster_centers_
    )
    assert not hasattr(estimator, "labels_")


def test_the_cores_are_those_of_the_function_underneath(blobs):
    cc = fit(KMeans(3), blobs, alpha=0.2)
    cores = core_clusters(cc.ensemble_, cc.reference_labels_, alpha=0.2)
    for ours, theirs in zip(cc.cores_, cores, strict=True):
        np.testing.assert_array_equal(ours.core, theirs.core)


def test_the_same_seed_gives_the_same_answer(blobs):
    for state in (3, np.random.RandomState(3)):
        one = fit(KMeans(5), blobs, random_state=clone_state(state))
        two = fit(KMeans(5), blobs, random_state=clone_state(state), n_jobs=2)
        assert one.ensemble_ == two.ensemble_
        assert answer(one) == answer(two)
    assert fit(KMeans(5), blobs, random_state=4).ensemble_ != one.ensemble_
    unseeded = [fit(KMeans(5), blobs, random_state=None).ensemble_ for _ in range(2)]
    assert unseeded[0] != unseeded[1]


def clone_state(state):
    return pickle.loads(pickle.dumps(state))  # noqa: S301 - our own


def test_recut_answers_again_from_the_same_resamples(blobs):
    cc = fit(KMeans(3), blobs)
    before = answer(cc)
    for alpha in (0.05, 0.3, 1.0):
        cut = cc.recut(alpha=alpha)
        assert cut.ensemble_ is cc.ensemble_
        assert answer(cut) == answer(fit(KMeans(3), blobs, alpha=alpha))
        assert_consistent(cut, 60)
    assert (cc.alpha, answer(cc)) == (0.1, before)
    assert cc.recut(alpha=1.0).weak_sample_indices_.size == 0
    with pytest.raises(ValueError, match="'alpha' parameter"):
        cc.recut(alpha=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_resamples'"):
        cc.recut(n_resamples=10)
    with pytest.raises(NotFittedError):
        CoreClustering().recut(alpha=0.2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [
        DBSCAN(eps=0.9, min_samples=6),
        HDBSCAN(min_cluster_size=5, copy=True),
        OPTICS(min_samples=6, max_eps=2.0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore:.*copies of rows in bootstrap resamples")
@pytest.mark.filterwarnings("ignore:.*divide by zero:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:All reachability values are inf")
def test_clusterers_with_a_noise_label(estimator, blobs):
    X = np.vstack([blobs, [[50.0, -50.0]]])
    cc = fit(estimator, X)
    assert_consistent(cc, 61)
    assert 60 in cc.trimmed_sample_indices_
    assert cc.reference_labels_[60] == -1
    table = cc.item_table()
    assert table.status[60] == "trimmed"
    assert np.isnan(table.strength[60])
    assert table.cluster.isna()[60]


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_density_clusterers_are_warned_about(blobs):
    with pytest.warns(UserWarning, match="OPTICS treats the copies of rows in bootstrap resamples"):
        CoreClustering(OPTICS(max_eps=3), n_resamples=30).fit(blobs)


def test_noise_rules_change_the_answer():
    # Two items that are noise together in half of the resamples.
    labels = np.zeros((4, 100), int)
    labels[2:, ::2] = -1
    ensemble = LabelEnsemble(labels)
    sizes = {
        noise: [c.core.size for c in core_clusters(ensemble, [0] * 4, noise=noise)]
        for noise in ("apart", "together", "absent")
    }
    assert sizes == {"apart": [2], "together": [2], "absent": [4]}
    assert ensemble.cooccurrence(2, 3, noise="together") > 0.9 > ensemble.cooccurrence(2, 3)


@pytest.mark.parametrize("classes", [[0, 1, 2], ["a", "b", "c"], [-1, 0, 1], [0.0, 1.0, 2.0]])
def test_classifiers(blobs, classes):
    y = np.repeat(classes, 20)
    cc = fit(KNeighborsClassifier(5), blobs, y)
    assert_consistent(cc, 60)
    assert cc.cluster_names_.tolist() == sorted(classes)
    assert cc.trimmed_sample_indices_.size == 0  # -1 is a class here
    assert {"weak", "core"} == set(cc.item_table().status)


def test_an_in_bag_forest_is_trivially_consistent(blobs):
    y = np.arange(60) % 2
    cc = fit(RandomForestClassifier(10, bootstrap=False), blobs, y)
    assert cc.weak_sample_indices_.size == 0


def test_pipelines_and_mixtures(blobs):
    wide = np.hstack([blobs, np.ones((60, 1))])  # with a constant column
    assert_consistent(fit(make_pipeline(StandardScaler(), KMeans(3)), wide), 60)
    assert_consistent(fit(GaussianMixture(2), blobs), 60)
    assert_consistent(fit(make_pipeline(StandardScaler(), SVC()), blobs, np.arange(60) % 3), 60)


def test_a_pipeline_may_take_what_its_last_step_does_not(blobs):
    holes = blobs.copy()
    holes[::7, 0] = np.nan
    assert_consistent(fit(make_pipeline(SimpleImputer(), KMeans(3)), holes), 60)
    words = np.array([["red", "x"], ["blue", "y"], ["red", "y"]] * 10, dtype=object)
    assert_consistent(fit(make_pipeline(OneHotEncoder(), KMeans(2)), words), 30)


def test_a_frame_reaches_a_pipeline_by_its_column_names(blobs):
    frame = pd.DataFrame({"a": blobs[:, 0], "b": blobs[:, 1], "town": ["x", "y"] * 30})
    columns = make_column_transformer((OneHotEncoder(), ["town"]), (StandardScaler(), ["a", "b"]))
    cc = fit(make_pipeline(columns, KMeans(3)), frame)
    assert cc.feature_names_in_.tolist() == ["a", "b", "town"]
    assert_consistent(cc, 60)


def test_set_output_inside_a_pipeline_is_honored(blobs):
    kinds = set()

    def note(Z):
        kinds.add(type(Z))
        return Z

    pipeline = make_pipeline(StandardScaler(), FunctionTransformer(note), KMeans(2))
    pipeline.set_output(transform="pandas")
    fit(pipeline, pd.DataFrame(blobs, columns=["a", "b"]), n_resamples=5, alpha=0.9)
    assert kinds == {pd.DataFrame}


def test_precomputed_distances(blobs):
    plain = fit(AgglomerativeClustering(3, linkage="complete"), blobs)
    estimator = AgglomerativeClustering(3, linkage="complete", metric="precomputed")
    distances = pairwise_distances(blobs)
    assert answer(fit(estimator, distances)) == answer(plain)
    with pytest.raises(ValueError, match="X must be a square matrix"):
        fit(estimator, distances[:, :-1])
    with pytest.raises(ValueError, match="X must be a square matrix"):
        fit(make_pipeline(estimator), distances[:, :-1])


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row, last = [i], row
        for j, y in enumerate(b, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (x != y)))
    return row[-1]


def test_a_list_of_strings_with_a_callable(monkeypatch):
    words = ["banana", "bananas", "ananas", "bandana", "zebra", "zebras", "zebroid", "cobra"]

    def two_groups(Z):
        distances = [[edit_distance(a, b) for b in Z] for a in Z]
        model = AgglomerativeClustering(2, metric="precomputed", linkage="average")
        return model.fit_predict(distances)

    cc = fit(two_groups, words)
    assert_consistent(cc, 8)
    assert len(set(cc.reference_labels_[:4])) == 1
    assert not hasattr(cc, "n_features_in_")
    assert cc.item_table().shape == (8, 8)
    assert cc.item_table(details=False).shape == (8, 4)
    monkeypatch.setattr(tables, "_MOST_DETAILED", 7)
    assert (cc.item_table().shape, cc.item_table(details=True).shape) == ((8, 4), (8, 8))
    assert fit(two_groups, tuple(words)).ensemble_ == cc.ensemble_


def test_string_and_scattered_labels_from_a_callable(blobs):
    names = np.array(["left", "right"])
    cc = fit(lambda Z: names[(Z[:, 0] > 5).astype(int)], blobs)
    assert cc.cluster_names_.tolist() == ["left", "right"]
    assert set(cc.summary().cluster) == {"left", "right"}
    cc = fit(lambda Z: np.where(Z[:, 0] > 5, 10**12, 7), blobs)
    assert cc.cluster_names_.tolist() == [7, 10**12]
    assert set(cc.labels_) <= {-1, 0, 1}
    assert_consistent(fit(lambda Z: (Z[:, 0] > 5).tolist(), blobs), 60)


def test_pandas_keeps_index_and_columns(blobs):
    frame = pd.DataFrame(blobs, columns=["x", "cluster"], index=[f"item {i}" for i in range(60)])
    cc = fit(KMeans(3), frame)
    table = cc.item_table(details=False)
    assert isinstance(table, pd.DataFrame)
    assert table.columns.tolist() == [
        "x",
        "cluster",
        "cluster_",
        "core_label",
        "status",
        "strength",
    ]
    pd.testing.assert_frame_equal(table[["x", "cluster"]], frame)
    frame["late"] = 0
    assert "late" not in cc.item_table()
    assert cc.feature_names_in_.tolist() == ["x", "cluster"]


def test_polars_in_polars_out(blobs):
    frame = pl.DataFrame({"x": blobs[:, 0], "y": blobs[:, 1]})
    cc = fit(KMeans(3), frame)
    columns = ["x", "y", "cluster", "core_label", "status", "strength"]
    assert cc.item_table(details=False).columns == columns
    more = ["mean_cooccurrence", "min_cooccurrence", "core_alpha", "possible_clusters"]
    assert cc.item_table().columns == [*columns, *more]
    assert isinstance(cc.summary(), pl.DataFrame)
    assert answer(cc) == answer(fit(KMeans(3), blobs))
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(cc.item_table(), pd.DataFrame)
    with sklearn.config_context(transform_output="polars"):
        plain = fit(KMeans(3), blobs).item_table()
        assert isinstance(plain, pl.DataFrame)
        from_pandas = fit(KMeans(3), frame.to_pandas()).item_table()
        assert from_pandas.columns == cc.item_table().columns


def test_summary_counts(blobs):
    cc = fit(KMeans(3), blobs)
    table = cc.summary()
    assert table.columns.tolist() == [
        "cluster",
        "n_items",
        "n_core",
        "n_weak",
        "n_undecided",
        "weak_fraction",
        "all_together",
        "upper_bound",
        "optimal",
        "finding",
    ]
    assert (table["n_items"] == table.n_core + table.n_weak).all()
    assert table["n_items"].sum() == 60
    np.testing.assert_allclose(table.weak_fraction, table.n_weak / table["n_items"])
    for core, share in zip(cc.cores_, table.all_together, strict=True):
        labels = cc.ensemble_.labels[core.core]
        alike = [len(set(column[column != -2])) == 1 for column in labels.T]
        assert share == np.mean(alike)


def test_a_single_item_has_nobody_to_be_together_with(blobs):
    X = np.vstack([blobs, [[99.0, 99.0]]])
    table = fit(KMeans(4, n_init=5), X).summary()
    assert np.isnan(table.all_together[table["n_items"] == 1]).all()


def test_a_fitted_estimator_survives_pickling(blobs):
    cc = fit(KMeans(3), blobs)
    again = clone_state(cc)
    assert answer(again) == answer(cc)
    assert answer(again.recut(alpha=0.3)) == answer(cc.recut(alpha=0.3))


def test_default_estimator_is_scikit_learns_kmeans(blobs):
    cc = fit(None, blobs, n_resamples=30)
    assert type(cc.estimator_) is KMeans
    assert len(cc.cores_) == 8


def test_a_function_that_writes_into_its_data_does_no_harm(blobs):
    def spoil(Z):
        labels = (Z[:, 0] > 5).astype(int)
        Z[:] = 0
        return labels

    X = blobs.copy()
    cc = fit(spoil, X)
    np.testing.assert_array_equal(X, blobs)
    assert answer(cc) == answer(fit(lambda Z: (Z[:, 0] > 5).astype(int), blobs))
    distances = pairwise_distances(blobs)
    before = distances.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(HDBSCAN(metric="precomputed", copy=False), distances)
    np.testing.assert_array_equal(distances, before)


def test_a_failed_fit_leaves_an_earlier_one_whole(blobs):
    cc = fit(KMeans(3), blobs)
    before = answer(cc)
    cc.set_params(estimator=lambda Z: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cc.fit(blobs[:30])
    assert_consistent(cc, 60)
    assert answer(cc) == before


def test_shuffled_folds_inside_an_estimator_are_seeded(blobs):
    search = GridSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 9]}, cv=StratifiedKFold(3, shuffle=True)
    )
    y = np.arange(60) % 3
    one, two = (fit(search, blobs, y, n_resamples=12, alpha=0.9) for _ in range(2))
    assert one.ensemble_ == two.ensemble_
    assert search.cv.random_state is None


# Not errors: they give sensible answers.


def test_all_items_identical():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # KMeans finds fewer clusters than asked for
        cc = fit(KMeans(3), np.ones((20, 2)))
    assert_consistent(cc, 20)
    assert cc.labels_.tolist() == [0] * 20


def test_duplicates_share_their_fate(blobs):
    cc = fit(KMeans(3, n_init=5), np.repeat(blobs[::3], 2, axis=0), n_resamples=200)
    assert_consistent(cc, 40)
    # A pair of copies gets one label in every resample that holds both.
    pairs = np.arange(0, 40, 2)
    together, seen = cc.ensemble_.cooccurrence_counts(pairs, pairs + 1)
    np.testing.assert_array_equal(together, seen)


def test_one_cluster(blobs):
    cc = fit(KMeans(1), blobs)
    assert cc.labels_.tolist() == [0] * 60


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_as_many_clusters_as_items(blobs):
    cc = fit(KMeans(12), blobs[:12])
    assert_consistent(cc, 12)
    assert [core.n_items for core in cc.cores_] == [1] * 12
    assert cc.weak_sample_indices_.size == 0


def test_two_items():
    cc = fit(lambda Z: np.zeros(len(Z), int), [[0.0], [1.0]])
    assert cc.labels_.tolist() == [0, 0]


def test_many_types_of_arrays_give_one_answer(blobs):
    whole = np.round(blobs * 4)
    read_only = whole.copy()
    read_only.flags.writeable = False
    expected = answer(fit(KMeans(3), whole))
    for same in (
        np.asfortranarray(whole),
        read_only,
        whole.tolist(),
        whole.astype(int),
        np.repeat(whole, 2, axis=0)[::2],
    ):
        assert answer(fit(KMeans(3), same)) == expected
    generic = answer(fit(KMeans(3), whole, engine="generic"))
    for same in (csr_matrix(whole), csr_array(whole), csr_array(whole).tocoo()):
        assert answer(fit(KMeans(3), same)) == expected
        assert answer(fit(KMeans(3), same, engine="generic")) == generic
    single = fit(KMeans(3), whole.astype(np.float32))
    assert_consistent(single, 60)


def test_booleans(blobs):
    cc = fit(KMeans(2), blobs > 5)
    assert_consistent(cc, 60)
    assert cc.weak_sample_indices_.size == 0


def test_callbacks_of_scikit_learn(blobs):
    callback = pytest.importorskip("sklearn.callback", reason="new in scikit-learn 1.9")

    class Counter:
        def __init__(self):
            self.events = []

        def setup(self, estimator, context):
            self.events.append("setup")

        def on_fit_task_begin(self, estimator, context):
            self.events.append(f"begin {context.task_name}")

        def on_fit_task_end(self, estimator, context):
            self.events.append(f"end {context.task_name}")

        def teardown(self, estimator, context):
            self.events.append("teardown")

    counter = Counter()
    cc = CoreClustering(KMeans(2), n_resamples=30, random_state=0).set_callbacks(counter)
    cc.fit(blobs)
    assert counter.events[:2] == ["setup", "begin fit"]
    assert counter.events[-2:] == ["end fit", "teardown"]
    assert counter.events.count("end resample") == 30
    pytest.importorskip("rich")
    CoreClustering(KMeans(2), n_resamples=30).set_callbacks(callback.ProgressBar()).fit(blobs)


def test_a_fit_that_fails_in_the_search_leaves_the_earlier_one_whole(blobs):
    cc = CoreClustering(KMeans(3), n_resamples=40, random_state=0).fit(blobs)
    before = cc.item_table(details=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="too few"):
            cc.set_params(n_resamples=3).fit(blobs[:30, :1])
    assert cc.n_features_in_ == 2
    assert cc.item_table(details=False).equals(before)


def test_a_sparse_matrix_of_any_format_goes_through_a_pipeline(blobs):
    X = coo_matrix(blobs)
    cc = CoreClustering(
        make_pipeline(MaxAbsScaler(), KMeans(3)), n_resamples=40, random_state=0
    ).fit(X)
    assert cc.labels_.shape == (60,)


def test_predict_needs_models_that_were_kept(blobs):
    cc = CoreClustering(KMeans(3), n_resamples=40, random_state=0).fit(blobs)
    cc.set_params(keep_models=True)
    with pytest.raises(AttributeError) as caught:
        cc.predict(blobs)
    assert "set keep_models=True and call fit again" in str(caught.value)


def test_cores_of_cores(blobs):
    """CoreClustering is a clusterer: the items outside of its cores are noise."""
    inner = CoreClustering(KMeans(3, n_init=1), n_resamples=20)
    outer = CoreClustering(inner, n_resamples=20, random_state=0)
    outer.set_params(estimator__alpha=0.3, estimator__estimator__n_clusters=4)
    outer = clone(outer).fit(blobs)
    assert outer.get_params()["estimator__estimator__n_clusters"] == 4
    assert "CoreClustering(estimator=CoreClustering(" in re.sub(r"alpha=0.3,\s*", "", repr(outer))
    assert "KMeans" in outer._repr_html_()
    assert outer.estimator_.alpha == 0.3
    assert set(outer.trimmed_sample_indices_) == set(outer.estimator_.weak_sample_indices_)
    assert get_tags(outer).estimator_type == "clusterer"
    assert outer.recut(alpha=0.5).core_sample_indices_.size >= outer.core_sample_indices_.size
    assert len(outer.item_table(details=True)) == len(blobs)
    assert outer.diagnose(blobs) is not None
    outer.alpha_path()


def test_cores_of_cores_label_only_what_they_were_fitted_to(blobs):
    half = Subsample(0.5, label="all")
    outer = CoreClustering(CoreClustering(n_resamples=5), resampling=half)
    with pytest.raises(ValueError, match="CoreClustering has none; use label='drawn'"):
        outer.fit(blobs)


@pytest.mark.slow
def test_the_report_of_cores_of_cores(blobs, tmp_path):
    inner = CoreClustering(KMeans(3, n_init=1), n_resamples=20)
    outer = CoreClustering(inner, n_resamples=20, random_state=0).fit(blobs)
    outer.to_html(tmp_path / "report.html", X=blobs)
    assert "CoreClustering" in (tmp_path / "report.html").read_text(encoding="utf-8")
