"""Sends data to the workers of a Dask cluster, without importing Dask."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from typing import Any

from joblib.parallel import get_active_backend

_TRIES = 5
_SECONDS = 300.0  # of the first try; each of the others has twice as long
_PAUSE = 1.0  # seconds before the second try, in which workers restart; later ones wait longer
_LOST = (OSError, KeyError, CancelledError)  # what Dask raises if a worker dies in the meantime


def is_cluster(backend: Any) -> bool:
    """Tell whether a joblib backend is that of Dask."""
    return hasattr(backend, "client") and hasattr(backend, "data_futures")


@contextlib.contextmanager
def sent_once(data: Any) -> Iterator[None]:
    """Send an argument of calls to all workers of a Dask cluster once, not with each call.

    It is sent to all, because Dask cannot restore data that only a dead worker had. Without a
    cluster, this does nothing.
    """
    backend, _ = get_active_backend()
    if not is_cluster(backend):
        yield
        return
    # As joblib does for its option `scatter`, which only the user's context can set.
    backend.data_futures[id(data)] = _send(backend.client, data)
    try:
        yield
    finally:
        del backend.data_futures[id(data)]


def _send(client: Any, data: Any) -> Any:
    """Copy data to all workers, again if workers die meanwhile; return the future that holds it."""
    for attempt in range(_TRIES):
        time.sleep(_PAUSE * attempt)
        try:
            return client.sync(_copy, client, data, callback_timeout=_SECONDS * 2**attempt)
        except _LOST as error:
            last = error
    told = f"{type(last).__name__}: {last}".partition("\n")[0].rstrip(": .")
    raise RuntimeError(
        f"The data could not be sent to the workers of the Dask cluster in {_TRIES} tries; the "
        f"last error was {told}. Check that the workers stay alive and call fit again."
    ) from last


async def _copy(client: Any, data: Any) -> Any:
    """Copy data to one worker, and from there to the others by a task that needs it.

    Dask's own broadcast never ends if a worker dies in it, but tasks move to another worker.
    """
    sent = await client.scatter(data, hash=False, asynchronous=True)
    received = [
        client.submit(_receive, sent, workers=[worker], allow_other_workers=True, pure=False)
        for worker in await client.nthreads(asynchronous=True)
    ]
    await client.gather(received, asynchronous=True)
    return sent


def _receive(data: Any) -> None:
    """Do nothing with data that is here now."""
