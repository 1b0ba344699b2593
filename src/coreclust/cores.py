"""From a label ensemble and a reference clustering to the core of every cluster."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from coreclust._validation import (
    check_alpha,
    check_confidence,
    check_guarantee,
    check_noise,
    check_time_limit,
    encode_reference,
)
from coreclust.clique import (
    Deadline,
    Graph,
    conflict_graph,
    conflict_graphs,
    largest_independent_set,
)
from coreclust.ensemble import LabelEnsemble
from coreclust.evidence import apart_table, confidence_table, least_seen, sequence_tables
from coreclust.pair_evidence import PairEvidence
from coreclust.pairs import ABSENT, group_counts, pack_labels


@dataclass(frozen=True, eq=False)
class Core:
    """The core of one reference cluster.

    Attributes
    ----------
    label : int or str
        The label of the cluster in the reference clustering.
    members : ndarray of int
        The items of the reference cluster, ascending.
    core : ndarray of int
        The items of its core, ascending; never empty.
    upper_bound : int
        No core of this cluster is larger: proven.
    strength : ndarray of float of shape (n_members,)
        For each member, the share of its meetings with other members, over all samples,
        in which the two had the same label. NaN for an item that never met another.
    """

    label: Any
    members: NDArray[np.intp]
    core: NDArray[np.intp]
    upper_bound: int
    strength: NDArray[np.float64]

    @property
    def size(self) -> int:
        """Number of items in the reference cluster."""
        return self.members.size

    @property
    def weak(self) -> NDArray[np.intp]:
        """The members that are not in the core."""
        return np.setdiff1d(self.members, self.core, assume_unique=True)

    @property
    def optimal(self) -> bool:
        """Whether the core is proven to be as large as any."""
        return self.core.size >= self.upper_bound

    def __repr__(self) -> str:
        proof = "largest" if self.optimal else f"at most {self.upper_bound}"
        return f"Core(label={self.label!r}, {self.core.size} of {self.size} items, {proof})"


def core_labels(cores: list[Core], n_items: int) -> NDArray[np.int64]:
    """Return the core that each item is in, -1 for none."""
    labels = np.full(n_items, -1, dtype=np.int64)
    for core in cores:
        labels[core.core] = core.label
    return labels


def core_clusters(
    ensemble: LabelEnsemble | PairEvidence,
    reference_labels: ArrayLike,
    *,
    alpha: float = 0.1,
    confidence: float | None = None,
    guarantee: str = "simultaneous",
    noise: str = "apart",
    time_limit: float | None = None,
    anytime: bool = False,
) -> list[Core]:
    """Find the core of every cluster of a reference clustering.

    The core is the largest set of items of the cluster in which every pair has an
    estimated co-occurrence probability of at least ``1 - alpha``. This is the function
    under :class:`~coreclust.CoreClustering`, for labels that come from elsewhere.

    Parameters
    ----------
    ensemble : LabelEnsemble or PairEvidence
        The labels of the items in m samples, or the evidence on each pair by itself.
    reference_labels : array-like of shape (n_items,)
        Integers or strings; items with a negative integer are in no cluster.
    alpha : float, default=0.1
        Between 0 and 1.
    confidence : float, default=None
        None compares the estimate with ``1 - alpha``, as the paper does. A number compares
        an exact lower bound of the probability instead, with this confidence.
    guarantee : {"simultaneous", "pair"}, default="simultaneous"
        Whether the confidence is that all pairs of all cores meet ``1 - alpha``, or that
        one given pair does. Without `confidence` it has no effect.
    noise : {"apart", "together", "absent"}, default="apart"
        How two items that are both noise in a sample count: not together, together, or
        as if they had not been in the sample.
    time_limit : float, default=None
        Seconds for the search, over all clusters. When it strikes, the cores are valid
        but perhaps not the largest; `Core.upper_bound` says how far off they can be.
    anytime : bool, default=False
        Whether the confidence has to hold although the number of samples was chosen by looking
        at them; it then rests on a confidence sequence, and cores are somewhat smaller. Without
        `confidence` it has no effect.

    Returns
    -------
    cores : list of Core
        One a cluster, sorted by label. Where several largest cores tie, the choice
        leans towards items of higher `strength`, then towards those that come first:
        no exchange of one core item for a preferred one leaves a valid core.

    Examples
    --------
    >>> from coreclust import LabelEnsemble, core_clusters
    >>> draws = LabelEnsemble.from_labels([[0] * 30, [0] * 30, [1] * 15 + [0] * 15])
    >>> core_clusters(draws, ["a", "a", "a"])
    [Core(label='a', 2 of 3 items, largest)]
    """
    codes, names = _check(ensemble, reference_labels, noise, time_limit)
    check_alpha(alpha)
    check_confidence(confidence)
    check_guarantee(guarantee)
    sizes = np.bincount(codes[codes >= 0], minlength=names.size)
    table = edge_table(ensemble, sizes, alpha, confidence, guarantee, anytime=anytime)
    deadline = Deadline(time_limit)
    cores = []
    for code, name in enumerate(names.tolist()):
        share = deadline.share(len(names) - code)
        members = np.flatnonzero(codes == code)
        cores.append(_find_core(ensemble, name, members, table, noise, share))
    _warn_of_unproven(cores, time_limit)
    return cores


def core_path(
    ensemble: LabelEnsemble | PairEvidence,
    reference_labels: ArrayLike,
    rules: Sequence[tuple[float, float | None]],
    *,
    guarantee: str = "simultaneous",
    noise: str = "apart",
    time_limit: float | None = None,
    anytime: bool = False,
) -> list[list[Core]]:
    """Find the cores under several rules, from the strictest on, counting pairs only once.

    Parameters
    ----------
    ensemble : LabelEnsemble or PairEvidence
    reference_labels : array-like of shape (n_items,)
    rules : sequence of (alpha, confidence)
        Each allows all pairs that the one before does: a larger alpha, or less confidence.
    guarantee, noise, time_limit, anytime
        As for :func:`core_clusters`; the time is for all rules together.

    Returns
    -------
    path : list of list of Core
        For each rule what :func:`core_clusters` gives, up to the choice among largest cores.

    Examples
    --------
    >>> from coreclust import LabelEnsemble
    >>> from coreclust.cores import core_path
    >>> draws = LabelEnsemble.from_labels([[0] * 30, [0] * 30, [1] * 9 + [0] * 21])
    >>> path = core_path(draws, [0, 0, 0], [(0.1, None), (0.5, None)])
    >>> [cores[0].core.size for cores in path]
    [2, 3]
    """
    codes, names = _check(ensemble, reference_labels, noise, time_limit)
    check_guarantee(guarantee)
    for alpha, confidence in rules:
        check_alpha(alpha)
        check_confidence(confidence)
    sizes = np.bincount(codes[codes >= 0], minlength=names.size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too few samples at one end of a path are no surprise
        tables = np.array(
            [
                edge_table(ensemble, sizes, alpha, level, guarantee, anytime=anytime)
                for alpha, level in rules
            ]
        )
    if (np.diff(tables, axis=0) < 0).any():
        raise ValueError("rules must be in order: each has to allow all that the one before does.")
    deadline = Deadline(time_limit)
    path: list[list[Core]] = [[] for _ in rules]
    for code, name in enumerate(names.tolist()):
        share = deadline.share(len(names) - code)
        members = np.flatnonzero(codes == code)
        found = _find_cores(ensemble, name, members, tables, noise, share)
        for cores, core in zip(path, found, strict=True):
            cores.append(core)
    _warn_of_unproven([core for cores in path for core in cores], time_limit)
    return path


def _warn_of_unproven(cores: list[Core], time_limit: float | None) -> None:
    unproven = [core.label for core in cores if not core.optimal]
    if unproven:
        warnings.warn(
            f"time_limit={time_limit:g} was too short to prove the cores of {len(unproven)} of "
            f"{len(cores)} clusters largest ({unproven[:5]}); their upper_bound says how far off "
            "they can be.",
            stacklevel=3,
        )


def _check(
    ensemble: Any, reference_labels: ArrayLike, noise: str, time_limit: float | None
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Check what all cuts share; return the reference clustering as codes and their names."""
    if not isinstance(ensemble, (LabelEnsemble, PairEvidence)):
        raise TypeError(
            f"ensemble must be a LabelEnsemble, got {type(ensemble).__name__}; "
            "build one with LabelEnsemble.from_labels."
        )
    check_noise(noise)
    check_time_limit(time_limit)
    return encode_reference(reference_labels, ensemble.n_items)


