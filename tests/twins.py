"""Slow, obvious twins of what the package does fast."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

ABSENT, NOISE = -2, -1


@st.composite
def label_matrices(draw, max_items=9, max_samples=12, lowest=ABSENT):
    """Item × resample labels with absent and noise entries."""
    shape = (draw(st.integers(1, max_items)), draw(st.integers(1, max_samples)))
    highest = draw(st.integers(0, 6))
    return draw(hnp.arrays(np.int64, shape, elements=st.integers(lowest, highest)))


@st.composite
def adjacencies(draw, max_vertices=11):
    """Symmetric boolean matrices without a diagonal."""
    n = draw(st.integers(1, max_vertices))
    upper = draw(hnp.arrays(np.bool_, n * (n - 1) // 2))
    adjacency = np.zeros((n, n), dtype=bool)
    adjacency[np.triu_indices(n, 1)] = upper
    return adjacency | adjacency.T


def random_graph(rng, n, density):
    adjacency = np.triu(rng.random((n, n)) < density, 1)
    return adjacency | adjacency.T


def counts(labels, noise="apart"):
    """A and B for every pair, from the definition."""
    present = labels != ABSENT
    if noise == "absent":
        present &= labels != NOISE
    both = present[:, None] & present[None]
    same = both & (labels[:, None] == labels[None])
    if noise == "apart":
        same &= labels[:, None] != NOISE
    return same.sum(-1), both.sum(-1)


def is_edge(together, seen, n_items, alpha):
    """The paper's rule in exact fractions."""
    estimate = (int(together) + Fraction(1, n_items)) / (int(seen) + 1)
    return estimate >= 1 - Fraction(str(alpha))


def core_graph(labels, members, alpha, noise="apart"):
    together, seen = counts(labels, noise)
    n = labels.shape[0]
    adjacency = np.zeros((len(members), len(members)), dtype=bool)
    for (a, i), (b, j) in itertools.combinations(enumerate(members), 2):
        adjacency[a, b] = adjacency[b, a] = is_edge(together[i, j], seen[i, j], n, alpha)
    return adjacency


def clique_number(adjacency):
    """Size of a largest clique, by trying both for every vertex."""

    def largest(candidates):
        if not candidates:
            return 0
        first, *rest = candidates
        without = largest(rest)
        if without == len(rest) + 1:
            return without
        return max(without, 1 + largest([v for v in rest if adjacency[first, v]]))

    return largest(list(range(len(adjacency))))


def is_clique(adjacency, vertices):
    inner = adjacency[np.ix_(vertices, vertices)]
    return bool((inner | np.eye(len(vertices), dtype=bool)).all())


def algorithm_3(resamples, n):
    """A literal transcription of the paper's pseudo-code, loop by loop.

    `resamples` holds, for each k, the drawn indices I and the cluster indices c of Z.
    """
    A = np.full((n, n), 1 / n)
    B = np.ones((n, n))
    np.fill_diagonal(A, 1)
    np.fill_diagonal(B, 1)
    for I, c in resamples:  # noqa: E741 - the paper's name
        u = [list(I).index(value) for value in sorted(set(I))]
        if len(u) > 1:
            for i in range(len(u) - 1):
                for j in range(i + 1, len(u)):
                    a = I[u[i]]
                    b = I[u[j]]
                    B[a, b] += 1
                    B[b, a] += 1
                    if c[u[i]] == c[u[j]]:
                        A[a, b] += 1
                        A[b, a] += 1
    return A / B


def tree_labels(X, y, rows, depth, min_leaf, min_split, chosen=None):
    """Grow a tree from copies of rows by exact fractions; -1 where the best split is not unique."""
    chosen = np.ones(len(X), dtype=bool) if chosen is None else chosen
    rows = rows[chosen[rows]]
    sizes = np.bincount(y[rows], minlength=y.max() + 1)
    labels = np.where(chosen, np.argmax(sizes), -2)
    if depth == 0 or rows.size < max(min_split, 2 * min_leaf) or (sizes > 0).sum() == 1:
        return labels
    splits = {}  # from the items on the left to how good they are, and the threshold
    for f in range(X.shape[1]):
        values = np.unique(X[rows, f])
        for low, high in itertools.pairwise(values):
            left = X[rows, f] <= (low + high) / 2
            if min(left.sum(), (~left).sum()) >= min_leaf:
                goodness = sum(
                    Fraction(int((np.bincount(y[side]) ** 2).sum()), side.size)
                    for side in (rows[left], rows[~left])
                )
                splits.setdefault(goodness, []).append((f, (low + high) / 2))
    if not splits:
        return labels
    best = splits[max(splits)]
    if len(best) > 1:
        return np.where(chosen, -1, -2)
    f, threshold = best[0]
    below = tree_labels(X, y, rows, depth - 1, min_leaf, min_split, chosen & (X[:, f] <= threshold))
    above = tree_labels(X, y, rows, depth - 1, min_leaf, min_split, chosen & (X[:, f] > threshold))
    return np.maximum(below, above)
