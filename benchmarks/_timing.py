"""Run a function in a child process with a time-out, and measure its seconds and peak memory.

The function gets a `Clock` as its first argument and marks its phases::

    def work(clock, path):
        with clock.phase("build"):
            graph = build(path)
        with clock.phase("search"):
            clique = search(graph)
        clock.report(clique)

Each phase has its own time-out, so a slow set-up does not use up the time of what is measured.
"""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

OTHER_LIMIT = 300.0  # seconds for everything outside the phases: imports, loading, compiling


@dataclass
class Outcome:
    """The results and measurements of a child process.

    Attributes
    ----------
    results : list
        Everything the child reported, even if it did not finish.
    seconds : dict of str to float
        Time spent in each completed phase, summed if a phase was entered more than once.
    peaks : dict of str to int
        Largest increase of resident memory within each completed phase, in bytes; empty if the
        system does not report it.
    timed_out : str or None
        The phase that ran out of time.
    failure : str or None
        Why the child ended early, other than by a time-out.
    """

    results: list[Any] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    peaks: dict[str, int] = field(default_factory=dict)
    timed_out: str | None = None
    failure: str | None = None

    @property
    def finished(self) -> bool:
        """Whether the child finished."""
        return self.timed_out is None and self.failure is None


class Clock:
    """Times phases inside the child and sends them to the parent."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time the body, with the time-out of the phase `name`."""
        before = _reset_peak()
        self._connection.send(("start", name))
        started = perf_counter()
        yield
        seconds = perf_counter() - started
        peak = None if before is None else peak_memory() - before
        self._connection.send(("stop", (name, seconds, peak)))

    def report(self, result: Any) -> None:
        """Send a (picklable) result."""
        self._connection.send(("result", result))


def run_in_child(
    function: Callable[..., None],
    *args: Any,
    limits: dict[str, float],
    memory: float | None = None,
) -> Outcome:
    """Call ``function(clock, *args)`` in a fresh process and collect what it reports.

    Parameters
    ----------
    function : callable
        Importable by name, since the process is spawned.
    *args : object
        Picklable arguments.
    limits : dict of str to float
        Seconds allowed in total for each phase; 300 for a phase that is not listed.
    memory : float, default=None
        Address space the child may use, in bytes; None for no limit.

    Returns
    -------
    Outcome
    """
    # A spawned process inherits neither our memory nor our threads, and killing it is the only
    # way to stop a search in compiled code.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(theirs, memory, function, args), daemon=True)
    process.start()
    theirs.close()  # otherwise the pipe stays open when the child ends
    outcome = Outcome()
    try:
        _listen(ours, outcome, limits)
    except EOFError:
        process.join()
        outcome.failure = f"process died with exit code {process.exitcode}, perhaps out of memory"
    finally:
        process.kill()
        process.join()
        ours.close()
    return outcome


def _listen(connection: Connection, outcome: Outcome, limits: dict[str, float]) -> None:
    """Fill `outcome` from the messages of the child until it ends or a phase times out."""
    phase = "start-up"
    remaining = OTHER_LIMIT
    while True:
        began = monotonic()
        if not connection.poll(max(remaining, 0)):
            outcome.timed_out = phase
            return
        kind, content = connection.recv()
        remaining -= monotonic() - began
        if kind == "start":
            phase = content
            remaining = limits.get(phase, OTHER_LIMIT) - outcome.seconds.get(phase, 0)
        elif kind == "stop":
            name, seconds, peak = content
            outcome.seconds[name] = outcome.seconds.get(name, 0) + seconds
            if peak is not None:
                outcome.peaks[name] = max(outcome.peaks.get(name, 0), peak)
            phase, remaining = "between phases", OTHER_LIMIT
        elif kind == "result":
            outcome.results.append(content)
        else:
            outcome.failure = content
            return


def _child(
    connection: Connection,
    memory: float | None,
    function: Callable[..., None],
    args: tuple[Any, ...],
) -> None:
    """Call the function in the child process, then report how it ended."""
    failure = None
    try:
        _limit_memory(memory)
        function(Clock(connection), *args)
    except MemoryError:
        failure = "out of memory"
    except Exception as error:  # noqa: BLE001 - reported by the parent
        failure = f"{type(error).__name__}: {error}"
    connection.send(("end", failure))


def _limit_memory(memory: float | None) -> None:
    """Make allocations beyond `memory` bytes fail, so that the machine does not stall."""
    if memory is None:
        return
    try:
        import resource
    except ImportError:  # not a POSIX system
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = int(memory) if hard == resource.RLIM_INFINITY else min(int(memory), hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def _reset_peak() -> int | None:
    """Reset the peak and return the resident memory in bytes; None if not on Linux.

    `resource.getrusage` cannot be used: its maximum cannot be reset, so it would hide everything
    below the peak of importing and compiling, and it starts from the maximum of the parent.
    """
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return peak_memory()
    except OSError:
        return None


def peak_memory() -> int:
    """Return the highest resident memory in bytes since the last reset."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError("The process status has no peak memory.")
