"""Shows a progress bar with the remaining time on standard error."""

from __future__ import annotations

import sys
import time

_PATIENCE = 0.5  # seconds before anything is shown: short fits stay quiet
_WIDTH = 30


class Progress:
    """Report how many of `total` steps are done; `what` names the steps, in the plural.

    A terminal gets one line that is updated, anything else a new line every 10 % or 30 seconds.
    The speed is measured without the `done_before` steps of an earlier run. No dependency of the
    package has a progress bar.
    """

    def __init__(self, total: int, what: str, *, enabled: bool, done_before: int = 0) -> None:
        self._total = total
        self._done_before = done_before
        self._what = what
        self._enabled = enabled
        self._stream = sys.stderr
        self._start = time.monotonic()
        self._shown_at = self._start + _PATIENCE
        self._shown_tenths = 0
        self._line_open = False

    def update(self, done: int) -> None:
        """Report that `done` steps are done."""
        now = time.monotonic()
        if not self._enabled or now < self._shown_at or done <= self._done_before:
            return
        left = (now - self._start) / (done - self._done_before) * (self._total - done)
        text = f"{done}/{self._total} {self._what}, {_clock(left)} left"
        if self._stream.isatty():
            filled = _WIDTH * done // self._total
            self._stream.write(f"\r[{'#' * filled}{'.' * (_WIDTH - filled)}] {text}  ")
            self._line_open = True
            self._shown_at = now + 0.1
        elif 10 * done // self._total > self._shown_tenths or now > self._shown_at + 30:
            self._shown_tenths = 10 * done // self._total
            self._shown_at = now
            self._stream.write(f"coreclust: {text}\n")
        self._stream.flush()

    def close(self) -> None:
        """End the line."""
        if self._line_open:
            self._stream.write("\n")
            self._stream.flush()
            self._line_open = False


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
