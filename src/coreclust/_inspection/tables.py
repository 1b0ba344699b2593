"""The answer as data frames. pandas and polars are imported here, when a table is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from coreclust._utils.frames import is_pandas_frame, is_polars_frame
from coreclust.evidence._counting import joint_counts
from coreclust.evidence._ensemble import LabelEnsemble

_PAIRS = 10**6  # looked at in one go

if TYPE_CHECKING:
    from coreclust.answers import CoreAnswers


def summary_table(fitted: CoreAnswers) -> Any:
    """Return a row a cluster."""
    cores = fitted.cores_
    together, seen = _joint_counts(fitted)
    columns = {
        "cluster": fitted.cluster_names_,
        "size": np.array([core.size for core in cores]),
        "core": np.array([core.core.size for core in cores]),
        "weak": np.array([core.size - core.core.size for core in cores]),
        "weak_fraction": np.array([1 - core.core.size / core.size for core in cores]),
        "all_together": np.divide(together, seen, out=np.full(len(cores), np.nan), where=seen > 0),
        "upper_bound": np.array([core.upper_bound for core in cores]),
        "optimal": np.array([core.optimal for core in cores]),
    }
    return _frame(columns, _container(fitted))


def _joint_counts(fitted: CoreAnswers) -> Any:
    """Return, for each core, in how many resamples all its members were together, and seen."""
    if not isinstance(fitted.ensemble_, LabelEnsemble):  # never all in one sample
        return np.zeros((2, len(fitted.cores_)))
    labels, noise = fitted.ensemble_.labels, fitted.noise
    counts = [joint_counts(labels, core.core, noise) for core in fitted.cores_]
    return np.array(counts).reshape(-1, 2).T


def item_table(fitted: CoreAnswers, *, details: bool) -> Any:
    """Return a row an item, behind the columns of the data if it came as a frame."""
    n_items = fitted.ensemble_.n_items
    clustered = fitted.reference_labels_ >= 0
    names = np.full(n_items, None, dtype=object)
    names[clustered] = fitted.cluster_names_[fitted.reference_labels_[clustered]]
    status = np.full(n_items, "trimmed", dtype=object)
    status[clustered] = "weak"
    status[fitted.labels_ >= 0] = "core"
    columns = {
        "cluster": names
        if not clustered.all()
        else fitted.cluster_names_[fitted.reference_labels_],
        "core_label": fitted.labels_,
        "status": status.astype(str),
        "strength": item_strengths(fitted),
    }
    if details:
        columns["mean_cooccurrence"], columns["min_cooccurrence"] = _with_core(fitted)
        first = fitted.alpha_path().first_core()
        columns["core_alpha"] = np.where(fitted.labels_ >= 0, np.fmin(first, fitted.alpha), first)
    data = fitted._frame
    container = _container(fitted)
    if data is None:
        return _frame(columns, container)
    taken = set(data.columns)
    columns = {_free_name(name, taken): values for name, values in columns.items()}
    return _beside(data, columns, container)


def item_strengths(fitted: CoreAnswers) -> NDArray[np.float64]:
    """Return the strength of each item, NaN where it has none."""
    strengths = np.full(fitted.labels_.size, np.nan)
    for core in fitted.cores_:
        strengths[core.members] = core.strength
    return strengths


def _with_core(fitted: CoreAnswers) -> tuple[Any, Any]:
    """Return the mean and the least co-occurrence of each item with its cluster's core."""
    mean, least = np.full((2, fitted.ensemble_.n_items), np.nan)
    for core in fitted.cores_:
        for block in np.array_split(core.members, 1 + core.size * core.core.size // _PAIRS):
            p = fitted.cooccurrence(block[:, None], core.core[None])
            itself = block[:, None] == core.core[None]
            n_others = (~itself).sum(axis=1)
            some = n_others > 0
            mean[block[some]] = np.where(itself, 0, p).sum(axis=1)[some] / n_others[some]
            least[block[some]] = np.where(itself, np.inf, p).min(axis=1)[some]
    return mean, least


def _container(fitted: CoreAnswers) -> str:
    """Return the kind of frame to answer with: as configured, else as X, else pandas."""
    configured = get_config()["transform_output"]
    if configured in ("pandas", "polars"):
        return str(configured)
    return "polars" if is_polars_frame(fitted._frame) else "pandas"


def _frame(columns: dict[str, Any], container: str) -> Any:
    if container == "polars":
        import polars as pl

        return pl.DataFrame(
            {name: values.tolist() for name, values in columns.items()}, strict=False
        )
    import pandas as pd

    return pd.DataFrame(columns)


def _beside(data: Any, columns: dict[str, Any], container: str) -> Any:
    if container == "polars":
        import polars as pl

        frame = data if is_polars_frame(data) else pl.from_pandas(data)
        return pl.concat([frame, _frame(columns, "polars")], how="horizontal")
    import pandas as pd

    frame = data if is_pandas_frame(data) else data.to_pandas()
    return pd.concat([frame, pd.DataFrame(columns, index=frame.index)], axis=1)


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
