"""Run all benchmarks and write the page about them.

Run from the repository root::

    python -m benchmarks --data DIR --out docs    # two hours or so; writes docs/benchmarks.md
    python -m benchmarks --quick --out DIR        # a minute or two; too small to be informative
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from coreclust._utils.files import write_whole

_PARTS = {
    "scale": (
        "Growth with the number of items",
        (
            "The data are ten overlapping Gaussians in ten dimensions; the clusterer is k-means "
            'with ten clusters. "sampling" is the wall-clock time to cluster all resamples. '
            '"both" is the wall-clock time of all that follows; "evidence" and "clique" are its '
            "two parts, summed over all threads. Peaks are those of the whole process, including "
            "data and interpreter; a peak of 0 means that the part was too short to be measured."
        ),
    ),
    "clusterers": (
        "Whole fits on the paper's datasets",
        (
            "Compiled clusterers and classifiers compared with a loop over scikit-learn and with "
            "the authors' R package. The R times were measured on another machine, so these ratios "
            "are only a rough guide."
        ),
    ),
    "clique": (
        "The exact search",
        (
            "This package, networkx, igraph and a MaxSAT solver on the same graphs. Only this "
            "package is designed for graphs in which nearly all pairs are adjacent; on other "
            "graphs the others may be faster. The second table is about hard kernels: graphs that "
            "are left when all reductions are done. It compares what solvers reach in the "
            "same time."
        ),
    ),
    "kmeans_grid": (
        "k-means, from 2 to 768 features",
        (
            "One bootstrap resample, on one core: our k-means compared with a loop over "
            "scikit-learn's, with the same parameters and the multiplicities as weights. Processor "
            'time; "inertia" is ours divided by theirs.'
        ),
    ),
    "cells": (
        "Single cells",
        (
            "Leiden on resamples of simulated cells, compared with a loop over scanpy. The loop "
            "searches for neighbors in each resample of 80 % of the cells. Processor time, except "
            "for the whole fit. The ratio at 50,000 cells depends on the version of pynndescent, "
            "by which scanpy searches."
        ),
    ),
    "first_fit": (
        "The first fit",
        (
            "Processor time of the first fit after the installation, which compiles, and of the "
            "second. The compiled code is kept on disk."
        ),
    ),
}

_PACKAGES = (
    "coreclust",
    "numpy",
    "scikit-learn",
    "numba",
    "consensusclustering",
    "pyckmeans",
    "networkx",
    "igraph",
    "python-sat",
    "ortools",
    "scipy",
    "scanpy",
    "pynndescent",
)

_HOW_TO_READ = """\
Seconds depend on the machine. Ratios within a section were measured on the same machine (except
for the R package) and are easier to transfer. The tools do not compute the same result.
consensusclustering and pyckmeans return the square matrix of how often two items were together;
coreclust returns the cores, proven largest, and never builds that matrix. networkx, igraph and
RC2 are given finished graphs, while `core_clusters` starts from labels. We did not compare R
packages on the same machine (they are not in the Python registry), graphics cards, more than two
CPU cores, or other operating systems."""


def main() -> int:
    """Run all parts; the exit code is 1 if a part failed or missed a target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small sizes, few resamples")
    parser.add_argument("--data", type=Path, help="folder with data/ and reference/, for the fits")
    parser.add_argument("--out", type=Path, default=Path("benchmark-results"))
    parser.add_argument("--keep", type=Path, help="folder for results of finished parts, to reuse")
    arguments = parser.parse_args()
    quick = ["--quick"] if arguments.quick else []
    (arguments.out / "images").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        kept = arguments.keep or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        figures = kept / "peers.json"
        codes = [_run("peers", [*quick, "--json", str(figures)], kept)[0]]
        rows = json.loads(figures.read_text())
        texts = {}
        for part in _PARTS:
            more = ["--data", str(arguments.data)] if part == "clusterers" else []
            if part == "clusterers" and arguments.data is None:
                continue
            code, texts[part] = _run(part, [*quick, *more], kept)
            codes.append(code)
    _draw(rows, arguments.out / "images" / "benchmarks.png")
    page = _page(rows, texts, quick=arguments.quick).encode()
    write_whole(arguments.out / "benchmarks.md", lambda file: file.write(page))
    print(arguments.out / "benchmarks.md")
    return int(any(codes))


