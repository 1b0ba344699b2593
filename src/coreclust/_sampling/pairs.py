"""Algorithm 2: for every pair of a cluster, resamples made of the pair and of new items."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import delayed

from coreclust._sampling.parallel import in_parallel, one_thread
from coreclust._sampling.problem import Problem
from coreclust._sampling.runner import TRIES, report_dropped
from coreclust._utils.compat import number_of_items, take_items
from coreclust._utils.constants import NOISE
from coreclust._utils.progress import Progress
from coreclust._utils.seeds import ESTIMATOR, ROWS, draw_random_states, seeds_of
from coreclust.cluster._native import TOO_FEW_ITEMS, DatasetLabeler
from coreclust.evidence._pair_evidence import PairEvidence
from coreclust.resampling import KnownDistribution


@dataclass(frozen=True)
class _Task:
    """All that is needed to resample any pair, as plain data."""

    problem: Problem
    n_resamples: int
    entropy: int
    labeler: DatasetLabeler | None

    @property
    def block(self) -> int:
        """How many resamples are drawn in one go; it depends only on n.

        Whole blocks are drawn even if fewer resamples are wanted, so that fewer resamples are
        the first of more.
        """
        return max(1, min(100, 10**6 // self.problem.n_items))


def resample_pairs(
    problem: Problem,
    clusters: NDArray[np.int64],
    n_resamples: int,
    entropy: int,
    *,
    labeler: DatasetLabeler | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> tuple[PairEvidence, int]:
    """Resample every pair of every cluster `n_resamples` times.

    Returns
    -------
    evidence : PairEvidence
    n_dropped : int
        Number of resamples that could not be clustered, over all pairs.
    """
    values = _equal_items(problem.items, problem.classes)
    pairs = _distinct_pairs(clusters, values)
    counts, n_dropped = resample_these_pairs(
        problem, pairs, n_resamples, entropy, labeler=labeler, n_jobs=n_jobs, verbose=verbose
    )
    return PairEvidence(clusters, _spread(counts, pairs, clusters, values), n_resamples), n_dropped


def resample_these_pairs(
    problem: Problem,
    pairs: NDArray[np.intp],
    n_resamples: int,
    entropy: int,
    *,
    labeler: DatasetLabeler | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> tuple[NDArray[np.int32], int]:
    """Resample some pairs `n_resamples` times each, whatever clusters they are in.

    Parameters
    ----------
    problem : Problem
        Its scheme is a KnownDistribution.
    pairs : ndarray of int of shape (n_pairs, 2)
    n_resamples, entropy : int
    labeler : DatasetLabeler, default=None
        Labels the resamples instead of the clustering function, in threads.
    n_jobs, verbose
        As for :class:`~coreclust.CoreClustering`.

    Returns
    -------
    counts : ndarray of int of shape (n_pairs, 4)
        As in :class:`~coreclust.evidence.PairEvidence`. The counts of a pair do not depend on
        which others are resampled.
    n_dropped : int
        Number of resamples that could not be clustered, over all pairs.
    """
    task = _Task(problem, n_resamples, entropy, labeler)
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
                    break  # too many are lost already
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


def _check_drawn(X: Any, scheme: KnownDistribution, drawn: Any, n_wanted: int) -> None:
    """Raise if a distribution that began well later draws something else."""
    is_array = isinstance(X, np.ndarray)
    shape = np.shape(drawn) if is_array else (len(drawn),)
    expected = (n_wanted, *X.shape[1:]) if is_array else (n_wanted,)
    if shape != expected:
        raise ValueError(
            f"resampling=KnownDistribution must draw as many items like those of X as it is asked "
            f"for: expected shape {expected}, got {shape}."
        )
    numeric = is_array and X.dtype.kind in "iuf"
    if numeric and callable(scheme.source) and not np.isfinite(drawn).all():
        raise ValueError("resampling=KnownDistribution must draw finite numbers, got NaN.")


def _label_block(
    task: _Task, i: int, j: int, block: int, attempt: int, resamples: NDArray[np.int64]
) -> tuple[NDArray[np.int64], dict[int, str]]:
    """Draw a block of resamples and return the labels of the pair in some of them."""
    problem, scheme = task.problem, cast(KnownDistribution, task.problem.scheme)
    X, size, n_drawn = problem.items, task.block, problem.n_items - 2
    key = (i, j, block, 2 * attempt)
    rng = np.random.default_rng(seeds_of(task.entropy, *key[:3], key[3] + ROWS))
    drawn, classes = scheme.draw_items(size * n_drawn, rng)
    _check_drawn(X, scheme, drawn, size * n_drawn)
    states = draw_random_states(seeds_of(task.entropy, *key[:3], key[3] + ESTIMATOR), size)
    places = (resamples - block * size).tolist()
    if task.labeler is not None:
        n_features = X.shape[1]
        datasets = np.empty((len(places), problem.n_items, n_features))
        datasets[:, :2] = X[[i, j]]
        datasets[:, 2:] = np.reshape(drawn, (size, n_drawn, n_features))[places]
        batch = task.labeler(datasets, 2, np.array(states)[places])
        failed = dict.fromkeys(resamples[batch.failed].tolist(), TOO_FEW_ITEMS)
        return batch.labels.astype(np.int64), failed
    labels = np.full((len(places), 2), NOISE, dtype=np.int64)
    errors: dict[int, str] = {}
    for row, (resample, place) in enumerate(zip(resamples.tolist(), places, strict=True)):
        rows = np.arange(place * n_drawn, (place + 1) * n_drawn)
        Z = _beside(X, [i, j], take_items(drawn, rows))
        y = None
        if problem.classes is not None:
            y = np.concatenate([np.asarray(problem.classes)[[i, j]], np.asarray(classes)[rows]])
        try:
            labels[row] = problem.function.label_first(Z, y, 2, states[place])
        except Exception as error:  # noqa: BLE001 - counted and reported by the caller
            errors[resample] = f"{type(error).__name__}: {error}"
    return labels, errors


def _beside(X: Any, pair: list[int], drawn: Any) -> Any:
    if isinstance(X, list):
        return [*take_items(X, pair), *drawn]
    return np.concatenate([X[pair], drawn])
