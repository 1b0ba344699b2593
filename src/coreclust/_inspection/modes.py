"""Finds the distinct solutions among the clusterings of the resamples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import silhouette_score

from coreclust._utils.constants import ABSENT, NOISE
from coreclust._utils.seeds import seeds_of
from coreclust._utils.text import percent, shorten
from coreclust.evidence import LabelEnsemble
from coreclust.stability import pairwise_rand

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering

_MOST_RESAMPLES = 200  # that are compared with each other
_MOST_ITEMS = 2000  # on which they are compared, about
_FEWEST_ITEMS = 50  # of each cluster among them, if it has as many
_FEWEST_RESAMPLES = 20
_MOST_LABELS = 1000  # of a resample, and clusters
_MOST_MODES = 4
_CLEAR = 0.5  # silhouette, from which on resamples fall into distinct solutions
_WHOLE = 0.75  # share of a cluster with one label, from which on it is not split
_RARE = 0.05  # share of resamples; rarer solutions are not described
_MANY = 0.5  # share of resamples that solutions have to explain to be described
_NAMED = 2  # merges, and splits, in a sentence


@dataclass(frozen=True)
class Mode:
    """A solution that a share of the resamples has in common.

    Attributes
    ----------
    share : float
        Share of the resamples that do all of the following; for a solution with the clusters of
        the reference, that do nothing of it.
    merged : tuple of tuple of int
        Clusters of the reference that have one label in most of these resamples.
    split : tuple of int
        Clusters of which less than 75 % have one label in most of these resamples.
    lost : tuple of int
        Clusters that are noise in most of these resamples.
    """

    share: float
    merged: tuple[tuple[int, ...], ...]
    split: tuple[int, ...]
    lost: tuple[int, ...]

    @property
    def agrees(self) -> bool:
        """Whether the solution has the clusters of the reference."""
        return not (self.merged or self.split or self.lost)


def find_modes(fitted: CoreClustering) -> list[Mode]:
    """Return the solutions of the resamples, the most common first; none if there is no telling.

    The resamples are grouped by their adjusted Rand index with each other (average linkage). There
    is one group, unless the silhouette shows distinct ones. Groups that differ from the reference
    in the same way are one solution. Resamples that do not show what is typical of their group are
    left out of its share. The resamples that agree with the reference are always counted, in all
    groups. At most 200 resamples and about 2,000 items are compared.
    """
    labels = getattr(fitted.ensemble_, "labels", None)  # evidence on pairs has none
    if labels is None or labels.shape[1] < _FEWEST_RESAMPLES or fitted.n_clusters_ < 1:
        return []
    if max(fitted.n_clusters_, int(labels.max(initial=0)) + 1) > _MOST_LABELS:
        return []
    chosen = np.unique(np.linspace(0, labels.shape[1] - 1, _MOST_RESAMPLES).astype(np.int64))
    items = _some_of_each(fitted.reference_labels_)
    some = np.asarray(labels[items][:, chosen])
    whole, main, share = _landing(some, fitted.reference_labels_[items], fitted.n_clusters_)
    group = _groups(some)
    agrees = ((), (), ())  # no merge, no split, nothing lost
    found: dict[tuple[Any, ...], int] = {agrees: int(_shows(agrees, whole, main, share).sum())}
    for number in np.unique(group):
        mine = group == number
        landed = whole[mine], main[mine], share[mine]
        kind = _difference(*landed)
        if kind != agrees:
            found[kind] = found.get(kind, 0) + int(_shows(kind, *landed).sum())
    modes = [Mode(count / len(group), *kind) for kind, count in found.items()]
    return sorted(modes, key=lambda mode: (-mode.share, not mode.agrees))


def splits_in_words(modes: list[Mode], n_clusters: int) -> list[str]:
    """Return a few words about each cluster that is split, or noise, in some of the solutions."""
    told, explained = _told(modes)
    split, lost = np.zeros((2, n_clusters))
    for mode in told if explained >= _MANY else []:
        split[list(mode.split)] += mode.share
        lost[list(mode.lost)] += mode.share
    return [
        "; ".join(
            f"{what} in {percent(share)} of resamples"
            for what, share in (("split", split[cluster]), ("noise", lost[cluster]))
            if share
        )
        for cluster in range(n_clusters)
    ]


def _told(modes: list[Mode]) -> tuple[list[Mode], float]:
    """Return the solutions that are not rare, and their share of the resamples."""
    told = [mode for mode in modes if mode.share >= _RARE]
    return told, sum(mode.share for mode in told)


def mode_sentences(fitted: CoreClustering, modes: list[Mode]) -> list[str]:
    """Return one sentence about the solutions; none if resamples agree with the reference."""
    told, explained = _told(modes)
    if not modes or (explained >= _MANY and all(mode.agrees for mode in told)):
        return []
    if explained < _MANY:
        agree = sum(mode.share for mode in modes if mode.agrees)
        share = percent(agree)
        few, others = f"{share[0].upper()}{share[1:]} of the resamples agree", "the others"
        if not agree:
            few, others = "No resample agrees", "they"
        return [f"{few} with this clustering; {others} differ from it in many ways."]
    told.sort(key=lambda mode: not mode.agrees)  # the one that agrees first
    parts = []
    for place, mode in enumerate(told):
        of = " of the resamples" if place == 0 else ""
        parts.append(f"{percent(mode.share)}{of} {_in_words(fitted, mode)}")
    if 1 - explained >= _RARE:
        parts.append(f"{percent(1 - explained)} differ in other ways")
    return [f"{'; '.join(parts)}."]


def _some_of_each(reference: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return about 2,000 items, at random, but at least 50 of each cluster that has as many."""
    chosen = []
    inside = int((reference >= 0).sum())
    for cluster in range(int(reference.max(initial=-1)) + 1):
        members = np.flatnonzero(reference == cluster)
        n_wanted = max(_FEWEST_ITEMS, round(_MOST_ITEMS * members.size / inside))
        if n_wanted < members.size:
            rng = np.random.default_rng(seeds_of(0, cluster))
            members = rng.choice(members, size=n_wanted, replace=False)
        chosen.append(members)
    return np.sort(np.concatenate(chosen)) if chosen else np.empty(0, dtype=np.int64)


