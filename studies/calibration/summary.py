"""Summarizes the trials: how many core pairs truly meet the bar, and how large the cores are."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coreclust._inspection.audit import ratio_of_sums
from studies.calibration.designs import DESIGNS
from studies.calibration.trials import all_cuts, is_flagged
from studies.calibration.truth import Truth, cluster_pairs, in_bands

#: How far below 1 - alpha the probability of a pair may be to count as nearly meeting it.
SLACK = 0.02

#: The bars: the share of core pairs that nearly meet 1 - alpha, for all designs together and for
#: each design, and the size of the core as a share of the oracle's.
BAR_POOLED, BAR_EACH, BAR_SIZE = 0.99, 0.97, 0.80


@dataclass(frozen=True)
class Tally:
    """Counts over the cores of one or several datasets.

    Attributes
    ----------
    n_pairs : int
        Pairs of items of the same core.
    n_meet, n_nearly : int
        Pairs whose true probability is at least 1 - alpha, and at least 1 - alpha - 0.02.
    worst : float
        The smallest true probability of a pair; 1 if there are no pairs.
    n_core, n_oracle, n_items : int
        Items in a core, items in a core cut from the truth, and all items.
    """

    n_pairs: int
    n_meet: int
    n_nearly: int
    worst: float
    n_core: int
    n_oracle: int
    n_items: int

    def __add__(self, other: Tally) -> Tally:
        sums = {
            field.name: getattr(self, field.name) + getattr(other, field.name)
            for field in fields(self)
        }
        return Tally(**{**sums, "worst": min(self.worst, other.worst)})

    @property
    def meet(self) -> float:
        """The share of the pairs that meet 1 - alpha; 1 if there are no pairs."""
        return self.n_meet / self.n_pairs if self.n_pairs else 1.0

    @property
    def nearly(self) -> float:
        """The share of the pairs that meet 1 - alpha - 0.02; 1 if there are no pairs."""
        return self.n_nearly / self.n_pairs if self.n_pairs else 1.0

    @property
    def size(self) -> float:
        """The number of core items as a share of the oracle's."""
        return self.n_core / self.n_oracle

    @property
    def weak(self) -> float:
        """The share of the items that are not in a core."""
        return 1 - self.n_core / self.n_items


@dataclass(frozen=True)
class Check:
    """Comparison of the quick and the exact truth of the pairs of a design.

    Attributes
    ----------
    n_pairs, n_band, n_band_exact : int
        All pairs of items of the same cluster; pairs near the bar (in one of the bands); pairs
        near the bar with an exact estimate.
    n_core, n_core_exact : int
        Of the pairs near the bar, those in a core of any scheme and rule; those of them with
        an exact estimate.
    differences : ndarray of float
        Exact minus quick, for the pairs near the bar.
    outside : ndarray of float
        The same for other pairs, which were chosen at random.
    n_changed : int
        Number of these other pairs whose two estimates are on different sides of 1 - alpha or
        of 1 - alpha - 0.02.
    """

    n_pairs: int
    n_band: int
    n_band_exact: int
    n_core: int
    n_core_exact: int
    differences: NDArray[np.float64]
    outside: NDArray[np.float64]
    n_changed: int


@dataclass(frozen=True)
class Entry:
    """The tally of one dataset with one scheme and rule."""

    design: str
    repetition: int
    scheme: str
    rule: str
    tally: Tally


@dataclass(frozen=True)
class Summary:
    """All results of a study.

    Attributes
    ----------
    results : tuple of dict
        Results of the trials.
    entries : tuple of Entry
    checks : dict from str to Check
        By design, for the designs that can predict.
    """

    results: tuple[dict[str, Any], ...]
    entries: tuple[Entry, ...]
    checks: dict[str, Check]

    @property
    def designs(self) -> list[str]:
        """The designs that were run."""
        found = {entry.design for entry in self.entries}
        return [name for name in DESIGNS if name in found]

    def designs_with(self, scheme: str) -> list[str]:
        """Return the designs on which a scheme was run."""
        return [name for name in self.designs if self.has(name, scheme)]

    def has(self, design: str | None, scheme: str) -> bool:
        """Whether a scheme was run on a design; None for any design."""
        return any(
            entry.scheme == scheme and design in (None, entry.design) for entry in self.entries
        )

    def tally(self, scheme: str, rule: str, design: str | None = None) -> Tally:
        """Return the sum over the datasets of a design; None for all designs."""
        return reduce(Tally.__add__, self.tallies(scheme, rule, design))

    def tallies(self, scheme: str, rule: str, design: str | None = None) -> list[Tally]:
        """Return one tally per dataset of a design; None for all designs."""
        return [
            entry.tally
            for entry in self.entries
            if (entry.scheme, entry.rule) == (scheme, rule) and design in (None, entry.design)
        ]

    def mean_nearly(self, scheme: str, rule: str) -> float:
        """Return the share of pairs that nearly meet 1 - alpha, averaged over the designs."""
        names = self.designs_with(scheme)
        return float(np.mean([self.tally(scheme, rule, name).nearly for name in names]))

    def nearly_with_error(
        self, scheme: str, rule: str, design: str, *, flagged: bool | None = None
    ) -> tuple[float, float]:
        """Return the share of pairs that nearly meet 1 - alpha, and its error over datasets.

        `flagged` keeps only datasets that the diagnosis warns of, or the others. Both numbers are
        NaN if there are no core pairs, and the error if there is one dataset.
        """
        kept = {
            result["repetition"]
            for result in self.results
            if result["design"] == design and flagged in (None, is_flagged(result))
        }
        tallies = [
            entry.tally
            for entry in self.entries
            if (entry.scheme, entry.rule, entry.design) == (scheme, rule, design)
            and entry.repetition in kept
        ]
        nearly = np.array([[tally.n_nearly] for tally in tallies], dtype=float).reshape(-1, 1)
        pairs = np.array([[tally.n_pairs] for tally in tallies], dtype=float).reshape(-1, 1)
        share, error = ratio_of_sums(nearly, pairs)
        return float(share[0]), float(error[0])


