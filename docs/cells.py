"""Draws the picture of the page "Single cells": ``python docs/cells.py``. It requires scanpy."""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

from coreclust._utils.files import write_whole
from coreclust.single_cell import core_clustering

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    """Draw the clusters and the cores of 700 blood cells with scanpy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import scanpy as sc

        adata = sc.datasets.pbmc68k_reduced()
        sc.pp.neighbors(adata, use_rep="X_pca")
        sc.tl.leiden(adata, resolution=0.5, flavor="igraph", n_iterations=2)
        core_clustering(adata, reference="leiden", n_resamples=100, random_state=0)
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
        for ax, key, title in zip(
            axes, ("leiden", "core_cluster"), ("clusters", "cores"), strict=True
        ):
            sc.pl.umap(adata, color=key, title=title, ax=ax, show=False)
    write_whole(IMAGES / "cells.png", lambda file: figure.savefig(file, dpi=100))


if __name__ == "__main__":
    main()
