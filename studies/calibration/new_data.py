"""Writes the tables about new data: the nested rule, the audit, the merge test, subsamples."""

from __future__ import annotations

import numpy as np
from scipy.stats import spearmanr

from studies.calibration.designs import DESIGNS
from studies.calibration.numbers import percent, with_error
from studies.calibration.summary import BAR_EACH, Summary
from studies.calibration.trials import FRACTIONS, NEW_DATA, is_flagged
from studies.paper.render import markdown_grid

BAR_NEW_SIZE = 0.70  # of the mean size over the old designs, relative to the oracle
BAR_AUDIT, BAR_RANKS = 0.04, 0.9
BAR_FLAGGED_RIGHT, BAR_FLAGGED_MANY = 0.10, 0.90
_CASES = {
    "right": "right",
    "few": "too few clusters",
    "many": "too many clusters",
    "none": "no groups",
}


def new_data_table(summary: Summary) -> str:
    """Return the shares and sizes of the simultaneous rule and of the rule for new data."""
    names = [f"{confidence:g}" for confidence in NEW_DATA]
    lines, low = [], []
    for design in summary.designs_with("new-data"):
        line = [_title(design), _cell(summary, DESIGNS[design].scheme, "simultaneous", design)]
        line += [_cell(summary, "new-data", name, design) for name in names]
        flagged = _flagged(summary, design)
        unflagged = summary.nearly_with_error("new-data", names[0], design, flagged=False)
        line += [f"{sum(flagged)} of {len(flagged)}", with_error(*unflagged)]
        lines.append(line)
        whole = summary.tally("new-data", names[0], design).nearly
        if whole < BAR_EACH and unflagged[0] < BAR_EACH:
            low.append(design)
    header = ["design", "simultaneous, 0.95", *(f"new-data, {name}" for name in names)]
    header += ["flagged", f"new-data, {names[0]}, of the others"]
    old = [name for name in summary.designs_with("new-data") if DESIGNS[name].old]
    sizes = [summary.tally("new-data", names[0], name).size for name in old]
    reached = (
        f"- Designs in which fewer than {100 * BAR_EACH:g} % of the core pairs meet 0.88, of all "
        f"datasets and of those that are not flagged (new-data, {names[0]}): {_listed(low)}."
    )
    notes = [reached]
    if sizes:
        notes.append(
            f"- Mean size over the {len(old)} old designs (new-data, {names[0]}): "
            f"{percent(float(np.mean(sizes)))} of the oracle's (bar: {100 * BAR_NEW_SIZE:g} %)."
        )
    return "\n".join([*markdown_grid(header, lines), "", *notes])


def audit_table(summary: Summary) -> str:
    """Return the predicted and the real share of core pairs that hold, by design."""
    lines, predictions, reals, off = [], [], [], []
    for design in summary.designs:
        predicted, real = _audited(summary, design)
        if not predicted.size:
            continue
        difference = predicted.mean() - real.mean()
        predictions.append(predicted.mean())
        reals.append(real.mean())
        if not DESIGNS[design].has_ties and abs(difference) > BAR_AUDIT:
            off.append(design)
        errors = [
            values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else np.nan
            for values in (predicted, real)
        ]
        lines.append(
            [
                _title(design),
                "yes" if DESIGNS[design].has_ties else "",
                with_error(predicted.mean(), errors[0]),
                with_error(real.mean(), errors[1]),
                f"{100 * difference:+.1f} %",
            ]
        )
    most = f"{100 * BAR_AUDIT:g} %"
    notes = [f"- Designs without ties in which they differ by more than {most}: {_listed(off)}."]
    if len(set(predictions)) > 1 and len(set(reals)) > 1:
        ranks = spearmanr(predictions, reals).statistic
        notes.append(f"- Rank correlation over the designs: {ranks:.2f} (bar: {BAR_RANKS:g}).")
    header = ["design", "ties", "predicted", "real", "difference"]
    return "\n".join([*markdown_grid(header, lines), "", *notes])


def merge_table(summary: Summary) -> str:
    """Return how many datasets of each design are flagged, and why."""
    lines = []
    for case, title in _CASES.items():
        for design in summary.designs:
            if DESIGNS[design].case == case:
                mine = [result for result in summary.results if result["design"] == design]
                doubtful = [result["n_doubtful"] > 0 for result in mine]
                other = [result["other_solutions"] > result["alpha"] for result in mine]
                counts = [doubtful, other, _flagged(summary, design)]
                shares = [f"{100 * sum(count) / len(mine):.0f} %" for count in counts]
                lines.append([_title(design), title, str(DESIGNS[design].n_items), *shares])
    header = ["design", "number of clusters", "n", "merge test", "other solutions", "either"]
    return "\n".join(markdown_grid(header, lines))


def fraction_table(summary: Summary) -> str:
    """Return shares and sizes with subsamples of several sizes, and with the bootstrap."""
    schemes = [f"fraction {fraction:g}" for fraction in FRACTIONS]
    designs = summary.designs_with(schemes[0])
    lines = [
        [
            _title(design),
            *(_cell(summary, scheme, "paper", design) for scheme in ["all", *schemes]),
        ]
        for design in designs
    ]
    header = ["design", "bootstrap", *(f"{fraction:g}" for fraction in FRACTIONS)]
    return "\n".join(markdown_grid(header, lines)) if lines else "No design was run."


def _title(design: str) -> str:
    return DESIGNS[design].title


def _listed(designs: list[str]) -> str:
    return ", ".join(_title(design) for design in designs) or "none"


def _cell(summary: Summary, scheme: str, rule: str, design: str) -> str:
    share = with_error(*summary.nearly_with_error(scheme, rule, design))
    return f"{share or 'no pairs'}, {100 * summary.tally(scheme, rule, design).size:.0f} %"


def _flagged(summary: Summary, design: str) -> list[bool]:
    return [is_flagged(result) for result in summary.results if result["design"] == design]


def _audited(summary: Summary, design: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the predicted and the real share of each dataset with core pairs."""
    real = {
        entry.repetition: entry.tally.nearly
        for entry in summary.entries
        if (entry.design, entry.scheme, entry.rule)
        == (design, DESIGNS[design].scheme, "simultaneous")
        and entry.tally.n_pairs
    }
    found = [
        (result["audit"][0], real[result["repetition"]])
        for result in summary.results
        if result["design"] == design
        and result["audit"][0] is not None
        and result["repetition"] in real
    ]
    predicted, truth = np.array(found, dtype=float).reshape(-1, 2).T
    return predicted, truth
