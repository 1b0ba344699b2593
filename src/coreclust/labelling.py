"""What comes out of labelling samples: as it arrives, and all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coreclust.ensemble import LabelEnsemble
from coreclust.models import Model


@dataclass(frozen=True)
class Block:
    """The labels of consecutive samples, and the errors of those that failed.

    Attributes
    ----------
    labels : ndarray of int of shape (n_labelled, n_items)
        In the smallest type that fits.
    failed : list of (int, str)
        Samples that failed on every try, counted from 0 over all blocks, and their errors.
    models : list of Model
        Of the labelled samples, or none at all.
    """

    labels: NDArray[np.signedinteger]
    failed: list[tuple[int, str]]
    models: list[Model]

    @property
    def n_samples(self) -> int:
        """The samples that were drawn, with those that failed."""
        return len(self.labels) + len(self.failed)


class Labelling(NamedTuple):
    """What comes out of labelling samples.

    Attributes
    ----------
    ensemble : LabelEnsemble
        Without the samples that failed on every try.
    errors : list of str
        Of those that did.
    models : list of Model
        Of the samples in the ensemble, if they were to be kept.
    """

    ensemble: LabelEnsemble
    errors: list[str]
    models: list[Model]

    @property
    def n_tried(self) -> int:
        """The samples that were drawn, with those that failed."""
        return self.ensemble.n_resamples + len(self.errors)
