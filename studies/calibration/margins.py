"""Cuts the resamples of a trial at smaller values of alpha than the one that is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coreclust import CoreClustering
from studies.calibration.designs import DESIGNS
from studies.calibration.trials import ALPHA, SCHEMES, Trial, cores_seed, draw_data
from studies.paper.cells import Results

#: The values of alpha, with the paper's rule; the pairs are judged by the alpha of the study.
ALPHAS = (0.1, 0.05, 0.02, 0.01)


@dataclass(frozen=True)
class _Kept:
    """The cuts of a trial, which have a file beside its result."""

    trial: Trial

    @property
    def file_name(self) -> str:
        return f"margins-{self.trial.file_name}"


def cut_with_margins(trial: Trial, store: Results) -> dict[str, list[int]]:
    """Return the core of each item at every alpha, from the bootstrap resamples of a trial.

    Parameters
    ----------
    trial : Trial
    store : Results
        Where cuts are stored; stored cuts are not computed again.

    Returns
    -------
    cuts : dict from str to list of int
        By alpha, as text for JSON; empty for designs without the bootstrap.
    """
    if DESIGNS[trial.design].scheme != "bootstrap":
        return {}
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