def edge_table(
    ensemble: LabelEnsemble | PairEvidence,
    sizes: NDArray[np.int64],
    alpha: float,
    confidence: float | None,
    guarantee: str,
    *,
    anytime: bool = False,
) -> NDArray[np.int64]:
    """Return how often a pair may be apart, by how often it was seen; warn if it is too seldom."""
    n_samples = ensemble.n_resamples
    if confidence is None:
        # The prior belongs to Algorithm 3, not to Algorithm 2.
        n_prior = ensemble.n_items if isinstance(ensemble, LabelEnsemble) else None
        table = apart_table(alpha, n_prior, n_samples)
        if n_prior is None and alpha < 1:
            table[: (n_samples + 1) // 2] = -1  # lost more than half of its samples
        if table[-1] < 0 and alpha > 0:
            warnings.warn(
                f"{n_samples} samples are too few for any pair to reach a co-occurrence of "
                f"{1 - alpha:g}: every core is a single item. Use more resamples.",
                stacklevel=3,
            )
        return table
    level = pair_level(sizes, confidence, guarantee)
    needed = least_seen(alpha, level, anytime=anytime)
    share = pair_share(ensemble)
    if math.isinf(needed):
        warnings.warn(
            f"No number of samples can show with confidence that a probability is {1 - alpha:g}: "
            "every core is a single item. Use a larger alpha, or confidence=None.",
            stacklevel=3,
        )
    elif needed > share * n_samples:
        warnings.warn(
            f"{n_samples} samples are too few for confidence={confidence:g}: a pair must be seen "
            f"{needed} times, never apart, to show a co-occurrence of {1 - alpha:g}, and is seen "
            f"about {share * n_samples:.0f} times. It takes at least "
            f"{math.ceil(needed / max(share, 1 / n_samples))} samples.",
            stacklevel=3,
        )
    if anytime:
        return sequence_tables(alpha, level, n_samples)[0]
    return confidence_table(alpha, level, n_samples)


def pair_level(sizes: NDArray[np.int64], confidence: float, guarantee: str) -> float:
    """Return the error that is allowed for one pair of clusters of some sizes."""
    n_pairs = int((sizes * (sizes - 1) // 2).sum()) if guarantee == "simultaneous" else 1
    return (1 - confidence) / max(n_pairs, 1)


def pair_share(ensemble: LabelEnsemble | PairEvidence) -> float:
    """Return the share of samples in which a pair is seen, on average."""
    if isinstance(ensemble, PairEvidence):
        return 1.0
    return float((ensemble.labels != ABSENT).mean()) ** 2


def _find_core(
    ensemble: LabelEnsemble | PairEvidence,
    label: Any,
    members: NDArray[np.intp],
    table: NDArray[np.int64],
    noise: str,
    deadline: Deadline,
) -> Core:
    strength, preferred = _rank(ensemble, members, noise)
    if members.size == 1 or table[-1] < 0:  # no pair can be an edge
        return Core(label, members, members[preferred[:1]], 1, strength)
    kept, graph, start = _conflicts(ensemble, members[preferred], table, noise)
    solution = largest_independent_set(graph, start, deadline)
    core = np.sort(members[preferred[kept[solution.chosen]]])
    return Core(label, members, core, solution.upper_bound, strength)


def _find_cores(
    ensemble: LabelEnsemble | PairEvidence,
    label: Any,
    members: NDArray[np.intp],
    tables: NDArray[np.int64],
    noise: str,
    deadline: Deadline,
) -> Iterator[Core]:
    """Yield the core of one cluster under each of several tables, from the strictest on."""
    if isinstance(ensemble, PairEvidence):  # its pairs are counted already
        for place, table in enumerate(tables):
            share = deadline.share(len(tables) - place)
            yield _find_core(ensemble, label, members, table, noise, share)
        return
    strength, preferred = _rank(ensemble, members, noise)
    chosen = np.zeros(members.size, dtype=bool)
    chosen[0] = True
    core = Core(label, members, members[preferred[:1]], 1, strength)
    packed = pack_labels(ensemble.labels, members[preferred], noise)
    for place, graph_beyond in enumerate(conflict_graphs(packed, tables)):
        if graph_beyond is not None:
            # A core stays one under a rule that allows more.
            kept, graph = graph_beyond(chosen)
            share = deadline.share(len(tables) - place)
            solution = largest_independent_set(graph, chosen[kept], share)
            chosen = np.zeros(members.size, dtype=bool)
            chosen[kept[solution.chosen]] = True
            found = np.sort(members[preferred[chosen]])
            core = Core(label, members, found, solution.upper_bound, strength)
        yield core


def _rank(
    ensemble: LabelEnsemble | PairEvidence, members: NDArray[np.intp], noise: str
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the strength of each member, and the members in order of preference.

    The strength is the share of meetings with other members in which they had one label.
    """
    if isinstance(ensemble, LabelEnsemble):
        together, seen = group_counts(ensemble.labels, members, noise)
    else:
        together, seen = (counts.sum(axis=1) for counts in ensemble.within(members, noise))
    strength = np.divide(together, seen, out=np.full(members.size, np.nan), where=seen > 0)
    return strength, np.argsort(-np.nan_to_num(strength, nan=-1.0), kind="stable")


def _conflicts(
    ensemble: LabelEnsemble | PairEvidence,
    items: NDArray[np.intp],
    table: NDArray[np.int64],
    noise: str,
) -> tuple[NDArray[np.intp], Graph, NDArray[np.bool_]]:
    """Return what :func:`~coreclust.clique.conflicts.conflict_graph` does."""
    if isinstance(ensemble, LabelEnsemble):
        return conflict_graph(pack_labels(ensemble.labels, items, noise), table)
    together, seen = ensemble.within(items, noise)
    conflicts = seen - together > table[seen]
    np.fill_diagonal(conflicts, False)
    everyone = np.arange(items.size)
    return everyone, Graph.from_sparse(csr_array(conflicts)), np.zeros(items.size, dtype=bool)
