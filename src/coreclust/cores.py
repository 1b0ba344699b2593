"""Finds the core of every cluster of a reference clustering."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import cpu_count
from joblib.parallel import get_active_backend
from numpy.typing import ArrayLike, NDArray

from coreclust._utils.constants import DEFAULT_MAX_MEMORY, DEFAULT_SECONDS
from coreclust._utils.jit import interrupts_as_such
from coreclust._utils.progress import Progress
from coreclust._utils.validation import encode_reference
from coreclust.clique import (
    Deadline,
    Solution,
    TooManyConflictsError,
    conflict_free_set,
    conflict_graph,
    conflict_graphs,
    fits_in_memory,
    largest_independent_set,
)
from coreclust.evidence._protocol import Evidence, PairCounts
from coreclust.evidence._rule import CoreRule

__all__ = ["Core", "core_clusters", "core_path"]

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
        A proven upper bound of the size of the core.
    strength : ndarray of float of shape (n_items,)
        For each member, the share of joint resamples with another member in which both had the
        same label, pooled over the other members; NaN if there is no joint resample.
    limited_by : {"time_limit", "max_memory", None}
        The limit that prevented a proof that the core is the largest, if any.

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
    def n_items(self) -> int:
        """Number of items in the reference cluster."""
        return self.members.size

    @property
    def n_core(self) -> int:
        """Number of items in the core."""
        return self.core.size

    @property
    def n_weak(self) -> int:
        """Number of members that are not in the core."""
        return self.n_items - self.n_core

    @property
    def weak(self) -> NDArray[np.intp]:
        """The members that are not in the core."""
        return np.setdiff1d(self.members, self.core, assume_unique=True)

    @property
    def weak_fraction(self) -> float:
        """The share of the members that are not in the core."""
        return 1 - self.n_core / self.n_items

    @property
    def optimal(self) -> bool:
        """Whether the core is proven to be the largest possible."""
        return self.n_core >= self.upper_bound

    def __repr__(self) -> str:
        proof = "largest" if self.optimal else f"at most {self.upper_bound}"
        return f"Core(label={self.label!r}, {self.n_core} of {self.n_items} items, {proof})"


def core_labels(cores: list[Core], n_items: int) -> NDArray[np.int64]:
    """Return the core that each item is in, -1 for none."""
    labels = np.full(n_items, -1, dtype=np.int64)
    for core in cores:
        labels[core.core] = core.label
    return labels


def core_clusters(
    ensemble: Evidence,
    reference_labels: ArrayLike,
    *,
    alpha: float = 0.1,
    confidence: float | None = None,
    guarantee: str = "simultaneous",
    noise: str = "apart",
    time_limit: float | None = DEFAULT_SECONDS,
    anytime: bool = False,
    max_memory: float | None = DEFAULT_MAX_MEMORY,
    n_jobs: int | None = None,
) -> list[Core]:
    """Find the core of every cluster of a reference clustering.

    The core is the largest set of items of the cluster in which every pair has an estimated
    co-occurrence probability of at least ``1 - alpha``. :class:`~coreclust.CoreClustering` uses
    this function. Call it directly for labels from other sources.

    Parameters
    ----------
    ensemble : LabelEnsemble or PairEvidence
        The labels of the items in m resamples, or the counts of pairs.
    reference_labels : array-like of shape (n_items,)
        Integers or strings; items with a negative integer are in no cluster.
    alpha : float, default=0.1
        Between 0 and 1.
    confidence : float, default=None
        None compares the estimate with ``1 - alpha``, as in the paper. A number compares an exact
        lower confidence bound of the probability instead.
    guarantee : {"simultaneous", "pair"}, default="simultaneous"
        Whether `confidence` is about all pairs of all cores at once, or about each pair by itself.
        It has no effect if `confidence` is None.
    noise : {"apart", "together", "absent"}, default="apart"
        The noise rule. An item with a noise label in a resample counts as together with no
        other item, as together with other noise, or as not drawn.
    time_limit : float, default=30
        Time limit in seconds of the search, over all clusters. If it is reached, the cores are
        valid but may not be the largest; `Core.upper_bound` is a proven upper bound of their
        size. None sets no limit.
    anytime : bool, default=False
        Whether the confidence must hold for a number of resamples that was chosen by looking at
        the results. It is then based on a confidence sequence, and cores are somewhat smaller. It
        has no effect if `confidence` is None.
    max_memory : float, default=2e9
        Memory limit in bytes of the search in one cluster; with `n_jobs`, several clusters are in
        memory at the same time. A cluster without stable structure may need more. Its core is then
        valid but may not be the largest. None sets no limit.
    n_jobs : int, default=None
        Number of clusters that are searched in parallel, in threads. None uses all processors for
        large data.

    Returns
    -------
    cores : list of Core
        One per cluster, sorted by label. If several largest cores exist, items with a higher
        `strength` are preferred, then items that come first: no core item can be exchanged for a
        preferred item.

    Examples
    --------
    >>> from coreclust import LabelEnsemble, core_clusters
    >>> draws = LabelEnsemble.from_labels([[0] * 30, [0] * 30, [1] * 15 + [0] * 15])
    >>> core_clusters(draws, ["a", "a", "a"])
    [Core(label='a', 2 of 3 items, largest)]
    """
    rule = CoreRule(alpha, confidence, guarantee, noise, time_limit, max_memory, anytime)
    return find_cores(ensemble, reference_labels, rule, n_jobs=n_jobs)


def find_cores(
    evidence: Evidence,
    reference_labels: ArrayLike,
    rule: CoreRule,
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[Core]:
    """Find the core of every cluster under a rule; see :func:`core_clusters`."""
    clusters = _clusters(evidence, reference_labels)
    sizes = np.array([members.size for _, members in clusters], dtype=np.int64)
    rule.warn_if_unreachable(evidence, sizes)
    table = rule.table(evidence, sizes)

    def find(cluster: _Cluster, deadline: Deadline) -> Core:
        return _find_core(cluster, table, rule, deadline)

    deadline = Deadline(rule.time_limit)
    cores = _search_each(find, evidence, clusters, rule, deadline, n_jobs, verbose)
    # The time that easy clusters left over goes to the hard ones.
    hard = [place for place, core in enumerate(cores) if core.limited_by == "time_limit"]
    if hard and (deadline.remaining() or 0.0) > 0.1 * (rule.time_limit or 0.0):
        again = _search_each(find, evidence, [clusters[c] for c in hard], rule, deadline, n_jobs)
        for place, core in zip(hard, again, strict=True):
            cores[place] = _better(cores[place], core)
    _warn_of_unproven(cores, rule)
    return cores


def _better(first: Core, second: Core) -> Core:
    """Return the larger of two cores of a cluster, with the better of their bounds."""
    larger = second if second.n_core > first.n_core else first
    bound = max(min(first.upper_bound, second.upper_bound), larger.n_core)
    limited_by = None if larger.n_core >= bound else "time_limit"
    return replace(larger, upper_bound=bound, limited_by=limited_by)


def core_path(
    ensemble: Evidence,
    reference_labels: ArrayLike,
    rules: Sequence[CoreRule],
    *,
    n_jobs: int | None = None,
) -> list[list[Core]]:
    """Find the cores under several rules, from the strictest on. Pairs are counted only once.

    Parameters
    ----------
    ensemble : LabelEnsemble or PairEvidence
    reference_labels : array-like of shape (n_items,)
    rules : sequence of CoreRule
        Each allows all pairs that the one before allows: a larger alpha, or less confidence. The
        noise rule and the limits of the first apply; the time limit is for all rules together.
    n_jobs : int, default=None
        As for :func:`core_clusters`.

    Returns
    -------
    path : list of list of Core
        For each rule the result of :func:`core_clusters`, up to the choice among largest cores.

    Examples
    --------
    >>> from coreclust import LabelEnsemble
    >>> from coreclust.cores import core_path
    >>> from coreclust.evidence import CoreRule
    >>> draws = LabelEnsemble.from_labels([[0] * 30, [0] * 30, [1] * 9 + [0] * 21])
    >>> path = core_path(draws, [0, 0, 0], [CoreRule(0.1), CoreRule(0.5)])
    >>> [cores[0].n_core for cores in path]
    [2, 3]
    """
    clusters = _clusters(ensemble, reference_labels)
    sizes = np.array([members.size for _, members in clusters], dtype=np.int64)
    tables = np.array([rule.table(ensemble, sizes) for rule in rules])
    if (np.diff(tables, axis=0) < 0).any():
        raise ValueError("rules must be in order: each must allow all pairs that the last allowed.")

    def find(cluster: _Cluster, deadline: Deadline) -> list[Core]:
        return list(_find_path(cluster, tables, rules[0], deadline))

    deadline = Deadline(rules[0].time_limit)
    found = _search_each(find, ensemble, clusters, rules[0], deadline, n_jobs)
    _warn_of_unproven([core for cores in found for core in cores], rules[0])
    return [list(cores) for cores in zip(*found, strict=True)] if found else [[] for _ in rules]


class _Cluster(NamedTuple):
    """A reference cluster, with its members in order of preference."""

    label: Any
    members: NDArray[np.intp]
    strength: NDArray[np.float64]
    preferred: NDArray[np.intp]  # positions in members, the most preferred first
    evidence: Evidence

    def pairs(self, rule: CoreRule) -> PairCounts:
        """Return the counts of the pairs of members, in order of preference."""
        return rule.pairs(self.evidence, self.members[self.preferred])

    def core(self, chosen: NDArray[Any], upper_bound: int, limited_by: str | None = None) -> Core:
        """Return the core of some of the members, numbered in order of preference."""
        items = np.sort(self.members[self.preferred[chosen]])
        limit = None if items.size >= upper_bound else limited_by
        return Core(self.label, self.members, items, upper_bound, self.strength, limit)


def _clusters(
    evidence: Evidence, reference_labels: ArrayLike
) -> list[tuple[Any, NDArray[np.intp]]]:
    """Return the label and the members of each reference cluster."""
    if not hasattr(evidence, "cooccurrence_counts"):
        raise TypeError(
            f"ensemble must be a LabelEnsemble, got {type(evidence).__name__}; "
            "build one with LabelEnsemble.from_labels."
        )
    codes, names = encode_reference(reference_labels, evidence.n_items)
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.searchsorted(codes[order], np.arange(names.size)))[1:]
    return list(zip(names.tolist(), members, strict=True))


def _search_each(
    find: Callable[[_Cluster, Deadline], _Found],
    evidence: Evidence,
    clusters: list[tuple[Any, NDArray[np.intp]]],
    rule: CoreRule,
    deadline: Deadline,
    n_jobs: int | None,
    verbose: int = 0,
) -> list[_Found]:
    """Return what is found in each cluster, one after the other or in threads."""
    n_threads = max(1, min(_n_threads(evidence, n_jobs), len(clusters)))
    started, done = itertools.count(), itertools.count(1)
    progress = Progress(len(clusters), "clusters searched for cores", enabled=verbose > 0)

    def search(label: Any, members: NDArray[np.intp]) -> _Found:
        n_left = len(clusters) - next(started)
        share = deadline.share(max(n_left / n_threads, 1))
        together, seen = evidence.member_counts(members, rule.noise)
        strength = np.divide(together, seen, out=np.full(members.size, np.nan), where=seen > 0)
        preferred = np.argsort(-np.nan_to_num(strength, nan=-1.0), kind="stable")
        found = find(_Cluster(label, members, strength, preferred, evidence), share)
        progress.update(next(done))
        return found

    with closing(progress), interrupts_as_such():
        return _map(search, clusters, n_threads, deadline)


def _map(
    search: Callable[..., _Found],
    clusters: list[tuple[Any, NDArray[np.intp]]],
    n_threads: int,
    deadline: Deadline,
) -> list[_Found]:
    if n_threads == 1:
        return [search(*cluster) for cluster in clusters]
    with ThreadPoolExecutor(n_threads) as pool:
        futures = [pool.submit(search, *cluster) for cluster in clusters]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
            failed = [future for future in futures if future.done() and future.exception()]
            return [future.result() for future in failed or futures]
        except BaseException:  # such as Ctrl-C: stop all threads
            deadline.cancel()
            pool.shutdown(cancel_futures=True)
            raise


def _n_threads(evidence: Evidence, n_jobs: int | None) -> int:
    """Return the number of threads: by default all processors if the data is large."""
    backend, configured = get_active_backend()
    if n_jobs is None:
        n_jobs = configured
    if n_jobs is None:
        small = evidence.n_items * evidence.n_resamples < _LABELS_WORTH_THREADS
        n_jobs = 1 if small or backend.nesting_level else -1
    return n_jobs if n_jobs > 0 else max(cpu_count() + 1 + n_jobs, 1)


def _warn_of_unproven(cores: list[Core], rule: CoreRule) -> None:
    for name in ("time_limit", "max_memory"):
        unproven = [core for core in cores if core.limited_by == name]
        if unproven:
            shown = ", ".join(
                f"{core.label!r} (core {core.n_core}, at most {core.upper_bound})"
                for core in unproven[:5]
            )
            more = f" and {len(unproven) - 5} more" if len(unproven) > 5 else ""
            warnings.warn(
                f"{name}={getattr(rule, name):g} was too little to prove that the cores of "
                f"{len(unproven)} of {len(cores)} clusters are the largest: {shown}{more}.",
                stacklevel=3,
            )


def _find_core(
    cluster: _Cluster, table: NDArray[np.int64], rule: CoreRule, deadline: Deadline
) -> Core:
    """Return the core of one cluster under one table."""
    if cluster.members.size == 1 or table[-1] < 0:  # no pair can be an edge
        return cluster.core(np.array([0]), 1)
    pairs = cluster.pairs(rule)
    try:
        kept, graph, start = conflict_graph(pairs, table, deadline, rule.bytes_allowed)
    except TooManyConflictsError:
        return cluster.core(*conflict_free_set(pairs, table, deadline, rule.bytes_allowed / 2))
    solution: Solution = largest_independent_set(graph, start, deadline, rule.bytes_allowed)
    has_time = not deadline.expired() and not fits_in_memory(graph, rule.bytes_allowed)
    limit = "max_memory" if has_time else "time_limit"
    chosen = kept[solution.chosen] if solution.chosen.size > 1 else np.array([0])
    return cluster.core(chosen, solution.upper_bound, limit)


def _find_path(
    cluster: _Cluster, tables: NDArray[np.int64], rule: CoreRule, deadline: Deadline
) -> Iterator[Core]:
    """Yield the core of one cluster under each of several tables, from the strictest on."""
    try:
        yield from _chain_of_cores(cluster, tables, rule, deadline)
    except TooManyConflictsError:  # under the strictest table; the others may fit by themselves
        for place, table in enumerate(tables):
            yield _find_core(cluster, table, rule, deadline.share(len(tables) - place))


def _chain_of_cores(
    cluster: _Cluster, tables: NDArray[np.int64], rule: CoreRule, deadline: Deadline
) -> Iterator[Core]:
    """Yield the cores under several tables, each found from the one before."""
    chosen = np.zeros(cluster.members.size, dtype=bool)
    chosen[0] = True
    core = cluster.core(np.array([0]), 1)
    graphs = conflict_graphs(cluster.pairs(rule), tables, deadline, rule.bytes_allowed)
    for place, graph_beyond in enumerate(graphs):
        if graph_beyond is not None:
            # A core is still valid under a rule that allows more pairs.
            kept, graph = graph_beyond(chosen)
            share = deadline.share(len(tables) - place)
            solution = largest_independent_set(graph, chosen[kept], share, rule.bytes_allowed)
            chosen = np.zeros(cluster.members.size, dtype=bool)
            chosen[kept[solution.chosen]] = True
            core = cluster.core(chosen, solution.upper_bound, "time_limit")
        yield core
