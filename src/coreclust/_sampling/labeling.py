"""What comes out of labeling resamples: as it arrives, and all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coreclust._sampling.models import Model
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
    models : list of Model
        Of the labeled resamples, or none at all.
    """

    labels: NDArray[np.signedinteger]
    failed: list[tuple[int, str]]
    models: list[Model]

    @property
    def n_resamples(self) -> int:
        """The resamples that were drawn, with those that failed."""
        return len(self.labels) + len(self.failed)


class Labeling(NamedTuple):
    """What comes out of labeling resamples.

    Attributes
    ----------
    ensemble : LabelEnsemble
        Without the resamples that failed on every try.
    errors : list of str
        Of those that did.
    models : list of Model
        Of the resamples in the ensemble, if they were to be kept.
    """

    ensemble: LabelEnsemble
    errors: list[str]
    models: list[Model]

    @property
    def n_tried(self) -> int:
        """The resamples that were drawn, with those that failed."""
        return self.ensemble.n_resamples + len(self.errors)
