"""Mixed customers: segments from a table with numbers and words.

A table of customers has numbers (age, euros per month), words (channel, plan) and yes or no
(newsletter). There are two common ways to cluster it. A ColumnTransformer scales the numbers and
turns each word into zeros and ones; the Pipeline is resampled as a whole, on the table as it is.
Gower's distance is the mean over the columns of the difference, from 0 to 1; its matrix is
resampled by rows and columns. Customers who are core in both ways do not depend on the choice: they
get an offer. The others get a questionnaire first.

The customers are simulated, so that the answer is known.

Run it with ``python examples/mixed_customers.py``; it takes a few seconds.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from coreclust import CoreClustering
from coreclust.cluster import HierarchicalClustering, KMeans
from coreclust.plotting import CoreClusterDisplay

NUMBERS = ["age", "euros per month"]
WORDS = ["channel", "plan", "newsletter"]
# For each segment: mean age, mean euros per month, and the usual words.
SEGMENTS = {
    "students": (22, 18, ("app", "prepaid", "no")),
    "families": (39, 62, ("web", "family", "yes")),
    "seniors": (68, 30, ("shop", "basic", "no")),
}
CHOICES = {
    "channel": ["app", "web", "shop"],
    "plan": ["prepaid", "family", "basic"],
    "newsletter": ["yes", "no"],
}


def make_customers(rng, n_each=60, n_others=20):
    """Return a table with one row per customer; one word in six is not the usual one."""
    rows = []
    for segment, (age, euros, usual) in SEGMENTS.items():
        for _ in range(n_each):
            words = [
                word if rng.random() > 1 / 6 else rng.choice(CHOICES[name])
                for name, word in zip(WORDS, usual, strict=True)
            ]
            rows.append([rng.normal(age, 6), rng.normal(euros, 9), *words, segment])
    for _ in range(n_others):
        words = [rng.choice(CHOICES[name]) for name in WORDS]
        rows.append([rng.uniform(18, 75), rng.uniform(10, 75), *words, "none"])
    return pd.DataFrame(rows, columns=[*NUMBERS, *WORDS, "segment"])


def gower_distances(table):
    """Return Gower's distances between the rows: 0 if all columns are the same, at most 1."""
    parts = []
    for name in NUMBERS:
        x = table[name].to_numpy()
        parts.append(np.abs(x[:, None] - x) / np.ptp(x))
    for name in WORDS:
        codes = table[name].astype("category").cat.codes.to_numpy()
        parts.append((codes[:, None] != codes).astype(float))
    return np.mean(parts, axis=0)


def in_same_core(first, second):
    """Tell who is in a core of both clusterings, and in the two that have the most in common."""
    both = (first >= 0) & (second >= 0)
    partner = pd.crosstab(first[both], second[both]).idxmax(axis=1)
    return both & (partner.reindex(first).to_numpy() == second)


def main():
    """Cluster in two ways, and decide who gets an offer."""
    customers = make_customers(np.random.default_rng(0))
    table = customers[[*NUMBERS, *WORDS]]

    encode = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), WORDS))
    encoded = make_pipeline(encode, KMeans(3))
    by_code = CoreClustering(encoded, n_resamples=200, random_state=0).fit(table)

    linkage = HierarchicalClustering(3, metric="precomputed", linkage="average")
    by_gower = CoreClustering(linkage, n_resamples=200, random_state=0).fit(gower_distances(table))

    for name, cc in (("encoded", by_code), ("Gower", by_gower)):
        print(f"{name}: {len(cc.core_sample_indices_)} of {len(customers)} customers are core")
    sure = in_same_core(by_code.labels_, by_gower.labels_)
    customers["action"] = np.where(sure, "offer", "questionnaire")
    print("\nwhat to do, by true segment:")
    print(pd.crosstab(customers["segment"], customers["action"]).to_string())
    print("\nwho gets an offer, by segment found:")
    found = pd.Series(by_code.labels_, name="found")
    print(pd.crosstab(customers["segment"][sure], found[sure]).to_string())

    mailing = customers.assign(found=by_code.reference_labels_)[["found", "action"]]
    mailing.to_csv("mailing.csv", index_label="customer")
    print(f"\nwritten to mailing.csv: {sure.sum()} offers, {(~sure).sum()} questionnaires")

    figure, axes = plt.subplots(1, 2, figsize=(10.5, 4), layout="constrained")
    for ax, cc, title in zip(axes, (by_code, by_gower), ("encoded", "Gower"), strict=True):
        CoreClusterDisplay.from_estimator(cc, customers[NUMBERS], ax=ax)
        ax.set(title=title, xlabel="age", ylabel="euros per month")
    figure.savefig("mixed_customers.png", dpi=80)


if __name__ == "__main__":
    main()
