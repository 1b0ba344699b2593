"""Draws the plots of the study, with one row of dots per design; needs matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from studies.calibration.designs import DESIGNS
from studies.calibration.summary import BAR_EACH, BAR_POOLED, BAR_SIZE, Summary, Tally

#: Titles of the rules and the schemes.
RULE_TITLES = {
    "paper": "the estimate (the paper)",
    "pair": "confidence 0.95, per pair",
    "simultaneous": "confidence 0.95, simultaneous",
}
SCHEME_TITLES = {
    "bootstrap": "Bootstrap()",
    "all": 'Bootstrap(label="all")',
    "subsample": "Subsample(0.5)",
}
ALL_DESIGNS = "all designs"

# Colors of the palette of Okabe and Ito, which is safe for color-blind readers.
_RULE_LOOKS = (("o", "#D55E00"), ("s", "#E69F00"), ("D", "#0072B2"))
_SCHEME_LOOKS = (("D", "#0072B2"), ("^", "#CC79A7"), ("P", "#000000"))
_DPI = 110

# A series of dots: its title, and a function from a design (None for all) to its tally.
_Series = tuple[str, Callable[[str | None], Tally | None]]


def draw_shares(summary: Summary) -> Any:
    """Draw the share of core pairs that truly meet the bar, by design and rule."""
    return _dots(
        summary,
        _by_rule(summary),
        _RULE_LOOKS,
        [
            ("core pairs that truly meet 0.90 (%)", lambda tally: tally.meet, None),
            ("core pairs that truly meet 0.88 (%)", lambda tally: tally.nearly, BAR_EACH),
        ],
    )


def draw_sizes(summary: Summary) -> Any:
    """Draw the size of the cores relative to the oracle's, and the worst pairs."""
    return _dots(
        summary,
        _by_rule(summary),
        _RULE_LOOKS,
        [
            ("core items, of the oracle's (%)", lambda tally: tally.size, BAR_SIZE),
            ("worst core pair: its true probability (%)", lambda tally: tally.worst, None),
        ],
    )


def draw_schemes(summary: Summary) -> Any:
    """Draw shares and sizes with the simultaneous rule, by design and scheme."""
    return _dots(
        summary,
        [(title, _scheme_figures(summary, name)) for name, title in SCHEME_TITLES.items()],
        _SCHEME_LOOKS,
        [
            ("core pairs that truly meet 0.88 (%)", lambda tally: tally.nearly, BAR_EACH),
            ("core items, of the oracle's (%)", lambda tally: tally.size, BAR_SIZE),
        ],
    )


#: The plots, by name.
PLOTS: dict[str, Callable[[Summary], Any]] = {
    "shares": draw_shares,
    "sizes": draw_sizes,
    "schemes": draw_schemes,
}


def _by_rule(summary: Summary) -> list[_Series]:
    return [
        (title, lambda design, rule=rule: summary.tally("bootstrap", rule, design))  # type: ignore[misc]
        for rule, title in RULE_TITLES.items()
    ]


def _scheme_figures(summary: Summary, scheme: str) -> Callable[[str | None], Tally | None]:
    def figures(design: str | None) -> Tally | None:
        if not summary.has(design, scheme):
            return None
        return summary.tally(scheme, "simultaneous", design)

    return figures


def _dots(
    summary: Summary,
    series: Sequence[_Series],
    looks: Sequence[tuple[str, str]],
    panels: Sequence[tuple[str, Callable[[Tally], float], float | None]],
) -> Any:
    from matplotlib.figure import Figure

    rows: list[str | None] = [*summary.designs_with("bootstrap"), None]
    titles = [ALL_DESIGNS if name is None else DESIGNS[name].title for name in rows]
    # Without pyplot there is nothing to close, and no display is needed.
    figure = Figure(figsize=(9.0, 1.6 + 0.34 * len(rows)), layout="constrained", dpi=_DPI)
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (caption, value, bar) in zip(axes, panels, strict=True):
        for number, (title, figures) in enumerate(series):
            marker, color = looks[number]
            # Shifted a little, so that equal values do not hide each other.
            shift = 0.2 * (number - (len(series) - 1) / 2)
            found = [(place, tally) for place, name in enumerate(rows) if (tally := figures(name))]
            ax.plot(
                [100 * value(tally) for _, tally in found],
                [place + shift for place, _ in found],
                marker,
                color=color,
                markersize=5.5,
                label=title,
            )
        if bar is not None:
            ax.axvline(100 * bar, color="0.35", linewidth=1, linestyle="--")
        if bar == BAR_EACH:  # the bar for all designs together is higher
            last = len(rows) - 1
            ax.plot([100 * BAR_POOLED] * 2, [last - 0.5, last + 0.5], color="0.35", linewidth=1.5)
        ax.axhline(len(rows) - 1.5, color="0.6", linewidth=0.8)
        ax.margins(x=0.06)
        ax.set_xlabel(caption)
        ax.grid(axis="x", color="0.9")
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(range(len(rows)), titles)
    axes[0].set_ylim(len(rows) - 0.4, -0.6)
    figure.legend(
        handles=axes[0].get_legend_handles_labels()[0],
        loc="outside lower center",
        ncols=len(series),
        frameon=False,
    )
    return figure
