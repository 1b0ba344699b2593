"""What all pages share: templates, assets, escapes, the policy of a page, and its file."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from coreclust._utils.files import write_whole

# In a script element, these could end the element or, in old browsers, a line of code.
_UNSAFE = "<>&\u2028\u2029"


def templates(*needed: str) -> Any:
    """Return the templates; raise if jinja2, matplotlib or another needed package is missing."""
    try:
        for name in ("matplotlib", *needed):
            import_module(name)
        import jinja2
    except ImportError as error:
        raise ImportError(
            f"Reports need {error.name}; install all that they need with: "
            "pip install 'coreclust[report]'"
        ) from error
    return jinja2.Environment(
        loader=jinja2.PackageLoader("coreclust.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def write_page(path: str | os.PathLike[str], make: Callable[[], str], example: str) -> None:
    """Write a page to a file; refuse a path that cannot be a file before the page is made."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be the name of a file, such as {example!r}, got {path!r}.")
    target = Path(path)
    if target.is_dir():
        raise ValueError(
            f"path must be a file, such as {str(target / example)!r}, got the folder "
            f"{str(target)!r}."
        )
    if not target.parent.is_dir():
        raise ValueError(
            f"path must be in a folder that exists, got {str(target)!r}; create "
            f"{str(target.parent)!r} first."
        )
    page = make().encode()
    write_whole(path, lambda file: file.write(page))


def check_title(title: Any) -> None:
    """Raise if the title is neither None nor text."""
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title must be a string, got {type(title).__name__}.")


def asset(name: str) -> str:
    """Return a script or a style sheet of the folder of templates."""
    return inert(files("coreclust.report").joinpath("templates", name).read_text("utf-8"))


def inert(code: str) -> str:
    """Return code that cannot end the HTML element that contains it."""
    return code.replace("\r", "").replace("</script", "<\\/script").replace("<!--", "<\\!--")


def script_data(data: Any) -> Any:
    """Return data as JSON that can be put in a script element."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for letter in _UNSAFE:
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return trusted(text)


def trusted(text: str) -> Any:
    """Return text that templates insert without escapes."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - our own code, or JSON with the escapes above


def policy(style: str, scripts: list[str]) -> str:
    """Return the content security policy: only our scripts and style, and embedded pictures."""
    code = f"script-src {' '.join(map(_hash, scripts))}; " if scripts else ""
    return (
        f"default-src 'none'; {code}style-src {_hash(style)}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
