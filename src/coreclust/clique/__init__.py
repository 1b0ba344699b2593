"""The exact core: conflict graph, reductions, bounds, branch and bound."""

from coreclust.clique.conflicts import conflict_graph, conflict_graphs, undecided_pairs
from coreclust.clique.graph import Graph
from coreclust.clique.maximum import maximum_clique
from coreclust.clique.solve import Deadline, largest_independent_set

__all__ = [
    "Deadline",
    "Graph",
    "conflict_graph",
    "conflict_graphs",
    "largest_independent_set",
    "maximum_clique",
    "undecided_pairs",
]
