"""Tests of the synthetic datasets."""

import subprocess
import sys

import numpy as np
import pytest

from coreclust.datasets import load_synthetic, synthetic_sampler

CENTERS = 1.5 * np.array([[0, 1], [np.sqrt(0.75), -0.5], [-np.sqrt(0.75), -0.5]])


def test_sampler_has_the_moments_of_the_mixture():
    n_items = 300_000
    X, y = synthetic_sampler(n_items, np.random.default_rng(0))
    assert (X.dtype, X.shape, y.dtype) == (np.float64, (n_items, 2), np.int64)
    # Five standard errors each: about one seed in 100,000 would fail one of these.
    for name, center in zip((1, 2, 3), CENTERS, strict=True):
        inside = X[y == name]
        assert abs(len(inside) / n_items - 1 / 3) < 5 * np.sqrt(2 / 9 / n_items)
        error = 1 / np.sqrt(len(inside))
        np.testing.assert_allclose(inside.mean(axis=0), center, rtol=0, atol=5 * error)
        spread = np.cov(inside.T)
        np.testing.assert_allclose(np.diag(spread), 1, rtol=0, atol=5 * np.sqrt(2) * error)
        assert abs(spread[0, 1]) < 5 * error


def test_load_synthetic_is_the_sampler_and_reproducible():
    first, again = load_synthetic(40, random_state=3), load_synthetic(40, random_state=3)
    np.testing.assert_array_equal(first.data, again.data)
    X, y = synthetic_sampler(40, np.random.default_rng(3))
    np.testing.assert_array_equal(first.data, X)
    np.testing.assert_array_equal(first.target, y)
    assert first.feature_names == ["x1", "x2"]
    assert "40 items" in first.DESCR
    state = np.random.RandomState
    of_a_state = load_synthetic(40, random_state=state(0))
    np.testing.assert_array_equal(of_a_state.data, load_synthetic(40, random_state=state(0)).data)
    others = [
        load_synthetic(40),
        load_synthetic(40),
        load_synthetic(40, random_state=4),
        of_a_state,
    ]
    assert len({dataset.data[0, 0] for dataset in [first, *others]}) == 5
    assert load_synthetic().data.shape == (150, 2)


@pytest.mark.parametrize("n_items", [0, -3, 2.5, "150", True])
def test_load_synthetic_names_a_wrong_n_items(n_items):
    with pytest.raises(ValueError, match=r"n_items must be a whole number, 1 or more, got"):
        load_synthetic(n_items)


@pytest.mark.parametrize("random_state", [-1, 0.5, "0", np.random.default_rng(0)])
def test_load_synthetic_names_a_wrong_random_state(random_state):
    with pytest.raises(ValueError, match="random_state must be None, a RandomState or an int"):
        load_synthetic(random_state=random_state)


def test_import_is_light():
    # scikit-learn imports pandas if it can: what counts is what comes on top of it.
    code = "import sys; sys.modules.update(pandas=None, matplotlib=None); import coreclust.datasets"
    subprocess.run([sys.executable, "-c", code], check=True)
