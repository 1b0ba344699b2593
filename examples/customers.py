"""Customers: whom a segment can be told to, and whom not.

A shop has made up its mind to have segments of customers, as shops do. First we ask whether there
are any beyond what chance gives, and how many; then which customers are firmly in theirs. A letter
for a segment goes to its core.

The customers are made up here, so that we know the answer: three habits, and a few who have none.

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

# Visits a month and euros a visit, as logarithms: middle and spread of each habit.
HABITS = {
    "daily bread": ((2.6, 2.4), 0.50, 120),
    "weekly basket": ((1.3, 4.1), 0.45, 140),
    "rare and large": ((-0.6, 5.6), 0.50, 60),
    "no habit": ((1.2, 3.6), 1.10, 30),
}


def make_customers(rng):
    """Return a table with a row a customer."""
    rows = [
        pd.DataFrame(
            np.exp(rng.normal(middle, spread, size=(count, 2))),
            columns=["visits a month", "euros a visit"],
        ).assign(habit=habit)
        for habit, (middle, spread, count) in HABITS.items()
    ]
    return pd.concat(rows, ignore_index=True)


def main():
    """Choose the number of segments, find their cores and say who is outside."""
    customers = make_customers(np.random.default_rng(0))
    # Money and visits are skewed, and in different units.
    X = StandardScaler().fit_transform(np.log(customers[["visits a month", "euros a visit"]]))

    number = select_n_clusters(
        None, X, range(2, 6), n_resamples=50, n_references=10, random_state=0
    )
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
    right.set(xlabel="visits a month (log, scaled)", ylabel="euros a visit (log, scaled)")
    figure.savefig("customers.png", dpi=80)


if __name__ == "__main__":
    main()
