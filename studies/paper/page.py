"""Writes the generated blocks of the page about the paper."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from coreclust.algorithms import ALGORITHMS
from studies.paper.cells import ALPHA, Cell, listed_versions
from studies.paper.comparison import Row, Table
from studies.paper.figures import CAPTIONS, LEGEND
from studies.paper.plan import Plan
from studies.paper.published import (
    ALGORITHM_NAMES,
    DATASET_TITLES,
    DATASETS,
    TOLERANCES,
)
from studies.paper.render import describe, markdown_grid, to_markdown
from studies.paper.tables import Findings

_SCHEMES = {
    "bootstrap": "Number of resamples m with the bootstrap (Algorithm 3)",
    "known": "Number of resamples m per pair with the known distribution (Algorithm 2)",
}
# Table 2 has to agree for these algorithms; the others are only shown.
_AGREEING = ("hclust", "kmeans", "svm")


def block_names(plan: Plan) -> list[str]:
    """Return the names of the blocks that a run writes; partial runs have no overviews."""
    names = [f"table {number}" for number in plan.tables]
    names += [f"figure {number}" for number in plan.figures]
    return ["in short", "what was run", *names, "out of tolerance"] if plan.is_complete else names


def build_blocks(
    findings: Findings,
    tables: Sequence[Table],
    figures: Mapping[int, str],
    *,
    left_out: str = "",
) -> dict[str, str]:
    """Write the generated blocks.

    Parameters
    ----------
    findings : Findings
    tables : sequence of Table
    figures : mapping from int to str
        The paths of the pictures, relative to the page.
    left_out : str, default=""
        A sentence about what is missing.

    Returns
    -------
    blocks : dict from str to str
        Markdown by the name of the block, in the order of :func:`block_names`; figures that
        were not drawn are missing.
    """
    blocks = {
        "in short": "\n".join(_in_short(tables)),
        "what was run": "\n\n".join(_what_was_run(findings, left_out)),
        **{f"table {table.number}": to_markdown(table).strip() for table in tables},
        **{f"figure {number}": _figure(number, path) for number, path in figures.items()},
        "out of tolerance": "\n".join(_out_of_tolerance(tables)),
    }
    return {name: blocks[name] for name in block_names(findings.plan) if name in blocks}


def machine() -> str:
    """Return the processor and the number of its cores, without the name of the machine."""
    model = platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cores = os.cpu_count()
    return (
        f"{names[0] if names else model or platform.machine()}, "
        f"{cores} {'core' if cores == 1 else 'cores'}, {platform.system()}"
    )


def _in_short(tables: Sequence[Table]) -> Iterator[str]:
    for table in tables:
        if table.number == 4:
            yield (
                f"- **Table 4: {table.n_within} of the {table.n_judged} cells that were run "
                f"({len(table.rows)} in the paper) are within tolerance**: P_o within "
                f"{TOLERANCES['purity_original']:g}, P_c within {TOLERANCES['purity_core']:g} and "
                f"w within {TOLERANCES['weak']:g} of the paper."
            )
        elif table.number == 2:
            judged = [
                row for row in table.rows if row.algorithm in _AGREEING and row.within is not None
            ]
            names = [ALGORITHMS[name].title for name in _AGREEING]
            yield (
                f"- **Table 2: {sum(bool(row.within) for row in judged)} of the {len(judged)} "
                f"confusion matrices of {', '.join(names[:-1])} and {names[-1]} that were run are "
                f"within tolerance**: each of the four numbers within {TOLERANCES['items']:g} "
                "items of the paper."
            )
        elif table.n_judged:
            yield (
                f"- Table {table.number}: {table.n_within} of {table.n_judged} rows are within "
                "tolerance."
            )


def _what_was_run(findings: Findings, left_out: str) -> Iterator[str]:
    results = findings.results
    seconds = sum(result["seconds"] for result in results.values())
    yield "\n".join(
        [
            f"- Machine: {machine()}; all cores are used.",
            f"- Versions: {listed_versions(results.values())}.",
            f"- alpha = {ALPHA:g}; seed {findings.plan.seed} in every cell.",
            f"- {len(results)} cells, {seconds / 60:.1f} minutes of computation in total.",
        ]
    )
    if findings.plan.quick:
        yield "This is a quick run: with fewer resamples, all values but P_o differ more."
    if left_out:
        yield left_out
    for scheme, title in _SCHEMES.items():
        cells = [cell for cell in results if cell.scheme == scheme]
        if cells:
            yield f"{title}:"
            yield "\n".join(_resample_grid(cells))


def _resample_grid(cells: Sequence[Cell]) -> list[str]:
    sizes = {(cell.dataset, cell.algorithm): str(cell.n_resamples) for cell in cells}
    return markdown_grid(
        ["dataset", *(ALGORITHMS[name].title for name in ALGORITHM_NAMES)],
        [
            [DATASET_TITLES[name], *(sizes.get((name, other), "") for other in ALGORITHM_NAMES)]
            for name in DATASETS
            if any(cell.dataset == name for cell in cells)
        ],
    )


def _figure(number: int, path: str) -> str:
    return f"![{CAPTIONS[number]}]({path})\n\n**Figure {number}. {CAPTIONS[number]}.** {LEGEND}"


def _out_of_tolerance(tables: Sequence[Table]) -> Iterator[str]:
    rows = [(table, row) for table in tables for row in table.out_of_tolerance()]
    for table, row in rows:
        yield f"- Table {table.number}, {_name(row)}: {describe(table, row)}."
    if not rows:
        yield "Everything that was run is within tolerance."


def _name(row: Row) -> str:
    title = DATASET_TITLES[row.dataset]
    return title if row.algorithm is None else f"{title}, {ALGORITHMS[row.algorithm].title}"
