"""From what was measured to a number of clusters and a reason."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from coreclust._inspection.verdict import percent


def gains(
    measured: NDArray[np.float64],
    referenced: NDArray[np.float64],
    n_items: int,
    *,
    less_is_better: bool = True,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compare shares with those of reference datasets, as log odds.

    Parameters
    ----------
    measured : ndarray of shape (n_k,)
    referenced : ndarray of shape (n_references, n_k)
    n_items : int
    less_is_better : bool, default=True
        Whether a small share means stable.

    Returns
    -------
    gain : ndarray of shape (n_k,)
    p_value : ndarray of shape (n_k,)
        Of the lead over the other k, for each k by itself.
    """
    if not less_is_better:
        measured, referenced = 1 - measured, 1 - referenced
    n_references = len(referenced)
    data, chance = _log_odds(measured, n_items), _log_odds(referenced, n_items)
    middle = chance.mean(axis=0)
    lead, leads = _lead(middle - data), _lead(middle - chance)
    count = n_items * referenced.mean(axis=0)
    binomial = np.sqrt(1 / (count + 0.5) + 1 / (n_items - count + 0.5))
    spread = np.maximum(leads.std(axis=0, ddof=1), binomial) * np.sqrt(1 + 1 / n_references)
    distance = (lead - leads.mean(axis=0)) / spread
    return middle - data, student.sf(distance, n_references - 1)


def _lead(gain: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the gain at each k, and how far the other k fall below chance on average."""
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
    referenced: dict[str, NDArray[np.float64]],
    gain: NDArray[np.float64],
    p_value: NDArray[np.float64],
    *,
    criterion: str,
    level: float,
    most: float,
) -> tuple[int | None, str]:
    """Return the number of clusters, and why."""
    weak = measured["weak_fraction"]
    surprising = p_value <= level
    eligible = surprising & (weak <= most)

    def compared(at: int) -> str:
        ours, theirs = float(measured[criterion][at]), float(referenced[criterion][:, at].mean())
        what = {
            "weak_fraction": f"{percent(ours)} of items are weak, {percent(theirs)}",
            "mean_jaccard": f"the mean Jaccard similarity is {ours:.2f}, {theirs:.2f}",
            "ambiguous_pairs": f"{percent(ours)} of pairs are ambiguous, {percent(theirs)}",
        }[criterion]
        p = p_value[at]
        return f"{what} without structure; p {'< 0.001' if p < 0.001 else f'= {p:.2g}'}"

    if eligible.any():
        best = int(np.where(eligible, gain, -np.inf).argmax())
        text = f"{ks[best]} clusters: they are stable beyond chance ({compared(best)})"
        others = ks[eligible & (np.arange(ks.size) != best)].tolist()
        if others:
            names = ", ".join(map(str, others))
            return int(ks[best]), f"{text}, by the widest margin; so are {names}, by less."
        shaky = ks[surprising & ~eligible].tolist()
        if shaky:
            names = ", ".join(map(str, shaky))
            return int(ks[best]), f"{text}; at {names} there is structure, too, but more are weak."
        return int(ks[best]), f"{text}{', and at no other k tried' if ks.size > 1 else ''}."
    if surprising.any():
        best = int(np.where(surprising, gain, -np.inf).argmax())
        return None, (
            f"No recommendation: no stable structure. At k = {ks[best]} there is more than chance "
            f"({compared(best)}), but {percent(float(weak[best]))} of the items are weak, and for "
            f"a recommendation it may be {percent(most)} at most."
        )
    best = int(p_value.argmin())
    listed = ", ".join(map(str, ks.tolist()))
    if ks.size == 1:
        tried = f" At k = {listed} the clusters are not"
    elif (np.diff(ks) == 1).all():
        tried = f" At no k from {ks[0]} to {ks[-1]} are the clusters"
    else:
        tried = f" At none of k = {listed} are the clusters"
    return 1, (
        f"1 cluster: no stable structure.{tried} more stable than those of data without structure "
        f"(the closest is k = {ks[best]}: {compared(best)})."
    )
