"""Where the study misses a bar, and why."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coreclust.evidence import confidence_table
from coreclust.evidence._rule import pair_level
from coreclust.resampling import Bootstrap
from studies.calibration.designs import DESIGNS
from studies.calibration.plots import SCHEME_TITLES
from studies.calibration.summary import BAR_EACH, BAR_POOLED, BAR_SIZE, SLACK, Summary, Tally
from studies.calibration.words import bar_of, percent, title_of

#: The scheme and the rule that the bars are about.
STRICT = ("bootstrap", "simultaneous")


def missed_bars(summary: Summary) -> Iterator[str]:
    """Say for every design, and for all, which bar is missed and why."""
    tallies = {name: summary.tally(*STRICT, name) for name in summary.designs}
    low = [name for name, tally in tallies.items() if tally.nearly < BAR_EACH]
    small = [name for name, tally in tallies.items() if tally.size < BAR_SIZE]
    pooled = summary.tally(*STRICT)
    if low:
        yield (
            f"**Fewer than {100 * BAR_EACH:g} % of the core pairs meet "
            f"{bar_of(summary) - SLACK:g}** under the simultaneous rule in:"
        )
        yield "\n".join(_low(summary, name, tallies[name]) for name in low)
        yield _WHY_LOW
    if pooled.nearly < BAR_POOLED:
        lost = {name: tally.n_pairs - tally.n_nearly for name, tally in tallies.items()}
        most = max(lost, key=lambda name: lost[name])
        yield (
            f"**Over all designs**, {percent(pooled.nearly)} is below the bar of "
            f"{100 * BAR_POOLED:g} %. Of the {sum(lost.values())} pairs below "
            f"{bar_of(summary) - SLACK:g}, {lost[most]} are in the design {title_of(most)!r}."
        )
    for name in small:
        yield _why_small(summary, name, tallies[name])
    if not low and not small and pooled.nearly >= BAR_POOLED:
        yield "Nowhere."


_WHY_LOW = (
    "The rule bounds the chance of *any* error from the noise of resampling by 5 % a dataset, so "
    "this is more than that noise, and more samples do not help. It is the bootstrap's own "
    "approximation. Where a clustering draws the border between two clusters varies from dataset "
    "to dataset. The bootstrap shows how much it varies, but around the border that was found in "
    "these data, not around that of the distribution: an item that is clear of the first can be "
    "right on the second, or beyond it, and then all its pairs are wrong at once. A pair of a "
    "core whose true probability is below one half is such a case."
)


def _low(summary: Summary, name: str, tally: Tally) -> str:
    shares = [percent(each.nearly) for each in summary.tallies(*STRICT, name)]
    others = [
        f"{title} {percent(summary.tally(scheme, STRICT[1], name).nearly)}"
        for scheme, title in SCHEME_TITLES.items()
        if scheme != STRICT[0] and summary.has(name, scheme)
    ]
    paper = summary.tally("bootstrap", "paper", name)
    return (
        f"- **{title_of(name)}: {percent(tally.nearly)}** (by dataset: {', '.join(shares)}), the "
        f"worst pair at {tally.worst:.3f}. The paper's rule: {percent(paper.nearly)}, the worst "
        f"at {paper.worst:.3f}. Other schemes: {', '.join(others)}."
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
