"""Small pictures of displays, to compare with the pictures in references/.

``PYTHONPATH=tests python -m plotting.pictures`` draws the references again; look at them before
committing them.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from coreclust.plotting import (
    AlphaPathDisplay,
    ClusterSizesDisplay,
    CooccurrenceDisplay,
    CoreClusterDisplay,
    StrengthDisplay,
)

REFERENCES = Path(__file__).parent / "references"
SIZE = (72, 48)


def scatter(**changes):
    """Three arcs with one core each, and four trimmed items."""
    angle = np.linspace(0, 2 * np.pi, 64)
    reference = np.repeat([0, 1, 2, -1], [20, 20, 20, 4])
    labels = np.where(np.arange(64) % 3 == 0, -1, reference)
    positions = np.column_stack([np.cos(angle), np.sin(2 * angle)])
    arguments = {
        "positions": positions,
        "labels": labels,
        "reference_labels": reference,
        "cluster_names": np.array(["a", "b", "a long name that has to be cut"]),
        "axis_names": ("length", "width"),
    }
    return CoreClusterDisplay(**(arguments | changes)).plot()


def heatmap(**changes):
    """Two clusters, the second looser, and trimmed items."""
    clusters = np.repeat([0, 1, 2], [20, 12, 4])
    place = np.arange(36)
    matrix = np.where(clusters[:, None] == clusters[None], 1 - 0.02 * place[:, None], 0.1)
    matrix[32:] = matrix[:, 32:] = 0
    arguments = {
        "matrix": np.minimum(matrix, matrix.T),
        "clusters": clusters,
        "cluster_names": np.array(["left", "right"]),
        "n_items": 72,
    }
    return CooccurrenceDisplay(**(arguments | changes)).plot()


def alpha_path(**changes):
    """Four falling lines."""
    alphas = np.arange(1, 51) / 100
    fractions = np.clip(np.array([0.9, 0.6, 0.3, 0.0]) - alphas[:, None], 0, 1)
    arguments = {
        "alphas": alphas,
        "weak_fractions": fractions,
        "overall": fractions.mean(axis=1),
        "cluster_names": np.arange(4),
        "alpha": 0.1,
    }
    return AlphaPathDisplay(**(arguments | changes)).plot()


def cluster_sizes(**changes):
    """Four clusters, one without weak items, and trimmed items."""
    arguments = {
        "core": np.array([30, 50, 10, 24]),
        "weak": np.array([12, 0, 25, 3]),
        "n_trimmed": 9,
        "cluster_names": np.array(["a", "b", "c", "d"]),
    }
    return ClusterSizesDisplay(**(arguments | changes)).plot()


def strength(**changes):
    """Three clusters, from stable to loose."""
    rank = np.tile(np.linspace(0, 1, 40), 3)
    reference = np.repeat([0, 1, 2], 40)
    strengths = 1 - rank**3 * (0.1 + 0.2 * reference)
    arguments = {
        "strengths": strengths,
        "labels": np.where(strengths < 0.9, -1, reference),
        "reference_labels": reference,
        "cluster_names": np.array(["firm", "so-so", "loose"]),
    }
    return StrengthDisplay(**(arguments | changes)).plot()


PICTURES = {draw.__name__: draw for draw in (scatter, heatmap, alpha_path, cluster_sizes, strength)}


def small(display):
    """Return what is inside the axes of a display as a small gray picture.

    The text around the axes is left out, because its size depends on the release of matplotlib.
    """
    canvas = FigureCanvasAgg(display.figure_)
    canvas.draw()
    whole = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("L")
    inside = display.ax_.get_window_extent()
    box = (inside.x0, whole.height - inside.y1, inside.x1, whole.height - inside.y0)
    return whole.resize(SIZE, Image.Resampling.BOX, box=box)


def distance(left, right):
    """Return the root mean square difference of two pictures, from 0 to 255."""
    assert left.size == right.size
    difference = np.asarray(left, dtype=float) - np.asarray(right, dtype=float)
    return float(np.sqrt((difference**2).mean()))


def reference(name):
    """Return the reference picture."""
    return Image.open(io.BytesIO((REFERENCES / f"{name}.png").read_bytes()))


if __name__ == "__main__":
    REFERENCES.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        small(draw()).save(REFERENCES / f"{name}.png", optimize=True)
