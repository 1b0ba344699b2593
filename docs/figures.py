"""Draws the pictures of the page "The idea in pictures": ``python docs/figures.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from coreclust import Core, CoreClustering
from coreclust._utils.files import write_whole
from coreclust.cluster import KMeans

IMAGES = Path(__file__).parent / "images"
COLORS = np.array(["#0072B2", "#D55E00", "#009E73"])
RED, FAINT = "#C02942", "#DDDDDD"
CENTERS = np.array([[0.0, 0.0], [3.4, 0.0], [1.7, 3.6]])


def make_data() -> NDArray[np.float64]:
    """Return three groups of points that touch."""
    rng = np.random.default_rng(1)
    return np.repeat(CENTERS, 30, axis=0) + rng.normal(scale=1.05, size=(90, 2))


def colors_of(labels: NDArray[Any], X: NDArray[np.float64]) -> NDArray[np.str_]:
    """Return one color per item: that of the center nearest to the mean of its cluster."""
    colors = np.full(len(X), FAINT)
    for label in np.unique(labels[labels >= 0]):
        mean = X[labels == label].mean(axis=0)
        nearest = ((CENTERS - mean) ** 2).sum(axis=1).argmin()
        colors[labels == label] = COLORS[nearest]
    return colors


def draw_samples(X: NDArray[np.float64], cc: CoreClustering) -> Any:
    """Draw the data, three resamples and the cores side by side."""
    labels = cc.ensemble_.labels
    # Three resamples that differ visibly from the reference.
    own = colors_of(cc.reference_labels_, X)
    moved = [
        int(((labels[:, b] >= 0) & (colors_of(labels[:, b], X) != own)).sum())
        for b in range(labels.shape[1])
    ]
    chosen = np.argsort(np.abs(np.array(moved) - 9), kind="stable")[:3]
    figure, axes = plt.subplots(1, 5, figsize=(11.5, 2.8), layout="constrained")
    panels = [
        ("1. the data, clustered", cc.reference_labels_),
        *(("2. a resample, clustered", labels[:, b]) for b in chosen),
        ("4. the cores", cc.labels_),
    ]
    for ax, (title, shown) in zip(axes, panels, strict=True):
        colors = colors_of(shown, X)
        if shown is cc.labels_:
            faces = np.where(shown >= 0, colors, "white")
            ax.scatter(*X.T, s=22, c=faces, edgecolors=own, linewidths=1.2)
        else:
            ax.scatter(*X.T, s=22, c=colors)
            if shown is not cc.reference_labels_:
                other = (shown >= 0) & (colors != own)
                ax.scatter(*X[other].T, s=90, facecolors="none", edgecolors=RED, linewidths=1.3)
        ax.set_title(title, fontsize=13)
        ax.set(xticks=[], yticks=[], aspect="equal")
    axes[2].set_xlabel(
        "ringed: other cluster than in the data; faint: not in the resample", fontsize=12
    )
    axes[4].set_xlabel("filled: core; open: weak", fontsize=12)
    return figure


def draw_conflicts(X: NDArray[np.float64], cc: CoreClustering) -> Any:
    """Draw one cluster with its conflicts, and its core."""
    core: Core = max(cc.cores_, key=lambda core: core.n_weak)
    p = cc.ensemble_.cooccurrence_matrix(core.members)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for ax, with_weak in zip(axes, (True, False), strict=True):
        for a in range(core.n_items):
            for b in range(a):
                ends = core.members[[a, b]]
                if p[a, b] < 1 - cc.alpha and with_weak:
                    ax.plot(*X[ends].T, color=RED, linewidth=0.7, alpha=0.6, zorder=1)
        color = colors_of(cc.reference_labels_, X)[core.members[0]]
        weak = np.isin(core.members, core.weak)
        place = X[core.members]
        faces = "white" if with_weak else color
        ax.scatter(*place[~weak].T, s=45, c=faces, edgecolors=color, zorder=2, linewidths=1.4)
        ax.scatter(*place[weak].T, s=45, c="white", edgecolors=color, zorder=2, linewidths=1.4)
        ax.set(xticks=[], yticks=[], aspect="equal")
    axes[0].set_title("all items of a cluster, with pairs in conflict", fontsize=11)
    title = f"its core: {core.n_core} of {core.n_items} items, none in conflict"
    axes[1].set_title(title, fontsize=11)
    return figure


def main() -> None:
    """Draw both pictures and write them."""
    X = make_data()
    cc = CoreClustering(KMeans(3), alpha=0.1, random_state=0).fit(X)
    for name, draw in (("idea-samples", draw_samples), ("idea-conflicts", draw_conflicts)):
        figure = draw(X, cc)
        write_whole(
            IMAGES / f"{name}.png", lambda file, figure=figure: figure.savefig(file, dpi=110)
        )
        plt.close(figure)


if __name__ == "__main__":
    main()
