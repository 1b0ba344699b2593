"""Exact search for cores: conflict graph, reductions, bounds, branch and bound."""

from coreclust.clique._conflicts import (
    TooManyConflictsError,
    conflict_graph,
    conflict_graphs,
    undecided_pairs,
)
from coreclust.clique._deadline import Deadline
from coreclust.clique._graph import Graph, Solution
from coreclust.clique._maximum import maximum_clique
from coreclust.clique._solve import fits_in_memory, largest_independent_set
from coreclust.clique._unlisted import conflict_free_set

__all__ = [
    "Deadline",
    "Graph",
    "Solution",
    "TooManyConflictsError",
    "conflict_free_set",
    "conflict_graph",
    "conflict_graphs",
    "fits_in_memory",
    "largest_independent_set",
    "maximum_clique",
    "undecided_pairs",
]
