"""Label m resamples, in any number of threads or processes, into one ensemble."""

from __future__ import annotations

import contextlib
import functools
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

from coreclust._checkpoint.folder import Checkpoint
from coreclust._sampling.function import ClusteringFunction
from coreclust._sampling.labeling import Block, Labeling
from coreclust._sampling.models import CenterModel, Model
from coreclust._sampling.native import BatchLabeler
from coreclust._utils.compat import number_of_items
from coreclust._utils.constants import ABSENT
from coreclust._utils.progress import Progress
from coreclust._utils.seeds import ESTIMATOR, ROWS, draw_random_states, seeds_of
from coreclust.evidence._ensemble import LabelEnsemble, label_dtype
from coreclust.resampling._schemes import (
    IndexScheme,
    ParametricBootstrap,
    Scheme,
    SmoothedBootstrap,
)

TRIES = 5


@dataclass(frozen=True)
class _Task:
    """All that is needed to label any resample, as plain data."""

    function: ClusteringFunction
    X: Any
    y: Any
    n_items: int
    scheme: Scheme
    entropy: int
    groups: NDArray[np.intp] | None = None  # of the items, numbered from 0 on
    members: list[NDArray[np.intp]] | None = None  # the items of each group
    keep_models: bool = False
    labeler: BatchLabeler | None = None  # has its own copy of X

    @property
    def n_units(self) -> int:
        """How many items, or groups of items, there are to draw from."""
        return self.n_items if self.groups is None else int(self.groups.max()) + 1

    def rows(self, scheme: IndexScheme, seeds: np.random.SeedSequence) -> NDArray[np.int64]:
        """Draw the items of a resample, group by group if there are groups."""
        units = scheme.draw(self.n_units, seeds)
        if self.members is None:
            return units
        return np.concatenate([self.members[unit] for unit in units])

    def counts(
        self, scheme: IndexScheme, resamples: list[np.random.SeedSequence]
    ) -> NDArray[np.int32]:
        """Draw resamples, as how often each item is in them."""
        counts = scheme.counts(self.n_units, resamples)
        return counts if self.groups is None else counts[:, self.groups]

    def seeds(self, resample: int, attempt: int, purpose: int) -> np.random.SeedSequence:
        """Return where a sample's random numbers come from."""
        return seeds_of(self.entropy, resample, 2 * attempt + purpose)


def label_resamples(
    function: ClusteringFunction,
    X: Any,
    y: Any,
    *,
    scheme: Scheme,
    n_resamples: int,
    entropy: int,
    groups: NDArray[np.intp] | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    on_resample: Callable[[], None] | None = None,
    labeler: BatchLabeler | None = None,
    keep_models: bool = False,
    resamples_per_task: int | None = None,
    after: Labeling | None = None,
    checkpoint: Checkpoint | None = None,
) -> Labeling:
    """Draw and label resamples 0 to `n_resamples` - 1.

    The result depends on nothing but the function, the data, the scheme and the entropy: not on
    how many of the resamples are there already, from an earlier call (`after`) or in a
    `checkpoint`, which is given all others. With a `labeler`, resamples are labeled by it instead
    of the function, in threads.
    """
    n_items = number_of_items(X)
    members = None if groups is None else _members(groups)
    task = _Task(function, X, y, n_items, scheme, entropy, groups, members, keep_models)
    if labeler is not None:
        task = replace(task, X=None, y=None, labeler=labeler)
    collected = _collector(n_resamples, n_items, after, checkpoint)
    n_before = collected.n_tried
    if resamples_per_task is None:
        resamples_per_task = _resamples_per_task(
            n_items, n_resamples - n_before, labeler is not None
        )
    blocks = (
        range(begin, min(begin + resamples_per_task, n_resamples))
        for begin in range(n_before, n_resamples, resamples_per_task)
    )
    progress = Progress(n_resamples, "samples", enabled=verbose > 0, done_before=n_before)
    # catch_warnings, because the threads of joblib do not leave the filters as they were.
    with one_thread(), warnings.catch_warnings(), sent_once(task):
        label = delayed(_label_block if labeler is None else _label_batch)
        calls = (label(task, block) for block in blocks)
        results = in_parallel(calls, n_jobs, threads=labeler is not None)
        try:
            for block in results:
                collected.add(block)
                if 2 * len(collected.errors) > n_resamples:
                    break  # there is no saving it
                progress.update(collected.n_tried)
                if on_resample is not None:
                    for _ in range(block.n_resamples):
                        on_resample()
        except (KeyboardInterrupt, SystemError) as error:
            if not _is_interrupt(error):
                raise
            n_labeled = collected.n_tried - len(collected.errors)
            kept = "" if checkpoint is None else f" They are kept in {str(checkpoint.path)!r}."
            raise KeyboardInterrupt(
                f"Interrupted after {n_labeled} of {n_resamples} resamples were clustered.{kept}"
            ) from None
        finally:
            try:
                if checkpoint is not None:
                    checkpoint.flush()
            finally:
                results.close()  # stops what is still running
                progress.close()
    if 2 * len(collected.errors) > n_resamples:
        report_dropped(collected.errors, n_resamples)
    return collected.labeling()


