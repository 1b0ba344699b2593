"""Algorithm 2: for every pair of a cluster, resamples made of the pair and of items drawn anew."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import delayed

from coreclust._sampling.function import ClusteringFunction
from coreclust._sampling.native import DatasetLabeler
from coreclust._sampling.runner import TRIES, in_parallel, one_thread, report_dropped
from coreclust._utils.blocks import BlockedItems
from coreclust._utils.compat import number_of_items, take_items
from coreclust._utils.constants import NOISE
from coreclust._utils.progress import Progress
from coreclust._utils.seeds import ESTIMATOR, ROWS, draw_random_states, seeds_of
from coreclust.evidence._pair_evidence import PairEvidence
from coreclust.resampling import KnownDistribution


@dataclass(frozen=True)
class _Task:
    """All that is needed to resample any pair, as plain data."""

    function: ClusteringFunction
    X: Any
    y: Any
    scheme: KnownDistribution
    n_resamples: int
    entropy: int
    labeler: DatasetLabeler | None

    @property
    def n_items(self) -> int:
        return number_of_items(self.X)

    @property
    def block(self) -> int:
        """How many resamples are drawn in one go; it depends on nothing but n.

        Whole blocks are drawn even where fewer resamples are wanted, so that fewer resamples are
        a beginning of more.
        """
        return max(1, min(100, 10**6 // self.n_items))


def resample_pairs(
    function: ClusteringFunction,
    X: Any,
    y: Any,
    clusters: NDArray[np.int64],
    *,
    scheme: KnownDistribution,
    n_resamples: int,
    entropy: int,
    n_jobs: int | None = None,
    verbose: int = 0,
    labeler: DatasetLabeler | None = None,
) -> tuple[PairEvidence, int]:
    """Sample every pair of every cluster `n_resamples` times.

    Returns
    -------
    evidence : PairEvidence
    n_dropped : int
        Resamples that could not be clustered, over all pairs.
    """
    values = _equal_items(X, y)
    pairs = _distinct_pairs(clusters, values)
    counts, n_dropped = resample_these_pairs(
        function,
        X,
        y,
        pairs,
        scheme=scheme,
        n_resamples=n_resamples,
        entropy=entropy,
        n_jobs=n_jobs,
        verbose=verbose,
        labeler=labeler,
    )
    return PairEvidence(clusters, _spread(counts, pairs, clusters, values), n_resamples), n_dropped


def resample_these_pairs(
    function: ClusteringFunction,
    X: Any,
    y: Any,
    pairs: NDArray[np.intp],
    *,
    scheme: KnownDistribution,
    n_resamples: int,
    entropy: int,
    n_jobs: int | None = None,
    verbose: int = 0,
    labeler: DatasetLabeler | None = None,
) -> tuple[NDArray[np.int32], int]:
    """Sample some pairs `n_resamples` times each, whatever clusters they are in.

    Parameters
    ----------
    pairs : ndarray of int of shape (n_pairs, 2)

    Returns
    -------
    counts : ndarray of int of shape (n_pairs, 4)
        As in :class:`~coreclust.evidence._pair_evidence.PairEvidence`. The counts of a pair do not
        depend on which others are sampled.
    n_dropped : int
        Resamples that could not be clustered, over all pairs.
    """
    task = _Task(function, X, y, scheme, n_resamples, entropy, labeler)
    total = len(pairs) * n_resamples
    counts = np.empty((len(pairs), 4), dtype=np.int32)
    errors: list[str] = []
    progress = Progress(len(pairs), "pairs", enabled=verbose > 0)
    with one_thread(), warnings.catch_warnings():
        calls = (delayed(_resample_pair)(task, int(i), int(j)) for i, j in pairs)
        results = in_parallel(calls, n_jobs, threads=labeler is not None)
        n_done = 0
        try:
            for found, failures in results:
                counts[n_done] = found
                errors += failures
                n_done += 1
                if 2 * len(errors) > total:
                    break  # there is no saving it
                progress.update(n_done)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"Interrupted after {n_done} of {len(pairs)} pairs were sampled."
            ) from None
        finally:
            results.close()  # stops what is still running
            progress.close()
    report_dropped(errors, total)
    return counts, len(errors)


def check_distribution(
    function: ClusteringFunction,
    X: Any,
    y: Any,
    scheme: KnownDistribution,
    n_resamples: int | str,
) -> None:
    """Raise unless items drawn from a distribution can stand beside those of X."""
    if isinstance(n_resamples, str):
        raise ValueError(
            f"n_resamples must be a number with resampling=KnownDistribution, where every pair has "
            f"samples of its own, got {n_resamples!r}."
        )
    if isinstance(X, BlockedItems):
        raise ValueError("X must be in memory with resampling=KnownDistribution, got a dask array.")
    if function.pairwise:
        raise ValueError(
            "resampling=KnownDistribution draws new items, which have no distances or affinities "
            "in X; pass an estimator that takes the items themselves."
        )
    if not isinstance(X, (np.ndarray, list)):
        raise TypeError(
            "resampling=KnownDistribution needs X as an array or, for a callable, a list, "
            f"got {type(X).__name__}."
        )
    if not callable(scheme.source):
        n_population = number_of_items(scheme.source)
        if n_population == 0:
            raise ValueError("resampling=KnownDistribution needs a population of some items.")
        if scheme.y is not None and len(scheme.y) != n_population:
            raise ValueError(
                f"resampling=KnownDistribution needs a class for each of the {n_population} items "
                f"of the population, got {len(scheme.y)}."
            )
    drawn, classes = scheme.draw(3, np.random.default_rng(0))
    if isinstance(X, np.ndarray):
        shape = np.shape(drawn)
        if shape != (3, *X.shape[1:]):
            raise ValueError(
                f"resampling=KnownDistribution must draw items like those of X: 3 items gave "
                f"shape {shape}, expected {(3, *X.shape[1:])}."
            )
        if X.dtype.kind in "iuf" and not _is_finite(scheme.source, drawn):
            raise ValueError(
                "resampling=KnownDistribution must draw finite numbers, got NaN, infinity or "
                "something else."
            )
    elif len(drawn) != 3:
        raise ValueError(f"resampling=KnownDistribution drew {len(drawn)} items instead of 3.")
    if function.kind == "classifier" and (classes is None or len(classes) != 3):
        raise ValueError(
            f"{type(function.estimator).__name__} is a classifier: resampling=KnownDistribution "
            "needs a class for every item it draws; pass y with a population, or return a tuple of "
            "items and classes."
        )
    if function.kind == "classifier":
        _check_same_classes(y, classes if callable(scheme.source) else scheme.y)


def _check_same_classes(y: Any, classes: Any) -> None:
    """Raise unless the classes of a population are of the kind of y, and some are the same."""
    known = np.unique(np.asarray(y))
    drawn = np.unique(np.asarray(classes))
    texts = [array.dtype.kind in "USO" for array in (known, drawn)]
    if texts[0] != texts[1] or not np.isin(drawn, known).any():
        raise ValueError(
            "resampling=KnownDistribution must have the classes of y: none of "
            f"{drawn[:3].tolist()} is among {known[:3].tolist()}."
        )


def _is_finite(source: Any, drawn: Any) -> bool:
    values = np.asarray(drawn if callable(source) else source)
    return values.dtype.kind in "biuf" and bool(np.isfinite(values).all())


def _equal_items(X: Any, y: Any) -> NDArray[np.intp]:
    """Return a number for each item, the same for items of equal values and classes."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "biuf":
        return np.arange(number_of_items(X))
    values = np.unique(X, axis=0, return_inverse=True)[1].reshape(-1)
    if y is None:
        return values
    classes = np.unique(y, return_inverse=True)[1]
    return np.unique(np.column_stack([values, classes]), axis=0, return_inverse=True)[1].reshape(-1)


