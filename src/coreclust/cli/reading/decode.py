"""From bytes to text: which encoding a file is in."""

from __future__ import annotations

import codecs
import gzip
import zlib
from pathlib import Path

from coreclust.cli.errors import InputError

# The longer mark first: that of UTF-16 is a beginning of that of UTF-32.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OTHER_FILES = (
    (b"PK\x03\x04", "a spreadsheet or a zip file; save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet; save the sheet as CSV"),
    (b"%PDF", "a PDF; it takes a table, such as a CSV file"),
    (b"\x89PNG", "a picture; it takes a table, such as a CSV file"),
    (b"\x89HDF", "an HDF5 file; if it holds an AnnData, name it .h5ad"),
    (b"PAR1", "a Parquet file; name it .parquet"),
    (b"\x93NUMPY", "a numpy array; name it .npy"),
)


def decode(path: Path, encoding: str | None, notices: list[str]) -> str:
    """Return the text of a file, which may be packed by gzip."""
    data = path.read_bytes()
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{path} is packed by gzip, but broken: {error}.") from error
    for magic, kind in _OTHER_FILES:
        if data.startswith(magic):
            raise InputError(f"{path} is {kind}.")
    if encoding is not None:
        return _decode_as(path, data, encoding)
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _decode_as(path, data, name)
    guessed = _utf16_without_mark(data)
    if guessed is not None:
        return _decode_as(path, data, guessed)
    if b"\0" in data:
        raise InputError(f"{path} is not text; it takes a table, such as a CSV file.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        notices.append("The file is not UTF-8; it was read as Windows-1252 (see --encoding).")
        try:
            return data.decode("cp1252")
        except UnicodeDecodeError:  # the five codes that Windows leaves open
            return data.decode("latin-1")


def _decode_as(path: Path, data: bytes, encoding: str) -> str:
    try:
        # A mark at the beginning is not part of the first name, whatever the encoding.
        return data.decode(encoding).removeprefix("\ufeff")
    except LookupError as error:
        raise InputError(f"--encoding {encoding} is not known; try utf-8 or cp1252.") from error
    except UnicodeError as error:
        raise InputError(
            f"{path} is not {encoding}, or it is broken at byte {getattr(error, 'start', 0)}; "
            "try another --encoding."
        ) from error


def _utf16_without_mark(data: bytes) -> str | None:
    """Recognize UTF-16 by the zeros that are every second byte of Western text."""
    head = data[:400]
    if len(head) < 4 or len(data) % 2:
        return None
    half = len(head) // 2
    low, high = head[::2].count(0), head[1::2].count(0)
    if high > 0.8 * half and low == 0:
        return "utf-16-le"
    if low > 0.8 * half and high == 0:
        return "utf-16-be"
    return None
