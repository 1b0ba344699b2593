"""Tests pairs of items of a fitted estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from coreclust.evidence._pair_test import PairTest, pair_test
from coreclust.evidence._rule import check_confidence

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering


def test_pair(self: CoreClustering, i: Any, j: Any, *, confidence: float = 0.95) -> PairTest:  # noqa: PT028
    """Test whether items i and j co-occur with probability at least ``1 - alpha``.

    Each pair is tested by itself. To test many pairs at once, compare `p_value` with
    ``(1 - confidence)`` divided by the number of pairs. With a scheme that varies less or more
    than the bootstrap, such as ``Subsample(0.8)``, the estimate and its interval are those of the
    scheme, and they are compared with ``1 - rule_.resampled_alpha``.

    Parameters
    ----------
    i, j : int or array-like of int
        Items, by position; arrays are broadcast against each other.
    confidence : float, default=0.95
        The confidence of the interval. The level of the test is ``1 - confidence``.

    Returns
    -------
    test : PairTest
        With `estimate`, `lower`, `upper`, `p_value`, `together`, `n_together` and
        `n_seen`, numbers or arrays. The test is one-sided and the interval is two-sided, so
        `lower` may be slightly below ``1 - alpha`` for a pair that is `together`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> cc = CoreClustering(random_state=0).fit(load_iris().data)
    >>> cc.test_pair(0, 149).together
    False
    """
    check_is_fitted(self)
    if confidence is None:
        raise ValueError("confidence must be a number above 0 and below 1, got None.")
    check_confidence(confidence)
    together, seen = self.ensemble_.cooccurrence_counts(i, j, noise=self.noise)
    return pair_test(
        together,
        seen,
        self.ensemble_.n_prior,
        alpha=self.rule_.resampled_alpha,
        confidence=confidence,
        anytime=self.rule_.anytime,
    )
