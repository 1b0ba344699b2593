"""Label m samples, in any number of threads or processes, into one ensemble."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

from coreclust._compat import number_of_items
from coreclust.ensemble import LabelEnsemble, label_dtype
from coreclust.functions import ClusteringFunction
from coreclust.pairs import ABSENT
from coreclust.progress import Progress
from coreclust.resampling import ESTIMATOR, ROWS, Bootstrap, stream

TRIES = 5
_SAMPLES_A_TASK = 10


@dataclass(frozen=True)
class _Task:
    """All that is needed to label any sample, as plain data."""

    function: ClusteringFunction
    X: Any
    y: Any
    scheme: Bootstrap
    entropy: int


@dataclass(frozen=True)
class _Block:
    """The labels of consecutive samples, and the errors of those that failed."""

    labels: NDArray[np.signedinteger]  # (n_labelled, n_items)
    errors: list[str]


def label_samples(
    function: ClusteringFunction,
    X: Any,
    y: Any,
    *,
    scheme: Bootstrap,
    n_resamples: int,
    entropy: int,
    n_jobs: int | None = None,
    verbose: int = 0,
    on_sample: Callable[[], None] | None = None,
    samples_per_task: int = _SAMPLES_A_TASK,
) -> tuple[LabelEnsemble, int]:
    """Draw and label samples 0 to `n_resamples` - 1.

    The result depends on nothing but the function, the data, the scheme and the entropy.

    Returns
    -------
    ensemble : LabelEnsemble
        Without the samples that failed on every try.
    n_dropped : int
    """
    task = _Task(function, X, y, scheme, entropy)
    blocks = (
        range(begin, min(begin + samples_per_task, n_resamples))
        for begin in range(0, n_resamples, samples_per_task)
    )
    labels = np.empty((n_resamples, number_of_items(X)), dtype=np.int8)
    n_labelled = 0
    errors: list[str] = []
    progress = Progress(n_resamples, "samples", enabled=verbose > 0)
    with _one_thread_each():
        results = _in_parallel((delayed(_label_block)(task, block) for block in blocks), n_jobs)
        try:
            for block in results:
                if block.labels.dtype.itemsize > labels.dtype.itemsize:
                    labels = labels.astype(block.labels.dtype)
                labels[n_labelled : n_labelled + len(block.labels)] = block.labels
                n_labelled += len(block.labels)
                errors += block.errors
                progress.update(n_labelled + len(errors))
                if on_sample is not None:
                    for _ in range(len(block.labels) + len(block.errors)):
                        on_sample()
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"Interrupted after {n_labelled} of {n_resamples} samples were clustered."
            ) from None
        finally:
            results.close()  # stops what is still running
            progress.close()
    _report(errors, n_resamples)
    return LabelEnsemble(labels[:n_labelled].T), len(errors)


def _in_parallel(calls: Iterable[Any], n_jobs: int | None) -> Generator[_Block, None, None]:
    """Yield the results of the calls in their order, as they come."""
    try:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    except ValueError:  # a backend that only returns everything at once
        parallel = Parallel(n_jobs=n_jobs)
    yield from parallel(calls)


def _label_block(task: _Task, samples: range) -> _Block:
    n_items = number_of_items(task.X)
    labels = np.full((len(samples), n_items), ABSENT, dtype=np.int64)
    errors: list[str] = []
    with _one_thread_each():
        for sample in samples:
            found, error = _label_one(task, sample)
            if found is None:
                errors.append(error)
            else:
                items, codes = found
                labels[sample - samples.start - len(errors), items] = codes
    labels = labels[: len(samples) - len(errors)]
    return _Block(labels.astype(label_dtype(int(labels.max(initial=0)))), errors)


def _label_one(
    task: _Task, sample: int
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]] | None, str]:
    """Draw and label one sample, again if that fails; return plain data or an error."""
    message = ""
    for attempt in range(TRIES):
        rows = task.scheme.draw(
            number_of_items(task.X), stream(task.entropy, sample, 2 * attempt + ROWS)
        )
        rng = stream(task.entropy, sample, 2 * attempt + ESTIMATOR)
        try:
            return task.function.label_sample(task.X, task.y, rows, rng), ""
        except Exception as error:  # noqa: BLE001 - counted and reported by the caller
            message = f"{type(error).__name__}: {error}"
    return None, message


def _report(errors: list[str], n_resamples: int) -> None:
    if not errors:
        return
    told = (
        f"{len(errors)} of {n_resamples} samples could not be clustered in {TRIES} tries each; "
        f"the last error was {errors[-1]}"
    )
    if 2 * len(errors) > n_resamples:
        raise RuntimeError(f"{told} More than half are lost: too few to rest a guarantee on.")
    warnings.warn(f"{told} They are left out.", RuntimeWarning, stacklevel=4)


@functools.cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()


def _one_thread_each() -> Any:
    """Keep libraries under the clusterers to one thread.

    Sums over several threads depend on their number in the last bit; and samples are
    what runs in parallel here. The thread count of BLAS belongs to the whole process,
    so only a main thread may set and restore it; that of OpenMP belongs to the thread.
    """
    main = threading.current_thread() is threading.main_thread()
    return _threadpools().limit(limits=1, user_api=None if main else "openmp")
