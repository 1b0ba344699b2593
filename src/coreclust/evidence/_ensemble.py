"""Defines the label ensemble, which holds the label of every item in every resample."""

from __future__ import annotations

import functools
import json
import os
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coreclust._utils.constants import ABSENT, NOISE
from coreclust._utils.files import write_whole
from coreclust._utils.validation import as_index, check_noise, encode_labels, missing_labels
from coreclust.evidence._bounds import apart_table, cooccurrence_estimate
from coreclust.evidence._counting import cluster_counts, group_counts, joint_counts, pack_labels
from coreclust.evidence._packed import PackedLabels
from coreclust.evidence._protocol import Counts, Items, Table

_FORMAT = "coreclust.LabelEnsemble"
_VERSION = 1


class LabelEnsemble:
    """The labels of n items in m resamples.

    Pair probabilities, cores at any alpha and measures of stability are computed from the
    ensemble. :class:`~coreclust.CoreClustering` returns one as `ensemble_`. :meth:`from_labels`
    makes one from other labels, such as posterior draws or the output of another program.

    Parameters
    ----------
    labels : ndarray of int of shape (n_items, n_resamples)
        Labels from 0 on; ABSENT (-2) where the item was not in the resample; NOISE (-1)
        where it was in the resample but in no cluster. Labels of different resamples are
        unrelated.

    Attributes
    ----------
    labels : ndarray of int of shape (n_items, n_resamples)
        Read-only, in the smallest integer type that fits, in Fortran order.
    ABSENT, NOISE : int
        The two reserved codes.

    Examples
    --------
    >>> from coreclust import LabelEnsemble
    >>> ensemble = LabelEnsemble.from_labels([[0, 0, 1], [0, 0, 0], [1, 1, 0]])
    >>> ensemble
    LabelEnsemble(n_items=3, n_resamples=3, dtype=int8)
    >>> ensemble.cooccurrence_counts(1, 2)
    (1, 3)
    """

    ABSENT = ABSENT
    NOISE = NOISE

    def __init__(self, labels: ArrayLike) -> None:
        array = _check_matrix(np.asarray(labels))
        if array.dtype.kind not in "iu":
            raise TypeError(
                f"labels must hold integers, got dtype {array.dtype}; "
                "use LabelEnsemble.from_labels for other labels."
            )
        if array.min() < ABSENT:
            raise ValueError(
                f"labels must be 0 or more, {NOISE} (noise) or {ABSENT} (absent); "
                f"found {array.min()}. LabelEnsemble.from_labels takes any labels."
            )
        wild = array.max(axis=0) >= len(array)  # kernels allocate memory by the highest label
        if wild.any():
            array = _number_labels(array, (array >= 0) & wild)
        self._own(array.astype(label_dtype(int(array.max())), order="F", copy=True))

    def _own(self, labels: NDArray[np.signedinteger]) -> None:
        labels.flags.writeable = False
        self.labels = labels

    @classmethod
    def _owning(cls, labels: NDArray[np.signedinteger]) -> LabelEnsemble:
        """Return an ensemble of labels that are known to be valid, without a copy."""
        ensemble = cls.__new__(cls)
        ensemble._own(labels)
        return ensemble

    @classmethod
    def from_labels(
        cls, labels: ArrayLike, *, absent: Any = ABSENT, noise: Any = NOISE
    ) -> LabelEnsemble:
        """Build an ensemble from labels of any kind.

        Parameters
        ----------
        labels : array-like of shape (n_items, n_resamples)
            Integers, booleans or strings. None, NaN and masked entries count as absent.
        absent : label, default=-2
            The label that means "not in this resample"; None for no such label.
        noise : label, default=-1
            The label that means "in the resample, but in no cluster"; None for no such
            label, for instance when -1 is a class.

        Returns
        -------
        ensemble : LabelEnsemble

        Examples
        --------
        >>> from coreclust import LabelEnsemble
        >>> draws = [["a", "b"], ["a", None], ["noise", "b"]]
        >>> LabelEnsemble.from_labels(draws, noise="noise").labels.tolist()
        [[0, 0], [0, -2], [-1, 0]]
        """
        # Lists become object arrays, because numpy would turn a NaN among strings into a string.
        matrix = _check_matrix(
            np.asarray(labels) if hasattr(labels, "shape") else np.array(labels, dtype=object)
        )
        is_absent = missing_labels(matrix)
        if isinstance(labels, np.ma.MaskedArray):
            is_absent |= np.ma.getmaskarray(labels)
        if absent is not None:
            is_absent |= _equal(matrix, absent, ~is_absent)
        is_noise = np.zeros_like(is_absent)
        if noise is not None:
            is_noise = _equal(matrix, noise, ~is_absent)
        named = ~is_absent & ~is_noise
        plain = np.zeros(matrix.shape, dtype=np.int64)
        plain[named] = encode_labels(matrix[named], "labels", whole_floats=True)[0]
        coded = _number_labels(plain, named)
        coded[is_absent] = ABSENT
        coded[is_noise] = NOISE
        return cls(coded)

    @property
    def n_items(self) -> int:
        """Number of items, n."""
        return self.labels.shape[0]

    @property
    def n_resamples(self) -> int:
        """Number of resamples, m."""
        return self.labels.shape[1]

    @property
    def n_prior(self) -> int:
        """The n of the prior in :meth:`cooccurrence`, which is the number of items."""
        return self.n_items

    @functools.cached_property
    def pair_share(self) -> float:
        """The mean share of resamples in which a pair is seen."""
        # One resample at a time, because a mask of all labels could need as much memory as they do.
        n_present = sum(int(np.count_nonzero(labels != ABSENT)) for labels in self.labels.T)
        return (n_present / self.labels.size) ** 2

    def __repr__(self) -> str:
        return (
            f"LabelEnsemble(n_items={self.n_items}, n_resamples={self.n_resamples}, "
            f"dtype={self.labels.dtype})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelEnsemble):
            return NotImplemented
        return np.array_equal(self.labels, other.labels)

    __hash__ = None  # type: ignore[assignment]

    def cooccurrence_counts(self, i: Any, j: Any, *, noise: str = "apart") -> tuple[Any, Any]:
        """Count the resamples in which items i and j were together, and in which both were seen.

        Parameters
        ----------
        i, j : int or array-like of int
            Items; arrays are broadcast against each other.
        noise : {"apart", "together", "absent"}, default="apart"
            Whether NOISE counts as together with no label, as together with NOISE, or as not seen.

        Returns
        -------
        together, seen : int or ndarray of int
            A and B of the paper's Algorithm 3, without its prior.

        Examples
        --------
        >>> from coreclust import LabelEnsemble
        >>> ensemble = LabelEnsemble.from_labels([[0, 0, 1], [0, 0, 0], [1, 1, 0]])
        >>> ensemble.cooccurrence_counts(0, 1)
        (2, 3)
        """
        check_noise(noise)
        every = np.arange(self.n_items)
        first, second = np.broadcast_arrays(every[as_index(i)], every[as_index(j)])
        items, position = np.unique(
            np.concatenate([first.ravel(), second.ravel()]), return_inverse=True
        )
        packed = self.pairs(items, noise)
        together, seen = packed.pair_counts(position[: first.size], position[first.size :])
        if first.ndim == 0:
            return int(together[0]), int(seen[0])
        return together.reshape(first.shape), seen.reshape(first.shape)

    def cooccurrence(self, i: Any, j: Any, *, noise: str = "apart") -> Any:
        """Estimate the probability that items i and j get the same label.

        Parameters
        ----------
        i, j : int or array-like of int
            Items; arrays are broadcast against each other.
        noise : {"apart", "together", "absent"}, default="apart"
            As for :meth:`cooccurrence_counts`.

        Returns
        -------
        p : float or ndarray of float
            ``(A + 1/n) / (B + 1)``, and 1 for an item with itself.

        Examples
        --------
        >>> from coreclust import LabelEnsemble
        >>> ensemble = LabelEnsemble.from_labels([[0, 0, 1], [0, 0, 0], [1, 1, 0]])
        >>> round(ensemble.cooccurrence(0, 1), 3)
        0.583
        """
        together, seen = self.cooccurrence_counts(i, j, noise=noise)
        every = np.arange(self.n_items)
        itself = every[as_index(i)] == every[as_index(j)]
        p = np.where(itself, 1.0, cooccurrence_estimate(together, seen, self.n_items))
        return float(p) if p.ndim == 0 else p

    def cooccurrence_matrix(
        self, items: ArrayLike | None = None, *, noise: str = "apart", return_counts: bool = False
    ) -> Any:
        """Estimate the co-occurrence probability of all pairs of some items.

        The search for cores does not need this matrix. It is meant for display.

        Parameters
        ----------
        items : array-like of int or bool, default=None
            The items, by default all n of them, which gives an n × n matrix.
        noise : {"apart", "together", "absent"}, default="apart"
            As for :meth:`cooccurrence_counts`.
        return_counts : bool, default=False
            Whether to return the counts A and B as well.

        Returns
        -------
        p : ndarray of shape (s, s)
        together, seen : ndarray of int of shape (s, s)
            Only with `return_counts`.

        Examples
        --------
        >>> from coreclust import LabelEnsemble
        >>> ensemble = LabelEnsemble.from_labels([[0, 0, 1], [0, 0, 0], [1, 1, 0]])
        >>> ensemble.cooccurrence_matrix().round(2)
        array([[1.  , 0.58, 0.08],
               [0.58, 1.  , 0.33],
               [0.08, 0.33, 1.  ]])
        """
        check_noise(noise)
        every = np.arange(self.n_items)
        chosen = every if items is None else every[as_index(items)]
        together, seen = self.pairs(chosen, noise).matrix_counts()
        p = cooccurrence_estimate(together, seen, self.n_items)
        p[chosen[:, None] == chosen[None]] = 1.0
        return (p, together, seen) if return_counts else p

    # The protocol of evidence; see coreclust.evidence._protocol.

    def estimate_table(self, alpha: float) -> Table:
        """Return, for every B, how often a pair may be apart and still be an edge."""
        return apart_table(alpha, self.n_prior, self.n_resamples)

    def member_counts(self, members: Items, noise: str) -> Counts:
        """Return together and seen of every member, summed over all other members."""
        return group_counts(self.labels, members, noise)

    def joint_counts(self, items: Items, noise: str) -> tuple[int, int]:
        """Count the resamples in which all items present had one label, and all that count."""
        return joint_counts(self.labels, items, noise)

    def cluster_counts(
        self, items: Items, clusters: NDArray[np.int64], n_clusters: int, noise: str
    ) -> Counts:
        """Return together and seen of some items, summed over the members of each cluster."""
        return cluster_counts(self.labels, items, clusters, n_clusters, noise)

    def pairs(self, items: Items, noise: str) -> PackedLabels:
        """Return the counts of all pairs of some items."""
        return pack_labels(self.labels, items, noise)

    def merge(self, other: LabelEnsemble) -> LabelEnsemble:
        """Return an ensemble with the resamples of both ensembles.

        Parameters
        ----------
        other : LabelEnsemble
            An ensemble of the same items in the same order.

        Returns
        -------
        both : LabelEnsemble

        Examples
        --------
        >>> from coreclust import LabelEnsemble
        >>> ensemble = LabelEnsemble.from_labels([[0, 0, 1], [0, 0, 0], [1, 1, 0]])
        >>> ensemble.merge(ensemble).n_resamples
        6
        """
        if not isinstance(other, LabelEnsemble):
            raise TypeError(f"other must be a LabelEnsemble, got {type(other).__name__}.")
        if other.n_items != self.n_items:
            raise ValueError(
                f"other must hold the same items: it has {other.n_items}, this one {self.n_items}."
            )
        return LabelEnsemble(np.concatenate([self.labels.T, other.labels.T]).T)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ensemble to a file.

        The file is a numpy ``.npz`` archive, which :meth:`load` reads without pickle. A failed
        write leaves an existing file unchanged.

        Parameters
        ----------
        path : path
            The file, usually with the suffix ``.npz``. No suffix is added.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> from coreclust import LabelEnsemble
        >>> ensemble = LabelEnsemble.from_labels([[0, 0, 1], [0, 0, 0], [1, 1, 0]])
        >>> file = Path(mkdtemp()) / "labels.npz"
        >>> ensemble.save(file)
        >>> LabelEnsemble.load(file) == ensemble
        True
        """
        header = np.array(json.dumps({"format": _FORMAT, "version": _VERSION}))
        write_whole(path, lambda file: np.savez_compressed(file, labels=self.labels, header=header))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LabelEnsemble:
        """Read an ensemble written by :meth:`save`.

        Parameters
        ----------
        path : path

        Returns
        -------
        ensemble : LabelEnsemble

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> from coreclust import LabelEnsemble
        >>> file = Path(mkdtemp()) / "labels.npz"
        >>> LabelEnsemble.from_labels([[0, 1], [0, 0]]).save(file)
        >>> LabelEnsemble.load(file)
        LabelEnsemble(n_items=2, n_resamples=2, dtype=int8)
        """
        try:
            # Opened here, because np.load does not close an invalid file.
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                header = json.loads(str(archive["header"]))
                labels = archive["labels"]
        except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(f"{path} is not a LabelEnsemble file: {error}.") from error
        if not isinstance(header, dict) or header.get("format") != _FORMAT:
            raise ValueError(f"{path} is not a LabelEnsemble file.")
        if header.get("version") != _VERSION:
            raise ValueError(
                f"{path} has version {header.get('version')} of the format; this release reads "
                f"version {_VERSION}."
            )
        return cls(labels)


def label_dtype(highest: int) -> type[np.signedinteger]:
    """Return the smallest integer type for labels up to `highest`."""
    for dtype in (np.int8, np.int16, np.int32):
        if highest <= np.iinfo(dtype).max:
            return dtype
    return np.int64


def _check_matrix(labels: NDArray[Any]) -> NDArray[Any]:
    if labels.ndim != 2 or labels.size == 0:
        raise ValueError(
            "labels must be a matrix with one row per item and one column per resample; "
            f"got an array of shape {labels.shape}."
        )
    return labels


def _number_labels(
    labels: NDArray[np.signedinteger], named: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Renumber the labels of each resample from 0 on where `named`, and keep the others."""
    numbered = labels.astype(np.int64, order="F")
    for resample in np.flatnonzero(named.any(axis=0)):
        rows = named[:, resample]
        numbered[rows, resample] = np.unique(labels[rows, resample], return_inverse=True)[1]
    return numbered


def _equal(matrix: NDArray[Any], label: Any, where: NDArray[np.bool_]) -> NDArray[np.bool_]:
    equal = np.zeros(matrix.shape, dtype=bool)
    equal[where] = matrix[where] == label
    return equal
