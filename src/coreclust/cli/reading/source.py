"""Opens the file of a table: a path, a pipe or standard input, possibly compressed."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import sys
import zipfile
import zlib
from dataclasses import dataclass, replace
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
_MOST_LAYERS = 3  # such as a gzip file in a zip file
_SHEETS = "xl/workbook.xml"  # the part of a zip file that makes it an Excel workbook


@dataclass(frozen=True)
class Source:
    """The content of a file, without compression."""

    name: str  # for messages
    data: bytes
    suffix: str  # of the table, without that of the compression
    sha256: str  # of the file as it is, compressed or not
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
    sha256 = hashlib.sha256(data).hexdigest()
    source = Source(name_of(path), data, PurePath(path).suffix.lower(), sha256)
    inner = PurePath(path)
    for _ in range(_MOST_LAYERS):
        if source.is_workbook:
            break
        if source.data.startswith(_ZIP):
            source, inner = _unzip(source)
        elif source.data.startswith(tuple(_COMPRESSED)):
            inner = inner.with_suffix("")
            source = replace(source, data=_decompress(source), suffix=inner.suffix.lower())
    return source


def _decompress(source: Source) -> bytes:
    kind, decompress = next(
        how for magic, how in _COMPRESSED.items() if source.data.startswith(magic)
    )
    try:
        return decompress(source.data)
    except _DAMAGED as error:
        raise InputError(f"{source} is compressed by {kind}, but damaged: {error}.") from error


def _unzip(source: Source) -> tuple[Source, PurePath]:
    """Return the only file of a zip file with its name, or the workbook that it is."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            names = archive.namelist()
            if _SHEETS in names:
                return replace(source, suffix=".xlsx", is_workbook=True), PurePath()
            if "mimetype" in names:
                raise InputError(
                    f"{source} is an OpenDocument file; save the sheet as CSV or as .xlsx."
                )
            files = [one for one in names if not one.endswith("/") and not _is_hidden(one)]
            if len(files) == 1:
                inner = PurePath(files[0])
                content = archive.read(files[0])
                return replace(source, data=content, suffix=inner.suffix.lower()), inner
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, *_DAMAGED) as error:
        raise InputError(f"{source} is a zip file that cannot be read: {error}.") from error
    if not files:
        raise InputError(f"{source} is a zip file without a file in it.")
    raise InputError(
        f"{source} holds {len(files)} files ({join_names(files, most=4)}); keep only the table in "
        "it."
    )


def _is_hidden(name: str) -> bool:
    """Tell whether a file in a zip file is not meant for people; macOS adds notes of its own."""
    path = PurePath(name)
    return "__MACOSX" in path.parts or path.name.startswith(".") or path.name == "Thumbs.db"
