"""What the study ran, and how it found the truth: the end of the page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from studies.calibration.designs import DESIGNS, N_INIT, Design
from studies.calibration.summary import SLACK, Summary
from studies.calibration.truth import BAND, CORE_BAND
from studies.calibration.words import bar_of, title_of
from studies.paper.cells import listed_versions
from studies.paper.render import markdown_grid


def what_was_run(summary: Summary) -> Iterator[str]:
    """Describe the designs, the settings and the versions."""
    first = summary.results[0]
    lines = []
    for name in summary.designs:
        design = DESIGNS[name]
        n_datasets = sum(result["design"] == name for result in summary.results)
        lines.append(
            [
                design.title,
                _distribution(design),
                str(design.mixture.n_features),
                str(design.n_items),
                f"{design.algorithm}, k = {design.n_clusters}",
                str(n_datasets),
            ]
        )
    header = ["design", "distribution", "features", "items", "clustering function", "datasets"]
    yield "\n".join(markdown_grid(header, lines))
    minutes = sum(result["seconds"] for result in summary.results) / 60
    unproven = sum(not result["optimal"] for result in summary.results)
    yield "\n".join(
        [
            (
                f"- alpha = {first['alpha']:g}, confidence = {first['confidence']:g}, "
                f"m = {first['n_resamples']}, seed {first['seed']}."
            ),
            "- The designs were chosen before the study was run, and none was changed after.",
            (
                f"- k-means is `KMeans(k, n_init={N_INIT})`: few starts, because the truth takes "
                "millions of clusterings. They are part of the clustering function, the same "
                "everywhere."
            ),
            "- All rules of a scheme are cut from the same samples (`recut`). "
            + ("All cores are" if not unproven else "Not all cores are")
            + " proven to be the largest.",
            f"- The oracle's core is cut from the truth, at {bar_of(summary):g}.",
            (
                f"- Versions: {listed_versions(summary.results)}. "
                f"{minutes:.0f} minutes on a shared machine."
            ),
        ]
    )


def how_truth_was_found(summary: Summary) -> Iterator[str]:
    """Describe the truth, and compare the quick estimate with the exact one."""
    m = summary.results[0]["n_truth"]
    error = math.sqrt(bar_of(summary) * (1 - bar_of(summary)) / m)
    yield (
        "The truth is the probability that two items get the same label when the other n - 2 are "
        "drawn afresh from the distribution (Algorithm 2 of the paper), from "
        f"{m} samples a pair: its standard error at {bar_of(summary):g} is {error:.4f}, against "
        f"the {SLACK:g} that the bars leave."
    )
    if not summary.checks:
        return
    yield (
        "For k-means, a quick estimate comes first: new datasets of n items are clustered, and the "
        "items of the data get the label of the nearest center. One clustering serves all pairs, "
        "but the influence of the two items themselves is missing, and it matters: two neighbors "
        "at a border both draw the border away. So pairs near the bar (a quick estimate from "
        f"{BAND[0]:g} to {BAND[1]:g}, for pairs of any core from {CORE_BAND[0]:g}) are sampled by "
        "Algorithm 2, which replaces it: at most 30,000 / n a dataset, those of cores first. The "
        "rest keep the quick estimate, so a share close to a bar may be on either side of it. As a "
        "check, 40 other pairs a dataset, chosen at random, are sampled by Algorithm 2 as well. "
        "Average linkage is sampled by it "
        "throughout. The table has the differences, exact minus quick; the noise of the two is "
        f"part of them (about {math.sqrt(4 / math.pi) * error:.3f} in the mean absolute "
        f"difference at {bar_of(summary):g})."
    )
    lines = []
    for name, check in summary.checks.items():
        lines.append(
            [
                title_of(name),
                str(check.n_pairs),
                f"{check.n_band_exact} of {check.n_band}",
                f"{check.n_core_exact} of {check.n_core}",
                *_differences(check.differences),
                str(check.outside.size),
                *_differences(check.outside)[1:],
                str(check.n_changed),
            ]
        )
    header = [
        "design", "pairs", "near the bar, exact", "of these in a core, exact",
        "mean", "mean absolute", "largest",
        "others, checked", "mean absolute", "largest", "changed sides",
    ]  # fmt: skip
    yield "\n".join(markdown_grid(header, lines))
    n_changed = sum(check.n_changed for check in summary.checks.values())
    n_checked = sum(check.outside.size for check in summary.checks.values())
    yield (
        f"Changed sides: of the {n_checked} other pairs that were checked, {n_changed} are "
        f"on another side of {bar_of(summary):g} or {bar_of(summary) - SLACK:g} by the exact "
        "samples than by the quick estimate."
    )


def _differences(values: Any) -> list[str]:
    if values.size == 0:
        return ["", "", ""]
    absolute = np.abs(values)
    return [f"{values.mean():+.4f}", f"{absolute.mean():.4f}", f"{absolute.max():.3f}"]


def _distribution(design: Design) -> str:
    mixture = design.mixture
    kind = "normal" if mixture.degrees is None else f"t with {mixture.degrees} degrees of freedom"
    shares = ", ".join(f"{100 * weight:.0f}" for weight in mixture.weights)
    equal = len(set(mixture.weights)) == 1
    return f"3 groups, {kind}, {mixture.side:g} apart" + ("" if equal else f", {shares} %")
