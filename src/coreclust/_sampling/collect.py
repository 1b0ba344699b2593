"""Collects the labels of resamples as they arrive, in memory or on disk."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from coreclust._checkpoint.folder import Checkpoint
from coreclust.evidence._ensemble import LabelEnsemble
from coreclust.evidence._labeling import Block, Labeling


class InMemory:
    """Collects labels in an array, after those of earlier resamples, and in a checkpoint if any."""

    def __init__(
        self,
        n_resamples: int,
        n_items: int,
        after: Labeling | None,
        checkpoint: Checkpoint | None,
    ) -> None:
        known = np.empty((0, n_items), np.int8) if after is None else after.ensemble.labels.T
        self._labels = np.empty((n_resamples, n_items), dtype=known.dtype)
        self._labels[: len(known)] = known
        self._n_labeled = len(known)
        self._models: list[Any] = [] if after is None else list(after.models)
        self._checkpoint = checkpoint
        self.errors = [] if after is None else list(after.errors)
        self._failed: tuple[int, ...] = () if after is None else after.failed

    @property
    def n_tried(self) -> int:
        """Number of resamples drawn, failed ones included."""
        return self._n_labeled + len(self.errors)

    def add(self, block: Block) -> None:
        """Take the resamples that follow the last ones."""
        if block.labels.dtype.itemsize > self._labels.dtype.itemsize:
            self._labels = self._labels.astype(block.labels.dtype)
        end = self._n_labeled + len(block.labels)
        self._labels[self._n_labeled : end] = block.labels
        self._n_labeled = end
        self.errors += [error for _, error in block.failed]
        self._failed += tuple(resample for resample, _ in block.failed)
        self._models += block.models
        if self._checkpoint is not None:
            self._checkpoint.add(block)

    def labeling(self) -> Labeling:
        """Return everything collected."""
        ensemble = LabelEnsemble._owning(self._labels[: self._n_labeled].T)
        return Labeling(ensemble, self.errors, self._models, self._failed)


class OnDisk:
    """Collects labels in a checkpoint only."""

    def __init__(self, n_resamples: int, checkpoint: Checkpoint) -> None:
        self._n_resamples = n_resamples
        self._checkpoint = checkpoint
        self.n_tried = min(checkpoint.n_tried, n_resamples)
        self.errors = [error for _, error in checkpoint.failures(n_resamples)]

    def add(self, block: Block) -> None:
        """Take the resamples that follow the last ones."""
        self.n_tried += block.n_tried
        self.errors += [error for _, error in block.failed]
        self._checkpoint.add(block)

    def labeling(self) -> Labeling:
        """Return everything collected, once the checkpoint has been flushed."""
        return cast(Labeling, self._checkpoint.labeling(self._n_resamples))


def collector(
    n_resamples: int, n_items: int, after: Labeling | None, checkpoint: Checkpoint | None
) -> InMemory | OnDisk:
    """Return a collector that already holds the resamples of `after` or of the checkpoint."""
    if checkpoint is not None:
        if checkpoint.is_large(n_resamples):
            return OnDisk(n_resamples, checkpoint)
        if after is None or after.n_tried < min(checkpoint.n_tried, n_resamples):
            after = checkpoint.labeling(n_resamples)
    return InMemory(n_resamples, n_items, after, checkpoint)
