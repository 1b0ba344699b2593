"""From a label ensemble and a reference clustering to the core of every cluster."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
from joblib import cpu_count
from joblib.parallel import get_active_backend
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from coreclust._utils.constants import DEFAULT_MAX_MEMORY
from coreclust._utils.validation import (
    check_alpha,
    check_confidence,
    check_guarantee,
    check_max_memory,
    check_noise,
    check_time_limit,
    encode_reference,
)
from coreclust.clique import (
    Deadline,
    Graph,
    Solution,
    TooManyConflictsError,
    conflict_free_set,
    conflict_graph,
    conflict_graphs,
    largest_independent_set,
)
from coreclust.evidence._counting import group_counts, pack_labels
from coreclust.evidence._ensemble import LabelEnsemble
from coreclust.evidence._pair_evidence import PairEvidence
from coreclust.evidence._rule import edge_table

_LABELS_WORTH_THREADS = 5_000_000

_Found = TypeVar("_Found")


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
        For each member, the share of its meetings with other members, over all resamples,
        in which the two had the same label. NaN for an item that never met another.
    limited_by : {"time_limit", "max_memory", None}
        What kept the core from being proven largest, if anything did.

    Examples
    --------
    >>> from coreclust import LabelEnsemble, core_clusters
    >>> labels = [[0] * 40, [0] * 40, [0] * 40, [0] * 20 + [1] * 20]
    >>> (core,) = core_clusters(LabelEnsemble(labels), [0, 0, 0, 0], alpha=0.1)
    >>> core
    Core(label=0, 3 of 4 items, largest)
    >>> core.core, core.weak, core.optimal
    (array([0, 1, 2]), array([3]), True)
    """

    label: Any
    members: NDArray[np.intp]
    core: NDArray[np.intp]
    upper_bound: int
    strength: NDArray[np.float64]
    limited_by: str | None = None

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
    max_memory: float | None = DEFAULT_MAX_MEMORY,
    n_jobs: int | None = None,
) -> list[Core]:
    """Find the core of every cluster of a reference clustering.

    The core is the largest set of items of the cluster in which every pair has an
    estimated co-occurrence probability of at least ``1 - alpha``. This is the function
    under :class:`~coreclust.CoreClustering`, for labels that come from elsewhere.

    Parameters
    ----------
    ensemble : LabelEnsemble or PairEvidence
        The labels of the items in m resamples, or the evidence on each pair by itself.
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
        How an item that is noise in a resample counts: as together with no other, as together
        with others that are noise, or as if it had not been in the resample.
    time_limit : float, default=None
        Seconds for the search, over all clusters; pairs are counted to the end. When it strikes,
        the cores are valid but perhaps not the largest; `Core.upper_bound` says how far off they
        can be.
    anytime : bool, default=False
        Whether the confidence has to hold although the number of resamples was chosen by looking
        at them; it then rests on a confidence sequence, and cores are somewhat smaller. Without
        `confidence` it has no effect.
    max_memory : float, default=2e9
        Bytes for the conflicts of a cluster, and for the search in them; those of `n_jobs`
        clusters are held at a time. If there are more, as in a cluster that is pure chance, its
        core is valid but perhaps not the largest; `Core.upper_bound` says how far off it can be.
        None for no limit.
    n_jobs : int, default=None
        Number of clusters that are searched at the same time, in threads; None is all cores for
        large data. With a time limit it is one after the other.

    Returns
    -------
    cores : list of Core
        One a cluster, sorted by label. Where several largest cores tie, the choice
        leans toward items of higher `strength`, then toward those that come first:
        no exchange of one core item for a preferred one leaves a valid core.

    Examples
    --------
    >>> from coreclust import LabelEnsemble, core_clusters
    >>> draws = LabelEnsemble.from_labels([[0] * 30, [0] * 30, [1] * 15 + [0] * 15])
    >>> core_clusters(draws, ["a", "a", "a"])
    [Core(label='a', 2 of 3 items, largest)]
    """
    codes, names = _check(ensemble, reference_labels, noise, time_limit, max_memory)
    check_alpha(alpha)
    check_confidence(confidence)
    check_guarantee(guarantee)
    sizes = np.bincount(codes[codes >= 0], minlength=names.size)
    table = edge_table(ensemble, sizes, alpha, confidence, guarantee, anytime=anytime)
    room = math.inf if max_memory is None else max_memory

    def find(name: Any, members: NDArray[np.intp], deadline: Deadline) -> Core:
        return _find_core(ensemble, name, members, table, noise, deadline, room)

    cores = _each_cluster(find, ensemble, codes, names, time_limit, n_jobs)
    _warn_of_unproven(cores, time_limit, max_memory)
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
    max_memory: float | None = DEFAULT_MAX_MEMORY,
    n_jobs: int | None = None,
) -> list[list[Core]]:
    """Find the cores under several rules, from the strictest on, counting pairs only once.

    Parameters
    ----------
    ensemble : LabelEnsemble or PairEvidence
    reference_labels : array-like of shape (n_items,)
    rules : sequence of (alpha, confidence)
        Each allows all pairs that the one before does: a larger alpha, or less confidence.
    guarantee, noise, time_limit, anytime, max_memory, n_jobs
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
    codes, names = _check(ensemble, reference_labels, noise, time_limit, max_memory)
    check_guarantee(guarantee)
    for alpha, confidence in rules:
        check_alpha(alpha)
        check_confidence(confidence)
    sizes = np.bincount(codes[codes >= 0], minlength=names.size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too few resamples at one end of a path are no surprise
        tables = np.array(
            [
                edge_table(ensemble, sizes, alpha, level, guarantee, anytime=anytime)
                for alpha, level in rules
            ]
        )
    if (np.diff(tables, axis=0) < 0).any():
        raise ValueError("rules must be in order: each has to allow all that the one before does.")
    room = math.inf if max_memory is None else max_memory

    def find(name: Any, members: NDArray[np.intp], deadline: Deadline) -> list[Core]:
        return list(_find_cores(ensemble, name, members, tables, noise, deadline, room))

    found = _each_cluster(find, ensemble, codes, names, time_limit, n_jobs)
    _warn_of_unproven([core for cores in found for core in cores], time_limit, max_memory)
    return [list(cores) for cores in zip(*found, strict=True)] if found else [[] for _ in rules]


def _each_cluster(
    find: Callable[[Any, NDArray[np.intp], Deadline], _Found],
    ensemble: LabelEnsemble | PairEvidence,
    codes: NDArray[np.int64],
    names: NDArray[Any],
    time_limit: float | None,
    n_jobs: int | None,
) -> list[_Found]:
    """Return what is found in each cluster, one after the other or in threads."""
    deadline = Deadline(time_limit)
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.searchsorted(codes[order], np.arange(names.size)))[1:]
    clusters = list(zip(names.tolist(), members, strict=True))
    n_threads = 1 if time_limit is not None else _n_threads(ensemble, n_jobs)
    if min(n_threads, len(clusters)) <= 1:
        return [
            find(name, items, deadline.share(len(clusters) - place))
            for place, (name, items) in enumerate(clusters)
        ]
    with ThreadPoolExecutor(n_threads) as pool:
        futures = [pool.submit(find, name, items, deadline) for name, items in clusters]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
            failed = [future for future in futures if future.done() and future.exception()]
            return [future.result() for future in failed or futures]
        except BaseException:  # such as Ctrl-C: leave nothing running
            deadline.cancel()
            pool.shutdown(cancel_futures=True)
            raise


def _n_threads(ensemble: LabelEnsemble | PairEvidence, n_jobs: int | None) -> int:
    """Return in how many threads to search: by default all cores, if that is worth starting any."""
    backend, configured = get_active_backend()
    if n_jobs is None:
        n_jobs = configured
    if n_jobs is None:
        small = ensemble.n_items * ensemble.n_resamples < _LABELS_WORTH_THREADS
        n_jobs = 1 if small or backend.nesting_level else -1
    return n_jobs if n_jobs > 0 else max(cpu_count() + 1 + n_jobs, 1)


def _warn_of_unproven(
    cores: list[Core], time_limit: float | None, max_memory: float | None
) -> None:
    for name, limit in (("time_limit", time_limit), ("max_memory", max_memory)):
        unproven = [core.label for core in cores if core.limited_by == name]
        if unproven:
            warnings.warn(
                f"{name}={limit:g} was too little to prove the cores of {len(unproven)} of "
                f"{len(cores)} clusters largest ({unproven[:5]}); their upper_bound says how far "
                "off they can be.",
                stacklevel=3,
            )


def _check(
    ensemble: Any,
    reference_labels: ArrayLike,
    noise: str,
    time_limit: float | None,
    max_memory: float | None,
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Check what all cuts share; return the reference clustering as codes and their names."""
    if not isinstance(ensemble, (LabelEnsemble, PairEvidence)):
        raise TypeError(
            f"ensemble must be a LabelEnsemble, got {type(ensemble).__name__}; "
            "build one with LabelEnsemble.from_labels."
        )
    check_noise(noise)
    check_time_limit(time_limit)
    check_max_memory(max_memory)
    return encode_reference(reference_labels, ensemble.n_items)


