"""When a search has to stop."""

from __future__ import annotations

import time
from concurrent.futures import CancelledError


class Deadline:
    """A moment after which a search should stop; none without a time limit."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds
        self._cancelled = False

    def expired(self) -> bool:
        """Tell whether the moment has passed, or nobody waits for the answer any more."""
        return self._cancelled or (self._end is not None and time.monotonic() >= self._end)

    def cancel(self) -> None:
        """Say that nobody waits for the answer any more: searches in other threads stop soon."""
        self._cancelled = True

    def raise_if_cancelled(self) -> None:
        """Stop what has no answer to give before it is done."""
        if self._cancelled:
            raise CancelledError

    def share(self, n_parts: int) -> Deadline:
        """Return the deadline of the next of `n_parts` tasks that share what time is left."""
        if self._end is None:
            return self
        return Deadline((self._end - time.monotonic()) / n_parts)