def _groups(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return the group of each resample; all are in one if there are no distinct groups."""
    n_resamples = labels.shape[1]
    together = np.zeros(n_resamples, dtype=np.int64)
    pairs = n_resamples * (n_resamples - 1) // 2
    rand = pairwise_rand(LabelEnsemble(labels), n_pairs=pairs)
    distance = np.zeros((n_resamples, n_resamples))
    first, second = rand.pairs.T
    distance[first, second] = np.maximum(1 - np.nan_to_num(rand.values, nan=0.0), 0)
    distance += distance.T
    tree = linkage(distance[np.triu_indices(n_resamples, 1)], method="average")
    best = _CLEAR
    for n_groups in range(2, _MOST_MODES + 1):
        group = fcluster(tree, n_groups, criterion="maxclust")
        if np.unique(group).size < 2:
            continue
        score = silhouette_score(distance, group, metric="precomputed")
        if score > best:
            best, together = score, group
    return together


def _landing(
    labels: NDArray[Any], reference: NDArray[np.int64], n_clusters: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return for each resample and cluster where it lands.

    That is, the label of the whole cluster or -1 if it is split, noise or absent; its most common
    label (NOISE, or ABSENT if no member is present); and the share of members with that label.
    """
    n_resamples = labels.shape[1]
    main = np.full((n_resamples, n_clusters), ABSENT, dtype=np.int64)
    share = np.ones((n_resamples, n_clusters))
    for b in range(n_resamples):
        present = labels[:, b] != ABSENT
        column = labels[present, b].astype(np.int64) - NOISE  # noise is 0
        cluster = reference[present]
        n_labels = int(column.max(initial=0)) + 1
        counts = np.bincount(cluster * n_labels + column, minlength=n_clusters * n_labels)
        table = counts.reshape(n_clusters, n_labels)
        total = table.sum(axis=1)
        seen = total > 0
        main[b, seen] = table[seen].argmax(axis=1) + NOISE
        share[b, seen] = table[seen].max(axis=1) / total[seen]
    whole = np.where((share >= _WHOLE) & (main >= 0), main, -1)
    return whole, main, share


def _difference(
    whole: NDArray[np.int64], main: NDArray[np.int64], share: NDArray[np.float64]
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...], tuple[int, ...]]:
    """Return what most of some resamples do with the clusters: merge, split, or take for noise."""
    half = len(main) / 2
    n_clusters = main.shape[1]
    same = np.zeros((n_clusters, n_clusters), dtype=np.int64)
    for row in whole:
        placed = np.flatnonzero(row >= 0)
        same[np.ix_(placed, placed)] += row[placed, None] == row[None, placed]
    _, part = connected_components(same > half, directed=False)
    merged = tuple(
        tuple(np.flatnonzero(part == number).tolist())
        for number in np.unique(part)
        if (part == number).sum() > 1
    )
    lost = ((main == NOISE) & (share >= _WHOLE)).sum(axis=0) > half
    split = (share < _WHOLE).sum(axis=0) > half
    return merged, tuple(np.flatnonzero(split).tolist()), tuple(np.flatnonzero(lost).tolist())


def _shows(
    kind: tuple[tuple[tuple[int, ...], ...], tuple[int, ...], tuple[int, ...]],
    whole: NDArray[np.int64],
    main: NDArray[np.int64],
    share: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Tell which resamples show a difference from the reference, or its absence."""
    merged, split, lost = kind
    is_split, is_lost = share < _WHOLE, (main == NOISE) & (share >= _WHOLE)
    if not (merged or split or lost):
        ordered = np.sort(whole, axis=1)
        doubled = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
        return ~(doubled | is_split.any(axis=1) | is_lost.any(axis=1))
    shown = is_split[:, split].all(axis=1) & is_lost[:, lost].all(axis=1)
    for some in merged:
        labels = whole[:, some]
        shown &= (labels == labels[:, :1]).all(axis=1) & (labels[:, 0] >= 0)
    return shown


def _in_words(fitted: CoreClustering, mode: Mode) -> str:
    if mode.agrees:
        return "agree with this clustering"
    words = [f"merge clusters {_listed(fitted, some)}" for some in mode.merged[:_NAMED]]
    n_more = len(mode.merged) - _NAMED
    if n_more > 0:
        words.append(f"merge {n_more} more {'group' if n_more == 1 else 'groups'} of clusters")
    for verb, some in (("split", mode.split), ("take for noise", mode.lost)):
        if some:
            noun = "cluster" if len(some) == 1 else "clusters"
            words.append(f"{verb} {noun} {_listed(fitted, some)}")
    return " and ".join(words)


def _listed(fitted: CoreClustering, clusters: tuple[int, ...]) -> str:
    """Return the names of clusters; of many, the first."""
    names = [shorten(fitted.cluster_names_[cluster]) for cluster in clusters]
    if len(names) > 2 * _NAMED:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
