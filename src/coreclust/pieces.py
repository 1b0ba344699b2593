"""Pieces of a checkpoint: the labels of consecutive samples, in a file with a checksum.

A piece is a line of JSON, the labels sample after sample, the centres of kept k-means models, and
32 bytes of BLAKE2b over all of that. It is written under another name and renamed when it is
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

from coreclust.files import write_whole
from coreclust.labelling import Block
from coreclust.models import CentreModel, Model

_DIGEST = 32  # bytes
_CHUNK = 1 << 22
_TYPES = ("int8", "int16", "int32", "int64")


@dataclass(frozen=True)
class Piece:
    """A file with the labels of consecutive samples.

    Attributes
    ----------
    path : Path
    first : int
        The first sample.
    n_samples : int
        With those that failed.
    failed : list of (int, str)
        Which did, and their errors.
    dtype : numpy dtype
        Of the labels.
    n_items : int
    centres : tuple of int
        Shape of the centres of a sample, or empty if none were kept.
    begin : int
        Where in the file the labels begin.
    """

    path: Path
    first: int
    n_samples: int
    failed: list[tuple[int, str]]
    dtype: np.dtype[Any]
    n_items: int
    centres: tuple[int, ...]
    begin: int

    @property
    def end(self) -> int:
        """The sample after the last."""
        return self.first + self.n_samples

    @property
    def n_labelled(self) -> int:
        """Samples without those that failed."""
        return self.n_samples - len(self.failed)

    def n_labelled_before(self, sample: int) -> int:
        """Return how many samples before one are labelled here."""
        tried = min(max(sample - self.first, 0), self.n_samples)
        return tried - sum(failed < sample for failed, _ in self.failed)

    def labels(self) -> NDArray[np.signedinteger]:
        """Return the labels, (n_labelled, n_items), still on the disk."""
        shape = (self.n_labelled, self.n_items)
        if 0 in shape:
            return np.empty(shape, self.dtype)
        return np.memmap(self.path, self.dtype, "r", self.begin, shape)

    def models(self) -> list[Model]:
        """Return the models that were kept."""
        if not self.centres or not self.n_labelled:
            return []
        shape = (self.n_labelled, *self.centres)
        with open(self.path, "rb") as file:
            file.seek(self.begin + self.n_labelled * self.n_items * self.dtype.itemsize)
            centres = np.fromfile(file, np.float64, math.prod(shape)).reshape(shape)
        return [CentreModel(sample) for sample in centres]


def write_piece(path: Path, owner: str, first: int, blocks: list[Block], n_items: int) -> Piece:
    """Write the samples of some blocks, whole or not at all.

    Parameters
    ----------
    path : Path
    owner : str
        What the piece belongs to: pieces of another owner are not read.
    first : int
        The first sample.
    blocks : list of Block
        That follow on each other.
    n_items : int
    """
    dtype = max((block.labels.dtype for block in blocks), key=lambda dtype: dtype.itemsize)
    failed = [failure for block in blocks for failure in block.failed]
    centres = [_centres(model) for block in blocks for model in block.models]
    head = {
        "owner": owner,
        "first": first,
        "n_samples": sum(block.n_samples for block in blocks),
        "n_items": n_items,
        "dtype": dtype.name,
        "failed": failed,
        "centres": list(centres[0].shape) if centres else [],
    }
    line = json.dumps(head).encode() + b"\n"

    def write(file: BinaryIO) -> None:
        hashed = hashlib.blake2b(digest_size=_DIGEST)
        for part in _parts(line, blocks, dtype, centres):
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
    size = piece.n_labelled * (piece.n_items * piece.dtype.itemsize + 8 * math.prod(piece.centres))
    if not piece.centres:
        size = piece.n_labelled * piece.n_items * piece.dtype.itemsize
    expected = (
        head["owner"] == owner
        and (piece.first, piece.n_items) == (first, n_items)
        and piece.n_samples > 0
        and piece.begin + size + _DIGEST == os.path.getsize(path)
    )
    return piece if expected else None


def _parts(
    line: bytes, blocks: list[Block], dtype: np.dtype[Any], centres: list[NDArray[np.float64]]
) -> Iterator[Any]:
    yield line
    for block in blocks:
        if block.labels.size:
            yield np.ascontiguousarray(block.labels, dtype).reshape(-1).view(np.uint8)
    for sample in centres:
        yield sample.tobytes()


def _centres(model: Model) -> NDArray[np.float64]:
    if not isinstance(model, CentreModel):
        raise TypeError(f"a checkpoint holds centres only, got {type(model).__name__}.")
    return np.asarray(model.centres, dtype=np.float64)


def _piece(path: Path, head: dict[str, Any], begin: int) -> Piece:
    if head["dtype"] not in _TYPES:
        raise ValueError(f"labels of type {head['dtype']}")
    return Piece(
        path,
        int(head["first"]),
        int(head["n_samples"]),
        [(int(sample), str(error)) for sample, error in head["failed"]],
        np.dtype(head["dtype"]),
        int(head["n_items"]),
        tuple(int(size) for size in head["centres"]),
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
