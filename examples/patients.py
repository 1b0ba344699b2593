"""Patients: the tumours that stay on their side, and those to look at again.

Thirty measurements of the cells of 569 breast tumours (the Wisconsin data, which ships inside
scikit-learn) are clustered into two groups without looking at the diagnosis. The cores are the
tumours that stay on their side when other patients had been examined; the weak points are those to
look at again. The diagnosis is used only at the end, to see what the cores are worth.

Run it with ``python examples/patients.py``; it takes a few seconds.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from coreclust import CoreClustering
from coreclust.cluster import KMeans
from coreclust.metrics import purity_score
from coreclust.plotting import AlphaPathDisplay, CoreClusterDisplay


def main():
    """Cluster the tumours, find the cores and compare them with the diagnosis."""
    tumours = load_breast_cancer()
    X = StandardScaler().fit_transform(tumours.data)  # the units differ: bring them to one scale
    diagnosis = tumours.target_names[tumours.target]

    cc = CoreClustering(KMeans(2), alpha=0.1, random_state=0).fit(X)
    # Somebody may act on this, so ask for a bound that holds for all pairs at once.
    sure = cc.recut(confidence=0.95)

    print(sure.summary().to_string(index=False, float_format="{:.3f}".format))
    weak = sure.weak_sample_indices_
    print(f"\n{len(weak)} of {len(X)} tumours are weak points")
    print(f"purity of the clusters: {purity_score(diagnosis, sure.reference_labels_):.3f}")
    print(f"purity of the cores:    {purity_score(diagnosis, sure.labels_):.3f}")
    wrong = sum(
        diagnosis[item] != most_common(diagnosis[core.members])
        for core in sure.cores_
        for item in core.weak
    )
    print(f"weak tumours on the wrong side: {wrong / len(weak):.0%}")

    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4), layout="constrained")
    CoreClusterDisplay.from_estimator(sure, X, ax=left)
    left.set_title("569 tumours, first two principal components")
    AlphaPathDisplay.from_estimator(cc, ax=right)
    figure.savefig("patients.png", dpi=80)


def most_common(values):
    """Return the most common of some values."""
    values = values.tolist()
    return max(set(values), key=values.count)


if __name__ == "__main__":
    main()
