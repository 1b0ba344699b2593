"""Kernels of Gaussian mixtures: the EM algorithm as scikit-learn's GaussianMixture runs it.

Items have weights, the multiplicities of a resample. The formulas are those of scikit-learn, also
for covariances, so that degenerate data fails here if it fails there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from coreclust._utils.jit import copy_rows_to, copy_to, kernel

FULL, TIED, DIAG, SPHERICAL = range(4)
_FLOOR = 10 * np.finfo(np.float64).eps  # added to the weights of components, as in scikit-learn


class Settings(NamedTuple):
    """The parameters of the EM algorithm."""

    n_components: int
    form: int  # FULL, TIED, DIAG or SPHERICAL
    tol: float
    reg_covar: float
    max_iter: int


# Sums in any order: several times faster, and only the last bits depend on the machine.
@njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"}, cache=True)
def _sum_of_products(a, b, c):
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i] * c[i]
    return total


@njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"}, cache=True)
def _dot(a, b):
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@kernel
def best_of_starts(by_feature, weights, starts, settings):
    """Run EM from each of the given labelings (n_starts, n); return the most likely mixture.

    The items are the columns of `by_feature`. Returns the shares of the components, their means,
    the inverse Cholesky factors (k, d, d) of the covariances, the mean log-likelihood, the number
    of iterations, and whether a start failed: a covariance is not positive definite.
    """
    d, n = by_feature.shape
    k = settings.n_components
    moments = np.empty((d, d))  # of all items; only a tied covariance needs those of two features
    for f in range(d):
        for g in range(f + 1):
            if f == g or settings.form == TIED:
                moments[f, g] = _sum_of_products(weights, by_feature[f], by_feature[g])
    best_shares, best_means, best_factors = np.empty(k), np.empty((k, d)), np.empty((k, d, d))
    shares, means, factors = np.empty(k), np.empty((k, d)), np.empty((k, d, d))
    best_bound = -np.inf
    best_n_iter = 0
    masses = np.empty((k, n))  # responsibilities times weights
    for start in range(starts.shape[0]):
        masses[:] = 0.0
        for i in range(n):
            masses[starts[start, i], i] = weights[i]
        if not _maximize(by_feature, masses, moments, settings, shares, means, factors):
            return best_shares, best_means, best_factors, best_bound, 0, True
        shares /= weights.sum()
        bound = -np.inf
        n_iter = 0
        while n_iter < settings.max_iter:
            n_iter += 1
            before = bound
            bound = _expect(by_feature, weights, shares, means, factors, masses)
            if not _maximize(by_feature, masses, moments, settings, shares, means, factors):
                return best_shares, best_means, best_factors, best_bound, 0, True
            shares /= shares.sum()
            if abs(bound - before) < settings.tol:
                break
        if bound > best_bound or best_bound == -np.inf:
            best_bound = bound
            best_n_iter = n_iter
            copy_to(best_shares, shares)
            copy_rows_to(best_means, means)
            for c in range(k):
                copy_rows_to(best_factors[c], factors[c])
    failed = not np.isfinite(best_bound)
    return best_shares, best_means, best_factors, best_bound, best_n_iter, failed


@kernel
def label_items(by_feature, shares, means, factors):
    """Return the most probable component of each item, the first one in a tie."""
    n = by_feature.shape[1]
    values = np.empty((shares.size, n))
    _log_densities(by_feature, shares, means, factors, values)
    labels = np.zeros(n, dtype=np.int32)
    for c in range(1, shares.size):
        for i in range(n):
            if values[c, i] > values[labels[i], i]:
                labels[i] = c
    return labels


@kernel
def _log_densities(by_feature, shares, means, factors, out):
    """Store the logarithm of share times density of each component (k, n)."""
    d, n = by_feature.shape
    product = np.empty(n)
    for c in range(shares.size):
        row = out[c]
        row[:] = 0.0
        constant = np.log(shares[c]) - 0.5 * d * np.log(2 * np.pi)
        for f in range(d):
            product[:] = 0.0
            for g in range(f + 1):
                factor, mean, values = factors[c, f, g], means[c, g], by_feature[g]
                if factor != 0.0:
                    for i in range(n):
                        product[i] += factor * (values[i] - mean)
            for i in range(n):
                row[i] += product[i] * product[i]
            constant += np.log(factors[c, f, f])
        for i in range(n):
            row[i] = constant - 0.5 * row[i]


@kernel
def _expect(by_feature, weights, shares, means, factors, masses):
    """Store responsibilities times weights; return the weighted mean of the log-likelihoods."""
    k, n = masses.shape
    _log_densities(by_feature, shares, means, factors, masses)
    total = 0.0
    for i in range(n):
        largest = masses[0, i]
        for c in range(1, k):
            largest = max(largest, masses[c, i])
        density = 0.0
        for c in range(k):
            masses[c, i] = np.exp(masses[c, i] - largest)
            density += masses[c, i]
        for c in range(k):
            masses[c, i] *= weights[i] / density
        total += weights[i] * (largest + np.log(density))
    return total / weights.sum()


@kernel
def _maximize(by_feature, masses, moments, settings, shares, means, factors):
    """Store sizes, means and inverse Cholesky factors; return whether the covariances have them."""
    d, n = by_feature.shape
    k = shares.size
    form, reg_covar = settings.form, settings.reg_covar
    covariance = np.zeros((d, d))
    if form == TIED:
        copy_rows_to(covariance, moments)
    centered = np.empty((d, n)) if form == FULL else np.empty((0, 0))
    total = 0.0
    for c in range(k):
        shares[c] = masses[c].sum() + _FLOOR
        total += shares[c]
        for f in range(d):
            means[c, f] = _dot(masses[c], by_feature[f]) / shares[c]
    for c in range(k):
        if form == FULL:
            for f in range(d):
                for i in range(n):
                    centered[f, i] = by_feature[f, i] - means[c, f]
                for g in range(f + 1):
                    moment = _sum_of_products(masses[c], centered[f], centered[g])
                    covariance[f, g] = moment / shares[c]
                covariance[f, f] += reg_covar
            if not _inverse_factor(covariance, factors[c]):
                return False
        elif form == TIED:
            for f in range(d):
                for g in range(f + 1):
                    covariance[f, g] -= shares[c] * means[c, f] * means[c, g]
        else:
            factors[c] = 0.0
            mean_variance = 0.0
            for f in range(d):
                square = _sum_of_products(masses[c], by_feature[f], by_feature[f]) / shares[c]
                variance = square - means[c, f] ** 2 + reg_covar
                mean_variance += variance / d
                if form == DIAG:
                    if not variance > 0:
                        return False
                    factors[c, f, f] = 1 / np.sqrt(variance)
            if form == SPHERICAL:
                if not mean_variance > 0:
                    return False
                for f in range(d):
                    factors[c, f, f] = 1 / np.sqrt(mean_variance)
    if form == TIED:
        for f in range(d):
            for g in range(f + 1):
                covariance[f, g] /= total
            covariance[f, f] += reg_covar
        if not _inverse_factor(covariance, factors[0]):
            return False
        for c in range(1, k):
            copy_rows_to(factors[c], factors[0])
    return True


@kernel
def _inverse_factor(covariance, out):
    """Store the inverse of the Cholesky factor; return False if there is none.

    Only the lower triangle is read, and it is overwritten.
    """
    d = covariance.shape[0]
    for f in range(d):
        for g in range(f + 1):
            rest = covariance[f, g]
            for h in range(g):
                rest -= covariance[f, h] * covariance[g, h]
            if f == g:
                if not (rest > 0 and np.isfinite(rest)):
                    return False
                covariance[f, f] = np.sqrt(rest)
            else:
                covariance[f, g] = rest / covariance[g, g]
    out[:] = 0.0
    for g in range(d):
        out[g, g] = 1 / covariance[g, g]
        for f in range(g + 1, d):
            rest = 0.0
            for h in range(g, f):
                rest -= covariance[f, h] * out[h, g]
            out[f, g] = rest / covariance[f, f]
    return True
