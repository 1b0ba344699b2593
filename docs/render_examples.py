"""Run the scripts of the folder `examples` and write one page for each, when Sphinx starts.

A page has the docstring of the script, its output, its figure and its code. Pages and figures are
written to docs/examples, which git ignores. A script runs again only if it or the package is
newer than its page.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = Path(__file__).parent / "examples"
PAGE = """\
# {title}

**{lead}**

{words}

{figure}

What it prints:

```text
{output}
```

## The script

```{{literalinclude}} ../../examples/{name}.py
:language: python
:lines: {first}-
```
"""


def render(script: Path, pages: Path = PAGES) -> None:
    """Run a script and write its page; raise an error with its messages if it fails."""
    environment = os.environ | {"MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=pages,
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{script.name} failed:\n{done.stderr}")
    title, lead, words, first = _docstring(script)
    figure = pages / f"{script.stem}.png"
    text = PAGE.format(
        title=title,
        lead=lead,
        words=words,
        first=first,
        figure=f"![{title}]({figure.name})" if figure.exists() else "",
        output=done.stdout.rstrip(),
        name=script.stem,
    )
    (pages / f"{script.stem}.md").write_text(text)


def _docstring(script: Path) -> tuple[str, str, str, int]:
    """Split a docstring "Title: lead. Words" in three; also return the first line of code."""
    tree = ast.parse(script.read_text())
    docstring = ast.get_docstring(tree) or ""
    sentence, _, words = docstring.partition("\n")
    title, colon, lead = sentence.partition(": ")
    if not colon:
        raise RuntimeError(f"{script.name} must start with a docstring 'Title: what it shows.'")
    first = tree.body[1].lineno
    return title, lead[:1].upper() + lead[1:], words.replace("``", "`").strip(), first


def _render_all(_app: Any) -> None:
    PAGES.mkdir(exist_ok=True)
    scripts = {script.stem: script for script in sorted((ROOT / "examples").glob("*.py"))}
    for page in PAGES.glob("*.md"):
        if page.stem not in scripts:  # its script has been removed
            page.unlink()
    sources = [*(ROOT / "src").rglob("*.py"), Path(__file__)]
    newest = max(source.stat().st_mtime for source in sources)
    for stem, script in scripts.items():
        page = PAGES / f"{stem}.md"
        if not page.exists() or page.stat().st_mtime < max(newest, script.stat().st_mtime):
            render(script)


def _forget_old_reference(app: Any) -> None:
    """Remove the generated reference pages: a page of a removed name would be an error."""
    shutil.rmtree(Path(app.srcdir) / "api", ignore_errors=True)


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx; smaller priorities run first, and autosummary has 500."""
    app.connect("builder-inited", _forget_old_reference, priority=100)
    app.connect("builder-inited", _render_all, priority=200)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
