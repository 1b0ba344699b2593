"""Saves finished resamples in a folder, from which an interrupted fit continues."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

import coreclust
from coreclust._checkpoint.fingerprint import Settings, differences
from coreclust._checkpoint.locks import Lock
from coreclust._checkpoint.pieces import Piece, read_piece, write_piece
from coreclust._utils.files import write_whole
from coreclust._utils.seeds import draw_entropy
from coreclust.evidence._ensemble import LabelEnsemble, label_dtype
from coreclust.evidence._labeling import Block, Labeling

_FORMAT = "coreclust.Checkpoint"
_VERSION = 3
_HEADER, _LOCK, _LABELS = "header.json", "lock", "labels.npy"

LARGE = 1 << 28  # bytes; larger ensembles stay on disk
_MOST_WAITING = 1 << 26  # bytes of labels that wait to be written
_PATIENCE = 2.0  # least number of seconds between two pieces
_SHARE = 1 / 50  # of the time that may be spent on writing
_LOSS = 1 / 100  # of the time that a crash may lose


class Checkpoint:
    """Finished resamples in a folder, as pieces that are never changed.

    The folder holds ``header.json`` (the `settings` that the resamples were made with, the entropy
    and a checksum), the pieces, a lock, and for large data ``labels.npy``: all labels in one file,
    made from the pieces. It is created if it is missing. Without a `random_state`, an existing
    checkpoint provides the `entropy`.

    Raises
    ------
    ValueError
        If the folder holds other files, is damaged, or was made with other settings.
    RuntimeError
        If another process has it open.
    """

    def __init__(
        self, path: str | os.PathLike[str], settings: Settings, n_items: int, random_state: Any
    ) -> None:
        self.path = Path(path)
        self._n_items = n_items
        self._pieces: list[Piece] = []
        self._waiting: list[Block] = []
        self._began = time.monotonic()
        self._due = self._began + _PATIENCE
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(
                f"checkpoint {str(path)!r} must be a folder or a new path, and is a file; use "
                "another path."
            )
        self.path.mkdir(parents=True, exist_ok=True)
        _refuse_foreign(self.path)  # before a lock is written to it
        self._lock = Lock(self.path / _LOCK)
        try:
            self.entropy, self._owner = self._agree(settings, random_state)
            self._read_pieces()
        except BaseException:
            self._lock.release()
            raise

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    @property
    def n_tried(self) -> int:
        """Number of resamples in the checkpoint, failed ones included."""
        return self._pieces[-1].end if self._pieces else 0

    def failures(self, n_resamples: int) -> list[tuple[int, str]]:
        """Return the failed ones among the first resamples, with their errors."""
        failed = [failure for piece in self._pieces for failure in piece.failed]
        return [failure for failure in failed if failure[0] < n_resamples]

    def is_large(self, n_resamples: int) -> bool:
        """Tell whether the labels of `n_resamples` resamples stay on disk."""
        widest = max((piece.dtype.itemsize for piece in self._pieces), default=1)
        return n_resamples * self._n_items * widest > LARGE

    def add(self, block: Block) -> None:
        """Take the resamples that follow the last ones, to be written soon."""
        self._waiting.append(block)
        n_bytes = sum(block.labels.nbytes for block in self._waiting)
        if time.monotonic() >= self._due or n_bytes > _MOST_WAITING:
            self.flush()

    def flush(self) -> None:
        """Write the waiting resamples as one piece."""
        if not self._waiting:
            return
        begin = time.monotonic()
        first = self.n_tried
        path = self.path / f"piece-{first:09}.ccp"
        try:
            with self._explained():
                piece = write_piece(path, self._owner, first, self._waiting, self._n_items)
        except Exception:
            self._waiting = []  # the disk may be full: do not try again
            raise
        # Not earlier: after an interrupt they are written again, under the same name.
        self._waiting = []
        self._pieces.append(piece)
        now = time.monotonic()
        # The longer a run, the longer its pieces, so that there are not thousands of them.
        self._due = now + max(_PATIENCE, (now - begin) / _SHARE, (now - self._began) * _LOSS)

    def labeling(self, n_resamples: int) -> Labeling | None:
        """Return at most the first `n_resamples` resamples, or None if there are none.

        A large ensemble is a read-only memory map of one file in the folder.
        """
        parts = [
            (piece, piece.n_labeled_before(n_resamples))
            for piece in self._pieces
            if piece.first < n_resamples
        ]
        if not parts:
            return None
        dtype = max((_label_type(*part) for part in parts), key=lambda dtype: dtype.itemsize)
        shape = (sum(n_wanted for _, n_wanted in parts), self._n_items)
        if self.is_large(n_resamples) and shape[0]:
            labels = self._map(parts, dtype, shape)
        else:
            labels = np.empty(shape, dtype)
            begin = 0
            for piece, n_wanted in parts:
                labels[begin : begin + n_wanted] = piece.labels()[:n_wanted]
                begin += n_wanted
        models = [model for piece, n_wanted in parts for model in piece.models()[:n_wanted]]
        failures = self.failures(n_resamples)
        return Labeling(
            LabelEnsemble._owning(labels.T),
            [error for _, error in failures],
            models,
            tuple(resample for resample, _ in failures),
        )

    def _map(
        self, parts: list[tuple[Piece, int]], dtype: np.dtype[Any], shape: tuple[int, int]
    ) -> NDArray[np.signedinteger]:
        """Write the labels of all pieces to one file and return it as an array."""

        def write(file: BinaryIO) -> None:
            # As numpy saves the transpose, which has one row per item like an ensemble.
            head = {"descr": dtype.str, "fortran_order": True, "shape": shape[::-1]}
            np.lib.format.write_array_header_1_0(file, head)
            for piece, n_wanted in parts:
                for resample in piece.labels()[:n_wanted]:
                    file.write(np.ascontiguousarray(resample, dtype).data)

        path = self.path / _LABELS
        with self._explained():
            write_whole(path, write)
        return np.load(path, mmap_mode="r", allow_pickle=False).T

    def _agree(self, settings: Settings, random_state: Any) -> tuple[int, str]:
        """Return the entropy and the owner of the pieces; write the header if there is none."""
        path = self.path / _HEADER
        entropy = draw_entropy(random_state)
        if not path.exists():
            header: dict[str, Any] = {
                "format": _FORMAT,
                "version": _VERSION,
                "entropy": entropy,
                "settings": settings,
                "versions": _versions(),
            }
            header["checksum"] = _checksum(header)
            text = _encoded(header)
            with self._explained():
                write_whole(path, lambda file: file.write(text))
            return entropy, header["checksum"]
        header = _read_header(path.read_bytes(), self.path)
        found = differences(header["settings"], settings)
        if found:
            raise ValueError(
                f"checkpoint {str(self.path)!r} was made with {'; and with '.join(found[:3])}; use "
                "another path, or the same data and settings."
            )
        if random_state is not None and header["entropy"] != entropy:
            raise ValueError(
                f"checkpoint {str(self.path)!r} holds resamples of the seed {header['entropy']}, "
                f"and random_state={random_state!r} gives the seed {entropy}; use another path."
            )
        then, now = header["versions"], _versions()
        others = [f"{name} {then.get(name)}" for name in now if then.get(name) != now[name]]
        if others:
            warnings.warn(
                f"checkpoint {str(self.path)!r} was begun with {', '.join(others)}; resamples "
                "clustered with the present versions may differ a little from those it would have "
                "made.",
                stacklevel=5,
            )
        return header["entropy"], header["checksum"]

    def _read_pieces(self) -> None:
        """Read the pieces; delete a damaged one and all that follow it."""
        for name in (_HEADER, "piece-", _LABELS):
            for leftover in self.path.glob(f".{name}*"):
                leftover.unlink()  # of a write that was interrupted
        paths = sorted(self.path.glob("piece-*.ccp"))
        for place, path in enumerate(paths):
            piece = read_piece(path, self._owner, self.n_tried, self._n_items)
            if piece is None:
                warnings.warn(
                    f"checkpoint {str(self.path)!r} is damaged at {path.name}; the resamples from "
                    f"{self.n_tried} on are clustered again.",
                    RuntimeWarning,
                    stacklevel=5,
                )
                for lost in paths[place:]:
                    lost.unlink()
                return
            self._pieces.append(piece)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Add to the error of a failed write how many resamples are safe."""
        try:
            yield
        except OSError as error:
            raise OSError(
                error.errno,
                f"checkpoint {str(self.path)!r} could not be written ({error.strerror or error}) "
                f"and holds {self.n_tried} resamples; make room and call fit again to continue",
            ) from error


