"""Where the study misses a bar, and why."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coreclust.calibration.designs import DESIGNS
from coreclust.calibration.plots import SCHEME_TITLES
from coreclust.calibration.summary import BAR_EACH, BAR_POOLED, BAR_SIZE, SLACK, Summary, Tally
from coreclust.calibration.words import bar_of, percent, title_of
from coreclust.cores import pair_level
from coreclust.evidence import confidence_table
from coreclust.resampling import Bootstrap

#: The scheme and the rule that the bars are about.
STRICT = ("bootstrap", "simultaneous")


def missed_bars(summary: Summary) -> Iterator[str]:
    """Say for every design, and for all, which bar is missed and why."""
    any_missed = False
    for name in summary.designs:
        tally = summary.tally(*STRICT, name)
        if tally.nearly < BAR_EACH:
            any_missed = True
            yield _why_low(summary, name, tally)
        if tally.size < BAR_SIZE:
            any_missed = True
            yield _why_small(summary, name, tally)
    pooled = summary.tally(*STRICT)
    if pooled.nearly < BAR_POOLED:
        any_missed = True
        lost = {
            name: (tally := summary.tally(*STRICT, name)).n_pairs - tally.n_nearly
            for name in summary.designs
        }
        most = max(lost, key=lambda name: lost[name])
        yield (
            f"**Over all designs**, {percent(pooled.nearly)} is below the bar of "
            f"{100 * BAR_POOLED:g} %. Of the {sum(lost.values())} pairs below "
            f"{bar_of(summary) - SLACK:g}, {lost[most]} are in the design {title_of(most)!r}."
        )
    if not any_missed:
        yield "Nowhere."


def _why_low(summary: Summary, name: str, tally: Tally) -> str:
    shares = [percent(each.nearly) for each in summary.tallies(*STRICT, name)]
    others = [
        f"{percent(summary.tally(scheme, STRICT[1], name).nearly)} under {title}"
        for scheme, title in SCHEME_TITLES.items()
        if scheme != STRICT[0] and summary.has(name, scheme)
    ]
    return (
        f"**{title_of(name).capitalize()}: {percent(tally.nearly)} of the core pairs meet "
        f"{bar_of(summary) - SLACK:g}** (by dataset: {', '.join(shares)}), the worst at "
        f"{tally.worst:.3f}. The rule bounds the chance of *any* error from the noise of "
        "resampling by 5 % a dataset, so this is more than noise: the bootstrap of these data is "
        "steadier than new data of the same distribution would be. More samples do not help. "
        f"It is {' and '.join(others)}."
    )


def _why_small(summary: Summary, name: str, tally: Tally) -> str:
    paper = summary.tally("bootstrap", "paper", name)
    needed = 100 * _share_needed(summary, name)
    text = (
        f"**{title_of(name).capitalize()}: the core keeps {percent(tally.size)} of the oracle's.** "
        f"At m = {_samples(summary)}, a pair is in {_seen(summary, name)} samples, and has to be "
        f"together in {needed:.1f} % of them to pass for all pairs at once. The paper's rule keeps "
        f"{percent(paper.size)}"
    )
    if paper.size < BAR_SIZE:
        return text + (
            ", less than the bar as well: here the bootstrap finds the clustering less steady than "
            "new data would, and more samples cannot make up for all of it."
        )
    return text + "; the difference is the price of the certainty, which more samples lower."


def _share_needed(summary: Summary, name: str) -> float:
    """Return the least share of samples in which a pair has to be together to pass for all."""
    result = next(result for result in summary.results if result["design"] == name)
    sizes = np.bincount(np.array(result["reference"]))
    level = pair_level(sizes, result["confidence"], "simultaneous")
    seen = _seen(summary, name)
    allowed = int(confidence_table(result["alpha"], level, seen)[seen])
    return 1 - allowed / seen


def _seen(summary: Summary, name: str) -> int:
    return round(_samples(summary) * Bootstrap().pair_share(DESIGNS[name].n_items))


def _samples(summary: Summary) -> int:
    return int(summary.results[0]["n_resamples"])