def _run(part: str, options: list[str], kept: Path) -> tuple[int, str]:
    """Return exit code and output of a part, from an earlier run if there is one."""
    print(f"== {part}", flush=True)
    result = kept / f"{part}.txt"
    if result.exists():
        code, _, text = result.read_text().partition("\n")
        print(text, end="", flush=True)
        return int(code), text
    command = [sys.executable, "-W", "ignore", "-m", f"benchmarks.{part}", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        lines = []
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    text = "".join(lines)
    content = f"{process.returncode}\n{text}".encode()
    write_whole(result, lambda file: file.write(content))
    return process.returncode, text


def _page(rows: list[dict[str, Any]], texts: dict[str, str], *, quick: bool) -> str:
    versions = ", ".join(f"{name} {found}" for name in _PACKAGES if (found := _version(name)))
    parts = [
        "# Benchmarks",
        "<!-- Written by `python -m benchmarks`; edits will be lost. -->",
        f"Made with `python -m benchmarks` on {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, {versions}."
        + (" This was a quick run with small sizes." if quick else ""),
        "## How to read it",
        _HOW_TO_READ,
        "## Comparison with similar tools",
        (
            "Three overlapping Gaussians, k-means with ten starts, "
            f"{rows[0]['n_resamples']} subsamples of 80 %. Each cell has the seconds, in "
            "parentheses their ratio to ours, and the memory in addition to the data."
        ),
        _table(rows),
        "![Seconds and memory against the number of items](images/benchmarks.png)",
    ]
    for part, text in texts.items():
        title, about = _PARTS[part]
        parts += [f"## {title}", about, f"```text\n{text.rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _table(rows: list[dict[str, Any]]) -> str:
    tools = list(dict.fromkeys(row["tool"] for row in rows))
    sizes = sorted({row["n_items"] for row in rows if "n_items" in row})
    found = {(row["tool"], row.get("n_items")): row for row in rows}

    def cell(tool: str, size: int) -> str:
        row = found.get((tool, size)) or found.get((tool, None), {})
        if "seconds" not in row:
            return str(row.get("note", "not run"))
        ours = found["coreclust", size].get("seconds")
        ratio = "" if tool == "coreclust" or ours is None else f" ({row['seconds'] / ours:.1f})"
        peak = "" if row["peak"] is None else f", {row['peak'] / 1e6:.0f} MB"
        return f"{row['seconds']:.2f} s{ratio}{peak}"

    head = f"| tool | {' | '.join(f'{size:,} items' for size in sizes)} |"
    lines = [head, "|---" * (len(sizes) + 1) + "|"]
    lines += [f"| {tool} | {' | '.join(cell(tool, size) for size in sizes)} |" for tool in tools]
    return "\n".join(lines)


def _draw(rows: list[dict[str, Any]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    seconds, memory = figure.subplots(1, 2)
    styles = zip(
        dict.fromkeys(row["tool"] for row in rows if "seconds" in row),
        ("#0072B2", "#56B4E9", "#000000", "#D55E00", "#009E73"),
        "osD^v",
        strict=False,
    )
    for tool, color, marker in styles:
        own = [row for row in rows if row["tool"] == tool and "seconds" in row]
        sizes = [row["n_items"] for row in own]
        style = {"color": color, "marker": marker, "label": tool}
        seconds.loglog(sizes, [row["seconds"] for row in own], **style)
        if all(row["peak"] for row in own):
            memory.loglog(sizes, [row["peak"] / 1e6 for row in own], **style)
    for axes, what in ((seconds, "seconds"), (memory, "memory in addition to the data, MB")):
        axes.set_xlabel("items")
        axes.set_ylabel(what)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*seconds.get_legend_handles_labels(), loc="outside right center", frameon=False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    sys.exit(main())
