"""Patients: tumors that stay in their group, and tumors to examine again.

Thirty measurements of the cells of 569 breast tumors (the Wisconsin data, which is part of
scikit-learn) are clustered into two groups without the diagnosis. The cores are the tumors that
stay in the same group when other patients are examined. The weak tumors are written to a list, the
least certain first, to be examined again. The diagnosis is used only at the end, to evaluate the
cores.

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
    """Cluster the tumors, find the cores and compare them with the diagnosis."""
    tumors = load_breast_cancer()
    X = StandardScaler().fit_transform(tumors.data)  # the features have different units
    diagnosis = tumors.target_names[tumors.target]

    cc = CoreClustering(KMeans(2), alpha=0.1, random_state=0).fit(X)
    # Decisions may depend on the result, so use a bound that holds for all pairs simultaneously.
    sure = cc.recut(confidence=0.95)

    print(sure.summary().to_string(index=False, float_format="{:.3f}".format))
    weak = sure.weak_sample_indices_
    print(f"\n{len(weak)} of {len(X)} tumors are weak")
    print(f"purity of the clusters: {purity_score(diagnosis, sure.reference_labels_):.3f}")
    print(f"purity of the cores:    {purity_score(diagnosis, sure.labels_):.3f}")
    wrong = sum(
        diagnosis[item] != most_common(diagnosis[core.members])
        for core in sure.cores_
        for item in core.weak
    )
    print(f"weak tumors in the wrong group: {wrong / len(weak):.0%}")

    to_examine = sure.item_table().iloc[weak].sort_values("strength")
    to_examine.to_csv("patients-to-examine.csv", index_label="patient")
    first = ", ".join(map(str, to_examine.index[:5]))
    print(f"\nwritten to patients-to-examine.csv: {len(weak)} patients, first {first}")

    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4), layout="constrained")
    CoreClusterDisplay.from_estimator(sure, X, ax=left)
    left.set_title("569 tumors, first two principal components")
    AlphaPathDisplay.from_estimator(cc, ax=right)
    figure.savefig("patients.png", dpi=80)


def most_common(values):
    """Return the most common value."""
    values = values.tolist()
    return max(set(values), key=values.count)


if __name__ == "__main__":
    main()