def _label_type(piece: Piece, n_wanted: int) -> np.dtype[Any]:
    """Return the smallest type for the first labels of a piece."""
    if n_wanted == piece.n_labeled:
        return piece.dtype
    return np.dtype(label_dtype(int(piece.labels()[:n_wanted].max(initial=0))))


def _refuse_foreign(path: Path) -> None:
    """Refuse a folder with the header of something else, or without one but with other files."""
    if (path / _HEADER).exists():
        _read_header((path / _HEADER).read_bytes(), path)
        return
    others = [
        entry.name
        for entry in path.iterdir()
        if entry.name != _LOCK and not entry.name.startswith(f".{_HEADER}.")
    ]
    if others:
        raise ValueError(
            f"checkpoint {str(path)!r} is a folder without {_HEADER} that holds other files, such "
            f"as {min(others)!r}; use another path."
        )


def _read_header(text: bytes, path: Path) -> dict[str, Any]:
    try:
        header = json.loads(text)
        version = header["version"] if header["format"] == _FORMAT else None
        sound = version != _VERSION or header["checksum"] == _checksum(header)
    except (ValueError, KeyError, TypeError):
        version, sound = None, False
    if not isinstance(version, int) or not sound:
        raise ValueError(
            f"checkpoint {str(path)!r} has a {_HEADER} that is damaged or belongs to something "
            "else; use another path."
        )
    if version != _VERSION:
        raise ValueError(
            f"checkpoint {str(path)!r} has version {version} of the format, and this release reads "
            f"version {_VERSION}; use another path."
        )
    return header


def _versions() -> dict[str, str]:
    from sklearn import __version__ as sklearn_version

    return {
        "coreclust": coreclust.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn_version,
    }


def _encoded(header: dict[str, Any]) -> bytes:
    return json.dumps(header, indent=1).encode()


def _checksum(header: dict[str, Any]) -> str:
    """Return the checksum of a header, whether it has one already or not."""
    content = {name: value for name, value in header.items() if name != "checksum"}
    return hashlib.blake2b(_encoded(content), digest_size=16).hexdigest()
