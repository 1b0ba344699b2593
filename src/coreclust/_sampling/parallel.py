"""Runs calls in parallel by joblib; its worker processes end with the process that called them."""

from __future__ import annotations

import functools
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Generator, Iterable
from typing import Any

from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from coreclust._sampling.broadcast import is_cluster

_WATCH = 0.5  # seconds between two looks at the calling process


def in_parallel(
    function: Callable[..., Any],
    arguments: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    *,
    threads: bool,
) -> Generator[Any, None, None]:
    """Yield the results of a function in the order of its arguments, as soon as they are there.

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
    call = delayed(functools.partial(_work_for, os.getpid(), function))
    yield from parallel(call(*given) for given in arguments)


def resamples_per_task(n_items: int, n_resamples: int, most: int = 1) -> int:
    """Return how many resamples to label in one call.

    A kernel can label `most` at once. It gets enough to hide the cost of a call, but few enough to
    stop soon after Ctrl-C, which waits for running kernels. Workers of a cluster get enough to
    relieve the scheduler, but few enough that all have work until the end and results stay small.
    """
    few = max(1, min(most, 20_000 // n_items))
    backend, _ = get_active_backend()
    if not is_cluster(backend):
        return few
    n_workers = max(1, backend.effective_n_jobs(-1))
    return max(few, min(100, n_resamples // (8 * n_workers), (1 << 25) // n_items))


def _work_for(caller: int, function: Callable[..., Any], *given: Any) -> Any:
    """Call a function for a process; if this is a worker of that process, end with it."""
    parent = multiprocessing.parent_process()
    if os.name == "posix" and parent is not None and parent.pid == caller:
        _end_with(caller)
    return function(*given)


@functools.cache  # one thread is enough
def _end_with(caller: int) -> None:
    """End this process soon after another has ended, even if that was killed.

    The workers of a killed process would otherwise wait five minutes for more work. A signal to
    workers (prctl) is no choice: it also comes when only the thread that started them has ended.
    """
    threading.Thread(target=_exit_after, args=(caller,), daemon=True).start()


def _exit_after(caller: int) -> None:
    parent = os.getppid()  # the caller, or a launcher in between
    while os.getppid() == parent and _exists(caller):
        time.sleep(_WATCH)
    os._exit(1)  # sys.exit would end only this thread


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)  # sends nothing
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True
