"""Runs the missing cells, then writes the tables, the figures and the page."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sklearn.utils import Bunch

from coreclust._utils.files import write_bytes
from coreclust.algorithms import ALGORITHMS
from studies.data import DatasetNotFoundError, load_kdd_population, load_paper_dataset
from studies.pages import assemble, check_page, update_page
from studies.paper.cells import ALPHA, NOISE_RULES, Cell, Results, run_cell
from studies.paper.comparison import Table
from studies.paper.figures import draw_figure, panels_of, to_png, to_svg
from studies.paper.page import block_names, build_blocks
from studies.paper.plan import (
    FIGURES,
    PANELS,
    QUICK_WITHOUT,
    TABLES,
    Plan,
)
from studies.paper.published import DATASET_TITLES, DATASETS, Properties
from studies.paper.render import to_csv, to_markdown
from studies.paper.tables import Findings, build_table, properties_of

NOT_FOUND = "the data was not found"
_FILES = {"glass": "glass.csv", "bcw": "bcw.csv", "yeast": "yeast.csv", "kdd": "kdd.csv.gz"}
_RESULT_KEYS = ("purity_original", "reference", "optimal", "n_dropped", "seconds", "versions")
_CUT_KEYS = ("purity_core", "weak_fraction", "labels")


@dataclass(frozen=True)
class Outcome:
    """Results of a run.

    Attributes
    ----------
    tables : tuple of Table
    files : tuple of Path
        The files that were written, in order.
    left_out : str
        One sentence about what is missing and what to do about it; empty if nothing is missing.
    """

    tables: tuple[Table, ...]
    files: tuple[Path, ...]
    left_out: str


@dataclass
class Datasets:
    """Datasets of the paper, loaded on first use.

    Attributes
    ----------
    data_home : Path or None
    download : bool
    missing : dict
        Why datasets are missing, by name; "kdd population" is one of the names.
    """

    data_home: Path | None = None
    download: bool = True
    missing: dict[str, str] = field(default_factory=dict)
    _loaded: dict[str, Bunch] = field(default_factory=dict)

    def get(self, name: str) -> Bunch | None:
        """Return a dataset, or None if it was not found."""
        if name not in self._loaded and name not in self.missing:
            try:
                if name == "kdd population":
                    data = load_kdd_population(self.data_home, download=self.download)
                else:
                    data = load_paper_dataset(name, self.data_home, download=self.download)
            except DatasetNotFoundError:
                self.missing[name] = NOT_FOUND
            except ValueError as error:  # a file with other content
                raise OSError(str(error)) from error
            else:
                self._loaded[name] = data
        return self._loaded.get(name)

    def has(self, cell: Cell) -> bool:
        """Whether the data of a cell was found."""
        needs_population = cell.scheme == "known" and cell.dataset == "kdd"
        return self.get(cell.dataset) is not None and (
            not needs_population or self.get("kdd population") is not None
        )


def reproduce(
    tables: tuple[int, ...] = TABLES,
    figures: tuple[int, ...] = FIGURES,
    *,
    quick: bool = False,
    out: Path,
    page: Path | None = None,
    data_home: Path | None = None,
    download: bool = True,
    seed: int = 0,
    verbose: int = 0,
) -> Outcome:
    """Make tables and figures of the paper.

    Finished cells are kept in ``out/cells`` and not run again.

    Parameters
    ----------
    tables, figures : tuple of int
        Numbers in the paper. A run of all of them also writes ``out/reproduction.md``.
    quick : bool, default=False
        Fewer resamples, and without what is slow.
    out : Path
        Folder for the files, created if missing.
    page : Path, default=None
        Page whose generated blocks are replaced by those of this run, see
        :mod:`studies.pages`.
    data_home : Path, default=None
        Folder with the datasets, see :func:`~studies.data.load_paper_dataset`.
    download : bool, default=True
        Whether to download missing datasets.
    seed : int, default=0
        The seed of every cell.
    verbose : int, default=0
        1 writes one line per cell to standard error, 2 adds the progress within cells.

    Returns
    -------
    outcome : Outcome

    Raises
    ------
    OSError
        If a file cannot be written, or a dataset is not the one of the paper.
    ValueError
        If a generated block is missing on the page.
    KeyboardInterrupt
        With a message that says how to continue.
    """
    plan = Plan(tables, figures, quick, seed)
    if page is not None:
        check_page(page, block_names(plan))
    out.mkdir(parents=True, exist_ok=True)
    datasets = Datasets(data_home, download)
    results, missing = _run_cells(plan, Results(out / "cells"), datasets, verbose)
    properties = _properties(plan, datasets) if 1 in tables else {}
    findings = Findings(plan, results, missing, properties, datasets.missing)
    built = tuple(build_table(number, findings) for number in tables)
    files = []
    for table in built:
        for suffix, write in (("md", to_markdown), ("csv", to_csv)):
            files.append(write_bytes(out / f"table{table.number}.{suffix}", write(table).encode()))
    pictures, figure_files, without_matplotlib = _draw(figures, findings, datasets, out)
    files += figure_files
    left_out = _left_out(plan, datasets, missing, without_matplotlib)
    blocks = build_blocks(findings, built, pictures, left_out=left_out)
    if plan.is_complete:
        text = assemble("The paper, reproduced", _command(plan), blocks)
        files.append(write_bytes(out / "reproduction.md", text.encode()))
    if page is not None:
        update_page(page, blocks, [out / path for path in pictures.values()])
        files.append(page)
    return Outcome(built, tuple(files), left_out)


def _command(plan: Plan) -> str:
    quick = " --quick" if plan.quick else ""
    return "python -m studies.paper" + quick + (f" --seed {plan.seed}" if plan.seed else "")


def stored_result(results: Results, cell: Cell) -> dict[str, Any] | None:
    """Return the stored result of a cell, or None if it is missing or incomplete."""
    result = results.get(cell)
    if not isinstance(result, dict) or not asdict(cell).items() <= result.items():
        return None
    cuts = result.get("noise")
    whole = (
        result.get("alpha") == ALPHA
        and all(key in result for key in _RESULT_KEYS)
        and isinstance(cuts, dict)
        and all(isinstance(cuts.get(rule), dict) for rule in NOISE_RULES)
        and all(key in cuts[rule] for rule in NOISE_RULES for key in _CUT_KEYS)
    )
    return result if whole else None


def _run_cells(
    plan: Plan, store: Results, datasets: Datasets, verbose: int
) -> tuple[dict[Cell, dict[str, Any]], dict[Cell, str]]:
    results: dict[Cell, dict[str, Any]] = {}
    missing: dict[Cell, str] = {}
    cells = plan.cells()
    warm: set[str] = set()
    for number, cell in enumerate(cells, start=1):
        say = _Line(f"[{number}/{len(cells)}] {_name(cell)}", verbose)
        result = stored_result(store, cell)
        if result is not None:
            say.end("done before")
        elif not datasets.has(cell):
            missing[cell] = NOT_FOUND
            say.end(NOT_FOUND)
            continue
        else:
            try:
                if cell.algorithm not in warm:
                    warm_up(cell.algorithm)
                    warm.add(cell.algorithm)
                result = _run(cell, datasets, verbose)
            except KeyboardInterrupt as interrupt:
                say.end("interrupted")
                raise KeyboardInterrupt(
                    f"Interrupted; {len(results)} of {len(cells)} cells are finished and kept in "
                    f"{store.folder}: the same command continues from there."
                ) from interrupt
            except RuntimeError as error:  # more than half of the resamples could not be clustered
                missing[cell] = str(error)
                say.end(f"failed: {error}")
                continue
            store.put(cell, result)
            say.end(f"{result['seconds']:.1f} s")
        results[cell] = result
    return results, missing


def _run(cell: Cell, datasets: Datasets, verbose: int) -> dict[str, Any]:
    with warnings.catch_warnings():
        # Dropped resamples are counted in the result and reported beside the table.
        warnings.filterwarnings("ignore", category=RuntimeWarning)
        return run_cell(
            cell,
            data_home=datasets.data_home,
            download=datasets.download,
            verbose=max(0, verbose - 1),
        )


def warm_up(algorithm: str) -> None:
    """Compile the kernels, which would otherwise count in the first running time."""
    if not ALGORITHMS[algorithm].is_classifier:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run_cell(Cell("iris", algorithm, "bootstrap", 30), download=False)


class _Line:
    """A line on standard error that is begun before the work and ended after it."""

    def __init__(self, text: str, verbose: int) -> None:
        self._enabled = verbose > 0
        # Progress within the cell has lines of its own.
        self._write(f"{text} … " + ("\n" if verbose > 1 else ""))

    def end(self, text: str) -> None:
        self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        if self._enabled:
            sys.stderr.write(text)
            sys.stderr.flush()


def _name(cell: Cell) -> str:
    scheme = "bootstrap" if cell.scheme == "bootstrap" else "known distribution"
    title = f"{DATASET_TITLES[cell.dataset]} {ALGORITHMS[cell.algorithm].title}"
    return f"{title} ({scheme}, m = {cell.n_resamples})"


def _properties(plan: Plan, datasets: Datasets) -> dict[str, Properties]:
    found = {}
    for name in DATASETS:
        data = None if plan.quick and name in QUICK_WITHOUT else datasets.get(name)
        if data is not None:
            population = datasets.get("kdd population") if name == "kdd" else None
            n_population = None if population is None else len(population.data)
            found[name] = properties_of(data, n_population)
    return found


def _draw(
    figures: tuple[int, ...], findings: Findings, datasets: Datasets, out: Path
) -> tuple[dict[int, str], list[Path], bool]:
    """Draw figures; return their paths, the files, and whether matplotlib is missing."""
    pictures: dict[int, str] = {}
    files: list[Path] = []
    for number in figures:
        names = {dataset for dataset, _ in PANELS[number]}
        data = {name: bunch for name in names if (bunch := datasets.get(name)) is not None}
        try:
            figure = draw_figure(number, panels_of(number, findings, data))
        except ImportError:
            return {}, [], True
        # In the folder in which the page expects them.
        folder = out / "images"
        folder.mkdir(exist_ok=True)
        for suffix, write in (("png", to_png), ("svg", to_svg)):
            files.append(write_bytes(folder / f"figure{number}.{suffix}", write(figure)))
        pictures[number] = f"images/figure{number}.png"
    return pictures, files, False


def _left_out(
    plan: Plan, datasets: Datasets, missing: Mapping[Cell, str], without_matplotlib: bool
) -> str:
    """Return one sentence about what is missing and what to do about it."""
    parts = []
    lost = [name for name in DATASETS if name in datasets.missing]
    if "kdd" not in lost and "kdd population" in datasets.missing:
        lost.append("kdd population")
    if lost:
        names = _listed([DATASET_TITLES.get(name, "all KDD items") for name in lost])
        wanted = _listed([_FILES.get(name, _FILES["kdd"]) for name in lost])
        online = "; the download failed" if datasets.download else ", or drop --offline"
        parts.append(
            f"{names}, whose data was not found (put {wanted} into a folder and name it with "
            f"--data or CORECLUST_DATA{online})"
        )
    failed = [cell for cell, reason in missing.items() if reason != NOT_FOUND]
    if failed:
        parts.append(f"{_listed([_name(cell) for cell in failed])}, which failed (see the notes)")
    if plan.quick:
        slow = []
        if {1, 4, 5} & set(plan.tables):
            slow += [DATASET_TITLES[name] for name in QUICK_WITHOUT]
        if {2, 3} & set(plan.tables):
            slow.append("most of Algorithm 2")
        if slow:
            parts.append(f"{_listed(slow)}, which --quick skips (run without it)")
    if without_matplotlib:
        parts.append("the figures, as matplotlib is missing (pip install 'coreclust[plot]')")
    return f"Left out: {'; '.join(parts)}." if parts else ""


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
