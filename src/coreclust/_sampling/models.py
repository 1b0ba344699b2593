"""Keeps the fitted models of resamples, to label new items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.constants import NOISE


@dataclass(frozen=True, eq=False)
class EstimatorModel:
    """A fitted estimator, and the labels that the codes of its resample stand for."""

    estimator: Any
    names: NDArray[Any]  # sorted; the code of a label is its position
    negative_is_noise: bool

    def label(self, X: Any) -> NDArray[np.int64]:
        """Return the code of each item; labels that were not in the resample get a new code."""
        labels = np.asarray(self.estimator.predict(X))
        place = np.searchsorted(self.names, labels)
        known = place < self.names.size
        known[known] = self.names[place[known]] == labels[known]
        codes = np.where(known, place, self.names.size)
        if self.negative_is_noise and labels.dtype.kind == "i":
            codes[labels < 0] = NOISE
        return codes