def _find_core(
    ensemble: LabelEnsemble | PairEvidence,
    label: Any,
    members: NDArray[np.intp],
    table: NDArray[np.int64],
    noise: str,
    deadline: Deadline,
    max_memory: float,
) -> Core:
    strength, preferred = _rank(ensemble, members, noise)
    if members.size == 1 or table[-1] < 0:  # no pair can be an edge
        return Core(label, members, members[preferred[:1]], 1, strength)
    try:
        kept, graph, start = _conflicts(
            ensemble, members[preferred], table, noise, deadline, max_memory
        )
    except TooManyConflictsError:
        labels = cast(LabelEnsemble, ensemble).labels
        packed = pack_labels(labels, members[preferred], noise)
        found, bound = conflict_free_set(packed, table, deadline)
        solution, limit = Solution(found, bound), "max_memory"
    else:
        solution = largest_independent_set(graph, start, deadline, max_memory)
        limit = "time_limit" if deadline.expired() else "max_memory"
        solution = Solution(kept[solution.chosen], solution.upper_bound)
    core = np.sort(members[preferred[solution.chosen]])
    limited_by = None if solution.optimal else limit
    return Core(label, members, core, solution.upper_bound, strength, limited_by)


def _find_cores(
    ensemble: LabelEnsemble | PairEvidence,
    label: Any,
    members: NDArray[np.intp],
    tables: NDArray[np.int64],
    noise: str,
    deadline: Deadline,
    max_memory: float,
) -> Iterator[Core]:
    """Yield the core of one cluster under each of several tables, from the strictest on."""
    try:
        # The pairs of evidence on pairs are counted already.
        if isinstance(ensemble, LabelEnsemble):
            yield from _chain_of_cores(
                ensemble, label, members, tables, noise, deadline, max_memory
            )
            return
    except TooManyConflictsError:  # of the strictest table; by itself each may do
        pass
    for place, table in enumerate(tables):
        share = deadline.share(len(tables) - place)
        yield _find_core(ensemble, label, members, table, noise, share, max_memory)


