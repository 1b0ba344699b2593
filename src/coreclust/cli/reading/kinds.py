"""Recognizes files that are not tables of text, and says what to do with them."""

from __future__ import annotations

import json
import re

_TABLE = "but a table such as a CSV file is needed"
_UNPACK = "unpack it, and pass the table in it"
_MAGIC = {
    b"%PDF": f"a PDF file, {_TABLE}",
    b"\x89PNG": f"a picture, {_TABLE}",
    b"\xff\xd8\xff": f"a picture, {_TABLE}",
    b"GIF8": f"a picture, {_TABLE}",
    b"\x89HDF": "an HDF5 file; if it holds an AnnData object, rename it to .h5ad",
    b"PAR1": "a Parquet file; rename it to .parquet",
    b"\x93NUMPY": "a numpy array; rename it to .npy",
    b"ARROW1": "an Arrow file; save it as Parquet or CSV",
    b"7z\xbc\xaf\x27\x1c": f"a 7z archive; {_UNPACK}",
    b"Rar!": f"a RAR archive; {_UNPACK}",
    b"\x28\xb5\x2f\xfd": f"compressed by zstd; {_UNPACK}",
    b"\x04\x22\x4d\x18": f"compressed by lz4; {_UNPACK}",
    b"RDX": "an R workspace; write the table with write.csv",
    b"X\n\x00\x00\x00": "an R object; write the table with write.csv",
    b"\x80\x04\x95": "a Python pickle; write the table as CSV",
    b"$FL2": "an SPSS file; save it as CSV",
    b"<stata_dta>": "a Stata file; save it as CSV",
    b"SQLite format 3": "a database; write the table as CSV",
    b"version https://git-lfs": "a pointer of Git LFS to a file; fetch the file with git lfs pull",
}
_OLD = b"\xd0\xcf\x11\xe0"  # a container of Microsoft Office
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_TAR = (257, b"ustar")  # where a tar archive has its mark
_HTML = re.compile(rb"\s*<(!doctype html|html|table)\b", flags=re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml\b", flags=re.IGNORECASE)


def other_kind(data: bytes) -> str | None:
    """Return what a file is if it is no table of text, and what to do, as the end of a sentence.

    >>> other_kind(b"%PDF-1.7"), other_kind(b"x,y")
    ('a PDF file, but a table such as a CSV file is needed', None)
    """
    for magic, kind in _MAGIC.items():
        if data.startswith(magic):
            return kind
    if data[_TAR[0] :].startswith(_TAR[1]):
        return f"a tar archive; {_UNPACK}"
    if data.startswith(_OLD):
        if _ENCRYPTED in data:
            return "a spreadsheet with a password; save it as .xlsx without one"
        return "an old spreadsheet; save the sheet as CSV or as .xlsx"
    for markup, kind in ((_HTML, "a web page"), (_XML, "an XML file")):
        if markup.match(data):
            return f"{kind}, {_TABLE}"
    return f"a JSON file, {_TABLE}" if _is_json(data) else None


def _is_json(data: bytes) -> bool:
    """Tell whether a file, or its first line, is JSON."""
    head = data.lstrip()
    if not head.startswith((b"{", b"[")):
        return False
    for text in (head, head.splitlines()[0]):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            continue
        return True
    return False
