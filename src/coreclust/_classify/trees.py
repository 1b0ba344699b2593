"""Kernels of random forests: grow trees and let their leaves vote while they grow.

Features are coded as ranks, so that a split compares small integers. The items of a resample have
their multiplicities as weights. Items that need a label go down the tree while it grows, so that a
leaf votes at once, and no tree is stored.

The items of a node are not sorted: each sets the bit of its rank, and reading the bits from the
lowest on gives the items in order. A second layer of bits marks the words that are not empty.

An item is *settled* when the trees that are left cannot change its label: a tree adds 1 at most to
the votes of any class. An item is *sure* if every tree that draws it votes for its own class. That
holds for fully grown trees, whose leaves have one class, unless an equal item has another class.
The votes for sure items are known before a tree is grown, by the draws of all trees. Only nodes
with other items that are not settled are split. None of this changes a label.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.jit import (
    kernel,
    lowest_bit,
    random_state_of,
    random_uniform,
    random_word,
)

_CLOSE = np.float32(1e-7)  # values that differ by less are equal, as in scikit-learn
_SLACK = 1e-6  # for rounding errors of votes
_EVERY = 8  # trees between two looks for settled items
_ONE = np.uint64(1)
_NONE = np.uint64(0)
_END = np.uint32(2**32 - 1)


class Settings(NamedTuple):
    """The parameters of a forest."""

    n_trees: int
    entropy: bool  # whether splits are rated by entropy instead of the Gini impurity
    max_depth: int
    min_split: int
    min_leaf: int
    n_tried: int  # number of features that are tried per node
    bootstrap: bool
    n_drawn: int  # number of rows that a tree draws, or 0
    share_drawn: float  # the same as a share of the rows, if n_drawn is 0
    truncated: bool  # whether that number is truncated or rounded
    balanced: bool  # whether classes are weighted inversely to their sizes


class _Items(NamedTuple):
    """The items of a resample that are drawn or need a label.

    Numbers that are used as indices have no sign: numba need not check for negative ones, which
    saves a quarter of the time.
    """

    ranks: NDArray[np.uint32]  # (n_features, n_items)
    values: NDArray[np.float32]  # (n_features, n_items): the value of each rank
    classes: NDArray[np.uint32]
    owners: NDArray[np.uint32]  # the item of each row of the resample
    class_weights: NDArray[np.float64]
    sums: NDArray[np.float64]  # of the weights of the rows so far; empty if all are 1
    logs: NDArray[np.float64]  # w log w for each number w of rows; empty without entropy


class _Tree(NamedTuple):
    """The work space of a tree."""

    weights: NDArray[np.float64]  # of the items, 0 for those that the tree did not draw
    rows: NDArray[np.int32]  # number of different rows of each item that the tree drew
    drawn: NDArray[np.uint32]  # the items that the tree drew, by node
    carried: NDArray[np.uint32]  # the items that the tree votes for, by node
    spare: NDArray[np.uint32]
    nodes: NDArray[np.uint32]  # (..., 5): where a node begins and ends in both, and its depth
    features: NDArray[np.uint32]
    bits: NDArray[np.uint64]
    words: NDArray[np.uint64]  # which elements of `bits` are not 0
    heads: NDArray[np.uint32]  # the last item of each rank
    others: NDArray[np.uint32]  # the item before it, of the same rank, or _END
    total: NDArray[np.float64]  # weight of each class in a node
    left: NDArray[np.float64]


@kernel
def grow_resamples(ranks, values, classes, counts, sure, settings, trees, progress):
    """Grow some trees of resamples given by the multiplicities of the items.

    `trees` has the numbers of the first tree and of the one after the last. `ranks` has one row per
    feature, and ``values[f, r]`` is the value of rank r. `sure` is what `sure_items` returns, and
    `progress` what is known after the trees before these.
    """
    for b in range(len(counts)):
        if not progress.pending[b].any():
            continue
        _grow_trees(ranks, values, classes, counts[b], sure, settings, trees, progress, b)


@kernel
def grow_datasets(datasets, classes, settings, trees, progress):
    """Grow some trees of datasets, each of which has its own classes."""
    n_datasets, n_items, n_features = datasets.shape
    counts = np.ones(n_items, dtype=np.int32)
    ranks = np.empty((n_features, n_items), dtype=np.int32)
    values = np.empty((n_features, n_items), dtype=np.float32)
    for b in range(n_datasets):
        if not progress.pending[b].any():
            continue
        for f in range(n_features):
            rank_values(datasets[b, :, f], ranks[f], values[f])
        sure = sure_items(ranks, values, classes[b], settings)
        _grow_trees(ranks, values, classes[b], counts, sure, settings, trees, progress, b)


@kernel
def rank_values(column, ranks, values):
    """Write the rank of each value, and the value of each rank, as trees see them: as floats."""
    single = column.astype(np.float32)
    order = np.argsort(single)
    rank = -1
    for k in range(order.size):
        value = single[order[k]]
        if rank < 0 or value > values[rank]:
            rank += 1
            values[rank] = value
        ranks[order[k]] = rank


@kernel
def sure_items(ranks, values, classes, settings):
    """Tell for which items every tree that draws them votes for their own class."""
    n_features, n_items = ranks.shape
    sure = np.zeros(n_items, dtype=np.bool_)
    if settings.max_depth < n_items or settings.min_leaf > 1 or settings.min_split > 2:
        return sure
    codes = np.zeros(n_items, dtype=np.uint64)  # equal for equal items
    state = random_state_of(0)
    for f in range(n_features):
        for r in range(ranks[f].max()):
            if values[f, r + 1] <= values[f, r] + _CLOSE:
                return sure  # different items may not be told apart
        factor = random_word(state)
        for i in range(n_items):
            codes[i] = (codes[i] ^ np.uint64(ranks[f, i])) * (factor | _ONE)
            codes[i] ^= codes[i] >> np.uint64(29)
    order = np.argsort(codes)
    begin = 0
    for k in range(1, n_items + 1):
        if k == n_items or codes[order[k]] != codes[order[begin]]:
            alike = classes[order[begin:k]]
            sure[order[begin:k]] = (alike == alike[0]).all()
            begin = k
    return sure


@kernel
def _grow_trees(ranks, values, classes, counts, sure, settings, trees, progress, b):
    """Grow some trees of one resample."""
    here = np.flatnonzero((counts > 0) | progress.pending[b])
    votes, n_open = progress.votes[b][here], progress.n_open[b][here]
    pending, sure = progress.pending[b][here], sure[here]
    draws, picks = progress.states[b, :1], progress.states[b, 1:]
    items = _items_of(ranks, values, classes, votes.shape[1], counts, here, settings)
    tree = _work_space(items, votes.shape[1])
    n_drawn = _n_drawn(items.owners.size, settings)
    first, last = trees
    if first == 0:
        seed = draws[0]
        picks[0] = random_word(picks)
        _foresee(items, tree, settings, n_drawn, sure, draws, votes, n_open)
        draws[0] = seed
        _settle(votes, n_open, pending)
    n_pending = pending.sum()
    for t in range(first, last):
        if n_pending == 0:
            break
        _draw_items(items, tree, settings, n_drawn, draws)
        _grow(items, tree, settings, sure, pending, votes, picks)
        for i in range(here.size):
            n_open[i] -= not (sure[i] and tree.weights[i] > 0.0)
        if t % _EVERY == 0:
            n_pending = _settle(votes, n_open, pending)
    for k in range(here.size):
        progress.votes[b, here[k]] = votes[k]
        progress.n_open[b, here[k]] = n_open[k]
        progress.pending[b, here[k]] = pending[k]


@kernel
def _foresee(items, tree, settings, n_drawn, sure, draws, votes, n_open):
    """Add the votes of all trees for sure items that they draw."""
    if not sure.any():
        return
    for _ in range(settings.n_trees):
        _draw_items(items, tree, settings, n_drawn, draws)
        for i in range(sure.size):
            n_open[i] -= sure[i] and tree.weights[i] > 0.0
    for i in range(sure.size):
        votes[i, items.classes[i]] += settings.n_trees - n_open[i]


@kernel
def _items_of(ranks, values, classes, n_classes, counts, here, settings):
    """Gather the items of a resample, with ranks among them."""
    d, n = ranks.shape[0], here.size
    own_ranks = np.empty((d, n), dtype=np.uint32)
    own_values = np.empty((d, n), dtype=np.float32)
    place = np.empty(ranks.shape[1], dtype=np.int32)
    for f in range(d):
        place[:] = 0
        for k in range(n):
            place[ranks[f, here[k]]] = 1
        n_ranks = 0
        for r in range(place.size):
            if place[r]:
                own_values[f, n_ranks] = values[f, r]
                place[r] = n_ranks
                n_ranks += 1
        for k in range(n):
            own_ranks[f, k] = place[ranks[f, here[k]]]
    owners = np.empty(counts.sum(), dtype=np.uint32)
    sizes = np.zeros(n_classes)
    row = 0
    for k in range(n):
        for _ in range(counts[here[k]]):
            owners[row] = k
            row += 1
        sizes[classes[here[k]]] += counts[here[k]]
    weights = np.ones(n_classes)
    if settings.balanced:
        n_present = (sizes > 0).sum()
        for c in range(n_classes):
            if sizes[c] > 0:
                weights[c] = row / (n_present * sizes[c])
    own_classes = classes[here].astype(np.uint32)
    sums = np.cumsum(weights[own_classes[owners]]) if settings.balanced else np.empty(0)
    logs = np.arange(max(row, _n_drawn(row, settings)) + 1 if settings.entropy else 0) * 1.0
    for w in range(1, logs.size):
        logs[w] *= np.log(w)
    return _Items(own_ranks, own_values, own_classes, owners, weights, sums, logs)


@kernel
def _n_drawn(n_rows, settings):
    """Return the number of rows that a tree draws."""
    drawn = n_rows * settings.share_drawn
    return settings.n_drawn or max(1, int(drawn if settings.truncated else np.rint(drawn)))


@kernel
def _work_space(items, n_classes):
    d, n = items.ranks.shape
    n_bits = (n + 63) // 64
    return _Tree(
        np.zeros(n),
        np.zeros(n, dtype=np.int32),
        np.empty(n, dtype=np.uint32),
        np.empty(n, dtype=np.uint32),
        np.empty(n, dtype=np.uint32),
        np.empty((n + 1, 5), dtype=np.uint32),
        np.arange(d).astype(np.uint32),
        np.zeros(n_bits, dtype=np.uint64),
        np.zeros((n_bits + 63) // 64, dtype=np.uint64),
        np.empty(n, dtype=np.uint32),
        np.empty(n, dtype=np.uint32),
        np.empty(n_classes),
        np.empty(n_classes),
    )


@kernel
def _draw_items(items, tree, settings, n_drawn, state):
    """Draw the rows of a tree, in proportion to the weights of their classes."""
    weights, rows, owners = tree.weights, tree.rows, items.owners
    weights[:] = 0.0
    rows[:] = 0
    if not settings.bootstrap:
        for row in range(owners.size):
            weights[owners[row]] += items.class_weights[items.classes[owners[row]]]
            rows[owners[row]] += 1
    elif not settings.balanced and settings.min_leaf == 1 and settings.min_split <= 2:
        rows[:] = 1  # only the nodes of one item have fewer than two rows, and these are leaves
        for _ in range(n_drawn):
            weights[owners[_below(state, owners.size)]] += 1.0
    else:
        seen = np.zeros(owners.size, dtype=np.bool_)
        for _ in range(n_drawn):
            if settings.balanced:
                point = random_uniform(state) * items.sums[-1]
                row = min(np.searchsorted(items.sums, point, side="right"), owners.size - 1)
            else:
                row = _below(state, owners.size)
            weights[owners[row]] += 1.0
            if not seen[row]:
                seen[row] = True
                rows[owners[row]] += 1


@kernel
def _grow(items, tree, settings, sure, pending, votes, state):
    """Grow a tree from the drawn items, and add its votes that are not known before.

    With its parts as functions, it takes 1.5 times as long: numba counts references in each call.
    """
    ranks, classes = items.ranks, items.classes
    weights, drawn, carried, nodes = tree.weights, tree.drawn, tree.carried, tree.nodes
    total, left, features = tree.total, tree.left, tree.features
    bits, words, heads, others = tree.bits, tree.words, tree.heads, tree.others
    values, rows, spare = items.values, tree.rows, tree.spare
    n_tried, max_depth, min_split = settings.n_tried, settings.max_depth, settings.min_split
    n_classes, n_features = total.size, features.size
    min_leaf, entropy, logs = settings.min_leaf, settings.entropy, items.logs
    features[:] = np.arange(n_features)  # so that a tree does not depend on those before it
    n_drawn = n_carried = 0
    for i in range(weights.size):
        is_drawn = weights[i] > 0.0
        drawn[n_drawn] = i
        n_drawn += is_drawn
        carried[n_carried] = i
        n_carried += pending[i] and not (is_drawn and sure[i])
    nodes[0, 0], nodes[0, 1], nodes[0, 2], nodes[0, 3], nodes[0, 4] = 0, n_drawn, 0, n_carried, 0
    n_nodes = 1
    while n_nodes > 0:
        n_nodes -= 1
        begin, end, first, last = nodes[n_nodes, :4]
        depth = nodes[n_nodes, 4]
        if first == last:
            continue
        total[:] = 0.0
        n_rows = 0
        for p in range(begin, end):
            i = drawn[p]
            total[classes[i]] += weights[i]
            n_rows += rows[i]
        mass = 0.0
        whole = 0.0  # of squares, or of products with logarithms
        n_present = 0
        for c in range(n_classes):
            if total[c] > 0.0:
                n_present += 1
                mass += total[c]
                whole += logs[int(total[c])] if entropy else total[c] * total[c]
        best_feature = -1
        if not (
            n_present == 1 or depth >= max_depth or n_rows < min_split or n_rows < 2 * min_leaf
        ):
            best = -np.inf
            most = 0.0 if entropy else mass  # with one class on each side: no split is better
            below = above = 0
            n_visited = 0
            varies = False
            while best < most and n_visited < n_features and (n_visited < n_tried or not varies):
                pick = n_visited + _below(state, n_features - n_visited)
                f = features[pick]
                features[pick] = features[n_visited]
                features[n_visited] = f
                n_visited += 1
                # A constant feature counts as tried, but at least one that varies is tried.
                p = begin + 1
                same = ranks[f, drawn[begin]]
                while p < end and ranks[f, drawn[p]] == same:
                    p += 1
                if p == end:
                    continue
                # Mark the rank of each item; items of one rank form a chain.
                for p in range(begin, end):
                    i = drawn[p]
                    r = ranks[f, i]
                    word = bits[r >> 6]
                    bit = _ONE << np.uint64(r & 63)
                    others[i] = heads[r] if word & bit != _NONE else _END
                    heads[r] = i
                    bits[r >> 6] = word | bit
                    if word == _NONE:
                        words[r >> 12] |= _ONE << np.uint64((r >> 6) & 63)
                # Move the items to the left in the order of their ranks, and rate each split.
                left[:] = 0.0
                mass_left = 0.0
                sum_left, sum_right = 0.0, whole
                rows_left = 0
                least = previous = -1
                for v in range(words.size):
                    filled = words[v]
                    words[v] = _NONE
                    while filled != _NONE:
                        w = (v << 6) + lowest_bit(filled)
                        filled &= filled - _ONE
                        word = bits[w]
                        bits[w] = _NONE
                        while word != _NONE:
                            r = (w << 6) + lowest_bit(word)
                            word &= word - _ONE
                            if previous < 0:
                                least = r
                            elif rows_left >= min_leaf and n_rows - rows_left >= min_leaf:
                                mass_right = mass - mass_left
                                if entropy:
                                    rating = sum_left - logs[int(mass_left)]
                                    rating += sum_right - logs[int(mass_right)]
                                else:
                                    rating = sum_left * mass_right
                                    rating += (sum_right + sum_left) * mass_left
                                    rating /= mass_left * mass_right
                                if rating > best and values[f, r] > values[f, previous] + _CLOSE:
                                    best, best_feature, below, above = rating, f, previous, r
                            previous = r
                            i = heads[r]
                            while i != _END:
                                c = classes[i]
                                weight = weights[i]
                                inside = left[c]
                                if entropy:
                                    outside = total[c] - inside
                                    sum_left += logs[int(inside + weight)] - logs[int(inside)]
                                    sum_right += logs[int(outside - weight)] - logs[int(outside)]
                                else:
                                    sum_left += weight * (2.0 * inside + weight)
                                    sum_right -= 2.0 * weight * total[c]
                                left[c] = inside + weight
                                mass_left += weight
                                rows_left += rows[i]
                                i = others[i]
                varies |= values[f, previous] > values[f, least] + _CLOSE
        if best_feature < 0:  # a leaf
            for c in range(n_classes):
                if total[c] > 0.0:
                    share = total[c] / mass
                    for p in range(first, last):
                        votes[carried[p], c] += share
            continue
        cut = _cut_between(values[best_feature], below, above)
        middle = _partition(ranks[best_feature], cut, drawn, begin, end, spare)
        center = _partition(ranks[best_feature], cut, carried, first, last, spare)
        nodes[n_nodes, 0], nodes[n_nodes, 1] = begin, middle
        nodes[n_nodes, 2], nodes[n_nodes, 3], nodes[n_nodes, 4] = first, center, depth + 1
        n_nodes += 1
        nodes[n_nodes, 0], nodes[n_nodes, 1] = middle, end
        nodes[n_nodes, 2], nodes[n_nodes, 3], nodes[n_nodes, 4] = center, last, depth + 1
        n_nodes += 1


@kernel
def _cut_between(values, below, above):
    """Return the largest rank on the left of the threshold between two ranks."""
    threshold = np.float64(values[below]) / 2.0 + np.float64(values[above]) / 2.0
    if threshold == values[above]:
        return below
    while above - below > 1:
        middle = (below + above) // 2
        if values[middle] <= threshold:
            below = middle
        else:
            above = middle
    return below


@kernel
def _partition(ranks, cut, items, begin, end, spare):
    """Move the items of rank `cut` or less to the left, and return where the others begin."""
    middle = begin
    n_right = 0
    for p in range(begin, end):
        i = items[p]
        goes_left = ranks[i] <= cut
        items[middle] = i
        spare[n_right] = i
        middle += goes_left
        n_right += not goes_left
    for p in range(n_right):
        items[middle + p] = spare[p]
    return middle


@kernel
def _settle(votes, n_open, pending):
    """Find the items whose label no longer changes; return the number of all others."""
    n_pending = 0
    for i in range(pending.size):
        if pending[i]:
            most = second = 0.0
            for c in range(votes.shape[1]):
                if votes[i, c] > most:
                    most, second = votes[i, c], most
                elif votes[i, c] > second:
                    second = votes[i, c]
            pending[i] = most - second < n_open[i] + _SLACK
            n_pending += pending[i]
    return n_pending


@kernel
def _below(state, bound):
    """Return a random integer from 0 to `bound` - 1, without a slow division."""
    high = random_word(state) >> np.uint64(32)
    return np.int64((high * np.uint64(bound)) >> np.uint64(32))
