"""Holds the labels of resamples, block by block and all together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coreclust.evidence._ensemble import LabelEnsemble


@dataclass(frozen=True)
class Block:
    """The labels of consecutive resamples, and the errors of those that failed."""

    labels: NDArray[np.signedinteger]  # (n_labeled, n_items), in the smallest type that fits
    failed: list[tuple[int, str]]  # position over all blocks, and error, if every try failed
    models: list[Any]  # empty, or one model (or its array) per labeled resample
    n_redrawn: int = 0  # tries that failed before a resample was labeled
    redraw_error: str = ""  # the last of their errors

    @property
    def n_tried(self) -> int:
        """Number of resamples drawn, failed ones included."""
        return len(self.labels) + len(self.failed)


class Labeling(NamedTuple):
    """The labels of all resamples, and the errors of those that failed."""

    ensemble: LabelEnsemble  # without the resamples that failed on every try
    errors: list[str]
    models: list[Any]  # empty, or one model per resample in the ensemble
    failed: tuple[int, ...] = ()  # positions of those that failed
    n_redrawn: int = 0  # tries that failed before a resample was labeled
    redraw_error: str = ""  # the last of their errors

    @property
    def n_tried(self) -> int:
        """Number of resamples drawn, failed ones included."""
        return self.ensemble.n_resamples + len(self.errors)
