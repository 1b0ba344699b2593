"""Decides on a number of clusters from the measures, and states the reason."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from coreclust._utils.text import p_text, percent


def gains(
    measured: NDArray[np.float64],
    null_measured: NDArray[np.float64],
    n_items: int,
    *,
    less_is_better: bool = True,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the gain and the p-value at each k; see :func:`select_n_clusters` for both.

    `measured` holds the shares of the data at each k, `null_measured` those of each null dataset.
    `less_is_better` states whether a smaller share means a more stable clustering.
    """
    if not less_is_better:
        measured, null_measured = 1 - measured, 1 - null_measured
    n_nulls = len(null_measured)
    data, chance = _log_odds(measured, n_items), _log_odds(null_measured, n_items)
    middle = chance.mean(axis=0)
    lead, leads = _lead(middle - data), _lead(middle - chance)
    count = n_items * null_measured.mean(axis=0)
    binomial = np.sqrt(1 / (count + 0.5) + 1 / (n_items - count + 0.5))
    spread = np.maximum(leads.std(axis=0, ddof=1), binomial) * np.sqrt(1 + 1 / n_nulls)
    distance = (lead - leads.mean(axis=0)) / spread
    return middle - data, student.sf(distance, n_nulls - 1)


def single_gains(
    measured: NDArray[np.float64],
    null_measured: NDArray[np.float64],
    n_items: int,
    *,
    less_is_better: bool = True,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the gain and the p-value at each resolution by itself; see `select_resolution`.

    Shares are compared as arcsines of their square roots and not as log odds, because shares of 0
    and 1 are common here: null data often has a single cluster.
    """
    if not less_is_better:
        measured, null_measured = 1 - measured, 1 - null_measured
    n_nulls = len(null_measured)
    data, chance = (np.arcsin(np.sqrt(share)) for share in (measured, null_measured))
    gain = chance.mean(axis=0) - data
    binomial = 1 / (2 * np.sqrt(n_items))
    spread = np.maximum(chance.std(axis=0, ddof=1), binomial) * np.sqrt(1 + 1 / n_nulls)
    return gain, student.sf(gain / spread, n_nulls - 1)


def _lead(gain: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the gain at each k plus the mean deficit of the other k."""
    n_k = gain.shape[-1]
    if n_k == 1:
        return gain
    below = np.minimum(gain, 0.0)
    return gain - (below.sum(axis=-1, keepdims=True) - below) / (n_k - 1)


def _log_odds(share: NDArray[np.float64], n_items: int) -> NDArray[np.float64]:
    count = n_items * share
    return np.log((count + 0.5) / (n_items - count + 0.5))


def decide(
    ks: NDArray[np.int64],
    measured: dict[str, NDArray[np.float64]],
    null_measures: dict[str, NDArray[np.float64]],
    gain: NDArray[np.float64],
    p_value: NDArray[np.float64],
    *,
    criterion: str,
    level: float,
    most: float,
) -> tuple[int | None, str]:
    """Return the number of clusters and the reason."""
    weak = measured["weak_fraction"]
    surprising = p_value <= level
    eligible = surprising & (weak <= most)

    def compared(at: int) -> str:
        ours, theirs = float(measured[criterion][at]), float(null_measures[criterion][:, at].mean())
        what = {
            "weak_fraction": f"{percent(ours)} of items are weak, {percent(theirs)}",
            "mean_jaccard": f"the mean Jaccard similarity is {ours:.2f}, {theirs:.2f}",
            "ambiguous_pairs": f"{percent(ours)} of pairs are ambiguous, {percent(theirs)}",
        }[criterion]
        return f"{what} without structure; p {p_text(float(p_value[at]), level)}"

    if eligible.any():
        best = int(np.where(eligible, gain, -np.inf).argmax())
        text = f"{ks[best]} clusters: they are stable beyond chance ({compared(best)})"
        others = ", ".join(map(str, ks[eligible & (np.arange(ks.size) != best)].tolist()))
        shaky = ", ".join(map(str, ks[surprising & ~eligible].tolist()))
        if others:
            text += f", by the largest margin; so are those at k = {others}"
        if shaky:
            also, too_many = (
                ("; so are those", "too many") if not others else (", and those", "there too many")
            )
            text += f"{also} at k = {shaky}, but {too_many} are weak"
        if ks.size > 1 and not (others or shaky):
            text += "; no other k tried is"
        return int(ks[best]), f"{text}."
    if surprising.any():
        best = int(np.where(surprising, gain, -np.inf).argmax())
        return None, (
            f"No recommendation: no stable structure. At k = {ks[best]} there is more than chance "
            f"({compared(best)}), but {percent(float(weak[best]))} of the items are weak; at most "
            f"{percent(most)} are allowed."
        )
    best = int(p_value.argmin())
    listed = ", ".join(map(str, ks.tolist()))
    if ks.size == 1:
        tried = f"k = {listed}"
    elif (np.diff(ks) == 1).all():
        tried = f"any k from {ks[0]} to {ks[-1]}"
    else:
        tried = f"any of k = {listed}"
    return 1, (
        "1 cluster: no stable structure. The clusters are not more stable than those of data "
        f"without structure at {tried} (the closest is k = {ks[best]}: {compared(best)})."
    )
