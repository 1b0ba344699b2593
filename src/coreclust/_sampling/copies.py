"""Tells by trial whether the copies of items in a bootstrap resample change their clusters."""

from __future__ import annotations

import contextlib
import random
import warnings
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from coreclust._sampling.function import is_density_clusterer, last_step
from coreclust._sampling.native import has_native, takes_weights
from coreclust._sampling.problem import Problem
from coreclust._sampling.threads import one_thread
from coreclust._utils.seeds import draw_random_states, seeds_of

_MOST_ITEMS = 400  # of the data, that the trial uses
_DRAWS = 4
_FEWEST_RESAMPLES = 50  # below, the trial would take a large part of the fit
# The adjusted Rand index of clusters with and without copies must be lower than that of two
# resamples by this much. The smaller number counts if copies always give more clusters, or always
# fewer, because then it is not the noise of a clusterer that finds different solutions.
_MARGIN, _MARGIN_IF_BIASED = 0.25, 0.1


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
    agreement = copies_matter(problem)
    if agreement is None:
        return
    estimator = problem.function.estimator
    name = getattr(estimator, "__name__", None) or type(last_step(estimator)).__name__
    warnings.warn(
        f"{name} finds other clusters if rows are repeated, as in bootstrap resamples: in a trial, "
        f"the adjusted Rand index with and without the copies was {agreement:.2f}. Its cores may "
        "be too small; use resampling=Subsample() or SmoothedBootstrap(), which draw no copies.",
        stacklevel=5,
    )


def copies_matter(problem: Problem) -> float | None:
    """Return how similar clusters with and without copies are; None if copies do not matter.

    Some bootstrap resamples are clustered with their copies and without. Copies matter if these
    clusters differ more than those of two resamples without copies. The seeds are fixed, so that
    other seeds, and the global generators, stay as they are.
    """
    rng = np.random.default_rng(seeds_of(0))
    n_items = min(problem.n_items, _MOST_ITEMS)
    some = np.sort(rng.permutation(problem.n_items)[:n_items])
    alone, same, shift = [], [], []
    with _unseen(), contextlib.suppress(Exception):
        for draw in range(_DRAWS):
            rows = np.sort(rng.choice(some, size=n_items))
            items, first = np.unique(rows, return_index=True)
            seed = draw_random_states(seeds_of(0, draw), 1)[0]
            labels = np.full(problem.n_items, -2)
            labels[items] = _labels(problem, items, seed)
            alone.append(labels)
            with_copies = _labels(problem, rows, seed)[first]
            same.append(adjusted_rand_score(labels[items], with_copies))
            shift.append(np.sign(np.unique(with_copies).size - np.unique(labels[items]).size))
    if len(same) < _DRAWS:
        return None  # the fit itself will tell why
    other = [
        adjusted_rand_score(one[both], two[both])
        for one, two in combinations(alone, 2)
        if (both := (one != -2) & (two != -2)).any()
    ]
    biased = abs(sum(shift)) == _DRAWS
    agreement = float(np.median(same))
    margin = _MARGIN_IF_BIASED if biased else _MARGIN
    return agreement if agreement < np.median(other) - margin else None


def _labels(problem: Problem, rows: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    function = problem.function
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
