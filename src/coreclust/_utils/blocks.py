"""Items of a dask array, which are fetched and labeled block by block."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


class BlockedItems:
    """A dask array: rows are fetched, blocks are labeled where they are."""

    def __init__(self, array: Any) -> None:
        self._array = array.rechunk({1: -1})  # a block holds whole items
        self.shape: tuple[int, int] = (int(array.shape[0]), int(array.shape[1]))

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return some items, in any order and with repetitions."""
        distinct, places = np.unique(rows, return_inverse=True)
        return np.asarray(self._array[distinct].compute())[places]

    def label(self, predict: Callable[[Any], Any]) -> NDArray[Any]:
        """Return the labels of all items; only the labels are transferred."""
        labels = self._array.map_blocks(_label_block, predict, drop_axis=1, dtype=np.int64)
        return np.asarray(labels.compute())

    def blocks(self) -> Iterator[NDArray[Any]]:
        """Yield the items block by block."""
        for block in self._array.blocks.ravel():
            yield np.asarray(block.compute())


def _label_block(block: NDArray[Any], predict: Callable[[Any], Any]) -> NDArray[Any]:
    return np.asarray(predict(block))


def is_dask_array(X: Any) -> bool:
    """Tell whether X is a dask array, without importing dask."""
    dask_array = sys.modules.get("dask.array")
    return dask_array is not None and isinstance(X, dask_array.Array)


def check_blocked(X: Any) -> BlockedItems:
    """Return a dask array as items; raise unless it is a numeric table of known size."""
    if X.ndim != 2:
        raise ValueError(
            f"X must have one row per item and one column per feature, got shape {X.shape}."
        )
    if not all(np.isfinite(X.shape)):
        raise ValueError(
            "X must be a dask array of known size; call X.compute_chunk_sizes() first."
        )
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X must hold numbers, got a dask array of dtype {X.dtype}.")
    if X.shape[0] < 2:
        raise ValueError(f"X must have at least 2 items, got {X.shape[0]}.")
    return BlockedItems(X)
