"""Runs the missing trials, then writes the page, the table and the plots."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coreclust._utils.files import write_bytes
from studies.calibration.designs import DESIGNS, Design
from studies.calibration.margins import cut_with_margins
from studies.calibration.page import BLOCKS, build_blocks
from studies.calibration.plots import PLOTS
from studies.calibration.summary import Summary, summarize, to_csv
from studies.calibration.trials import Trial, run_trial, stored_trial
from studies.pages import assemble, check_page, update_page
from studies.paper.cells import Results
from studies.paper.figures import to_png


@dataclass(frozen=True)
class Outcome:
    """Results of a run.

    Attributes
    ----------
    summary : Summary
    files : tuple of Path
        The files that were written, in order.
    """

    summary: Summary
    files: tuple[Path, ...]


def plan_trials(
    designs: Sequence[str] | None = None,
    *,
    quick: bool = False,
    repetitions: int | None = None,
    seed: int = 0,
) -> list[Trial]:
    """List the trials of a study: the first dataset of every design, then the second, and so on.

    Parameters
    ----------
    designs : sequence of str, default=None
        Names in :data:`~studies.calibration.designs.DESIGNS`; None for all of them, or with
        `quick` for the old ones of k-means with at most 100 items.
    quick : bool, default=False
        Whether to use fewer datasets and a rough truth.
    repetitions : int, default=None
        Datasets per design; None for 20 (5 of Leiden), or 1 with `quick`.
    seed : int, default=0

    Returns
    -------
    trials : list of Trial

    Examples
    --------
    >>> from studies.calibration.study import plan_trials
    >>> [trial.repetition for trial in plan_trials(["too-few", "n-200"])][:4]
    [0, 0, 1, 1]
    """
    if designs is None:
        names = [
            name
            for name, design in DESIGNS.items()
            if not quick or (design.old and design.n_items <= 100 and design.can_predict)
        ]
    else:
        unknown = [name for name in designs if name not in DESIGNS]
        if unknown:
            raise ValueError(
                f"designs must be among {', '.join(DESIGNS)}, got {', '.join(unknown)}."
            )
        names = [name for name in DESIGNS if name in designs]
    if repetitions is not None and repetitions < 1:
        raise ValueError(f"repetitions must be 1 or more, got {repetitions}.")
    planned = {name: repetitions or (1 if quick else DESIGNS[name].n_datasets) for name in names}
    return [
        Trial(name, repetition, n_truth=_n_truth(DESIGNS[name], quick), seed=seed)
        for repetition in range(max(planned.values(), default=0))
        for name in names
        if repetition < planned[name]
    ]


def _n_truth(design: Design, quick: bool) -> int:
    """Return the number of resamples per pair; those of Leiden take the longest."""
    if quick:
        return 200
    return 400 if design.algorithm == "Leiden" else 2000


def calibrate(
    designs: Sequence[str] | None = None,
    *,
    quick: bool = False,
    repetitions: int | None = None,
    out: Path,
    page: Path | None = None,
    seed: int = 0,
    verbose: int = 0,
) -> Outcome:
    """Measure how often core pairs truly meet ``1 - alpha``.

    Finished trials are kept in ``out/trials`` and not run again.

    Parameters
    ----------
    designs, quick, repetitions
        See :func:`plan_trials`.
    out : Path
        Folder for the files, created if missing.
    page : Path, default=None
        Page whose generated blocks are replaced by those of this run, see
        :mod:`studies.pages`.
    seed : int, default=0
    verbose : int, default=0
        Above 0, write one line per trial to standard error.

    Returns
    -------
    outcome : Outcome

    Raises
    ------
    OSError
        If a file cannot be written.
    ValueError
        If an argument is wrong, or a generated block is missing on the page.
    KeyboardInterrupt
        With a message that says how to continue.
    """
    trials = plan_trials(designs, quick=quick, repetitions=repetitions, seed=seed)
    if page is not None:
        check_page(page, BLOCKS)
    out.mkdir(parents=True, exist_ok=True)
    results = _run(trials, Results(out / "trials"), verbose)
    summary = summarize(results)
    files = [write_bytes(out / "calibration.csv", to_csv(summary).encode())]
    pictures: dict[str, str] = {}
    try:
        figures = {name: draw(summary) for name, draw in PLOTS.items()}
    except ImportError:  # without matplotlib, the page has no pictures
        figures = {}
    for name, figure in figures.items():
        # In the folder in which the page expects them.
        (out / "images").mkdir(exist_ok=True)
        files.append(write_bytes(out / "images" / f"calibration-{name}.png", to_png(figure)))
        pictures[name] = f"images/calibration-{name}.png"
    command = _command(designs, quick, repetitions, seed)
    blocks = build_blocks(summary, pictures)
    text = assemble("Calibration study", command, blocks)
    files.append(write_bytes(out / "calibration.md", text.encode()))
    if page is not None:
        update_page(page, blocks, [out / path for path in pictures.values()])
        files.append(page)
    return Outcome(summary, tuple(files))


def _run(trials: Sequence[Trial], store: Results, verbose: int) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    for number, trial in enumerate(trials, start=1):
        _say(f"[{number}/{len(trials)}] {trial.design}, dataset {trial.repetition + 1} … ", verbose)
        result = stored_trial(store, trial)
        try:
            if result is not None:
                _say("done before\n", verbose)
            else:
                result = run_trial(trial)
                store.put(trial, result)
                _say(f"{result['seconds']:.1f} s\n", verbose)
            results.append({**result, "margins": cut_with_margins(trial, store)})
        except KeyboardInterrupt as interrupt:
            _say("interrupted\n", verbose)
            raise KeyboardInterrupt(
                f"Interrupted; {len(results)} of {len(trials)} datasets are finished and kept in "
                f"{store.folder}: the same command continues from there."
            ) from interrupt
    return results


def _command(designs: Sequence[str] | None, quick: bool, repetitions: int | None, seed: int) -> str:
    parts = ["python -m studies.calibration"]
    if quick:
        parts.append("--quick")
    if repetitions is not None:
        parts.append(f"--repetitions {repetitions}")
    if seed:
        parts.append(f"--seed {seed}")
    if designs is not None:
        parts.append(f"--designs {' '.join(name for name in DESIGNS if name in designs)}")
    return " ".join(parts)


def _say(text: str, verbose: int) -> None:
    if verbose > 0:
        sys.stderr.write(text)
        sys.stderr.flush()
