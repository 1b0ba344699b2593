"""Tells by trial whether the copies of items in a bootstrap resample change their clusters."""

from __future__ import annotations

import contextlib
import random
import warnings
from collections.abc import Iterator
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from coreclust._sampling.function import is_density_clusterer, last_step
from coreclust._sampling.native import has_native, takes_weights
from coreclust._sampling.problem import Problem
from coreclust._sampling.threads import one_thread
from coreclust._utils.seeds import draw_random_states, seeds_of

_MOST_ITEMS = 400  # of the data, that the trial uses
_DRAWS = 8
_FIRST = 4  # draws, after which the trial ends if the copies had no effect at all
_MISSES = 1  # draws in which the copies need not give more clusters
_FEWEST_RESAMPLES = 50  # below, the trial would take a large part of the fit
# By how much the adjusted Rand index with the clusters of the data must be lower with copies than
# without, in two draws (in others copies may have no effect), or how many times as many clusters
# there must be, if the index is not clearly higher. Chosen on 25 clusterers and 10 datasets.
_LOSS, _RATIO, _GAIN, _EQUAL = 0.2, 1.1, 0.1, 0.02


@dataclass(frozen=True)
class Trial:
    """Medians over some bootstrap resamples, with the copies of items and without.

    Attributes
    ----------
    clusters, clusters_with, clusters_without : float
        The numbers of clusters of the data, and of resamples with copies and without.
    agreement_with, agreement_without : float
        The adjusted Rand index with the clusters of the data.
    """

    clusters: float
    clusters_with: float
    clusters_without: float
    agreement_with: float
    agreement_without: float


def warn_of_copies(problem: Problem, n_resamples: int) -> None:
    """Warn if copies matter, as for density clusterers, and resamples have copies.

    Clusterers with weights or compiled code are known to be safe.
    """
    if (
        not problem.scheme.repeats
        or problem.scheme.draws != "rows"
        or problem.in_blocks
        or problem.function.kind == "classifier"
        or n_resamples < _FEWEST_RESAMPLES
        or is_density_clusterer(problem.function.estimator)  # a warning was raised already
        or _is_safe(problem)
    ):
        return
    found = copies_matter(problem)
    if found is None:
        return
    estimator = problem.function.estimator
    name = getattr(estimator, "__name__", None) or type(last_step(estimator)).__name__
    warnings.warn(
        f"{name} finds other clusters if rows are repeated, as in bootstrap resamples: in a trial, "
        f"there were {found.clusters_with:.0f} clusters with the copies, "
        f"{found.clusters_without:.0f} without, and {found.clusters:.0f} in the data (adjusted "
        f"Rand index with the latter: {found.agreement_with:.2f} with copies, "
        f"{found.agreement_without:.2f} without). Its cores may be too small; use "
        "resampling=Subsample() or SmoothedBootstrap(), which draw no copies.",
        stacklevel=5,
    )


def copies_matter(problem: Problem) -> Trial | None:
    """Return what a trial shows of the harm of copies; None if they do no harm.

    Some bootstrap resamples are clustered with their copies and without. Copies do harm if the
    clusters are sometimes far less similar to those of the data than without copies, never more
    similar, and other seeds do not change as much; or nearly always more numerous than without
    copies and in the data. An estimator that merely depends on the number of rows is not harmed.
    The trial ends as soon as the answer is no. The seeds are fixed, so that other seeds, and the
    global generators, stay as they are.
    """
    rng = np.random.default_rng(seeds_of(0))
    n_items = min(problem.n_items, _MOST_ITEMS)
    some = np.sort(rng.permutation(problem.n_items)[:n_items])
    shown: list[Trial] = []
    resamples: list[NDArray[np.int64]] = []
    with _unseen(), contextlib.suppress(Exception):
        reference = np.empty(problem.n_items, dtype=np.int64)
        reference[some] = _labels(problem, some, _DRAWS)
        for draw in range(_DRAWS):
            rows = np.sort(rng.choice(some, size=n_items))
            shown.append(_compare(problem, rows, reference, some, draw))
            if not (_never_better(shown) or _mostly_finer(shown)):
                return None
            resamples.append(np.unique(rows))
    if len(shown) < _DRAWS:
        return None  # the fit itself will tell why
    trial = Trial(*np.median([astuple(one) for one in shown], axis=0).tolist())
    lost = np.sort([one.agreement_without - one.agreement_with for one in shown])
    is_worse = (
        _never_better(shown)
        and lost[-2] >= _LOSS
        and not _seeds_matter(problem, reference, resamples, shown)
    )
    most = max(trial.clusters, trial.clusters_without)
    is_finer = _mostly_finer(shown) and trial.clusters_with >= _RATIO * most
    return trial if is_worse or (is_finer and np.median(lost) > -_GAIN) else None


