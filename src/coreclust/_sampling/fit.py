"""Chooses the engine for a checked problem, then draws and labels its resamples."""

from __future__ import annotations

import contextlib
import functools
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone

from coreclust._checkpoint.fingerprint import settings_of
from coreclust._checkpoint.folder import Checkpoint
from coreclust._sampling.adaptive import label_until_settled
from coreclust._sampling.copies import warn_of_copies
from coreclust._sampling.native import BatchEngine, batch_engine, dataset_labeler
from coreclust._sampling.pairs import resample_pairs
from coreclust._sampling.problem import Problem, is_nested, most_resamples
from coreclust._sampling.runner import label_resamples, report_dropped, report_redrawn
from coreclust._sampling.values import place_not_finite
from coreclust.evidence._nested import NestedEnsemble
from coreclust.evidence._protocol import Evidence

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering


_LONG = 1.0  # minutes of clustering that are announced


class Resampled(NamedTuple):
    """The outcome of drawing and labeling the resamples."""

    evidence: Evidence
    n_resamples: int
    n_dropped: int
    models: list[Any]
    engine: str
    seconds: float


def choose_engine(problem: Problem, meta: CoreClustering) -> Any:
    """Return the compiled code for many resamples per call, or None for the generic engine."""
    if meta.engine == "generic":
        return None
    engine: Any = None
    estimator, scheme = problem.function.estimator, problem.scheme
    if scheme.draws == "pairs":
        engine = dataset_labeler(estimator, problem.items)
    elif not scheme.makes_items:
        engine = batch_engine(estimator, problem.items, scheme.label, problem.classes)
        without_models = engine is not None and engine.offer.make_model is None
        if meta.keep_models and (without_models or issparse(problem.items)):
            if meta.engine == "batched" and engine is not None:
                raise ValueError(
                    f"keep_models=True cannot be used with engine='batched' for "
                    f"{type(estimator).__name__}{' and sparse data' * (not without_models)}, whose "
                    "compiled code makes no models; use engine='auto' or keep_models=False."
                )
            engine = None
    if engine is None and meta.engine == "batched":
        raise ValueError(
            f"engine='batched' has no compiled code for {type(estimator).__name__} with these "
            "parameters, data and resampling; use engine='auto'."
        )
    return engine


def open_checkpoint(
    problem: Problem, meta: CoreClustering, engine: BatchEngine | None
) -> contextlib.AbstractContextManager[Checkpoint | None]:
    """Return the checkpoint, or an empty context without one; raise if it cannot be used."""
    if meta.checkpoint is None:
        return contextlib.nullcontext()
    if problem.scheme.draws == "pairs":
        raise ValueError(
            f"checkpoint cannot be used with resampling={problem.scheme!r}, which keeps no "
            "resamples; use checkpoint=None."
        )
    if meta.keep_models and engine is None:
        raise ValueError(
            "checkpoint can keep models only of clusterers with compiled code for them, such as "
            "KMeans with engine='auto'; use keep_models=False or checkpoint=None."
        )
    settings = settings_of(
        problem.function.estimator,
        problem.items,
        problem.classes,
        problem.scheme,
        problem.groups,
        random_state=meta.random_state,
        engine=meta.engine,
        keep_models=meta.keep_models,
    )
    return Checkpoint(meta.checkpoint, settings, problem.n_items, meta.random_state)


def cluster_reference(
    problem: Problem, meta: CoreClustering, entropy: int, engine: Any
) -> tuple[NDArray[np.int64], NDArray[Any], Any]:
    """Cluster the data as given; warn if the resamples of many draws will take long.

    A reference that is given is used instead. The estimator is then returned as it is, except for a
    Pipeline, whose transformers the diagnosis needs.
    """
    given, estimator = meta._given_reference, problem.function.estimator
    if given is not None and not hasattr(estimator, "steps"):
        return *given, clone(estimator, safe=False)
    begin = time.monotonic()
    try:
        found = problem.reference(entropy)
    except ValueError as error:
        place_not_finite(problem.items, error)
        raise
    minutes = (time.monotonic() - begin) * most_resamples(meta) / 60
    if is_nested(meta) and engine is None and minutes > _LONG:
        warnings.warn(
            f"guarantee={meta.guarantee!r} clusters {most_resamples(meta):,} resamples, which "
            f"takes about {minutes:,.0f} minutes on one processor; use n_jobs, or a smaller "
            "n_resamples.",
            stacklevel=4,
        )
    return found if given is None else (*given, found[2])


def gather_evidence(
    problem: Problem,
    meta: CoreClustering,
    entropy: int,
    reference: NDArray[np.int64],
    engine: Any,
    on_resample: Callable[[], None] | None = None,
    checkpoint: Checkpoint | None = None,
) -> Resampled:
    """Draw and label the resamples, or for Algorithm 2 those of each pair."""
    if engine is None and (checkpoint is None or checkpoint.n_tried == 0):
        warn_of_copies(problem, most_resamples(meta))
    how: dict[str, Any] = {"n_jobs": meta.n_jobs, "verbose": meta.verbose}
    name = "generic" if engine is None else "batched"
    begin = time.monotonic()
    if problem.scheme.draws == "pairs":  # Algorithm 2
        m = int(meta.n_resamples)
        evidence, n_dropped = resample_pairs(problem, reference, m, entropy, labeler=engine, **how)
        return Resampled(evidence, m, n_dropped, [], name, time.monotonic() - begin)
    if problem.in_blocks:
        how["n_jobs"] = 1  # the blocks already run in parallel
    label = functools.partial(
        label_resamples,
        problem,
        entropy=entropy,
        engine=engine,
        keep_models=meta.keep_models,
        on_resample=on_resample,
        checkpoint=checkpoint,
        **how,
    )
    if meta.n_resamples == "auto":
        rule = meta._rule(0.0, problem.spread)
        labeling = label_until_settled(label, reference, rule, meta.max_resamples, meta.n_jobs)
    else:
        labeling = label(n_resamples=most_resamples(meta))
    report_dropped(labeling.errors, labeling.n_tried)
    report_redrawn(labeling)
    models = labeling.models
    if engine is not None:
        models = [engine.offer.make_model(model) for model in models]
    seconds = time.monotonic() - begin
    ensemble, n_dropped = labeling.ensemble, len(labeling.errors)
    if is_nested(meta):
        ensemble = NestedEnsemble.with_failed(ensemble, labeling.failed)
    return Resampled(ensemble, labeling.n_tried, n_dropped, models, name, seconds)