def _chain_of_cores(
    ensemble: LabelEnsemble,
    label: Any,
    members: NDArray[np.intp],
    tables: NDArray[np.int64],
    noise: str,
    deadline: Deadline,
    max_memory: float,
) -> Iterator[Core]:
    """Yield the cores under several tables, each found from the one before."""
    strength, preferred = _rank(ensemble, members, noise)
    chosen = np.zeros(members.size, dtype=bool)
    chosen[0] = True
    core = Core(label, members, members[preferred[:1]], 1, strength)
    packed = pack_labels(ensemble.labels, members[preferred], noise)
    for place, graph_beyond in enumerate(conflict_graphs(packed, tables, deadline, max_memory)):
        if graph_beyond is not None:
            # A core stays one under a rule that allows more.
            kept, graph = graph_beyond(chosen)
            share = deadline.share(len(tables) - place)
            solution = largest_independent_set(graph, chosen[kept], share)
            chosen = np.zeros(members.size, dtype=bool)
            chosen[kept[solution.chosen]] = True
            found = np.sort(members[preferred[chosen]])
            limit = None if solution.optimal else "time_limit"
            core = Core(label, members, found, solution.upper_bound, strength, limit)
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
    deadline: Deadline,
    max_memory: float,
) -> tuple[NDArray[np.intp], Graph, NDArray[np.bool_]]:
    """Return what :func:`~coreclust.clique._conflicts.conflict_graph` does."""
    if isinstance(ensemble, LabelEnsemble):
        packed = pack_labels(ensemble.labels, items, noise)
        return conflict_graph(packed, table, deadline, max_memory)
    together, seen = ensemble.within(items, noise)
    conflicts = seen - together > table[seen]
    np.fill_diagonal(conflicts, False)
    everyone = np.arange(items.size)
    return everyone, Graph.from_sparse(csr_array(conflicts)), np.zeros(items.size, dtype=bool)
