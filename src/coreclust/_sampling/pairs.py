"""Algorithm 2: clusters each pair of items together with new items, many times."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from coreclust._sampling.parallel import in_parallel
from coreclust._sampling.problem import Problem
from coreclust._sampling.runner import TRIES, report_dropped
from coreclust._sampling.threads import one_thread
from coreclust._utils.compat import number_of_items, take_items
from coreclust._utils.constants import NOISE
from coreclust._utils.progress import Progress
from coreclust._utils.seeds import ESTIMATOR, ROWS, draw_random_states, seeds_of
from coreclust.cluster._native import DatasetLabeler
from coreclust.evidence._pair_evidence import PairEvidence
from coreclust.resampling import KnownDistribution

_FAILURE = (
    "ValueError: a resample has too few distinct items or classes, or too large values, for the "
    "estimator."
)


@dataclass(frozen=True)
class _Task:
    """The data needed to resample any pair."""

    problem: Problem
    n_resamples: int
    entropy: int
    labeler: DatasetLabeler | None

    @property
    def block(self) -> int:
        """Number of resamples that are drawn at once; it depends only on n.

        Blocks are always drawn whole, so that fewer resamples are the first of more.
        """
        return max(1, min(100, 10**6 // self.problem.n_items))


def resample_pairs(
    problem: Problem,
    clusters: NDArray[np.int64],
    n_resamples: int,
    entropy: int,
    **how: Any,
) -> tuple[PairEvidence, int]:
    """Resample all pairs of all clusters, with the options of `resample_these_pairs`.

    Returns the evidence, and the number of resamples that could not be clustered.
    """
    values = _equal_items(problem.items, problem.classes)
    pairs = _distinct_pairs(clusters, values)
    counts, n_dropped = resample_these_pairs(problem, pairs, n_resamples, entropy, **how)
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
    """Resample some pairs `n_resamples` times each; the scheme is a KnownDistribution.

    Returns four counts per pair, as in :class:`~coreclust.evidence.PairEvidence`, and the number of
    resamples that could not be clustered. The counts of a pair do not depend on the other pairs. A
    `labeler` labels the resamples instead of the clustering function, in threads.
    """
    task = _Task(problem, n_resamples, entropy, labeler)
    total = len(pairs) * n_resamples
    counts = np.empty((len(pairs), 4), dtype=np.int32)
    errors: list[str] = []
    progress = Progress(len(pairs), "pairs", enabled=verbose > 0)
    with one_thread(), warnings.catch_warnings():
        given = ((task, int(i), int(j)) for i, j in pairs)
        results = in_parallel(_resample_pair, given, n_jobs, threads=labeler is not None)
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
                f"Interrupted after {n_done} of {len(pairs)} pairs were resampled."
            ) from None
        finally:
            results.close()  # stops what is still running
            progress.close()
    report_dropped(errors, total)
    return counts, len(errors)


def _equal_items(X: Any, y: Any) -> NDArray[np.intp]:
    """Return one number per item, which is the same for items with equal values and classes."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "biuf":
        return np.arange(number_of_items(X))
    values = np.unique(X, axis=0, return_inverse=True)[1].reshape(-1)
    if y is None:
        return values
    classes = np.unique(y, return_inverse=True)[1]
    return np.unique(np.column_stack([values, classes]), axis=0, return_inverse=True)[1].reshape(-1)


def _distinct_pairs(clusters: NDArray[np.int64], values: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return one pair of items for each pair of values within a cluster."""
    pairs = [
        members[np.stack(np.triu_indices(members.size, 1), axis=1)]
        for members in _members(clusters)
    ]
    found = np.concatenate([np.empty((0, 2), dtype=np.intp), *pairs])
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
    """Give each pair of a cluster the counts of the resampled pair with the same values."""
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
    """Return the counts of one pair, and the errors of resamples that failed on every try."""
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
    """Raise if a later draw is not like the first, which `check_distribution` has checked."""
    is_array = isinstance(X, np.ndarray)
    shape = np.shape(drawn) if is_array else (len(drawn),)
    expected = (n_wanted, *X.shape[1:]) if is_array else (n_wanted,)
    if shape != expected:
        raise ValueError(
            "resampling=KnownDistribution must draw as many items like those of X as asked for: "
            f"expected shape {expected}, got {shape}."
        )
    numeric = is_array and X.dtype.kind in "iuf"
    if numeric and callable(scheme.source) and not np.isfinite(drawn).all():
        raise ValueError("resampling=KnownDistribution must draw finite numbers, got NaN.")


def _classes_of(pair: NDArray[Any], drawn: Any, size: int) -> NDArray[np.int64]:
    """Return the classes of the pair and of the drawn items of each resample, from 0 on."""
    codes = np.unique(np.concatenate([pair, np.asarray(drawn)]), return_inverse=True)[1]
    return np.column_stack([np.tile(codes[:2], (size, 1)), codes[2:].reshape(size, -1)])


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
        given = [datasets, 2, np.array(states)[places]]
        if problem.classes is not None:
            given.append(_classes_of(problem.classes[[i, j]], classes, size)[places])
        batch = task.labeler(*given)
        failed = dict.fromkeys(resamples[batch.failed].tolist(), _FAILURE)
        return batch.labels.astype(np.int64), failed
    labels = np.full((len(places), 2), NOISE, dtype=np.int64)
    errors: dict[int, str] = {}
    for row, (resample, place) in enumerate(zip(resamples.tolist(), places, strict=True)):
        rows = np.arange(place * n_drawn, (place + 1) * n_drawn)
        pair, others = take_items(X, [i, j]), take_items(drawn, rows)
        Z = [*pair, *others] if isinstance(X, list) else np.concatenate([pair, others])
        y = None
        if problem.classes is not None:
            y = np.concatenate([np.asarray(problem.classes)[[i, j]], np.asarray(classes)[rows]])
        try:
            labels[row] = problem.function.label_first(Z, y, 2, states[place])
        except Exception as error:  # noqa: BLE001 - counted and reported by the caller
            errors[resample] = f"{type(error).__name__}: {error}"
    return labels, errors
