"""Says what to do next, given the result of a fitted estimator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from coreclust._inspection.diagnosis import Diagnosis
from coreclust._inspection.verdict import cluster_name
from coreclust._utils.text import percent
from coreclust.evidence import LabelEnsemble

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering

_OFTEN = 0.25  # share of resamples in which cores land together, from which on to merge them
_NAMED = 5  # clusters about which there is an advice of one kind


@dataclass(frozen=True)
class Action:
    """One advice.

    Attributes
    ----------
    text : str
        What to do, and why.
    clusters : tuple of int
        The clusters that it is about, as positions in `cluster_names_`.
    status : str
        The status of the items that it is about: "weak", "undecided" or empty for all.
    """

    text: str
    clusters: tuple[int, ...] = ()
    status: str = ""


def find_actions(fitted: CoreClustering, diagnosis: Diagnosis) -> list[Action]:
    """Return what to do next, the most important first; never empty."""
    if not fitted.cores_:
        return [Action("Use other settings or another algorithm: it found no cluster.")]
    found = [
        *_draw_more(fitted),
        *_merge(fitted, diagnosis),
        *_split(fitted, diagnosis),
        *_doubt(fitted),
        *_drop_weak(fitted),
        *_search_longer(fitted),
        *_find_failures(fitted),
    ]
    return found or [
        Action("Nothing: every item of a cluster is core, and the clusters are separate.")
    ]


def _draw_more(fitted: CoreClustering) -> list[Action]:
    n_undecided = fitted.undecided_sample_indices_.size
    if not n_undecided or not isinstance(fitted.ensemble_, LabelEnsemble):
        return []
    sizes = np.array([core.n_items for core in fitted.cores_], dtype=np.int64)
    needed = fitted.rule_.resamples_needed(fitted.ensemble_, sizes)
    if math.isinf(needed):
        return [Action("Use a larger alpha: no number of resamples can show so much stability.")]
    n_drawn = fitted.ensemble_.n_resamples
    number = f"at least {needed:,.0f}" if needed > n_drawn else f"more than {n_drawn:,}"
    return [
        Action(
            f"Draw more resamples ({number}): {_items(n_undecided)} undecided, because too few "
            "resamples contain them and their core.",
            status="undecided",
        )
    ]


def _merge(fitted: CoreClustering, diagnosis: Diagnosis) -> list[Action]:
    """Advise to merge clusters that often land together, and to doubt other pairs."""
    pairs = diagnosis.pairs[~diagnosis.pairs["shown_two"]]
    codes = {name: code for code, name in enumerate(fitted.cluster_names_.tolist())}
    ends = np.array(
        [
            [codes[first], codes[second]]
            for first, second in zip(pairs["cluster_1"], pairs["cluster_2"], strict=True)
        ],
        dtype=np.intp,
    ).reshape(-1, 2)
    share = pairs["together"].to_numpy(dtype=np.float64)
    often = np.nan_to_num(share) > _OFTEN
    actions = []
    for group in _components(ends[often], fitted.n_clusters_):
        inside = np.isin(ends[:, 0], group) & np.isin(ends[:, 1], group) & often
        low, high = percent(float(share[inside].min())), percent(float(share[inside].max()))
        how = low if low == high else f"{low} to {high}"
        actions.append(
            Action(
                f"Merge clusters {_listed(fitted, group)}, or fit again with "
                f"{_fewer(len(group) - 1)}: their cores got the same label in {how} of the "
                "resamples.",
                group,
            )
        )
    actions += [
        Action(
            f"Do not report clusters {_listed(fitted, group)} as different groups without "
            "further evidence: they are not shown to be.",
            group,
        )
        for group in _components(ends[~often], fitted.n_clusters_)[:_NAMED]
    ]
    return actions


def _split(fitted: CoreClustering, diagnosis: Diagnosis) -> list[Action]:
    counts = diagnosis.groups["cluster"].value_counts(sort=False)
    codes = {name: code for code, name in enumerate(fitted.cluster_names_.tolist())}
    actions = []
    for name, number in counts.items():
        code = codes[name]
        actions.append(
            Action(
                f"Split cluster {_listed(fitted, (code,))}, or fit again with more clusters: it "
                f"holds {number} groups that stay together among themselves.",
                (code,),
            )
        )
    return actions[:_NAMED]


def _doubt(fitted: CoreClustering) -> list[Action]:
    """Advise not to interpret clusters with a small core."""
    small = [core for core in fitted.cores_ if core.n_core < core.n_items / 2]
    if not small:
        return []
    codes = tuple(core.label for core in small)
    which = "cluster" if len(codes) == 1 else "clusters"
    whose = "its" if len(codes) == 1 else "their"
    return [
        Action(
            f"Do not interpret {which} {_listed(fitted, codes)}: less than half of {whose} items "
            "are core.",
            codes,
        )
    ]


def _drop_weak(fitted: CoreClustering) -> list[Action]:
    n_weak = fitted.weak_sample_indices_.size - fitted.undecided_sample_indices_.size
    if n_weak <= 0:
        return []
    these = "this weak item" if n_weak == 1 else f"these {n_weak:,} weak items"
    return [
        Action(
            f"Drop {these} before you name or describe the clusters, or treat them as members of "
            "no certain cluster: in other data they could be elsewhere.",
            status="weak",
        )
    ]


def _search_longer(fitted: CoreClustering) -> list[Action]:
    limits = {core.limited_by for core in fitted.cores_ if core.limited_by}
    if all(core.optimal for core in fitted.cores_):
        return []
    options = " or ".join(sorted(limits)) or "time_limit"
    return [
        Action(
            f"Search longer with a larger {options}, if you need the largest possible cores: "
            "some are not proven to be."
        )
    ]


def _find_failures(fitted: CoreClustering) -> list[Action]:
    n_failed = fitted.n_dropped_resamples_
    if not n_failed:
        return []
    them = "1 resample" if n_failed == 1 else f"{n_failed:,} resamples"
    return [Action(f"Find out why {them} could not be clustered; the result ignores them.")]


def _components(ends: Any, n_clusters: int) -> list[tuple[int, ...]]:
    """Return the groups of clusters that pairs connect, by their first cluster."""
    graph = coo_array(
        (np.ones(len(ends), dtype=bool), (ends[:, 0], ends[:, 1])), shape=(n_clusters, n_clusters)
    )
    _, part = connected_components(graph, directed=False)
    groups = [tuple(np.flatnonzero(part == one).tolist()) for one in np.unique(part[ends])]
    return sorted(groups)


def _listed(fitted: CoreClustering, codes: tuple[int, ...]) -> str:
    names = [cluster_name(fitted, fitted.cores_[code]) for code in codes]
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _fewer(number: int) -> str:
    return "one cluster fewer" if number == 1 else f"{number} clusters fewer"


def _items(number: int) -> str:
    return "1 item is" if number == 1 else f"{number:,} items are"
