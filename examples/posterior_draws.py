"""Posterior draws: cores of a Bayesian clustering.

A mixture of three Gaussians is fitted by Gibbs sampling. Every draw from the posterior
assigns each item to a component, so a thousand draws are a label ensemble with a thousand
columns. Nothing is resampled: the columns differ in the parameters and the allocations,
given the data.

Run it with ``python examples/posterior_draws.py``; it takes a few seconds.
"""

import matplotlib.pyplot as plt
import numpy as np

from coreclust import LabelEnsemble, core_clusters
from coreclust.metrics import purity_score, weak_fraction
from coreclust.plotting import CoreClusterDisplay

ALPHA = 0.1
N_COMPONENTS = 3
N_BURN_IN, N_DRAWS, THINNING = 1000, 1000, 5


def gibbs_allocations(X, n_components, n_burn_in, n_draws, thinning, rng):
    """Draw allocations from the posterior of a mixture of round Gaussians.

    All priors are conjugate: Dirichlet(1, ..., 1) for the weights; a normal distribution with
    the mean and the variance of the data for the mean of each component; an inverse gamma
    distribution, worth two observations, for the variance of each component.

    Returns an array with one row per item and one column per draw.
    """
    n, d = X.shape
    center, spread = X.mean(axis=0), X.var(axis=0).mean()
    shape, scale = 2.0, spread / n_components
    means = X[rng.choice(n, n_components, replace=False)]
    variances = np.full(n_components, spread)
    weights = np.full(n_components, 1 / n_components)
    draws = np.empty((n, n_draws), dtype=np.int64)
    for sweep in range(-n_burn_in, n_draws * thinning):
        # Allocations given the parameters: one categorical draw per item.
        squares = ((X[:, None] - means) ** 2).sum(axis=2)
        log_p = np.log(weights) - d / 2 * np.log(variances) - squares / (2 * variances)
        # The largest of log p + Gumbel noise falls on k with probability proportional to p_k.
        z = (log_p + rng.gumbel(size=log_p.shape)).argmax(axis=1)
        member = z[:, None] == np.arange(n_components)
        size = member.sum(axis=0)

        # Parameters given the allocations: weights, then means, then variances.
        weights = rng.dirichlet(1 + size)
        precision = 1 / spread + size / variances
        location = center / spread + (member.T @ X) / variances[:, None]
        noise = rng.standard_normal((n_components, d))
        means = location / precision[:, None] + noise / np.sqrt(precision)[:, None]
        within = (((X[:, None] - means) ** 2).sum(axis=2) * member).sum(axis=0)
        variances = (scale + within / 2) / rng.gamma(shape + d * size / 2)

        if sweep >= 0 and sweep % thinning == 0:
            draws[:, sweep // thinning] = z
    return draws


def most_typical_draw(draws, p):
    """Return the draw whose partition is closest to the pair probabilities p, in least squares.

    This is the least-squares clustering of D. B. Dahl, "Model-based clustering for expression
    data via a Dirichlet process mixture model" (2006).
    """
    distances = [((z[:, None] == z) - p).ravel() for z in draws.T]
    return draws[:, np.argmin([distance @ distance for distance in distances])]


def main():
    """Sample the posterior, choose a reference, find the cores and print their meaning."""
    rng = np.random.default_rng(0)
    # Three groups of fifty items; the first two overlap.
    groups = np.repeat(["left", "right", "top"], 50)
    centers = {"left": (0.0, 0.0), "right": (3.5, 0.0), "top": (1.75, 7.0)}
    X = np.array([centers[group] for group in groups]) + rng.standard_normal((150, 2))

    draws = gibbs_allocations(X, N_COMPONENTS, N_BURN_IN, N_DRAWS, THINNING, rng)

    # Label switching does not matter: only whether two items have the same label within one
    # draw counts, so component 1 of one draw need not be component 1 of another.
    ensemble = LabelEnsemble.from_labels(draws)

    # There is no clustering of the data as given, so a reference must be chosen: here the draw
    # that agrees best with all others. For 150 items the whole matrix is cheap.
    reference = most_typical_draw(draws, ensemble.cooccurrence_matrix())

    cores = core_clusters(ensemble, reference, alpha=ALPHA)
    labels = np.full(len(X), -1)
    print(f"{N_DRAWS} posterior draws of the allocations of {len(X)} items")
    for core in cores:
        labels[core.core] = core.label
        names, counts = np.unique(groups[core.core], return_counts=True)
        origin = ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True))
        print(f"component {core.label}: {core.n_items} items, core of {core.n_core} ({origin})")
    print(f"weak fraction: {weak_fraction(labels):.3f}")
    print(f"purity: {purity_score(groups, reference):.3f} of the reference draw, ", end="")
    print(f"{purity_score(groups, labels):.3f} of the cores")

    # Draws of a Markov chain are not independent. The shares converge nevertheless, but anything
    # that assumes independent columns, such as a standard error, requires thinning.
    print(
        "Meaning: within a core, the posterior probability that two items share a component,\n"
        f"given these data, this model and its priors, is estimated to be at least {1 - ALPHA:g} "
        "for every pair.\nWith resamples it would be the probability that the algorithm puts the "
        "two items together\nwhen the other items are drawn again."
    )

    figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
    names = np.unique(reference)
    display = CoreClusterDisplay(X, labels, reference, names, ("first feature", "second feature"))
    display.plot(ax)
    ax.set_title("cores of a Bayesian mixture")
    figure.savefig("posterior_draws.png", dpi=80)


if __name__ == "__main__":
    main()