def _is_interrupt(error: BaseException | None) -> bool:
    """Tell whether an error is a Ctrl-C, perhaps one that struck on the way into a kernel."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


class _InMemory:
    """Collects labels in an array, and gives them to a checkpoint if there is one.

    Parameters
    ----------
    n_resamples, n_items : int
    after : Labeling or None
        Earlier resamples.
    checkpoint : Checkpoint or None
    """

    def __init__(
        self,
        n_resamples: int,
        n_items: int,
        after: Labeling | None,
        checkpoint: Checkpoint | None,
    ) -> None:
        known = np.empty((0, n_items), np.int8) if after is None else after.ensemble.labels.T
        self._labels = np.empty((n_resamples, n_items), dtype=known.dtype)
        self._labels[: len(known)] = known
        self._n_labeled = len(known)
        self._models = [] if after is None else list(after.models)
        self._checkpoint = checkpoint
        self.errors = [] if after is None else list(after.errors)

    @property
    def n_tried(self) -> int:
        """The resamples that were drawn, with those that failed."""
        return self._n_labeled + len(self.errors)

    def add(self, block: Block) -> None:
        """Take resamples that follow on the last ones."""
        if block.labels.dtype.itemsize > self._labels.dtype.itemsize:
            self._labels = self._labels.astype(block.labels.dtype)
        end = self._n_labeled + len(block.labels)
        self._labels[self._n_labeled : end] = block.labels
        self._n_labeled = end
        self.errors += [error for _, error in block.failed]
        self._models += block.models
        if self._checkpoint is not None:
            self._checkpoint.add(block)

    def labeling(self) -> Labeling:
        """Return all of it."""
        ensemble = LabelEnsemble._owning(self._labels[: self._n_labeled].T)
        return Labeling(ensemble, self.errors, self._models)


class _OnDisk:
    """Collects labels in a checkpoint only."""

    def __init__(self, n_resamples: int, checkpoint: Checkpoint) -> None:
        self._n_resamples = n_resamples
        self._checkpoint = checkpoint
        self.n_tried = min(checkpoint.n_tried, n_resamples)
        self.errors = checkpoint.errors(n_resamples)

    def add(self, block: Block) -> None:
        """Take resamples that follow on the last ones."""
        self.n_tried += block.n_resamples
        self.errors += [error for _, error in block.failed]
        self._checkpoint.add(block)

    def labeling(self) -> Labeling:
        """Return all of it, once the checkpoint has been flushed."""
        return cast(Labeling, self._checkpoint.labeling(self._n_resamples))


def _collector(
    n_resamples: int, n_items: int, after: Labeling | None, checkpoint: Checkpoint | None
) -> _InMemory | _OnDisk:
    if checkpoint is not None:
        if checkpoint.is_large(n_resamples):
            return _OnDisk(n_resamples, checkpoint)
        if after is None or after.n_tried < min(checkpoint.n_tried, n_resamples):
            after = checkpoint.labeling(n_resamples)
    return _InMemory(n_resamples, n_items, after, checkpoint)


def _members(groups: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.cumsum(np.bincount(groups))[:-1])


def _resamples_per_task(n_items: int, n_resamples: int, batched: bool) -> int:
    """Return how many resamples to label in one go.

    For a kernel enough to hide the cost of a call, but few enough to stop soon after a Ctrl-C,
    which waits for the kernels that are running. For the workers of a cluster enough to keep
    the scheduler idle, but so few that all have work to the end, and results stay handy.
    """
    few = max(1, min(125, 20_000 // n_items)) if batched else 1
    backend, _ = get_active_backend()
    if not _is_cluster(backend):
        return few
    n_workers = max(1, backend.effective_n_jobs(-1))
    return max(few, min(100, n_resamples // (8 * n_workers), (1 << 25) // n_items))


@contextlib.contextmanager
def sent_once(data: Any) -> Iterator[None]:
    """Send an argument of calls to all workers of a cluster beforehand, instead of with each call.

    To all, because Dask computes the results of a worker that died again, but cannot bring back
    data that only it had. Without a cluster, do nothing.
    """
    backend, _ = get_active_backend()
    if not _is_cluster(backend):
        yield
        return
    # As joblib does for its option `scatter`, which has to be set by who chooses the backend.
    backend.data_futures[id(data)] = backend.client.scatter(data, broadcast=True, hash=False)
    try:
        yield
    finally:
        del backend.data_futures[id(data)]


def _is_cluster(backend: Any) -> bool:
    """Tell whether a backend of joblib is that of Dask, without importing it."""
    return hasattr(backend, "client") and hasattr(backend, "data_futures")


def in_parallel(
    calls: Iterable[Any], n_jobs: int | None, *, threads: bool
) -> Generator[Any, None, None]:
    """Yield the results of the calls in their order, as they come.

    Kernels run in threads and, unless the user says otherwise, on all cores; or where the user
    says.
    """
    backend, configured = get_active_backend()
    if threads and n_jobs is None and configured is None and not backend.nesting_level:
        n_jobs = -1
    how = {"n_jobs": n_jobs, "prefer": "threads" if threads else None}
    try:
        parallel = Parallel(return_as="generator", **how)
    except ValueError:  # a backend that only returns everything at once
        parallel = Parallel(**how)
    yield from parallel(calls)


def _label_block(task: _Task, resamples: range) -> Block:
    labels = np.full((len(resamples), task.n_items), ABSENT, dtype=np.int64)
    failed: list[tuple[int, str]] = []
    models: list[Model] = []
    # The thread count of BLAS belongs to the whole process: only the main thread of a worker
    # may set and restore it. That of OpenMP belongs to the thread.
    is_main = threading.current_thread() is threading.main_thread()
    with _threadpools().limit(limits=1, user_api=None if is_main else "openmp"):
        for resample in resamples:
            found, error = _label_one(task, resample, models)
            if found is None:
                failed.append((resample, error))
            else:
                items, codes = found
                labels[resample - resamples.start - len(failed), items] = codes
    labels = labels[: len(resamples) - len(failed)]
    return Block(labels.astype(label_dtype(int(labels.max(initial=0)))), failed, models)


def _label_batch(task: _Task, resamples: range) -> Block:
    """Label all resamples of a block at once; draw again those that fail."""
    labeler = cast(BatchLabeler, task.labeler)
    scheme = cast(IndexScheme, task.scheme)  # those that make items have no batches
    labels = np.empty((len(resamples), task.n_items), dtype=np.int32)
    models: dict[int, Model] = {}
    pending = np.arange(len(resamples))
    for attempt in range(TRIES):
        drawn = [resamples[place] for place in pending.tolist()]
        counts = task.counts(scheme, [task.seeds(b, attempt, ROWS) for b in drawn])
        random_states = np.zeros(pending.size, dtype=np.int64)
        if labeler.seeded:
            random_states[:] = [
                draw_random_states(task.seeds(b, attempt, ESTIMATOR), 1)[0] for b in drawn
            ]
        if task.keep_models:
            found, failed, centers = cast(Any, labeler).label_and_keep(counts, random_states)
            models.update(zip(pending.tolist(), map(CenterModel, centers), strict=True))
        else:
            found, failed = labeler(counts, random_states)
        if scheme.label == "oob":
            found[counts > 0] = ABSENT
        labels[pending] = found
        pending = pending[failed]
        if pending.size == 0:
            break
    labels = np.delete(labels, pending, axis=0)
    message = "ValueError: too few distinct items for the clusters asked for."
    lost = pending.tolist()
    return Block(
        labels.astype(label_dtype(int(labels.max(initial=0)))),
        [(resamples[place], message) for place in lost],
        [model for place, model in sorted(models.items()) if place not in lost],
    )


def _label_one(
    task: _Task, resample: int, models: list[Model]
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]] | None, str]:
    """Draw and label one sample, again if that fails; return plain data or an error."""
    message = ""
    for attempt in range(TRIES):
        row_seeds = task.seeds(resample, attempt, ROWS)
        seeds = task.seeds(resample, attempt, ESTIMATOR)
        try:
            return _draw_and_label(task, row_seeds, seeds, models), ""
        except Exception as error:  # noqa: BLE001 - counted and reported by the caller
            message = f"{type(error).__name__}: {error}"
    return None, message


def _draw_and_label(
    task: _Task,
    row_seeds: np.random.SeedSequence,
    seeds: np.random.SeedSequence,
    models: list[Model],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw a resample and return the items that get a label by it, and their labels."""
    keep = models if task.keep_models else None
    function, X, y, scheme = task.function, task.X, task.y, task.scheme
    every = np.arange(task.n_items)
    if isinstance(scheme, ParametricBootstrap):
        drawn = scheme.draw_items(task.n_items, draw_random_states(row_seeds, 1)[0])
        return every, function.label_by_model(drawn, None, X, seeds, keep)
    rows = task.rows(scheme, row_seeds)
    moved = None
    if isinstance(scheme, SmoothedBootstrap):
        moved = scheme.jitter(X, rows, np.random.default_rng(row_seeds))
    if scheme.label == "drawn":
        return function.label_resample(X, y, rows, seeds, moved, keep)
    items = every if scheme.label == "all" else np.setdiff1d(every, rows)
    return items, function.label_others(X, y, rows, items, seeds, moved, keep)


def report_dropped(errors: list[str], n_resamples: int) -> None:
    """Warn of resamples that failed on every try; raise if they are more than half."""
    if not errors:
        return
    told = (
        f"{len(errors)} of {n_resamples} resamples could not be clustered in {TRIES} tries each; "
        f"the last error was {errors[-1].rstrip('.')}."
    )
    if 2 * len(errors) > n_resamples:
        raise RuntimeError(f"{told} More than half are lost: too few to rest a guarantee on.")
    warnings.warn(f"{told} They are left out.", RuntimeWarning, stacklevel=4)


def one_thread() -> Any:
    """Return a context in which the libraries under the clusterers use one thread."""
    _threadpools.cache_clear()  # it takes a while to find them, but more may have been loaded
    return _threadpools().limit(limits=1)


@functools.cache
def _threadpools() -> ThreadpoolController:
    """Return the thread pools of the libraries under the clusterers.

    They are held to one thread: sums over several depend on their number in the last
    bit, and resamples are what runs in parallel here.
    """
    return ThreadpoolController()
