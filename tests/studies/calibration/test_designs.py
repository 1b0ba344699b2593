"""Tests of the distributions of the designs."""

import numpy as np
import pytest

from studies.calibration.designs import DESIGNS, Mixture, Moons, Square

pytestmark = pytest.mark.slow

MANY = 200_000


@pytest.mark.parametrize(
    "mixture",
    [
        Mixture(),
        Mixture(side=2.5),
        Mixture(weights=(0.7, 0.2, 0.1)),
        Mixture(n_features=10),
        Mixture(side=6.0, degrees=12),
        Mixture(side=5.0, skewed=True),
        Mixture(side=6.0, scales=(0.5, 1.0, 2.0)),
        Mixture(side=5.0, weights=(1 / 6,) * 6),
        Mixture(weights=(1.0,)),
    ],
)
def test_moments(mixture):
    drawn = mixture.draw(MANY, np.random.default_rng(0))
    weights = np.array(mixture.weights)
    mean = weights @ mixture.centers
    around = mixture.centers - mean
    spread = 1.0 if mixture.degrees is None else mixture.degrees / (mixture.degrees - 2)
    if mixture.scales is not None:
        spread *= weights @ np.square(mixture.scales)
    covariance = spread * np.eye(mixture.n_features) + (around.T * weights) @ around
    # Five standard errors: a variance has kurtosis below 9 here, that of the exponential.
    error = 5 * np.sqrt(9 / MANY) * covariance.max()
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=error)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=error)


def test_centers_are_a_triangle_of_the_side():
    centers = Mixture(side=3.0, n_features=4).centers
    distances = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    np.testing.assert_allclose(distances, 3.0 * (1 - np.eye(3)), atol=1e-12)


def test_heavy_tails_follow_the_t_distribution():
    drawn = Mixture(side=0.0, degrees=3).draw(MANY, np.random.default_rng(1))
    # The squared radius over the number of features is F distributed: a closed form for 2 and 3.
    radius = 4.0
    beyond = (1 + radius**2 / 3) ** -1.5
    share = (np.linalg.norm(drawn, axis=1) > radius).mean()
    assert abs(share - beyond) < 5 * np.sqrt(beyond / MANY)


def test_weights_are_the_shares_of_the_groups():
    mixture = Mixture(side=100.0, weights=(0.7, 0.2, 0.1))
    drawn = mixture.draw(MANY, np.random.default_rng(2))
    nearest = ((drawn[:, None] - mixture.centers[None]) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_allclose(np.bincount(nearest) / MANY, mixture.weights, atol=0.006)


@pytest.mark.parametrize("name", DESIGNS)
def test_same_seed_same_data(name):
    design = DESIGNS[name]
    once, again, other = (
        design.mixture.draw(design.n_items, np.random.default_rng(seed)) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(once, again)
    assert (once != other).all()


def test_designs_cover_what_the_study_is_about():
    assert all(name == design.name for name, design in DESIGNS.items())
    assert len({design.title for design in DESIGNS.values()}) == len(DESIGNS) >= 6
    assert {design.n_items for design in DESIGNS.values()} >= {60, 500}
    assert {design.mixture.n_features for design in DESIGNS.values()} == {2, 10, 50}
    assert {design.n_clusters for design in DESIGNS.values()} == {2, 3, 4, 8}
    assert {design.case for design in DESIGNS.values()} == {"right", "few", "many", "none"}
    for design in DESIGNS.values():
        estimator = design.estimator()
        if design.algorithm != "Leiden":
            assert estimator.n_clusters == design.n_clusters
        assert hasattr(estimator, "predict") == design.can_predict
        assert str(design.n_items) not in design.mixture.describe()


def test_a_square_and_moons_lie_where_they_should():
    square = Square().draw(MANY, np.random.default_rng(0))
    np.testing.assert_allclose(square.mean(axis=0), 0.5, atol=0.004)
    np.testing.assert_allclose(np.cov(square.T), np.eye(2) / 12, atol=0.001)
    moons = Moons(noise=0.0).draw(2000, np.random.default_rng(0))
    first = np.isclose(np.linalg.norm(moons, axis=1), 1) & (moons[:, 1] >= 0)
    second = np.isclose(np.linalg.norm(moons - [1, 0.5], axis=1), 1) & (moons[:, 1] <= 0.5)
    assert (first | second).all()
    assert 900 < first.sum() < 1100