def _compare(
    problem: Problem,
    rows: NDArray[np.int64],
    reference: NDArray[np.int64],
    some: NDArray[np.int64],
    draw: int,
) -> Trial:
    """Cluster a resample with its copies and without, and compare it with the data."""
    items, first = np.unique(rows, return_index=True)
    without, with_copies = _labels(problem, items, draw), _labels(problem, rows, draw)
    return Trial(
        _n_clusters(reference[some]),
        _n_clusters(with_copies),
        _n_clusters(without),
        adjusted_rand_score(reference[items], with_copies[first]),
        adjusted_rand_score(reference[items], without),
    )


def _seeds_matter(
    problem: Problem,
    reference: NDArray[np.int64],
    resamples: list[NDArray[np.int64]],
    shown: list[Trial],
) -> bool:
    """Tell whether another seed alone changes the clusters as much as copies must do."""
    n_changed = 0
    with _unseen(), contextlib.suppress(Exception):
        for draw, (items, one) in enumerate(zip(resamples, shown, strict=True)):
            again = _labels(problem, items, _DRAWS + 1 + draw)
            agreement = adjusted_rand_score(reference[items], again)
            n_changed += abs(agreement - one.agreement_without) >= _LOSS
    return n_changed >= 2


def _n_clusters(labels: NDArray[np.int64]) -> int:
    return int(np.unique(labels[labels >= 0]).size)


def _never_better(shown: list[Trial]) -> bool:
    """Tell whether copies never help, and at least once in the first draws do harm."""
    lost = [one.agreement_without - one.agreement_with for one in shown]
    return min(lost) >= -_EQUAL and (max(lost) > _EQUAL or len(lost) < _FIRST)


def _mostly_finer(shown: list[Trial]) -> bool:
    finer = [one.clusters_with > max(one.clusters, one.clusters_without) for one in shown]
    return finer.count(False) <= _MISSES


def _labels(problem: Problem, rows: NDArray[np.int64], stream: int) -> NDArray[np.int64]:
    function = problem.function
    seed = draw_random_states(seeds_of(0, stream), 1)[0]
    return function.label_first(function._take(problem.items, rows), None, rows.size, seed)


def _is_safe(problem: Problem) -> bool:
    """Tell whether copies are known to act as weights."""
    estimator = problem.function.estimator
    if problem.function.kind == "callable":
        return False
    last = last_step(estimator)
    if last is not estimator and hasattr(last, "__coreclust_native__"):
        # A Pipeline passes no weights, and for some clusterers copies are neighbors.
        return last.__coreclust_native__().in_share is None
    return takes_weights(last, problem.n_items) or has_native(last)


@contextlib.contextmanager
def _unseen() -> Iterator[None]:
    """Hide warnings, and restore the global generators of random numbers."""
    numpy_state, python_state = np.random.get_state(), random.getstate()  # noqa: NPY002
    try:
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(numpy_state)  # noqa: NPY002
        random.setstate(python_state)
