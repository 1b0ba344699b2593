"""A classifier: the digits it holds its opinion on, and the others.

A classifier is a clustering function, too: trained on a resample, it labels items. Here a nearest
neighbor rule reads handwritten digits, and labels only those it was not trained on (out of bag).
The core of a class are the digits it reads the same way whoever else was in the training set. The
weak ones are drawn: most of them give people pause, as well.

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
    """Find the core of every digit and draw the least certain ones."""
    digits = load_digits()
    X, y = digits.data[:900], digits.target[:900]

    cc = CoreClustering(
        KNeighborsClassifier(3),
        alpha=0.1,
        resampling=Bootstrap(label="oob"),  # it knows its training digits by heart
        n_resamples=300,
        random_state=0,
    ).fit(X, y)

    print(cc.summary()[["cluster", "size", "core", "weak"]].to_string(index=False))
    read_as = cc.cluster_names_[cc.reference_labels_]
    is_core = cc.labels_ >= 0
    print(f"\n{is_core.sum()} of {len(X)} digits are in a core")

    # Right or wrong is another question than stable or not; look at both.
    items = cc.item_table()
    order = np.argsort(items["strength"].to_numpy(), kind="stable")[:N_DRAWN]
    print(f"the {N_DRAWN} least certain are in a core: {is_core[order].any()}")

    figure, axes = plt.subplots(2, N_DRAWN // 2, figsize=(10.5, 2.4), layout="constrained")
    for ax, item in zip(axes.ravel(), order, strict=True):
        ax.imshow(digits.images[item], cmap="gray_r", interpolation="nearest")
        ax.set_title(f"{read_as[item]}?", fontsize=9)
        ax.set_axis_off()
    figure.suptitle(
        "the digits that the classifier is least sure of, and what it read", fontsize=10
    )
    figure.savefig("classifier.png", dpi=80)


if __name__ == "__main__":
    main()
