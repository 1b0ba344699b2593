"""Writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def write_whole(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """Let `write` fill a file, and put it in place only when it is complete.

    Until then, and after any error or interrupt, what stood at `path` stays as it was. When this
    returns, the file is on the disk and survives a loss of power.
    """
    target = Path(path)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())  # mkstemp makes files that only the owner can read
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
    sync_folder(target.parent)


def write_bytes(path: Path, content: bytes) -> Path:
    """Write a file whole, and return its path."""
    write_whole(path, lambda file: file.write(content))
    return path


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Put the names of the files in a folder on the disk, where a system knows how."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
