"""Customers: which customers belong reliably to a segment.

A shop wants to divide its customers into segments. First, `select_n_clusters` tests whether there
are segments beyond chance, and how many. Then the cores show which customers belong reliably to
their segment. A letter for a segment goes to its core.

The customers are simulated, so that the answer is known: three habits, and a few without one.

Run it with ``python examples/customers.py``; it takes a few seconds.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from coreclust import CoreClustering
from coreclust.cluster import KMeans
from coreclust.model_selection import select_n_clusters
from coreclust.plotting import ClusterNumberDisplay, CoreClusterDisplay

# For each habit: mean and spread of the log of (visits per month, euros per visit), and customers.
HABITS = {
    "daily bread": ((2.6, 2.4), 0.50, 120),
    "weekly basket": ((1.3, 4.1), 0.45, 140),
    "rare and large": ((-0.6, 5.6), 0.50, 60),
    "no habit": ((1.2, 3.6), 1.10, 30),
}


def make_customers(rng):
    """Return a table with one row per customer."""
    rows = [
        pd.DataFrame(
            np.exp(rng.normal(middle, spread, size=(count, 2))),
            columns=["visits per month", "euros per visit"],
        ).assign(habit=habit)
        for habit, (middle, spread, count) in HABITS.items()
    ]
    return pd.concat(rows, ignore_index=True)


def main():
    """Choose the number of segments and find their cores."""
    customers = make_customers(np.random.default_rng(0))
    # Both columns are skewed and have different units.
    X = StandardScaler().fit_transform(np.log(customers[["visits per month", "euros per visit"]]))

    number = select_n_clusters(None, X, range(2, 6), n_resamples=50, n_nulls=10, random_state=0)
    print(f"segments: {number.n_clusters}. {number.reason}")

    cc = CoreClustering(KMeans(3), alpha=0.05, n_resamples=500, random_state=0).fit(X)
    customers["status"] = np.where(cc.labels_ >= 0, "core", "weak")
    print("\nwho is core, by habit:")
    print(pd.crosstab(customers["habit"], customers["status"]).to_string())
    print(f"\nletters to send: {len(cc.core_sample_indices_)} of {len(customers)}")

    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4), layout="constrained")
    ClusterNumberDisplay.from_selection(number, ax=left)
    CoreClusterDisplay.from_estimator(cc, X, ax=right)
    right.set_title("customers")
    right.set(xlabel="visits per month (log, scaled)", ylabel="euros per visit (log, scaled)")
    figure.savefig("customers.png", dpi=80)


if __name__ == "__main__":
    main()
