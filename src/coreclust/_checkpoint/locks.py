"""Locks a file; the system releases the lock when the process ends, even if it is killed.

Written by hand, because the standard library has no lock file for all systems.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import threading
from pathlib import Path

_HELD: set[str] = set()  # by this process, which the system does not lock out
_HELD_GUARD = threading.Lock()


class Lock:
    """Lock a file, or raise if it is locked; the file stays and names the process."""

    def __init__(self, path: Path) -> None:
        self._name = os.path.realpath(path)
        with _HELD_GUARD:
            if self._name in _HELD:
                raise RuntimeError(_in_use(path, "another call in this process"))
            self._open(path)
            _HELD.add(self._name)
        with contextlib.suppress(OSError):  # only for the message; the disk may be full
            os.truncate(self._descriptor, 0)
            os.write(
                self._descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode()
            )

    def _open(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _take(self._descriptor)
        except OSError as error:
            holder = os.pread(self._descriptor, 200, 0) if hasattr(os, "pread") else b""
            os.close(self._descriptor)
            if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
                raise  # such as a network folder without locks
            who = holder.decode(errors="replace").strip() or "another process"
            raise RuntimeError(_in_use(path, who)) from error

    def release(self) -> None:
        """Release the lock."""
        with _HELD_GUARD:  # closing releases all locks of the process on the file
            os.close(self._descriptor)
            _HELD.discard(self._name)


def _in_use(path: Path, who: str) -> str:
    checkpoint = str(path.parent)
    return f"checkpoint {checkpoint!r} is in use by {who}; wait for it to end or use another path."


def _take(descriptor: int) -> None:
    if os.name == "posix":
        import fcntl

        # Unlike flock, not inherited by forked workers, which may outlive a killed parent.
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
