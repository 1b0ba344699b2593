"""A classifier: digits that are always read the same way, and the others.

A classifier is a clustering function as well: trained on a resample, it labels items. Here a
nearest-neighbor classifier reads handwritten digits and labels only those that it was not trained
on (out of bag). The core of a class holds the digits that are read the same way whatever the
training set. The least certain digits are plotted; most of them are hard to read for people, too.

Run it with ``python examples/classifier.py``; it takes a few seconds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from coreclust import CoreClustering
from coreclust.resampling import Bootstrap

N_DRAWN = 24


def main():
    """Find the core of every class of digits and plot the least certain digits."""
    digits = load_digits()
    X, y = digits.data[:900], digits.target[:900]

    cc = CoreClustering(
        KNeighborsClassifier(3),
        alpha=0.1,
        resampling=Bootstrap(label="oob"),  # the classifier has memorized its training digits
        n_resamples=300,
        random_state=0,
    ).fit(X, y)

    print(cc.summary()[["cluster", "n_items", "n_core", "n_weak"]].to_string(index=False))
    read_as = cc.cluster_names_[cc.reference_labels_]
    is_core = cc.labels_ >= 0
    print(f"\n{is_core.sum()} of {len(X)} digits are in a core")

    # A stable reading need not be correct; the titles of the plot show the readings.
    items = cc.item_table()
    order = np.argsort(items["strength"].to_numpy(), kind="stable")[:N_DRAWN]
    print(f"any of the {N_DRAWN} least certain are in a core: {is_core[order].any()}")

    figure, axes = plt.subplots(2, N_DRAWN // 2, figsize=(10.5, 2.4), layout="constrained")
    for ax, item in zip(axes.ravel(), order, strict=True):
        ax.imshow(digits.images[item], cmap="gray_r", interpolation="nearest")
        ax.set_title(f"{read_as[item]}?", fontsize=9)
        ax.set_axis_off()
    figure.suptitle(
        "the digits that the classifier is least certain of, and how it read them", fontsize=10
    )
    figure.savefig("classifier.png", dpi=80)


if __name__ == "__main__":
    main()
