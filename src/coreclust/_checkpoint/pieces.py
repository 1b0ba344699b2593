"""Pieces of a checkpoint: the labels of consecutive resamples, in a file with a checksum.

A piece is a line of JSON, the labels of one resample after the other, the arrays of kept models,
and 32 bytes of BLAKE2b over all of that. It is written under another name, renamed when it is
whole, and never changed. Reading one executes nothing.
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
    """A file with the labels of consecutive resamples.

    Attributes
    ----------
    path : Path
    first : int
        The first resample.
    n_tried : int
        Number of resamples, failed ones included.
    failed : list of (int, str)
        Which did, and their errors.
    dtype : numpy dtype
        Of the labels.
    n_items : int
    model_shape : tuple of int
        Shape of the array that a model is made from, or empty if no models were kept.
    begin : int
        Where in the file the labels begin.
    """

    path: Path
    first: int
    n_tried: int
    failed: list[tuple[int, str]]
    dtype: np.dtype[Any]
    n_items: int
    model_shape: tuple[int, ...]
    begin: int

    @property
    def end(self) -> int:
        """The resample after the last."""
        return self.first + self.n_tried

    @property
    def n_labeled(self) -> int:
        """Samples without those that failed."""
        return self.n_tried - len(self.failed)

    def n_labeled_before(self, resample: int) -> int:
        """Return how many resamples before one are labeled here."""
        tried = min(max(resample - self.first, 0), self.n_tried)
        return tried - sum(failed < resample for failed, _ in self.failed)

    def labels(self) -> NDArray[np.signedinteger]:
        """Return the labels, (n_labeled, n_items), still on the disk."""
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
    """Write the resamples of some blocks, whole or not at all.

    Parameters
    ----------
    path : Path
    owner : str
        What the piece belongs to: pieces of another owner are not read.
    first : int
        The first resample.
    blocks : list of Block
        That follow on each other.
    n_items : int
    """
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
    """Return a piece if it is whole and the one expected, None otherwise."""
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
    """Tell whether a file ends with the checksum of what comes before."""
    left = os.fstat(file.fileno()).st_size - _DIGEST
    hashed = hashlib.blake2b(digest_size=_DIGEST)
    while left > 0:
        chunk = file.read(min(left, _CHUNK))
        hashed.update(chunk)
        left -= len(chunk)
        if not chunk:
            return False
    return left == 0 and file.read() == hashed.digest()
