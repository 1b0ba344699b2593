"""Tests of the figures of the paper."""

import numpy as np
import pytest
from sklearn.utils import Bunch

from studies.paper.figures import Panel, draw_figure, panels_of, to_png, to_svg
from studies.paper.plan import PANELS, Plan
from studies.paper.tables import Findings

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(0)
REFERENCE = np.repeat([0, 1, 2, -1], 10)
LABELS = np.where(np.arange(40) % 3 == 0, -1, REFERENCE)


def bunch(n_features):
    return Bunch(
        data=RNG.normal(size=(40, n_features)),
        feature_names=[f"x{number}" for number in range(1, n_features + 1)],
    )


DATASETS = {"synthetic": bunch(2), "iris": bunch(4), "bcw": bunch(9)}


def findings():
    plan = Plan()
    cut = {"weak_fraction": 0.204, "labels": LABELS.tolist()}
    made = {"reference": REFERENCE.tolist(), "noise": {"together": cut}}
    return Findings(
        plan, {plan.bootstrap(*key): made for number in PANELS for key in PANELS[number]}
    )


@pytest.mark.parametrize("number", [1, 2])
def test_panels_and_their_titles(number):
    figure = draw_figure(number, panels_of(number, findings(), DATASETS))
    titles = [ax.get_title() for ax in figure.axes]
    assert len(titles) == (1 if number == 1 else 9)
    assert titles[0] == (
        "Synthetic, k-means++: 20 % weak (paper: 17 %)"
        if number == 1
        else "Synthetic, SVM: 20 % weak (paper: 20 %)"
    )
    assert all(ax.get_legend() is None for ax in figure.axes)
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["core", "weak", "trimmed"]


def test_filled_open_and_stars():
    figure = draw_figure(1, panels_of(1, findings(), DATASETS))
    drawn = {artist.get_label(): artist for artist in figure.axes[0].collections}
    assert len(drawn) == 7  # three clusters, core and weak, and the trimmed
    assert sum(len(artist.get_offsets()) for artist in drawn.values()) == 40
    for label, artist in drawn.items():
        white = np.allclose(artist.get_facecolor()[0][:3], 1)
        assert white == label.endswith("weak")


def test_two_features_as_they_are_others_by_principal_components():
    axes = draw_figure(2, panels_of(2, findings(), DATASETS)).axes
    assert (axes[0].get_xlabel(), axes[0].get_ylabel()) == ("x1", "x2")
    assert axes[3].get_xlabel() == "principal component 1"
    drawn = np.vstack([artist.get_offsets() for artist in axes[0].collections])
    assert set(map(tuple, drawn)) == set(map(tuple, DATASETS["synthetic"].data))


def test_a_panel_without_data_says_why():
    plan = Plan()
    missing = dict.fromkeys(Plan((), (2,)).cells(), "the data was not found")
    panels = panels_of(2, Findings(plan, {}, missing), {})
    assert {panel.reason for panel in panels} == {"not run: the data was not found"}
    figure = draw_figure(2, panels)
    assert figure.axes[0].texts[0].get_text() == "not run: the data was not found"
    assert figure.axes[6].get_title() == "BCW, k-means++"


def test_files_are_small_and_the_same_every_time():
    n_items = 683
    reference = RNG.integers(0, 3, n_items)
    panel = Panel("p", RNG.normal(size=(n_items, 5)), reference, np.where(reference, reference, -1))
    for write, head, limit in ((to_png, b"\x89PNG", 200_000), (to_svg, b"<?xml", 1_500_000)):
        first, second = (write(draw_figure(2, [panel] * 9)) for _ in range(2))
        assert first == second
        assert first.startswith(head)
        assert len(first) < limit
    assert b"dc:date" not in to_svg(draw_figure(1, [panel]))
