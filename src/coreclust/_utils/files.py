"""Writes files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def write_whole(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """Let `write` fill a temporary file, and move it to `path` once it is complete.

    After an error or an interrupt, `path` is as it was before. When this returns, the file survives
    a loss of power. Written by hand, because the standard library has no atomic write.
    """
    target = Path(path)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())  # mkstemp makes the file private
        os.replace(name, target)
    except BaseException:  # also a Ctrl-C between the renaming and here
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def write_bytes(path: Path, content: bytes) -> Path:
    """Write a file by `write_whole` and return its path."""
    write_whole(path, lambda file: file.write(content))
    return path


def _sync_folder(folder: Path) -> None:
    """Make the names of the files in a folder survive a loss of power."""
    if os.name != "posix":  # other systems cannot open a folder
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
