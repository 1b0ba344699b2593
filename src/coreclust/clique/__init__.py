"""The exact core: conflict graph, reductions, bounds, branch and bound."""

from coreclust.clique.conflicts import (
    TooManyConflictsError,
    conflict_free_set,
    conflict_graph,
    conflict_graphs,
    undecided_pairs,
)
from coreclust.clique.deadline import Deadline
from coreclust.clique.graph import Graph, Solution
from coreclust.clique.maximum import maximum_clique
from coreclust.clique.solve import largest_independent_set

__all__ = [
    "Deadline",
    "Graph",
    "Solution",
    "TooManyConflictsError",
    "conflict_free_set",
    "conflict_graph",
    "conflict_graphs",
    "largest_independent_set",
    "maximum_clique",
    "undecided_pairs",
]
