"""Makes the picture of a terminal: ``python docs/terminal.py``.

It runs the commands of the picture in a pseudo-terminal, on the iris data of scikit-learn.
"""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text
from sklearn.datasets import load_iris

TARGET = Path(__file__).parent / "images" / "terminal.svg"
WIDTH = 100
COMMANDS = (
    "coreclust select iris.csv --id flower --drop species -k 2..6 --quiet",
    "coreclust fit iris.csv -k 3 --id flower --label species --quiet",
)


def main() -> None:
    """Run the commands and write the picture."""
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w"))  # noqa: SIM115
    with tempfile.TemporaryDirectory() as folder:
        _write_iris(Path(folder) / "iris.csv")
        for command in COMMANDS:
            console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
            console.print(Text.from_ansi(_run(command, folder)))
    picture = console.export_svg(title="coreclust", unique_id="coreclust")
    # The picture must not load fonts from the web: any monospaced font is good enough.
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    TARGET.write_text(picture)
    print(f"{TARGET}: {len(picture) / 1000:.0f} kB")


def _write_iris(path: Path) -> None:
    iris = load_iris(as_frame=True)
    frame = iris.data.copy()
    frame.insert(0, "flower", [f"flower {number}" for number in range(1, len(frame) + 1)])
    frame["species"] = iris.target_names[iris.target]
    frame.to_csv(path, index=False)


def _run(command: str, folder: str) -> str:
    """Return the output of a command on a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", *shlex.split(command)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        env=os.environ | {"COLUMNS": str(WIDTH), "TERM": "xterm-256color"},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux raises it when the other end is closed
            break
        if not piece:
            break
        shown += piece
    if process.wait():
        raise SystemExit(f"{command} failed")
    return shown.decode().replace("\r\n", "\n")


if __name__ == "__main__":
    main()