def summarize(results: Sequence[dict[str, Any]]) -> Summary:
    """Summarize the results of the trials.

    Parameters
    ----------
    results : sequence of dict
        Return values of :func:`~studies.calibration.trials.run_trial`. They may have an entry
        `margins`, the return value of :func:`~studies.calibration.margins.cut_with_margins`;
        its rules are named "alpha=0.05" and so on.

    Returns
    -------
    summary : Summary
    """
    entries = []
    pieces: dict[str, list[Check]] = {}
    for result in results:
        truth = truth_of(result)
        for scheme, cuts in result["cuts"].items():
            for rule, labels in cuts.items():
                tally = tally_of(labels, result, truth)
                entries.append(Entry(result["design"], result["repetition"], scheme, rule, tally))
        for alpha, labels in result.get("margins", {}).items():
            tally = tally_of(labels, result, truth)
            rule = f"alpha={alpha}"
            entries.append(Entry(result["design"], result["repetition"], "bootstrap", rule, tally))
        if truth.quick is not None:
            pieces.setdefault(result["design"], []).append(_check(truth, result))
    checks = {name: _joined(parts) for name, parts in pieces.items()}
    return Summary(tuple(results), tuple(entries), checks)


def truth_of(result: dict[str, Any]) -> Truth:
    """Return the truth that is stored in the result of a trial."""
    kept = result["truth"]
    return Truth(
        cluster_pairs(np.array(result["reference"])),
        None if kept["quick"] is None else np.array(kept["quick"], dtype=np.int64),
        np.array(kept["exact_pairs"], dtype=np.intp),
        np.array(kept["exact"], dtype=np.int64),
        result["n_truth"],
    )


def tally_of(labels: Sequence[int], result: dict[str, Any], truth: Truth) -> Tally:
    """Count how many core pairs truly meet the bar.

    Parameters
    ----------
    labels : sequence of int
        The core of each item, -1 for none.
    result : dict
        Result of the trial.
    truth : Truth

    Returns
    -------
    tally : Tally
    """
    core = np.asarray(labels) >= 0
    inside = core[truth.pairs].all(axis=1)
    p = truth.probabilities[inside]
    bar = 1 - result["alpha"]
    return Tally(
        n_pairs=int(inside.sum()),
        n_meet=int(_meets(p, bar).sum()),
        n_nearly=int(_meets(p, bar - SLACK).sum()),
        worst=float(p.min(initial=1.0)),
        n_core=int(core.sum()),
        n_oracle=int((np.array(result["oracle"]) >= 0).sum()),
        n_items=core.size,
    )


_COLUMNS: dict[str, Callable[[Tally], float]] = {
    "core_pairs": lambda tally: tally.n_pairs,
    "share_meeting": lambda tally: tally.meet,
    "share_nearly": lambda tally: tally.nearly,
    "worst_pair": lambda tally: tally.worst,
    "core_items": lambda tally: tally.n_core,
    "oracle_items": lambda tally: tally.n_oracle,
    "size_to_oracle": lambda tally: tally.size,
    "weak_fraction": lambda tally: tally.weak,
}


def to_csv(summary: Summary) -> str:
    """Return CSV with one row per dataset, scheme and rule."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["design", "dataset", "scheme", "rule", *_COLUMNS])
    for entry in summary.entries:
        figures = [f"{figure(entry.tally):.6g}" for figure in _COLUMNS.values()]
        names = [entry.design, entry.repetition + 1, entry.scheme, entry.rule]
        writer.writerow([*names, *figures])
    return stream.getvalue()


def _meets(p: NDArray[np.float64], bar: float) -> NDArray[np.bool_]:
    return p >= bar - 1e-9  # 0.88 is not exactly 1 - 0.1 - 0.02


def _check(truth: Truth, result: dict[str, Any]) -> Check:
    assert truth.quick is not None  # noqa: S101 - for the type checker
    quick = truth.quick / truth.n_resamples
    core, others = in_bands(quick, truth.pairs, all_cuts(result["cuts"]))
    band = core | others
    chosen = truth.exact_pairs
    exact = truth.exact / truth.n_resamples
    differences = exact - quick[chosen]
    near = band[chosen]
    changed = np.zeros(chosen.size, dtype=bool)
    for bar in (1 - result["alpha"], 1 - result["alpha"] - SLACK):
        changed |= _meets(exact, bar) != _meets(quick[chosen], bar)
    return Check(
        n_pairs=quick.size,
        n_band=int(band.sum()),
        n_band_exact=int(near.sum()),
        n_core=int(core.sum()),
        n_core_exact=int(core[chosen].sum()),
        differences=differences[near],
        outside=differences[~near],
        n_changed=int(changed[~near].sum()),
    )


def _joined(parts: Sequence[Check]) -> Check:
    """Add the counts of several datasets and concatenate their differences."""
    together: dict[str, Any] = {}
    for field in fields(Check):
        values = [getattr(part, field.name) for part in parts]
        is_array = isinstance(values[0], np.ndarray)
        together[field.name] = np.concatenate(values) if is_array else sum(values)
    return Check(**together)
