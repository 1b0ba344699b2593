"""What a wider margin buys: the same samples cut at a smaller alpha than the one that is judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coreclust import CoreClustering
from studies.calibration.designs import DESIGNS
from studies.calibration.summary import BAR_EACH, BAR_SIZE, SLACK, Summary
from studies.calibration.trials import ALPHA, SCHEMES, Trial, cores_seed, draw_data
from studies.calibration.words import bar_of, percent, title_of
from studies.paper.cells import Results
from studies.paper.render import markdown_grid

#: Where to cut, under the paper's rule; what is judged stays the same.
ALPHAS = (0.1, 0.05, 0.02, 0.01)


@dataclass(frozen=True)
class _Kept:
    """Where the cuts of a trial are kept, beside its result."""

    trial: Trial

    @property
    def file_name(self) -> str:
        return f"margins-{self.trial.file_name}"


def cut_with_margins(trial: Trial, store: Results) -> dict[str, list[int]]:
    """Return the core of each item at every alpha, from the bootstrap samples of a trial.

    Parameters
    ----------
    trial : Trial
    store : Results
        Where cuts are kept, and taken from if they are there.

    Returns
    -------
    cuts : dict from str to list of int
        By alpha as text, as JSON has it.
    """
    names = [f"{alpha:g}" for alpha in ALPHAS]
    kept = store.get(_Kept(trial))
    if isinstance(kept, dict) and set(kept) == set(names):
        return kept
    cc = CoreClustering(
        DESIGNS[trial.design].estimator(),
        alpha=ALPHA,
        n_resamples=trial.n_resamples,
        resampling=SCHEMES["bootstrap"],
        random_state=cores_seed(trial),
    ).fit(draw_data(trial))
    cuts: dict[str, Any] = {
        name: cc.recut(alpha=alpha).labels_.tolist()
        for name, alpha in zip(names, ALPHAS, strict=True)
    }
    store.put(_Kept(trial), cuts)
    return cuts


def margin_table(summary: Summary) -> Iterator[str]:
    """Show the share of pairs that meet the bar, and the size, at every alpha of the cut."""
    bar = bar_of(summary) - SLACK
    yield (
        "An error of the border calls for a margin: the same samples can be cut at a smaller "
        f"alpha (`recut`), and the pairs be judged by {bar:g} as before. Each cell: share of core "
        f"pairs that truly meet {bar:g}, and core items as a share of the oracle's; Bootstrap(), "
        "the paper's rule."
    )
    names = [f"{alpha:g}" for alpha in ALPHAS]
    lines = []
    for design in [*summary.designs, None]:
        tallies = [summary.tally("bootstrap", f"alpha={name}", design) for name in names]
        lines.append(
            [title_of(design), *(f"{percent(t.nearly)}, {percent(t.size)}" for t in tallies)]
        )
    yield "\n".join(markdown_grid(["design", *(f"cut at {name}" for name in names)], lines))
    both = [
        sum(
            tally.nearly >= BAR_EACH and tally.size >= BAR_SIZE
            for design in summary.designs
            for tally in [summary.tally("bootstrap", f"alpha={name}", design)]
        )
        for name in names
    ]
    counts = ", ".join(f"{count} at {name}" for count, name in zip(both, names, strict=True))
    yield (
        f"Designs that reach both {100 * BAR_EACH:g} % of the pairs and {100 * BAR_SIZE:g} % of "
        f"the size: {counts}, of {len(summary.designs)}."
    )
