"""The labels of resamples: block by block as they arrive, and all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coreclust.evidence._ensemble import LabelEnsemble


@dataclass(frozen=True)
class Block:
    """The labels of consecutive resamples, and the errors of those that failed.

    Attributes
    ----------
    labels : ndarray of int of shape (n_labeled, n_items)
        In the smallest type that fits.
    failed : list of (int, str)
        Resamples that failed on every try, counted from 0 over all blocks, and their errors.
    models : list
        One model, or the array that a model is made from, per labeled resample; or empty.
    """

    labels: NDArray[np.signedinteger]
    failed: list[tuple[int, str]]
    models: list[Any]

    @property
    def n_tried(self) -> int:
        """Number of resamples drawn, failed ones included."""
        return len(self.labels) + len(self.failed)


class Labeling(NamedTuple):
    """The labels of all resamples.

    Attributes
    ----------
    ensemble : LabelEnsemble
        Without the resamples that failed on every try.
    errors : list of str
        The errors of those that failed.
    models : list
        One per resample in the ensemble, if models are kept.
    """

    ensemble: LabelEnsemble
    errors: list[str]
    models: list[Any]

    @property
    def n_tried(self) -> int:
        """Number of resamples drawn, failed ones included."""
        return self.ensemble.n_resamples + len(self.errors)
