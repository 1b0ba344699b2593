"""Opens the file of a table: a path, a pipe or standard input, possibly compressed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePath

from coreclust.cli.errors import InputError
from coreclust.cli.reading.values import join_names

_STDIN = ("-", "/dev/stdin")
_COMPRESSED = {
    b"\x1f\x8b": ("gzip", gzip.decompress),
    b"BZh": ("bzip2", bz2.decompress),
    b"\xfd7zXZ\x00": ("xz", lzma.decompress),
}
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # the latter is empty
_DAMAGED = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
_SHEETS = "xl/workbook.xml"  # the part of a zip file that makes it an Excel workbook


@dataclass(frozen=True)
class Source:
    """The content of a file, without compression."""

    name: str  # for messages
    data: bytes
    suffix: str  # of the table, without that of the compression
    is_workbook: bool = False

    def __str__(self) -> str:
        return self.name


def is_stream(path: Path) -> bool:
    """Tell whether a path is standard input or a pipe, which can be read only once."""
    return str(path) in _STDIN or (path.exists() and not path.is_file() and not path.is_dir())


def name_of(path: Path) -> str:
    """Return the name of a path for messages."""
    return "standard input" if str(path) in _STDIN else str(path)


def open_source(path: Path) -> Source:
    """Read the content of a file, and decompress it."""
    data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    name, inner = name_of(path), PurePath(path)
    for magic, (kind, decompress) in _COMPRESSED.items():
        if data.startswith(magic):
            try:
                data = decompress(data)
            except _DAMAGED as error:
                raise InputError(
                    f"{name} is compressed by {kind}, but damaged: {error}."
                ) from error
            inner = inner.with_suffix("")
            break
    if not data.startswith(_ZIP):
        return Source(name, data, inner.suffix.lower())
    return _unzip(name, data)


def _unzip(name: str, data: bytes) -> Source:
    """Return the only file of a zip file, or the workbook that it is."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            if _SHEETS in names:
                return Source(name, data, ".xlsx", is_workbook=True)
            if "mimetype" in names:
                raise InputError(
                    f"{name} is an OpenDocument file; save the sheet as CSV or as .xlsx."
                )
            # macOS adds a folder with its own notes.
            files = [one for one in names if not one.endswith("/") and "__MACOSX" not in one]
            if len(files) == 1:
                return Source(name, archive.read(files[0]), PurePath(files[0]).suffix.lower())
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, *_DAMAGED) as error:
        raise InputError(f"{name} is a zip file that cannot be read: {error}.") from error
    if not files:
        raise InputError(f"{name} is a zip file without a file in it.")
    raise InputError(
        f"{name} holds {len(files)} files ({join_names(files, most=4)}); keep only the table in it."
    )
