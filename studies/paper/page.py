"""The page that tells what was run, what came out and where it differs from the paper."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from coreclust.algorithms import ALGORITHMS
from studies.paper.cells import ALPHA, Cell, listed_versions
from studies.paper.comparison import Row, Table
from studies.paper.differences import KNOWN_IN_ADVANCE, OWN_SETTINGS, explain
from studies.paper.figures import CAPTIONS, READING
from studies.paper.published import (
    ALGORITHM_NAMES,
    DATASET_TITLES,
    DATASETS,
    TOLERANCES,
)
from studies.paper.render import describe, markdown_grid, to_markdown
from studies.paper.tables import Findings

_SCHEMES = {
    "bootstrap": "The bootstrap (Algorithm 3)",
    "known": "The known distribution (Algorithm 2, m samples for every pair of items)",
}
# Table 2 has to agree for these; the others are shown.
_AGREEING = ("hclust", "kmeans", "svm")


def build_page(
    findings: Findings,
    tables: Sequence[Table],
    figures: Mapping[int, str],
    *,
    left_out: str = "",
) -> str:
    """Write the page.

    Parameters
    ----------
    findings : Findings
    tables : sequence of Table
    figures : mapping from int to str
        The paths of the pictures, from where the page is.
    left_out : str, default=""
        A sentence on what is missing.

    Returns
    -------
    page : str
        Markdown.
    """
    command = "coreclust reproduce --all" + (" --quick" if findings.plan.quick else "")
    command += f" --seed {findings.plan.seed}" if findings.plan.seed else ""
    blocks = [
        "# The paper, reproduced",
        f"<!-- Written by `{command}`; edits will be lost. -->",
        (
            "The tables and figures of Henelius, Puolamäki, Boström and Papapetrou, "
            '"Clustering with Confidence: Finding Clusters with Statistical Guarantees" (arXiv '
            f"1612.08714), run again with this package: `{command}`. Every cell has the "
            "published figure and the difference next to ours."
        ),
        *_in_short(tables),
        *([left_out] if left_out else []),
        "## What was run",
        *_what_was_run(findings),
        "## Known in advance",
        *KNOWN_IN_ADVANCE,
        *(block for table in tables for block in (f"## Table {table.number}", to_markdown(table))),
        *_pictures(figures),
        "## Where we differ, and why",
        *_differences(findings, tables),
        "## Our own settings beside the paper's",
        OWN_SETTINGS,
    ]
    return "\n\n".join(block.strip() for block in blocks) + "\n"


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
                f"**Table 4: {table.n_within} of the {table.n_judged} cells that were run "
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
                f"**Table 2: {sum(bool(row.within) for row in judged)} of the {len(judged)} "
                f"confusion matrices of {', '.join(names[:-1])} and {names[-1]} that were run are "
                f"within tolerance**: each of the four numbers within {TOLERANCES['items']:g} "
                "items of the paper's."
            )
        elif table.n_judged:
            yield (
                f"Table {table.number}: {table.n_within} of {table.n_judged} rows are within "
                "tolerance."
            )


def _what_was_run(findings: Findings) -> Iterator[str]:
    results = findings.results
    seconds = sum(result["seconds"] for result in results.values())
    yield "\n".join(
        [
            f"- Machine: {machine()}; all cores are used.",
            f"- Versions: {listed_versions(results.values())}.",
            f"- alpha = {ALPHA:g}; seed {findings.plan.seed} in every cell.",
            f"- {len(results)} cells, {seconds / 60:.1f} minutes of computing in all.",
        ]
    )
    for scheme, title in _SCHEMES.items():
        cells = [cell for cell in results if cell.scheme == scheme]
        if cells:
            yield f"{title}: number of samples m"
            yield "\n".join(_sample_grid(cells))
            if scheme == "known" and not findings.plan.quick:
                yield (
                    "The paper has m = 1000 throughout. Where m is smaller here, a clustering "
                    "takes milliseconds, and there are some 4,000 pairs to take m samples for. "
                    "The random forest was not run: half a second each, on two cores, is about "
                    "ten days for the synthetic data at m = 1000."
                )


def _sample_grid(cells: Sequence[Cell]) -> list[str]:
    sizes = {(cell.dataset, cell.algorithm): str(cell.n_resamples) for cell in cells}
    return markdown_grid(
        ["dataset", *(ALGORITHMS[name].title for name in ALGORITHM_NAMES)],
        [
            [DATASET_TITLES[name], *(sizes.get((name, other), "") for other in ALGORITHM_NAMES)]
            for name in DATASETS
            if any(cell.dataset == name for cell in cells)
        ],
    )


def _pictures(figures: Mapping[int, str]) -> Iterator[str]:
    for number, path in figures.items():
        yield f"## Figure {number}"
        yield f"![{CAPTIONS[number]}]({path})"
        yield f"**Figure {number}. {CAPTIONS[number]}.** {READING}"


def _differences(findings: Findings, tables: Sequence[Table]) -> Iterator[str]:
    any_row = False
    for table in tables:
        for row in table.out_of_tolerance():
            any_row = True
            why = explain(table.number, row.dataset, row.algorithm, quick=findings.plan.quick)
            yield f"**Table {table.number}, {_name(row)}** ({describe(table, row)}). {why}"
    if not any_row:
        yield "Nowhere: all that was run is within tolerance."


def _name(row: Row) -> str:
    title = DATASET_TITLES[row.dataset]
    return title if row.algorithm is None else f"{title}, {ALGORITHMS[row.algorithm].title}"
