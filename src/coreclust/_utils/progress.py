"""Shows a progress bar with the remaining time on standard error."""

from __future__ import annotations

import sys
import time

_PATIENCE = 0.5  # seconds before anything is shown: short fits stay quiet
_MEASURED = 0.5  # seconds of work from which the speed is known
_WIDTH = 30


class Progress:
    """Report how many of `total` steps are done; `what` names the steps, in the plural.

    A terminal gets one line that is updated, anything else a new line every 10 % or 30 seconds.
    The speed is measured from the first report on, because what comes before it includes the
    compilation of kernels and the start of processes. It is not shown until it is known. No
    dependency of the package has a progress bar.
    """

    def __init__(self, total: int, what: str, *, enabled: bool, done_before: int = 0) -> None:
        self._total = total
        self._done_before = done_before
        self._what = what
        self._enabled = enabled
        self._stream = sys.stderr
        self._first: tuple[int, float] | None = None  # steps done at the first report, and when
        self._shown_at = time.monotonic() + _PATIENCE
        self._shown_tenths = 0
        self._line_open = False

    def update(self, done: int) -> None:
        """Report that `done` steps are done."""
        now = time.monotonic()
        if not self._enabled or done <= self._done_before:
            return
        if self._first is None:
            self._first = done, now
        if now < self._shown_at:
            return
        text = f"{done}/{self._total} {self._what}{self._time_left(done, now)}"
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

    def _time_left(self, done: int, now: float) -> str:
        """Return the time left in words; nothing as long as the speed is not known."""
        first_done, first_at = self._first or (done, now)
        if done >= self._total:
            return ", 0:00 left"
        if done == first_done or now - first_at < _MEASURED:
            return ""
        left = (now - first_at) / (done - first_done) * (self._total - done)
        return f", {_clock(left)} left"

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
