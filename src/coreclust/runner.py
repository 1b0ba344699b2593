"""Label m samples, in any number of threads or processes, into one ensemble."""

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

from coreclust._compat import number_of_items
from coreclust.batching import BatchLabeller
from coreclust.checkpoint import Checkpoint
from coreclust.ensemble import LabelEnsemble, label_dtype
from coreclust.functions import ClusteringFunction
from coreclust.labelling import Block, Labelling
from coreclust.models import CentreModel, Model
from coreclust.pairs import ABSENT
from coreclust.progress import Progress
from coreclust.resampling import IndexScheme, ParametricBootstrap, Scheme, SmoothedBootstrap
from coreclust.seeds import ESTIMATOR, ROWS, draw_random_states, seeds_of

TRIES = 5


@dataclass(frozen=True)
class _Task:
    """All that is needed to label any sample, as plain data."""

    function: ClusteringFunction
    X: Any
    y: Any
    n_items: int
    scheme: Scheme
    entropy: int
    groups: NDArray[np.intp] | None = None  # of the items, numbered from 0 on
    members: list[NDArray[np.intp]] | None = None  # the items of each group
    keep_models: bool = False
    labeller: BatchLabeller | None = None  # has its own copy of X

    @property
    def n_units(self) -> int:
        """How many items, or groups of items, there are to draw from."""
        return self.n_items if self.groups is None else int(self.groups.max()) + 1

    def rows(self, scheme: IndexScheme, seeds: np.random.SeedSequence) -> NDArray[np.int64]:
        """Draw the items of a sample, group by group if there are groups."""
        units = scheme.draw(self.n_units, seeds)
        if self.members is None:
            return units
        return np.concatenate([self.members[unit] for unit in units])

    def counts(
        self, scheme: IndexScheme, samples: list[np.random.SeedSequence]
    ) -> NDArray[np.int32]:
        """Draw samples, as how often each item is in them."""
        counts = scheme.counts(self.n_units, samples)
        return counts if self.groups is None else counts[:, self.groups]

    def seeds(self, sample: int, attempt: int, purpose: int) -> np.random.SeedSequence:
        """Return where a sample's random numbers come from."""
        return seeds_of(self.entropy, sample, 2 * attempt + purpose)


