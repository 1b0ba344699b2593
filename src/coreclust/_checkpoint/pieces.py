"""Reads and writes the pieces of a checkpoint: labels of consecutive resamples, with a checksum.

A piece is a line of JSON, the labels of one resample after the other, the arrays of kept models,
and 32 bytes of BLAKE2b over all of that. It is never changed, and reading it executes no code.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.files import write_whole
from coreclust.evidence._labeling import Block

_DIGEST = 32  # bytes
_CHUNK = 1 << 22
_TYPES = ("int8", "int16", "int32", "int64")


@dataclass(frozen=True)
class Piece:
    """A file with the labels of consecutive resamples."""

    path: Path
    first: int  # resample
    n_tried: int  # failed ones included
    failed: list[tuple[int, str]]  # resamples, with their errors
    dtype: np.dtype[Any]  # of the labels
    n_items: int
    model_shape: tuple[int, ...]  # of the array that a model is made from; empty without models
    begin: int  # of the labels in the file

    @property
    def end(self) -> int:
        """The resample after the last."""
        return self.first + self.n_tried

    @property
    def n_labeled(self) -> int:
        """Number of resamples without the failed ones."""
        return self.n_tried - len(self.failed)

    def n_labeled_before(self, resample: int) -> int:
        """Return how many labeled resamples of this piece come before a resample."""
        tried = min(max(resample - self.first, 0), self.n_tried)
        return tried - sum(failed < resample for failed, _ in self.failed)

    def labels(self) -> NDArray[np.signedinteger]:
        """Return the labels, of shape (n_labeled, n_items), as a memory map."""
        shape = (self.n_labeled, self.n_items)
        if 0 in shape:
            return np.empty(shape, self.dtype)
        return np.memmap(self.path, self.dtype, "r", self.begin, shape)

    def models(self) -> list[NDArray[np.float64]]:
        """Return the arrays that models are made from, if they were kept."""
        if not self.model_shape or not self.n_labeled:
            return []
        shape = (self.n_labeled, *self.model_shape)
        with open(self.path, "rb") as file:
            file.seek(self.begin + self.n_labeled * self.n_items * self.dtype.itemsize)
            return list(np.fromfile(file, np.float64, math.prod(shape)).reshape(shape))


def write_piece(path: Path, owner: str, first: int, blocks: list[Block], n_items: int) -> Piece:
    """Write consecutive blocks, whole or not at all; only the same `owner` can read them."""
    dtype = max((block.labels.dtype for block in blocks), key=lambda dtype: dtype.itemsize)
    failed = [failure for block in blocks for failure in block.failed]
    models = [np.asarray(model, np.float64) for block in blocks for model in block.models]
    head = {
        "owner": owner,
        "first": first,
        "n_tried": sum(block.n_tried for block in blocks),
        "n_items": n_items,
        "dtype": dtype.name,
        "failed": failed,
        "model_shape": list(models[0].shape) if models else [],
    }
    line = json.dumps(head).encode() + b"\n"

    def write(file: BinaryIO) -> None:
        hashed = hashlib.blake2b(digest_size=_DIGEST)
        for part in _parts(line, blocks, dtype, models):
            hashed.update(part)
            file.write(part)
        file.write(hashed.digest())

    write_whole(path, write)
    return _piece(path, head, len(line))


def read_piece(path: Path, owner: str, first: int, n_items: int) -> Piece | None:
    """Return a piece, or None if it is damaged or not the expected one."""
    try:
        with open(path, "rb") as file:
            if not _is_whole(file):
                return None
            file.seek(0)
            line = file.readline()
        head = json.loads(line)
        piece = _piece(path, head, len(line))
    except (ValueError, KeyError, TypeError):
        return None
    model_bytes = 8 * math.prod(piece.model_shape) if piece.model_shape else 0
    size = piece.n_labeled * (piece.n_items * piece.dtype.itemsize + model_bytes)
    expected = (
        head["owner"] == owner
        and (piece.first, piece.n_items) == (first, n_items)
        and piece.n_tried > 0
        and piece.begin + size + _DIGEST == os.path.getsize(path)
    )
    return piece if expected else None


def _parts(
    line: bytes, blocks: list[Block], dtype: np.dtype[Any], models: list[NDArray[np.float64]]
) -> Iterator[Any]:
    yield line
    for block in blocks:
        if block.labels.size:
            yield np.ascontiguousarray(block.labels, dtype).reshape(-1).view(np.uint8)
    for model in models:
        yield model.tobytes()


def _piece(path: Path, head: dict[str, Any], begin: int) -> Piece:
    if head["dtype"] not in _TYPES:
        raise ValueError(f"labels of type {head['dtype']}")
    return Piece(
        path,
        int(head["first"]),
        int(head["n_tried"]),
        [(int(resample), str(error)) for resample, error in head["failed"]],
        np.dtype(head["dtype"]),
        int(head["n_items"]),
        tuple(int(size) for size in head["model_shape"]),
        begin,
    )


def _is_whole(file: BinaryIO) -> bool:
    """Tell whether a file ends with the checksum of everything before."""
    left = os.fstat(file.fileno()).st_size - _DIGEST
    hashed = hashlib.blake2b(digest_size=_DIGEST)
    while left > 0:
        chunk = file.read(min(left, _CHUNK))
        hashed.update(chunk)
        left -= len(chunk)
        if not chunk:
            return False
    return left == 0 and file.read() == hashed.digest()
