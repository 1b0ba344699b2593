"""Builds the five tables of the paper, with our values next to the published ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from coreclust.metrics import cluster_agreement
from studies.paper.cells import Cell
from studies.paper.comparison import Column, Entry, Row, Table
from studies.paper.plan import BOOTSTRAP_RESAMPLES, Plan
from studies.paper.published import (
    ALGORITHM_NAMES,
    DATASETS,
    KNOWN_DATASETS,
    PROPERTIES,
    TOLERANCES,
    TRIMMING,
    Properties,
    Quality,
    bootstrap_figures,
    known_figures,
)

LEFT_OUT_BY_QUICK = "left out by --quick"


@dataclass(frozen=True)
class Findings:
    """Results from which the tables are built.

    Attributes
    ----------
    plan : Plan
    results : mapping from Cell to dict
        Return values of :func:`~studies.paper.cells.run_cell`.
    missing : mapping from Cell to str
        Why cells were not run.
    properties : mapping from str to Properties
        Properties of the datasets.
    missing_data : mapping from str to str
        Why datasets are missing.
    """

    plan: Plan
    results: Mapping[Cell, dict[str, Any]]
    missing: Mapping[Cell, str] = field(default_factory=dict)
    properties: Mapping[str, Properties] = field(default_factory=dict)
    missing_data: Mapping[str, str] = field(default_factory=dict)

    def why_not(self, cell: Cell | None) -> str:
        """Return why a cell has no result."""
        if cell is None:
            return f"not run: {LEFT_OUT_BY_QUICK}"
        return f"not run: {self.missing.get(cell, 'not requested')}"


def build_table(number: int, findings: Findings) -> Table:
    """Build a table.

    Parameters
    ----------
    number : {1, 2, 3, 4, 5}
    findings : Findings

    Returns
    -------
    table : Table
    """
    columns, make_row = _MAKERS[number]
    datasets = KNOWN_DATASETS if number in (2, 3) else DATASETS
    rows = (
        [make_row(findings, dataset, None) for dataset in datasets]
        if number == 1
        else [
            make_row(findings, dataset, algorithm)
            for dataset in datasets
            for algorithm in ALGORITHM_NAMES
        ]
    )
    return Table(number, columns, tuple(rows))


def properties_of(data: Bunch, n_population: int | None = None) -> Properties:
    """Return the properties of a dataset that Table 1 shows.

    Examples
    --------
    >>> from studies.data import load_paper_dataset
    >>> from studies.paper.tables import properties_of
    >>> properties_of(load_paper_dataset("wine")).attributes
    13
    """
    counts = np.unique(data.target, return_counts=True)[1]
    return Properties(
        size=len(data.data),
        classes=counts.size,
        attributes=data.data.shape[1],
        major_class=float(counts.max() / counts.sum()),
        population=n_population,
    )


def _property_row(findings: Findings, dataset: str, _algorithm: None) -> Row:
    paper, ours = PROPERTIES[dataset], findings.properties.get(dataset)
    names = ("size", "classes", "attributes", "major_class", "population")
    tolerances = (0, 0, 0, 0.005, 0)  # the share of the major class is rounded in the paper
    entries = tuple(
        Entry(None if ours is None else getattr(ours, name), getattr(paper, name), tolerance)
        for name, tolerance in zip(names, tolerances, strict=True)
    )
    if ours is not None:
        return Row(dataset, None, "", entries)
    reason = findings.missing_data.get(dataset, LEFT_OUT_BY_QUICK)
    return Row(dataset, None, "", entries, (f"not run: {reason}",))


def _quality_row(
    findings: Findings, cell: Cell | None, key: tuple[str, str], paper: Quality
) -> Row:
    result = None if cell is None else findings.results.get(cell)
    trims = key[1] in TRIMMING
    ours = _quality(result, "together")
    apart = _quality(result, "apart") if trims else None
    entries = (
        Entry(_of(ours, "purity_original"), paper.purity_original, TOLERANCES["purity_original"]),
        Entry(_of(ours, "purity_core"), paper.purity_core, TOLERANCES["purity_core"]),
        Entry(_of(ours, "weak"), paper.weak, TOLERANCES["weak"]),
        Entry(_of(apart, "purity_core"), paper.purity_core if trims else None),
        Entry(_of(apart, "weak"), paper.weak if trims else None),
    )
    return Row(*key, _resamples(cell), entries, _notes(findings, cell))


def _known_row(findings: Findings, dataset: str, algorithm: str) -> Row:
    key = (dataset, algorithm)
    return _quality_row(findings, findings.plan.known(*key), key, known_figures()[key].paper)


def _bootstrap_row(findings: Findings, dataset: str, algorithm: str) -> Row:
    key = (dataset, algorithm)
    published = bootstrap_figures()[key]
    row = _quality_row(findings, findings.plan.bootstrap(*key), key, published.paper)
    rerun = (
        Entry(_of(published.rerun, "purity_original"), published.paper.purity_original),
        Entry(_of(published.rerun, "purity_core"), published.paper.purity_core),
        Entry(_of(published.rerun, "weak"), published.paper.weak),
    )
    return Row(*key, row.resamples, row.entries + rerun, row.notes)


def _agreement_row(findings: Findings, dataset: str, algorithm: str) -> Row:
    key = (dataset, algorithm)
    cells = (findings.plan.known(*key), findings.plan.bootstrap(*key))
    known, bootstrap = (cell and findings.results.get(cell) for cell in cells)
    published = known_figures()[key].agreement
    trims = algorithm in TRIMMING
    ours = {
        rule: _agreement(known, bootstrap, rule)
        if known and bootstrap and (trims or rule == "together")
        else (None,) * 4
        for rule in ("together", "apart")
    }
    entries = [
        Entry(count, paper, TOLERANCES["items"])
        for count, paper in zip(ours["together"], published, strict=True)
    ]
    entries += [
        Entry(count, paper if trims else None)
        for count, paper in zip(ours["apart"], published, strict=True)
    ]
    notes = dict.fromkeys(note for cell in cells for note in _notes(findings, cell))
    if known and bootstrap and known["reference"] != bootstrap["reference"]:
        notes["the two runs do not start from the same clustering"] = None
    resamples = " and ".join(_resamples(cell) for cell in cells) if all(cells) else ""
    return Row(*key, resamples, tuple(entries), tuple(notes))


def _time_row(findings: Findings, dataset: str, algorithm: str) -> Row:
    key = (dataset, algorithm)
    cell = findings.plan.bootstrap(*key)
    result = None if cell is None else findings.results.get(cell)
    published = bootstrap_figures()[key]
    entries = (
        Entry(
            None if result is None else result["seconds"],
            published.seconds,
            comparable=cell is not None and cell.n_resamples == BOOTSTRAP_RESAMPLES,
        ),
        Entry(published.rerun_seconds, published.seconds),
    )
    return Row(*key, _resamples(cell), entries, _notes(findings, cell))


def _agreement(
    known: dict[str, Any], bootstrap: dict[str, Any], rule: str
) -> tuple[int | None, ...]:
    trimmed = (np.array(known["reference"]) < 0) | (np.array(bootstrap["reference"]) < 0)
    counts = cluster_agreement(
        known["noise"][rule]["labels"], bootstrap["noise"][rule]["labels"], trimmed=trimmed
    )
    return tuple(counts.ravel().tolist())


def _quality(result: dict[str, Any] | None, rule: str) -> Quality | None:
    if result is None:
        return None
    cut = result["noise"][rule]
    return Quality(result["purity_original"], cut["purity_core"], cut["weak_fraction"])


def _of(quality: Quality | None, measure: str) -> float | None:
    return None if quality is None else getattr(quality, measure)


def _resamples(cell: Cell | None) -> str:
    return "" if cell is None else str(cell.n_resamples)


def _notes(findings: Findings, cell: Cell | None) -> tuple[str, ...]:
    result = None if cell is None else findings.results.get(cell)
    if result is None:
        return (findings.why_not(cell),)
    notes = []
    if result["n_dropped"]:
        notes.append(f"{result['n_dropped']} resamples could not be clustered and were dropped")
    if not result["optimal"]:
        notes.append("the cores are not proven to be the largest")
    if any(math.isnan(cut["purity_core"]) for cut in result["noise"].values()):
        notes.append("no core found")
    return tuple(notes)


def _agreement_columns() -> Iterable[Column]:
    for suffix, words, kind in (("", "", "judged"), ("_apart", " apart", "beside")):
        for key in ("core_core", "core_weak", "weak_core", "weak_weak"):
            yield Column(key + suffix, key.replace("_", "/") + words, 0, 0, kind)


_QUALITY_COLUMNS = (
    Column("purity_original", "P_o"),
    Column("purity_core", "P_c"),
    Column("weak", "w"),
    Column("purity_core_apart", "P_c apart", kind="beside"),
    Column("weak_apart", "w apart", kind="beside"),
)

_MAKERS: dict[int, tuple[tuple[Column, ...], Callable[..., Row]]] = {
    1: (
        (
            Column("size", "size", 0, 0),
            Column("classes", "classes", 0, 0),
            Column("attributes", "attributes", 0, 0),
            Column("major_class", "major class"),
            Column("population", "population", 0, 0),
        ),
        _property_row,
    ),
    2: (tuple(_agreement_columns()), _agreement_row),
    3: (_QUALITY_COLUMNS, _known_row),
    4: (
        (
            *_QUALITY_COLUMNS,
            Column("rerun_purity_original", "R: P_o", kind="rerun"),
            Column("rerun_purity_core", "R: P_c", kind="rerun"),
            Column("rerun_weak", "R: w", kind="rerun"),
        ),
        _bootstrap_row,
    ),
    5: (
        (
            Column("seconds", "seconds", 2, 0, "beside", as_ratio=True),
            Column("rerun_seconds", "R: seconds", 2, 0, "rerun", as_ratio=True),
        ),
        _time_row,
    ),
}
