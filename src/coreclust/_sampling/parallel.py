"""Runs calls in parallel by joblib, with one thread per library."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Generator, Iterable, Iterator
from typing import Any

from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel
from threadpoolctl import ThreadpoolController


def in_parallel(
    calls: Iterable[Any], n_jobs: int | None, *, threads: bool
) -> Generator[Any, None, None]:
    """Yield the results of calls in order, as soon as they are there.

    With `threads`, calls run in threads on all cores, unless the user configured something else.
    """
    backend, configured = get_active_backend()
    if threads and n_jobs is None and configured is None and not backend.nesting_level:
        n_jobs = -1
    how = {"n_jobs": n_jobs, "prefer": "threads" if threads else None}
    try:
        parallel = Parallel(return_as="generator", **how)
    except ValueError:  # a backend that returns all results at once
        parallel = Parallel(**how)
    yield from parallel(calls)


@contextlib.contextmanager
def sent_once(data: Any) -> Iterator[None]:
    """Send an argument of calls to all workers of a Dask cluster once, not with each call.

    It is sent to all, because Dask cannot restore data that only a dead worker had. Without a
    cluster, this does nothing.
    """
    backend, _ = get_active_backend()
    if not _is_cluster(backend):
        yield
        return
    # As joblib does for its option `scatter`, which only the user's context can set.
    backend.data_futures[id(data)] = backend.client.scatter(data, broadcast=True, hash=False)
    try:
        yield
    finally:
        del backend.data_futures[id(data)]


def resamples_per_task(n_items: int, n_resamples: int, *, batched: bool) -> int:
    """Return how many resamples to label in one call.

    A kernel gets enough to hide the cost of a call, but few enough to stop soon after Ctrl-C, which
    waits for running kernels. Workers of a cluster get enough to relieve the scheduler, but few
    enough that all have work until the end and results stay small.
    """
    few = max(1, min(125, 20_000 // n_items)) if batched else 1
    backend, _ = get_active_backend()
    if not _is_cluster(backend):
        return few
    n_workers = max(1, backend.effective_n_jobs(-1))
    return max(few, min(100, n_resamples // (8 * n_workers), (1 << 25) // n_items))


def _is_cluster(backend: Any) -> bool:
    """Tell whether a joblib backend is that of Dask, without importing Dask."""
    return hasattr(backend, "client") and hasattr(backend, "data_futures")


def one_thread() -> Any:
    """Return a context in which the libraries under the clusterers use one thread."""
    _threadpools.cache_clear()  # more libraries may have been loaded since the last call
    return _threadpools().limit(limits=1)


def one_thread_in_worker() -> Any:
    """Return the same for a call that may run in any thread of a worker."""
    # The thread count of BLAS belongs to the process, so only the main thread of a worker may set
    # and restore it. That of OpenMP belongs to the thread.
    is_main = threading.current_thread() is threading.main_thread()
    return _threadpools().limit(limits=1, user_api=None if is_main else "openmp")


@functools.cache
def _threadpools() -> ThreadpoolController:
    """Return the thread pools of the loaded libraries; finding them takes a while.

    They are limited to one thread, because the last bits of a sum depend on the number of threads,
    and resamples already run in parallel.
    """
    return ThreadpoolController()


def is_interrupt(error: BaseException | None) -> bool:
    """Tell whether an error is, or was caused by, a Ctrl-C, as numba's SystemError can be."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False
