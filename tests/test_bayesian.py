"""Posterior draws as a label ensemble: pair probabilities against exact posteriors."""

import itertools
from math import lgamma

import numpy as np
import pytest

from coreclust import LabelEnsemble, core_clusters
from twins import clique_number, is_clique


def responsibilities(x, centers, weights):
    """Probability of each component given the item, for unit variances."""
    p = np.exp(-((x[:, None] - centers) ** 2) / 2) * weights
    return p / p.sum(axis=1, keepdims=True)


def independent_draws(r, n_draws, rng):
    """Allocations given known parameters: every item by itself."""
    edges = r.cumsum(axis=1)[:, :-1]
    return (rng.random((len(r), n_draws))[:, :, None] > edges[:, None]).sum(axis=2)


def switched(draws, n_components, rng):
    """The same draws with the components of each in an order of its own."""
    orders = rng.permuted(np.tile(np.arange(n_components), (draws.shape[1], 1)), axis=1)
    return np.take_along_axis(orders, draws.T, axis=1).T


def test_cooccurrence_of_known_components_is_the_exact_probability():
    """Given the parameters items are independent: p_ij is the sum over k of r_ik r_jk.

    The share of m draws has standard error sqrt(p (1 - p) / m), and the prior of the
    estimate moves it by at most 1 / (m + 1). All 780 pairs of 20 ensembles are within 6
    standard errors, and their squared standardized deviations average 1: the error is no
    larger than stated, and no smaller.
    """
    rng = np.random.default_rng(0)
    n_draws = 2000
    x = rng.uniform(-4, 6, size=40)
    r = responsibilities(x, np.array([-2.0, 0.5, 4.0]), np.array([0.5, 0.3, 0.2]))
    i, j = np.triu_indices(len(x), 1)
    exact = (r[i] * r[j]).sum(axis=1)
    error = np.sqrt(exact * (1 - exact) / n_draws)
    middling = (exact > 0.05) & (exact < 0.95)
    assert middling.sum() > 300
    squares = []
    for _ in range(20):
        ensemble = LabelEnsemble.from_labels(independent_draws(r, n_draws, rng))
        deviation = ensemble.cooccurrence(i, j) - exact
        assert (np.abs(deviation) < 6 * error + 3 / n_draws).all()
        squares.append(((deviation / error)[middling] ** 2).mean())
    # The pairs of an ensemble hang together, the ensembles do not.
    assert abs(np.mean(squares) - 1) < 3 * np.std(squares, ddof=1) / np.sqrt(20) < 0.25


@pytest.mark.parametrize("alpha", [0.1, 0.3])
def test_core_follows_the_exact_rule(alpha):
    """No exact probability is within 4 standard errors of 1 - alpha, so the graph is exact."""
    rng = np.random.default_rng(1)
    n_draws = 20_000
    x = np.array([-3.0, -2.2, -1.7, -1.3, -0.85, -0.45, -0.1, 0.25, 0.6, 1.1, 1.5, 2.4])
    r = responsibilities(x, np.array([-1.5, 1.5]), np.array([0.5, 0.5]))
    exact = r @ r.T
    reference = r.argmax(axis=1)
    draws = independent_draws(r, n_draws, rng)
    cores = core_clusters(LabelEnsemble.from_labels(draws), reference, alpha=alpha)
    assert [core.label for core in cores] == [0, 1]
    for core in cores:
        inner = exact[np.ix_(core.members, core.members)]
        pairs = inner[np.triu_indices(core.n_items, 1)]
        assert (np.abs(pairs - (1 - alpha)) > 4 * np.sqrt(alpha * (1 - alpha) / n_draws)).all()
        edges = inner >= 1 - alpha
        assert core.n_core == clique_number(edges)
        assert is_clique(edges, np.searchsorted(core.members, core.core))
        assert 1 < core.n_core < core.n_items


def test_label_switching_changes_nothing():
    rng = np.random.default_rng(2)
    x = rng.uniform(-3, 3, size=15)
    r = responsibilities(x, np.array([-2.0, 0.0, 2.0]), np.full(3, 1 / 3))
    draws = independent_draws(r, 500, rng)
    other = switched(draws, 3, rng)
    assert (other != draws).mean() > 0.5
    before, after = LabelEnsemble.from_labels(draws), LabelEnsemble.from_labels(other)
    np.testing.assert_array_equal(before.cooccurrence_matrix(), after.cooccurrence_matrix())
    reference = r.argmax(axis=1)
    for ours, theirs in zip(
        core_clusters(before, reference), core_clusters(after, reference), strict=True
    ):
        np.testing.assert_array_equal(ours.core, theirs.core)


def gibbs_chains(x, spread, n_chains, n_sweeps, rng):
    """The last allocations of many independent Gibbs samplers, all at once.

    Two components with unit variances, normal(0, spread²) means and uniform weights.
    """
    z = rng.integers(2, size=(n_chains, x.size))
    for _ in range(n_sweeps):
        size = np.stack([(z == k).sum(axis=1) for k in (0, 1)], axis=1)
        total = np.stack([((z == k) * x).sum(axis=1) for k in (0, 1)], axis=1)
        weight = rng.beta(1 + size[:, 1], 1 + size[:, 0])
        precision = spread**-2 + size
        means = total / precision + rng.standard_normal(size.shape) / np.sqrt(precision)
        odds = (x - means[:, :1]) ** 2 / 2 - (x - means[:, 1:]) ** 2 / 2
        odds += np.log(weight / (1 - weight))[:, None]
        z = (rng.random(z.shape) < 1 / (1 + np.exp(-odds))).astype(int)
    return z.T


def log_evidence(x, z, spread):
    """Log of the joint probability of data and allocations, parameters integrated out."""
    log_p = -lgamma(x.size + 2)
    for k in (0, 1):
        group = x[z == k]
        precision = spread**-2 + group.size
        log_p += lgamma(group.size + 1) - np.log(precision * spread**2) / 2
        log_p += group.sum() ** 2 / (2 * precision) - (group**2).sum() / 2
    return log_p


def test_a_gibbs_sampler_gives_the_exact_posterior():
    """Against the sum over all 2^7 allocations, with a standard error of 1/sqrt(m) at most.

    Each column is the end of a chain of its own, so the columns are independent.
    """
    rng = np.random.default_rng(3)
    x, spread, n_chains = np.array([-2.0, -1.4, -0.9, 0.1, 0.8, 1.5, 2.3]), 2.0, 4000
    allocations = np.array(list(itertools.product((0, 1), repeat=x.size)))
    log_p = np.array([log_evidence(x, z, spread) for z in allocations])
    posterior = np.exp(log_p - log_p.max())
    posterior /= posterior.sum()
    same = allocations[:, :, None] == allocations[:, None]
    exact = (posterior[:, None, None] * same).sum(axis=0)
    i, j = np.triu_indices(x.size, 1)
    assert exact[i, j].min() < 0.35  # the posterior is neither certain nor flat
    assert exact[i, j].max() > 0.8
    ensemble = LabelEnsemble.from_labels(gibbs_chains(x, spread, n_chains, 200, rng))
    error = np.sqrt(exact[i, j] * (1 - exact[i, j]) / n_chains)
    assert (np.abs(ensemble.cooccurrence(i, j) - exact[i, j]) < 4 * error + 1 / n_chains).all()
