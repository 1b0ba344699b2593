"""Limits the libraries under the clusterers to one thread.

The last bits of a sum depend on the number of threads, and resamples already run in parallel.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any

from threadpoolctl import ThreadpoolController


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS in this process and OpenMP in this thread while a fit runs."""
    _threadpools.cache_clear()  # more libraries may have been loaded since the last call
    with _BLAS.at_one_thread(), _openmp().limit(limits=1):
        yield


def one_thread_in_worker() -> Any:
    """Return the same for a call that may run in any thread of a worker."""
    # Only the main thread of a worker may set and restore what belongs to the process.
    is_main = threading.current_thread() is threading.main_thread()
    return (_threadpools() if is_main else _openmp()).limit(limits=1)


class _SharedBlas:
    """The thread count of BLAS, which belongs to the process, so that fits in threads share it.

    The first of the fits that overlap saves it, and the last one restores it.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._fits: set[object] = set()
        self._before: dict[str, tuple[Any, int]] = {}  # libraries and their counts, by path

    @contextlib.contextmanager
    def at_one_thread(self) -> Iterator[None]:
        """Set the count to one until all fits have ended."""
        fit = object()
        try:
            with self._guard:
                self._fits.add(fit)
                for library in _threadpools().select(user_api="blas").lib_controllers:
                    self._before.setdefault(library.filepath, (library, library.num_threads or 1))
                    _set_threads(library, 1)
            yield
        finally:
            with self._guard:
                self._fits.discard(fit)
                if not self._fits:
                    for library, n_threads in self._before.values():
                        _set_threads(library, n_threads)
                    self._before.clear()


_BLAS = _SharedBlas()


def _set_threads(library: Any, n_threads: int) -> None:
    # From version 3.8 on, threadpoolctl ignores all threads but the first that sets OpenBLAS.
    release = getattr(library, "clear_controlling_thread", lambda force: None)
    release(force=True)
    library.set_num_threads(n_threads)
    release(force=True)


@functools.cache
def _threadpools() -> ThreadpoolController:
    """Return the thread pools of the loaded libraries; finding them takes a while."""
    return ThreadpoolController()


def _openmp() -> ThreadpoolController:
    """Return only those of OpenMP, because a limit also restores the libraries it did not set."""
    return _threadpools().select(user_api="openmp")
