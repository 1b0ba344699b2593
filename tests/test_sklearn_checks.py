"""scikit-learn's own checks of estimators."""

import pytest
from sklearn.cluster import KMeans
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from coreclust import CoreClustering

DEFAULT = CoreClustering()
SMALL = CoreClustering(KMeans(3, n_init=3), n_resamples=50)
CLASSIFIER = CoreClustering(DecisionTreeClassifier(max_depth=3), n_resamples=50)

EXPECTED_FAILURES = {
    DEFAULT: {
        "check_clustering": "wants the three blobs back, where the default cuts out 8 clusters",
    },
    CLASSIFIER: {
        "check_clustering": "calls fit without y",
        "check_fit_score_takes_y": "calls fit without y",
    },
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.filterwarnings("ignore:.*resamples are too few for any pair")
@parametrize_with_checks(
    [DEFAULT, SMALL, CLASSIFIER],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES.get(estimator, {}),
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
