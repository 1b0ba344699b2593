"""Rules that rewrite a small conflict graph into a smaller, weighted one.

Each rule preserves the weight of a heaviest independent set, up to an amount that is added to
`offset`, and records how to translate a solution back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from coreclust.clique._graph import Graph


class FoldedGraph:
    """A weighted graph under reduction.

    A heaviest independent set of the original graph weighs `offset` more than one of `adjacency`.
    """

    def __init__(self, graph: Graph) -> None:
        self.adjacency: dict[int, set[int]] = {
            v: set(graph.neighbors(v).tolist()) for v in range(graph.n_vertices)
        }
        self.weight = dict.fromkeys(self.adjacency, 1)
        self.offset = 0
        self._next = graph.n_vertices
        # (rule, vertices), read backwards by `unfold`
        self._trail: list[tuple[str, tuple[int, ...]]] = []
        self._pending: dict[int, None] = {}

    def reduce(self, expired: Callable[[], bool] = lambda: False) -> None:
        """Apply all rules until none changes anything, or until `expired()`."""
        self._touch(reversed(self.adjacency))
        while self._pending and not expired():
            vertex = self._pending.popitem()[0]
            if vertex in self.adjacency:
                self._reduce_at(vertex)
            if not self._pending:
                self._merge_twins()

    def unfold(self, chosen: Iterable[int]) -> set[int]:
        """Translate an independent set of the remaining graph into one of the original graph."""
        result = set(chosen)
        for rule, vertices in reversed(self._trail):
            if rule == "take":
                result.add(vertices[0])
            elif rule == "pendant":
                vertex, neighbor = vertices
                if neighbor not in result:
                    result.add(vertex)
            elif rule == "twin":
                twin, kept = vertices
                if kept in result:
                    result.add(twin)
            else:
                folded, vertex, first, second = vertices
                if folded in result:
                    result.remove(folded)
                    result |= {first, second}
                else:
                    result.add(vertex)
        return result

    def _touch(self, vertices: Iterable[int]) -> None:
        self._pending.update(dict.fromkeys(vertices))

    def _remove(self, vertex: int) -> None:
        neighbors = self.adjacency.pop(vertex)
        for u in neighbors:
            self.adjacency[u].discard(vertex)
        self._touch(sorted(neighbors))

    def _reduce_at(self, v: int) -> None:
        neighbors = self.adjacency[v]
        weight = self.weight
        if weight[v] >= sum(weight[u] for u in neighbors):
            self._take(v)
        elif len(neighbors) == 1:
            self._fold_pendant(v)
        elif not self._remove_dominated(v) and len(neighbors) == 2:
            first, second = sorted(neighbors)
            if weight[v] >= max(weight[first], weight[second]):
                self._fold_path(v, first, second)

    def _take(self, v: int) -> None:
        """Take v, which outweighs its neighbors: some heaviest set contains it."""
        self.offset += self.weight[v]
        self._trail.append(("take", (v,)))
        for u in sorted(self.adjacency[v]):
            self._remove(u)
        self._remove(v)

    def _fold_pendant(self, v: int) -> None:
        """Fold v into its only neighbor, which is heavier and keeps the difference in weight."""
        (u,) = self.adjacency[v]
        self.offset += self.weight[v]
        self.weight[u] -= self.weight[v]
        self._trail.append(("pendant", (v, u)))
        self._remove(v)

    def _remove_dominated(self, v: int) -> bool:
        """Remove a neighbor that has all conflicts of v and is not heavier."""
        neighbors = self.adjacency[v]
        for u in sorted(neighbors, reverse=True):
            others = self.adjacency[u]
            if self.weight[u] > self.weight[v] or len(others) < len(neighbors):
                continue
            if all(x in others or x == u for x in neighbors):
                self._remove(u)
                self._touch([v])
                return True
        return False

    def _fold_path(self, v: int, first: int, second: int) -> None:
        """Fold v and its two neighbors, not in conflict: a set has either v or both of them."""
        folded = self._next
        self._next += 1
        neighbors = (self.adjacency[first] | self.adjacency[second]) - {v}
        self.offset += self.weight[v]
        self.weight[folded] = self.weight[first] + self.weight[second] - self.weight[v]
        self._trail.append(("path", (folded, v, first, second)))
        for gone in (v, first, second):
            self._remove(gone)
        self.adjacency[folded] = neighbors
        for u in neighbors:
            self.adjacency[u].add(folded)
        self._touch([*sorted(neighbors), folded])

    def _merge_twins(self) -> None:
        """Merge vertices with the same conflicts: all of them are chosen or none."""
        kept: dict[frozenset[int], int] = {}
        for v in list(self.adjacency):
            twin_of = kept.setdefault(frozenset(self.adjacency[v]), v)
            if twin_of != v:
                self.weight[twin_of] += self.weight[v]
                self._trail.append(("twin", (v, twin_of)))
                self._remove(v)
                self._touch([twin_of])
