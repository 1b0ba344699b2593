"""Compares each display with a small reference picture."""

import numpy as np
import pytest

from plotting.pictures import (
    PICTURES,
    REFERENCES,
    alpha_path,
    cluster_sizes,
    distance,
    heatmap,
    reference,
    scatter,
    small,
    strength,
)

# Releases of matplotlib from 3.9 to 3.11 differ by up to 3.6, the changes below by 7 and more.
TOLERANCE = 5.0


@pytest.mark.parametrize("name", PICTURES)
def test_it_looks_as_it_should(name):
    assert distance(small(PICTURES[name]()), reference(name)) < TOLERANCE
    assert (REFERENCES / f"{name}.png").stat().st_size < 2000


def changed_displays():
    path = alpha_path()
    bars = cluster_sizes()
    yield "scatter", scatter(labels=scatter().reference_labels)
    yield "scatter", scatter(positions=-scatter().positions[:, ::-1])
    yield "heatmap", heatmap(matrix=heatmap().matrix[::-1, ::-1])
    yield "alpha_path", alpha_path(weak_fractions=path.weak_fractions[::-1])
    yield "cluster_sizes", cluster_sizes(core=bars.core + bars.weak, weak=np.zeros_like(bars.weak))
    yield "strength", strength(labels=strength().reference_labels)


def test_another_answer_looks_different():
    for name, display in changed_displays():
        assert distance(small(display), reference(name)) > TOLERANCE
