"""Cells: core and weak cells of the clusters of blood cells.

Seven hundred blood cells (pbmc68k_reduced, which is part of scanpy) are clustered as in scanpy: by
the communities of the nearest-neighbor graph of their principal components. The cores are written
into the AnnData object. The weak cells are best left out of the search for marker genes.

Run it with ``python examples/cells.py``; it takes a few seconds and requires scanpy and igraph.
"""

import matplotlib.pyplot as plt
import scanpy as sc

from coreclust.cluster import Leiden
from coreclust.metrics import purity_score
from coreclust.plotting import CoreClusterDisplay
from coreclust.single_cell import core_clustering


def main():
    """Find the core clusters of the cells and plot them on the UMAP."""
    adata = sc.datasets.pbmc68k_reduced()
    types = adata.obs["bulk_labels"].to_numpy()

    cc = core_clustering(adata, Leiden(), n_resamples=100, random_state=0)

    print("core clusters, as written into adata.obs:")
    print(adata.obs["core_cluster"].value_counts(sort=False).to_string())
    strength = adata.obs["core_cluster_strength"]
    is_weak = adata.obs["core_cluster"] == "weak"
    print(f"\nmedian strength of core cells: {strength[~is_weak].median():.2f}")
    print(f"median strength of weak cells: {strength[is_weak].median():.2f}")
    print(f"purity of the clusters: {purity_score(types, cc.reference_labels_):.2f}")
    print(f"purity of the cores:    {purity_score(types, cc.labels_):.2f}")

    figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
    CoreClusterDisplay.from_estimator(cc, positions=adata.obsm["X_umap"], ax=ax)
    ax.set(title="700 blood cells", xlabel="UMAP 1", ylabel="UMAP 2")
    figure.savefig("cells.png", dpi=80)


if __name__ == "__main__":
    main()
