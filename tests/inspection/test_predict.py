"""Labeling new items by the models that were kept, against the definition and a twin."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coreclust import CoreClustering, LabelEnsemble, core_clusters
from coreclust._sampling.models import EstimatorModel
from coreclust.cluster import HierarchicalClustering, KMeans, TrimmedKMeans
from coreclust.cluster._kmeans import CenterModel
from coreclust.evidence._bounds import apart_table, bound_table
from coreclust.resampling import Bootstrap, KnownDistribution, SmoothedBootstrap, Subsample

RNG = np.random.default_rng(3)
NEW = np.vstack([RNG.normal(size=(30, 2)) * 3, [[10.0, 10.0], [1.2, 0.0]]])


def fit(estimator, X, y=None, **parameters):
    defaults = {"n_resamples": 120, "random_state": 0, "keep_models": True}
    return CoreClustering(estimator, **defaults | parameters).fit(X, y)


def by_definition(cc, new_labels, table):
    """For every new item the cores with whose every member it passes the rule."""
    labels = cc.ensemble_.labels
    answers = []
    for mine in new_labels:
        passed = {}
        for core in cc.cores_:
            total = [0, 0]
            for member in core.core:
                seen = (labels[member] != -2) & (mine != -2)
                if cc.noise == "absent":
                    seen &= (labels[member] != -1) & (mine != -1)
                same = seen & (labels[member] == mine)
                if cc.noise == "apart":
                    same &= mine != -1
                if seen.sum() - same.sum() > table[seen.sum()]:
                    break
                total[0] += same.sum()
                total[1] += seen.sum()
            else:
                passed[core.label] = total[0] / total[1]
        answers.append(max(passed, key=passed.get) if passed else -1)
    return answers


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["apart", "together", "absent"])
@pytest.mark.parametrize("label", ["drawn", "all", "oob"])
def test_new_items_pass_the_rule_with_every_member(noise, label, blobs):
    estimator = TrimmedKMeans(3, trim=0.1, n_init=4)
    cc = fit(estimator, blobs, noise=noise, resampling=Bootstrap(label), alpha=0.15)
    assert all(isinstance(model, EstimatorModel) for model in cc._models)
    labels = np.column_stack([model.label(NEW) for model in cc._models])
    expected = by_definition(cc, labels, apart_table(0.15, 60, 120))
    np.testing.assert_array_equal(cc.predict(NEW), expected)
    assert -1 in expected
    assert max(expected) >= 0


@pytest.mark.parametrize(
    "scheme", [Bootstrap(), Bootstrap("all"), Bootstrap("oob"), Subsample(0.5)]
)
def test_kept_centers_are_the_kept_estimators(scheme, blobs):
    small = fit(KMeans(3, n_init=2), blobs, resampling=scheme)
    whole = fit(KMeans(3, n_init=2), blobs, resampling=scheme, engine="generic")
    assert (small.engine_, whole.engine_) == ("batched", "generic")
    assert all(isinstance(model, CenterModel) for model in small._models)
    for b, (one, other) in enumerate(zip(small._models, whole._models, strict=True)):
        # Codes are those of the ensemble.
        present = small.ensemble_.labels[:, b] != -2
        np.testing.assert_array_equal(one.label(blobs)[present], small.ensemble_.labels[present, b])
        np.testing.assert_array_equal(one.label(NEW), other.label(NEW))
    np.testing.assert_array_equal(small.predict(NEW), whole.predict(NEW))


def test_items_of_a_core_are_predicted_to_be_in_it_if_all_are_labeled(blobs):
    """With label="all" a core item is a new item with the very same labels."""
    cc = fit(KMeans(3), blobs, resampling=Bootstrap("all"))
    core = cc.core_sample_indices_
    np.testing.assert_array_equal(cc.predict(blobs)[core], cc.labels_[core])
    # A weak point that could join a core would make it larger.
    assert (
        cc.predict(blobs)[cc.weak_sample_indices_] != cc.reference_labels_[cc.weak_sample_indices_]
    ).all()


def test_confidence_counts_for_new_items_too(blobs):
    cc = fit(KMeans(3), blobs, confidence=0.9, n_resamples=400)
    sizes = np.array([core.n_items for core in cc.cores_])
    level = 0.1 / (sizes * (sizes - 1) // 2).sum()
    labels = np.column_stack([model.label(NEW) for model in cc._models])
    expected = by_definition(cc, labels, bound_table(0.1, level, 400))
    np.testing.assert_array_equal(cc.predict(NEW), expected)
    assert (cc.predict(NEW) >= 0).sum() <= (cc.recut(confidence=None).predict(NEW) >= 0).sum()


@pytest.mark.slow
def test_classifiers_frames_and_pipelines(blobs):
    y = np.repeat(["a", "b", "c"], 20)
    frame = pd.DataFrame(blobs, columns=["x", "z"])
    model = make_pipeline(StandardScaler(), LogisticRegression())
    cc = fit(model, frame, y, resampling=Bootstrap("oob"))
    labels = cc.predict(pd.DataFrame(NEW, columns=["x", "z"]))
    assert labels[-2] == 2  # in the middle of the third group
    with pytest.raises(ValueError, match="feature names"):
        cc.predict(pd.DataFrame(NEW, columns=["x", "w"]))


def test_a_class_that_is_not_in_the_resample_has_its_own_label():
    class Fixed:
        def predict(self, X):
            return np.array(["b", "c", "a"])

    model = EstimatorModel(Fixed(), np.array(["a", "c"]), negative_is_noise=False)
    assert model.label(np.zeros((3, 1))).tolist() == [2, 1, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator", [SklearnKMeans(3, n_init=1), GaussianMixture(3), KMeans(3)], ids=repr
)
def test_any_estimator_that_predicts(estimator, blobs):
    for scheme in (Bootstrap(), SmoothedBootstrap(0.1, "oob")):
        cc = fit(estimator, blobs, resampling=scheme, alpha=0.3)
        assert cc.predict([[10.0, 10.0]])[0] == cc.reference_labels_[-1]


def test_predict_is_there_only_where_models_are_kept(blobs):
    cc = CoreClustering(KMeans(3), n_resamples=30, random_state=0).fit(blobs)
    assert not hasattr(cc, "predict")
    with pytest.raises(AttributeError, match="predict"):
        cc.predict(NEW)
    assert cc._models == []


@pytest.mark.parametrize(
    ("estimator", "scheme", "message"),
    [
        (HierarchicalClustering(3), Bootstrap(), "keep_models=True is for predict"),
        (lambda Z: np.zeros(len(Z), int), Bootstrap(), "keep_models=True is for predict"),
        (KMeans(3), KnownDistribution(NEW), "keep_models=True has no meaning"),
    ],
)
def test_models_that_cannot_be_kept_are_refused(estimator, scheme, message, blobs):
    with pytest.raises(ValueError, match=message):
        fit(estimator, blobs, resampling=scheme)


def test_wrong_width_is_refused(blobs):
    cc = fit(KMeans(3), blobs, n_resamples=30)
    with pytest.raises(ValueError, match="features"):
        cc.predict(np.zeros((2, 5)))


def test_models_of_dropped_resamples_are_not_kept():
    X = np.vstack([np.zeros((8, 1)), np.ones((8, 1)), [[5.0]]])
    with pytest.warns(RuntimeWarning, match="could not be clustered"):
        cc = fit(TrimmedKMeans(3, trim=0, n_init=2), X, resampling=Subsample(size=5))
    assert len(cc._models) == cc.ensemble_.n_resamples == 120 - cc.n_dropped_resamples_


def test_the_cores_are_those_without_models(blobs):
    plain = CoreClustering(KMeans(3), n_resamples=120, random_state=0).fit(blobs)
    cc = fit(KMeans(3), blobs)
    assert cc.ensemble_ == plain.ensemble_
    assert [c.core.size for c in core_clusters(cc.ensemble_, cc.reference_labels_)] == [
        c.core.size for c in plain.cores_
    ]
    assert isinstance(cc.ensemble_, LabelEnsemble)