def label_samples(
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
    on_sample: Callable[[], None] | None = None,
    labeller: BatchLabeller | None = None,
    keep_models: bool = False,
    samples_per_task: int | None = None,
    after: Labelling | None = None,
    checkpoint: Checkpoint | None = None,
) -> Labelling:
    """Draw and label samples 0 to `n_resamples` - 1.

    The result depends on nothing but the function, the data, the scheme and the entropy: not on
    how many of the samples are there already, from an earlier call (`after`) or in a
    `checkpoint`, which is given all others. With a `labeller`, samples are labelled by it instead
    of the function, in threads.
    """
    n_items = number_of_items(X)
    members = None if groups is None else _members(groups)
    task = _Task(function, X, y, n_items, scheme, entropy, groups, members, keep_models)
    if labeller is not None:
        task = replace(task, X=None, y=None, labeller=labeller)
    collected = _collector(n_resamples, n_items, after, checkpoint)
    n_before = collected.n_tried
    if samples_per_task is None:
        samples_per_task = _samples_a_task(n_items, n_resamples - n_before, labeller is not None)
    blocks = (
        range(begin, min(begin + samples_per_task, n_resamples))
        for begin in range(n_before, n_resamples, samples_per_task)
    )
    progress = Progress(n_resamples, "samples", enabled=verbose > 0, done_before=n_before)
    # catch_warnings, because the threads of joblib do not leave the filters as they were.
    with one_thread(), warnings.catch_warnings(), sent_once(task):
        label = delayed(_label_block if labeller is None else _label_batch)
        calls = (label(task, block) for block in blocks)
        results = in_parallel(calls, n_jobs, threads=labeller is not None)
        try:
            for block in results:
                collected.add(block)
                if 2 * len(collected.errors) > n_resamples:
                    break  # there is no saving it
                progress.update(collected.n_tried)
                if on_sample is not None:
                    for _ in range(block.n_samples):
                        on_sample()
        except (KeyboardInterrupt, SystemError) as error:
            if not _is_interrupt(error):
                raise
            n_labelled = collected.n_tried - len(collected.errors)
            kept = "" if checkpoint is None else f" They are kept in {str(checkpoint.path)!r}."
            raise KeyboardInterrupt(
                f"Interrupted after {n_labelled} of {n_resamples} samples were clustered.{kept}"
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
    return collected.labelling()


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
    after : Labelling or None
        Earlier samples.
    checkpoint : Checkpoint or None
    """

    def __init__(
        self,
        n_resamples: int,
        n_items: int,
        after: Labelling | None,
        checkpoint: Checkpoint | None,
    ) -> None:
        known = np.empty((0, n_items), np.int8) if after is None else after.ensemble.labels.T
        self._labels = np.empty((n_resamples, n_items), dtype=known.dtype)
        self._labels[: len(known)] = known
        self._n_labelled = len(known)
        self._models = [] if after is None else list(after.models)
        self._checkpoint = checkpoint
        self.errors = [] if after is None else list(after.errors)

    @property
    def n_tried(self) -> int:
        """The samples that were drawn, with those that failed."""
        return self._n_labelled + len(self.errors)

    def add(self, block: Block) -> None:
        """Take samples that follow on the last ones."""
        if block.labels.dtype.itemsize > self._labels.dtype.itemsize:
            self._labels = self._labels.astype(block.labels.dtype)
        end = self._n_labelled + len(block.labels)
        self._labels[self._n_labelled : end] = block.labels
        self._n_labelled = end
        self.errors += [error for _, error in block.failed]
        self._models += block.models
        if self._checkpoint is not None:
            self._checkpoint.add(block)

    def labelling(self) -> Labelling:
        """Return all of it."""
        ensemble = LabelEnsemble._owning(self._labels[: self._n_labelled].T)
        return Labelling(ensemble, self.errors, self._models)


class _OnDisk:
    """Collects labels in a checkpoint only."""

    def __init__(self, n_resamples: int, checkpoint: Checkpoint) -> None:
        self._n_resamples = n_resamples
        self._checkpoint = checkpoint
        self.n_tried = min(checkpoint.n_tried, n_resamples)
        self.errors = checkpoint.errors(n_resamples)

    def add(self, block: Block) -> None:
        """Take samples that follow on the last ones."""
        self.n_tried += block.n_samples
        self.errors += [error for _, error in block.failed]
        self._checkpoint.add(block)

    def labelling(self) -> Labelling:
        """Return all of it, once the checkpoint has been flushed."""
        return cast(Labelling, self._checkpoint.labelling(self._n_resamples))


def _collector(
    n_resamples: int, n_items: int, after: Labelling | None, checkpoint: Checkpoint | None
) -> _InMemory | _OnDisk:
    if checkpoint is not None:
        if checkpoint.is_large(n_resamples):
            return _OnDisk(n_resamples, checkpoint)
        if after is None or after.n_tried < min(checkpoint.n_tried, n_resamples):
            after = checkpoint.labelling(n_resamples)
    return _InMemory(n_resamples, n_items, after, checkpoint)


def _members(groups: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.cumsum(np.bincount(groups))[:-1])


def _samples_a_task(n_items: int, n_samples: int, batched: bool) -> int:
    """Return how many samples to label in one go.

    For a kernel enough to hide the cost of a call, but few enough to stop soon after a Ctrl-C,
    which waits for the kernels that are running. For the workers of a cluster enough to keep
    the scheduler idle, but so few that all have work to the end, and results stay handy.
    """
    few = max(1, min(125, 20_000 // n_items)) if batched else 1
    backend, _ = get_active_backend()
    if not _is_cluster(backend):
        return few
    n_workers = max(1, backend.effective_n_jobs(-1))
    return max(few, min(100, n_samples // (8 * n_workers), (1 << 25) // n_items))


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


def _label_block(task: _Task, samples: range) -> Block:
    labels = np.full((len(samples), task.n_items), ABSENT, dtype=np.int64)
    failed: list[tuple[int, str]] = []
    models: list[Model] = []
    # The thread count of BLAS belongs to the whole process: only the main thread of a worker
    # may set and restore it. That of OpenMP belongs to the thread.
    is_main = threading.current_thread() is threading.main_thread()
    with _threadpools().limit(limits=1, user_api=None if is_main else "openmp"):
        for sample in samples:
            found, error = _label_one(task, sample, models)
            if found is None:
                failed.append((sample, error))
            else:
                items, codes = found
                labels[sample - samples.start - len(failed), items] = codes
    labels = labels[: len(samples) - len(failed)]
    return Block(labels.astype(label_dtype(int(labels.max(initial=0)))), failed, models)


def _label_batch(task: _Task, samples: range) -> Block:
    """Label all samples of a block at once; draw again those that fail."""
    labeller = cast(BatchLabeller, task.labeller)
    scheme = cast(IndexScheme, task.scheme)  # those that make items have no batches
    labels = np.empty((len(samples), task.n_items), dtype=np.int32)
    models: dict[int, Model] = {}
    pending = np.arange(len(samples))
    for attempt in range(TRIES):
        drawn = [samples[place] for place in pending.tolist()]
        counts = task.counts(scheme, [task.seeds(b, attempt, ROWS) for b in drawn])
        random_states = np.zeros(pending.size, dtype=np.int64)
        if labeller.seeded:
            random_states[:] = [
                draw_random_states(task.seeds(b, attempt, ESTIMATOR), 1)[0] for b in drawn
            ]
        if task.keep_models:
            found, failed, centres = cast(Any, labeller).label_and_keep(counts, random_states)
            models.update(zip(pending.tolist(), map(CentreModel, centres), strict=True))
        else:
            found, failed = labeller(counts, random_states)
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
        [(samples[place], message) for place in lost],
        [model for place, model in sorted(models.items()) if place not in lost],
    )


def _label_one(
    task: _Task, sample: int, models: list[Model]
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]] | None, str]:
    """Draw and label one sample, again if that fails; return plain data or an error."""
    message = ""
    for attempt in range(TRIES):
        row_seeds = task.seeds(sample, attempt, ROWS)
        seeds = task.seeds(sample, attempt, ESTIMATOR)
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
    """Draw a sample and return the items that get a label by it, and their labels."""
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
    if scheme.label == "sample":
        return function.label_sample(X, y, rows, seeds, moved, keep)
    items = every if scheme.label == "all" else np.setdiff1d(every, rows)
    return items, function.label_others(X, y, rows, items, seeds, moved, keep)


def report_dropped(errors: list[str], n_resamples: int) -> None:
    """Warn of samples that failed on every try; raise if they are more than half."""
    if not errors:
        return
    told = (
        f"{len(errors)} of {n_resamples} samples could not be clustered in {TRIES} tries each; "
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
    bit, and samples are what runs in parallel here.
    """
    return ThreadpoolController()
