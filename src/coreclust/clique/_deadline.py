"""Time limits and cancellation of searches."""

from __future__ import annotations

import math
import time
from concurrent.futures import CancelledError


class Deadline:
    """The time, in seconds from now, at which a search should stop; None for no limit."""

    def __init__(self, seconds: float | None) -> None:
        limit = math.inf if seconds is None else seconds
        self._end = None if limit == math.inf else time.monotonic() + limit
        self._cancelled = False
        self._whole: Deadline | None = None  # of which this is a share

    @property
    def cancelled(self) -> bool:
        """Whether the search was cancelled."""
        return self._cancelled or (self._whole is not None and self._whole.cancelled)

    def expired(self) -> bool:
        """Return whether the time has passed or the search was cancelled."""
        return self.cancelled or (self._end is not None and time.monotonic() >= self._end)

    def remaining(self) -> float | None:
        """Return the seconds that are left, 0 if the time has passed; None without a limit."""
        return None if self._end is None else max(self._end - time.monotonic(), 0.0)

    def cancel(self) -> None:
        """Cancel the search: searches in other threads stop soon."""
        self._cancelled = True

    def raise_if_cancelled(self) -> None:
        """Raise CancelledError if the search was cancelled, for steps without a partial result."""
        if self.cancelled:
            raise CancelledError

    def share(self, n_parts: float) -> Deadline:
        """Return the deadline of the next of `n_parts` tasks that share the remaining time."""
        seconds = self.remaining()
        return self._part(None if seconds is None else seconds / n_parts)

    def at_most(self, seconds: float) -> Deadline:
        """Return the deadline of a task that may take some of the remaining time."""
        left = self.remaining()
        return self._part(seconds if left is None else min(seconds, left))

    def _part(self, seconds: float | None) -> Deadline:
        part = Deadline(seconds)
        part._whole = self
        return part