def _distinct_pairs(clusters: NDArray[np.int64], values: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return one pair of items for each two values that meet in a cluster."""
    pairs = [
        np.stack(np.triu_indices(members.size, 1), axis=1, dtype=np.intp)
        for members in _members(clusters)
    ]
    found = np.concatenate(
        [members[pair] for members, pair in zip(_members(clusters), pairs, strict=True)]
        or [np.empty((0, 2), dtype=np.intp)]
    )
    keys = np.column_stack([clusters[found[:, 0]], np.sort(values[found], axis=1)])
    first = np.sort(np.unique(keys, axis=0, return_index=True)[1])
    return found[first]


def _members(clusters: NDArray[np.int64]) -> Iterator[NDArray[np.intp]]:
    for cluster in range(int(clusters.max(initial=-1)) + 1):
        yield np.flatnonzero(clusters == cluster)


def _spread(
    counts: NDArray[np.int32],
    pairs: NDArray[np.intp],
    clusters: NDArray[np.int64],
    values: NDArray[np.intp],
) -> list[NDArray[np.int32]]:
    """Give every pair of a cluster the counts of the pair that was sampled in its place."""
    matrices = []
    for members in _members(clusters):
        own = clusters[pairs[:, 0]] == clusters[members[0]]
        local, number = np.unique(values[members], return_inverse=True)
        matrix = np.zeros((4, local.size, local.size), dtype=np.int32)
        left, right = np.searchsorted(local, values[pairs[own]]).T
        matrix[:, left, right] = counts[own].T
        matrix[:, right, left] = counts[own].T
        spread = matrix[:, number[:, None], number[None]]
        spread[:, np.arange(members.size), np.arange(members.size)] = 0
        matrices.append(spread)
    return matrices


def _resample_pair(task: _Task, i: int, j: int) -> tuple[NDArray[np.int64], list[str]]:
    """Return the counts of one pair, and the errors of resamples that failed every time."""
    labels = np.full((task.n_resamples, 2), NOISE, dtype=np.int64)
    pending = np.arange(task.n_resamples)
    errors: dict[int, str] = {}
    for attempt in range(TRIES):
        errors = {}
        for block in np.unique(pending // task.block).tolist():
            inside = pending[pending // task.block == block]
            labels[inside], failures = _label_block(task, i, j, block, attempt, inside)
            errors.update(failures)
        pending = np.array(sorted(errors), dtype=np.int64)
        if pending.size == 0:
            break
    labels = np.delete(labels, pending, axis=0)
    noise = labels == NOISE
    same = (labels[:, 0] == labels[:, 1]) & ~noise.any(axis=1)
    counts = [len(labels), same.sum(), noise.all(axis=1).sum(), noise.any(axis=1).sum()]
    return np.array(counts), list(errors.values())


def _check_drawn(task: _Task, drawn: Any, n_wanted: int) -> None:
    """Raise if a distribution that began well gives something else later."""
    shape = np.shape(drawn) if isinstance(task.X, np.ndarray) else (len(drawn),)
    expected = (n_wanted, *task.X.shape[1:]) if isinstance(task.X, np.ndarray) else (n_wanted,)
    if shape != expected:
        raise ValueError(
            f"resampling=KnownDistribution must draw as many items like those of X as it is asked "
            f"for: expected shape {expected}, got {shape}."
        )
    numeric = isinstance(task.X, np.ndarray) and task.X.dtype.kind in "iuf"
    if numeric and callable(task.scheme.source) and not np.isfinite(drawn).all():
        raise ValueError("resampling=KnownDistribution must draw finite numbers, got NaN.")


def _label_block(
    task: _Task, i: int, j: int, block: int, attempt: int, resamples: NDArray[np.int64]
) -> tuple[NDArray[np.int64], dict[int, str]]:
    """Draw a block of resamples and return the labels of the pair in some of them."""
    size, n_drawn = task.block, task.n_items - 2
    key = (i, j, block, 2 * attempt)
    rng = np.random.default_rng(seeds_of(task.entropy, *key[:3], key[3] + ROWS))
    drawn, classes = task.scheme.draw(size * n_drawn, rng)
    _check_drawn(task, drawn, size * n_drawn)
    states = draw_random_states(seeds_of(task.entropy, *key[:3], key[3] + ESTIMATOR), size)
    places = (resamples - block * size).tolist()
    if task.labeler is not None:
        n_features = task.X.shape[1]
        datasets = np.empty((len(places), task.n_items, n_features))
        datasets[:, :2] = task.X[[i, j]]
        datasets[:, 2:] = np.reshape(drawn, (size, n_drawn, n_features))[places]
        found, failed = task.labeler(datasets, 2, np.array(states)[places])
        message = "ValueError: too few distinct items for the clusters asked for."
        return found.astype(np.int64), dict.fromkeys(resamples[failed].tolist(), message)
    labels = np.full((len(places), 2), NOISE, dtype=np.int64)
    errors: dict[int, str] = {}
    for row, (resample, place) in enumerate(zip(resamples.tolist(), places, strict=True)):
        rows = np.arange(place * n_drawn, (place + 1) * n_drawn)
        Z = _beside(task.X, [i, j], take_items(drawn, rows))
        y = None
        if task.y is not None:
            y = np.concatenate([np.asarray(task.y)[[i, j]], np.asarray(classes)[rows]])
        try:
            labels[row] = task.function.label_first(Z, y, 2, states[place])
        except Exception as error:  # noqa: BLE001 - counted and reported by the caller
            errors[resample] = f"{type(error).__name__}: {error}"
    return labels, errors


def _beside(X: Any, pair: list[int], drawn: Any) -> Any:
    if isinstance(X, list):
        return [*take_items(X, pair), *drawn]
    return np.concatenate([X[pair], drawn])
