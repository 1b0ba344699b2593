"""Labels resamples in parallel and collects them in one ensemble."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from coreclust._checkpoint.folder import Checkpoint
from coreclust._sampling.broadcast import sent_once
from coreclust._sampling.collect import collector
from coreclust._sampling.native import BatchEngine
from coreclust._sampling.parallel import in_parallel, resamples_per_task
from coreclust._sampling.problem import Problem
from coreclust._sampling.threads import one_thread, one_thread_in_worker
from coreclust._utils.constants import ABSENT
from coreclust._utils.jit import is_interrupt
from coreclust._utils.progress import Progress
from coreclust._utils.seeds import ESTIMATOR, ROWS, draw_random_states, seeds_of
from coreclust.evidence._ensemble import label_dtype
from coreclust.evidence._labeling import Block, Labeling

TRIES = 5
_MANY_REDRAWN = 0.05  # share of tries, above which there is a warning


@dataclass(frozen=True)
class _Task:
    """The data needed to label any resample."""

    problem: Problem
    n_items: int
    entropy: int
    keep_models: bool = False
    engine: BatchEngine | None = None

    def seeds(self, resample: int, attempt: int, purpose: int) -> np.random.SeedSequence:
        """Return the seeds of a resample for one purpose."""
        return seeds_of(self.entropy, resample, 2 * attempt + purpose)


def label_resamples(
    problem: Problem,
    n_resamples: int,
    entropy: int,
    *,
    engine: BatchEngine | None = None,
    keep_models: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
    on_resample: Callable[[], None] | None = None,
    per_task: int | None = None,
    after: Labeling | None = None,
    checkpoint: Checkpoint | None = None,
) -> Labeling:
    """Draw and label resamples 0 to `n_resamples` - 1.

    The result depends only on the problem and the entropy, not on how many resamples are known
    already from an earlier call (`after`) or a `checkpoint`. New resamples are added to the
    checkpoint. An `engine` labels them instead of the clustering function, in threads.
    """
    n_items = problem.n_items
    task = _Task(problem, n_items, entropy, keep_models, engine)
    if engine is not None:  # it has its own copy of the items
        task = replace(task, problem=replace(problem, items=None, classes=None))
    collected = collector(n_resamples, n_items, after, checkpoint)
    n_before = collected.n_tried
    n_redrawn, redraw_error = (0, "") if after is None else (after.n_redrawn, after.redraw_error)
    if per_task is None:
        most = 1 if engine is None else engine.offer.most_per_call
        per_task = resamples_per_task(n_items, n_resamples - n_before, most)
    blocks = (
        range(begin, min(begin + per_task, n_resamples))
        for begin in range(n_before, n_resamples, per_task)
    )
    progress = Progress(n_resamples, "resamples", enabled=verbose > 0, done_before=n_before)
    # catch_warnings, because the threads of joblib change the filters.
    with one_thread(), warnings.catch_warnings(), sent_once(task):
        label = _label_block if engine is None else _label_batch
        given = ((task, block) for block in blocks)
        threads = engine is not None and not engine.offer.holds_lock
        results = in_parallel(label, given, n_jobs, threads=threads)
        try:
            for block in results:
                collected.add(block)
                n_redrawn += block.n_redrawn
                redraw_error = block.redraw_error or redraw_error
                if 2 * len(collected.errors) > n_resamples:
                    break  # too many are lost already
                progress.update(collected.n_tried)
                if on_resample is not None:
                    for _ in range(block.n_tried):
                        on_resample()
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error):
                raise
            n_labeled = collected.n_tried - len(collected.errors)
            kept = "" if checkpoint is None else f" They are kept in {str(checkpoint.path)!r}."
            raise KeyboardInterrupt(
                f"Interrupted after {n_labeled} of {n_resamples} resamples were clustered.{kept}"
            ) from None
        finally:
            try:
                if checkpoint is not None:
                    checkpoint.flush()
            finally:
                results.close()  # stops what is still running
                progress.close()
    if 2 * len(collected.errors) > n_resamples:
        report_dropped(collected.errors, n_resamples)
    return collected.labeling()._replace(n_redrawn=n_redrawn, redraw_error=redraw_error)


def _label_block(task: _Task, resamples: range) -> Block:
    """Label resamples one by one, by the clustering function."""
    labels = np.full((len(resamples), task.n_items), ABSENT, dtype=np.int64)
    failed: list[tuple[int, str]] = []
    models: list[Any] = []
    n_redrawn, redraw_error = 0, ""
    with one_thread_in_worker():
        for resample in resamples:
            found, errors = _label_one(task, resample, models)
            if found is None:
                failed.append((resample, errors[-1]))
            else:
                n_redrawn += len(errors)
                redraw_error = errors[-1] if errors else redraw_error
                items, codes = found
                labels[resample - resamples.start - len(failed), items] = codes
    labels = labels[: len(resamples) - len(failed)]
    labels = labels.astype(label_dtype(int(labels.max(initial=0))))
    return Block(labels, failed, models, n_redrawn, redraw_error)


def _label_batch(task: _Task, resamples: range) -> Block:
    """Label all resamples of a block at once; draw failed ones again."""
    engine, problem = cast(BatchEngine, task.engine), task.problem
    labels = np.empty((len(resamples), task.n_items), dtype=np.int32)
    models: dict[int, NDArray[np.float64]] = {}
    pending = np.arange(len(resamples))
    n_failures = 0
    for attempt in range(TRIES):
        drawn = [resamples[place] for place in pending.tolist()]
        counts = problem.draw_counts([task.seeds(b, attempt, ROWS) for b in drawn], task.n_items)
        random_states = np.zeros(pending.size, dtype=np.int64)
        if engine.offer.seeded:
            place = engine.seed_place
            random_states[:] = [
                draw_random_states(task.seeds(b, attempt, ESTIMATOR), place + 1)[place]
                for b in drawn
            ]
        batch = engine.label(counts, random_states)
        if task.keep_models and batch.models is not None:
            models.update(zip(pending.tolist(), batch.models, strict=True))
        if problem.scheme.label == "oob":
            batch.labels[counts > 0] = ABSENT
        if problem.scheme.label == "oob" or problem.function.kind == "classifier":
            _number_from_zero(batch.labels)
        labels[pending] = batch.labels
        pending = pending[batch.failed]
        n_failures += pending.size
        if pending.size == 0:
            break
    labels = np.delete(labels, pending, axis=0)
    lost = pending.tolist()
    n_redrawn = n_failures - TRIES * len(lost)
    return Block(
        labels.astype(label_dtype(int(labels.max(initial=0)))),
        [(resamples[place], engine.offer.failure) for place in lost],
        [model for place, model in sorted(models.items()) if place not in lost],
        n_redrawn,
        engine.offer.failure if n_redrawn else "",
    )


def _number_from_zero(labels: NDArray[np.int32]) -> None:
    """Renumber the labels of each resample without gaps, as the labels of any estimator are."""
    rows, items = np.nonzero(labels >= 0)
    found = labels[rows, items]
    used = np.zeros((len(labels), int(found.max(initial=0)) + 1), dtype=bool)
    used[rows, found] = True
    labels[rows, items] = (used.cumsum(axis=1) - 1)[rows, found]


def _label_one(
    task: _Task, resample: int, models: list[Any]
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]] | None, list[str]]:
    """Draw and label one resample, again if that fails; return its labels and the errors."""
    errors: list[str] = []
    for attempt in range(TRIES):
        row_seeds = task.seeds(resample, attempt, ROWS)
        seeds = task.seeds(resample, attempt, ESTIMATOR)
        try:
            return _draw_and_label(task, row_seeds, seeds, models), errors
        except Exception as error:  # noqa: BLE001 - counted and reported by the caller
            errors.append(f"{type(error).__name__}: {error}")
    return None, errors


def _draw_and_label(
    task: _Task,
    row_seeds: np.random.SeedSequence,
    seeds: np.random.SeedSequence,
    models: list[Any],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw a resample and return the items that get a label from it, and their labels."""
    keep = models if task.keep_models else None
    function, scheme = task.problem.function, task.problem.scheme
    X, y = task.problem.items, task.problem.classes
    every = np.arange(task.n_items)
    if scheme.draws == "items":
        drawn = scheme.draw_items(task.n_items, draw_random_states(row_seeds, 1)[0])
        return every, function.label_by_model(drawn, None, X, seeds, keep)
    rows = task.problem.draw_rows(row_seeds)
    moved = None
    if scheme.moves_items:
        moved = scheme.move(X, rows, np.random.default_rng(row_seeds))
    if scheme.label == "drawn":
        return function.label_resample(X, y, rows, seeds, moved, keep)
    items = every if scheme.label == "all" else np.setdiff1d(every, rows)
    return items, function.label_others(X, y, rows, items, seeds, moved, keep)


def report_dropped(errors: list[str], n_resamples: int) -> None:
    """Warn about resamples that failed on every try; raise if they are more than half."""
    if not errors:
        return
    told = (
        f"{len(errors)} of {n_resamples} resamples could not be clustered in {TRIES} tries each; "
        f"the last error was {errors[-1].rstrip('.')}."
    )
    if 2 * len(errors) > n_resamples:
        raise RuntimeError(f"{told} More than half are lost; fix the estimator or resampling.")
    warnings.warn(f"{told} They are left out.", RuntimeWarning, stacklevel=4)


def report_redrawn(labeling: Labeling) -> None:
    """Warn if many resamples were drawn again because the estimator failed.

    If some failed on every try, the warning about them is enough.
    """
    if labeling.errors:
        return
    n_tries = labeling.ensemble.n_resamples + labeling.n_redrawn
    if labeling.n_redrawn > _MANY_REDRAWN * n_tries:
        warnings.warn(
            f"{labeling.n_redrawn} of {n_tries} fits to resamples failed, and the resamples were "
            f"drawn again; the last error was {labeling.redraw_error.rstrip('.')}. Resamples on "
            "which the estimator fails are missing, so the cores may look too stable.",
            RuntimeWarning,
            stacklevel=4,
        )
