"""Writes the generated blocks of the page about the calibration study."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from studies.calibration.designs import DESIGNS
from studies.calibration.margins import ALPHAS
from studies.calibration.new_data import (
    audit_table,
    fraction_table,
    merge_table,
    new_data_table,
)
from studies.calibration.numbers import percent
from studies.calibration.plots import ALL_DESIGNS, RULE_TITLES, SCHEME_TITLES
from studies.calibration.summary import BAR_EACH, BAR_POOLED, BAR_SIZE, SLACK, Summary, Tally
from studies.paper.cells import listed_versions
from studies.paper.render import markdown_grid

#: The names of the blocks, in the order of the page.
BLOCKS = (
    "in short",
    "new data",
    "audit",
    "merge test",
    "picture: shares",
    "tables by rule",
    "picture: sizes",
    "missed bars",
    "margins",
    "tables by scheme",
    "picture: schemes",
    "fractions",
    "what was run",
    "check of the truth",
)

# The scheme and the rule that have to reach the bars.
_STRICT = ("bootstrap", "simultaneous")
_LISTED = 5  # datasets of a design that misses a bar

_CAPTIONS = {
    "shares": "Share of the core pairs that truly meet the guarantee, by rule, with Bootstrap(). "
    f"The dashed line is the bar of {100 * BAR_EACH:g} % per design; the short line in the last "
    f"row is the bar of {100 * BAR_POOLED:g} % for all designs together",
    "sizes": "Core items as a share of the oracle's core items, and the worst pair of any core, by "
    f"rule, with Bootstrap(). The dashed line is the bar of {100 * BAR_SIZE:g} %",
    "schemes": "The simultaneous rule with three resampling schemes. The dashed lines are the "
    "bars. Average linkage cannot label items that are not in a resample",
}


def build_blocks(summary: Summary, pictures: Mapping[str, str]) -> dict[str, str]:
    """Write the generated blocks.

    Parameters
    ----------
    summary : Summary
    pictures : mapping from str to str
        The paths of the pictures, relative to the page.

    Returns
    -------
    blocks : dict from str to str
        Markdown by the name of the block, without pictures that were not drawn, and without
        margins if the results have none.
    """
    has_margins = any(result.get("margins") for result in summary.results)
    blocks = {
        "new data": new_data_table(summary),
        "audit": audit_table(summary),
        "merge test": merge_table(summary),
        "fractions": fraction_table(summary),
        "in short": "\n".join(_in_short(summary)),
        "tables by rule": "\n\n".join(_rule_tables(summary)),
        "missed bars": "\n".join(_missed_bars(summary)),
        **({"margins": "\n\n".join(_margin_table(summary))} if has_margins else {}),
        "tables by scheme": _scheme_table(summary),
        "what was run": "\n\n".join(_what_was_run(summary)),
        "check of the truth": "\n\n".join(_check_of_truth(summary)),
    }
    for name, path in pictures.items():
        blocks[f"picture: {name}"] = f"![{_CAPTIONS[name]}]({path})\n\n*{_CAPTIONS[name]}.*"
    return {name: blocks[name] for name in BLOCKS if name in blocks}


def _bar(summary: Summary) -> float:
    return 1 - float(summary.results[0]["alpha"])


def _title(name: str | None) -> str:
    return ALL_DESIGNS if name is None else DESIGNS[name].title


def _in_short(summary: Summary) -> Iterator[str]:
    pooled = summary.tally(*_STRICT)
    paper = summary.tally("bootstrap", "paper")
    names = summary.designs_with("bootstrap")
    low = [name for name in names if summary.tally(*_STRICT, name).nearly < BAR_EACH]
    small = [name for name in names if summary.tally(*_STRICT, name).size < BAR_SIZE]
    verdict = "reached" if pooled.nearly >= BAR_POOLED else "missed"
    pairs = {name: summary.tally(*_STRICT, name).n_pairs for name in names}
    most = max(pairs, key=lambda name: pairs[name])
    yield (
        f"- **All designs together, `confidence=0.95`:** {percent(pooled.nearly)} of the core "
        f"pairs truly meet {_bar(summary) - SLACK:g} (bar: {100 * BAR_POOLED:g} %; {verdict}), "
        f"{percent(pooled.meet)} meet {_bar(summary):g}. With the paper's rule, it is "
        f"{percent(paper.nearly)} and {percent(paper.meet)}."
    )
    yield (
        f"- **The same weight for every design:** {percent(summary.mean_nearly(*_STRICT))} meet "
        f"{_bar(summary) - SLACK:g}; with the paper's rule, "
        f"{percent(summary.mean_nearly('bootstrap', 'paper'))}. (The design {_title(most)!r} alone "
        f"has {100 * pairs[most] / max(sum(pairs.values()), 1):.0f} % of all core pairs.)"
    )
    yield (
        f"- **Each design:** {len(names) - len(low)} of {len(names)} reach "
        f"{100 * BAR_EACH:g} %{_except(low)}."
    )
    yield (
        f"- **Size of the core:** {len(names) - len(small)} of {len(names)} designs keep "
        f"{100 * BAR_SIZE:g} % of the oracle's core{_except(small)}; for all designs together it "
        f"is {percent(pooled.size)}, with the paper's rule {percent(paper.size)}."
    )


def _except(names: list[str]) -> str:
    return f" (not: {'; '.join(_title(name) for name in names)})" if names else ""


def _rule_tables(summary: Summary) -> Iterator[str]:
    columns: dict[str, Callable[[Tally], str]] = {
        f"Share of core pairs that truly meet {_bar(summary) - SLACK:g} (bars: {100 * BAR_EACH:g} "
        f"% per design, {100 * BAR_POOLED:g} % for all)": lambda tally: percent(tally.nearly),
        f"Share of core pairs that truly meet {_bar(summary):g}": lambda tally: percent(tally.meet),
        "True probability of the worst pair of any core": lambda tally: f"{tally.worst:.3f}",
        f"Core items as a share of the oracle's core items (bar: {100 * BAR_SIZE:g} %)": (
            lambda tally: percent(tally.size)
        ),
        "Weak fraction": lambda tally: f"{tally.weak:.3f}",
    }
    for title, text in columns.items():
        header = ["design", "paper", "per pair", "simultaneous"]
        lines = []
        for name in [*summary.designs_with("bootstrap"), None]:
            tallies = [summary.tally("bootstrap", rule, name) for rule in RULE_TITLES]
            lines.append([_title(name), *map(text, tallies)])
            if title == "Weak fraction":
                lines[-1].append(f"{1 - tallies[0].n_oracle / tallies[0].n_items:.3f}")
        if title == "Weak fraction":
            header.append("oracle")
        yield f"**{title}**, with Bootstrap():"
        yield "\n".join(markdown_grid(header, lines))


def _missed_bars(summary: Summary) -> Iterator[str]:
    tallies = {name: summary.tally(*_STRICT, name) for name in summary.designs_with("bootstrap")}
    pooled = summary.tally(*_STRICT)
    found = [
        *(_low(summary, name, tally) for name, tally in tallies.items() if tally.nearly < BAR_EACH),
        *(
            f"- **{_title(name)}: the core has {percent(tally.size)} of the oracle's items**, with "
            f"the paper's rule {percent(summary.tally('bootstrap', 'paper', name).size)}."
            for name, tally in tallies.items()
            if tally.size < BAR_SIZE
        ),
    ]
    if pooled.nearly < BAR_POOLED:
        lost = {name: tally.n_pairs - tally.n_nearly for name, tally in tallies.items()}
        most = max(lost, key=lambda name: lost[name])
        found.append(
            f"- **{ALL_DESIGNS}: {percent(pooled.nearly)}**. Of the {sum(lost.values())} pairs "
            f"below {_bar(summary) - SLACK:g}, {lost[most]} are in the design {_title(most)!r}."
        )
    yield from found or ["All bars are reached."]


def _low(summary: Summary, name: str, tally: Tally) -> str:
    lowest = sorted(each.nearly for each in summary.tallies(*_STRICT, name))[:_LISTED]
    shares = [percent(share) for share in lowest]
    others = [
        f"{title} {percent(summary.tally(scheme, _STRICT[1], name).nearly)}"
        for scheme, title in SCHEME_TITLES.items()
        if scheme != _STRICT[0] and summary.has(name, scheme)
    ]
    paper = summary.tally("bootstrap", "paper", name)
    return (
        f"- **{_title(name)}: {percent(tally.nearly)}** (lowest datasets: {', '.join(shares)}), "
        f"the worst pair at {tally.worst:.3f}. The paper's rule: {percent(paper.nearly)}, the "
        f"worst pair at {paper.worst:.3f}. Other schemes: {', '.join(others)}."
    )


def _margin_table(summary: Summary) -> Iterator[str]:
    names = [f"{alpha:g}" for alpha in ALPHAS]
    lines = []
    reached = dict.fromkeys(names, 0)
    for design in [*summary.designs_with("bootstrap"), None]:
        line = [_title(design)]
        for name in names:
            tally = summary.tally("bootstrap", f"alpha={name}", design)
            line.append(f"{percent(tally.nearly)}, {percent(tally.size)}")
            passed = tally.nearly >= BAR_EACH and tally.size >= BAR_SIZE
            reached[name] += design is not None and passed
        lines.append(line)
    yield (
        f"Each cell: share of core pairs that truly meet {_bar(summary) - SLACK:g}, and core items "
        "as a share of the oracle's core items; Bootstrap(), the paper's rule."
    )
    yield "\n".join(markdown_grid(["design", *(f"cut at {name}" for name in names)], lines))
    counts = ", ".join(f"{count} at {name}" for name, count in reached.items())
    yield (
        f"Designs that reach both {100 * BAR_EACH:g} % of the pairs and {100 * BAR_SIZE:g} % of "
        f"the size: {counts}, of {len(summary.designs_with('bootstrap'))}."
    )


def _scheme_table(summary: Summary) -> str:
    lines = []
    for name in [*summary.designs, None]:
        line = [_title(name)]
        for scheme in SCHEME_TITLES:
            if not summary.has(name, scheme):
                line.append("")
                continue
            tally = summary.tally(scheme, "simultaneous", name)
            line.append(f"{percent(tally.nearly)}, {tally.worst:.3f}, {percent(tally.size)}")
        lines.append(line)
    legend = (
        f"Each cell: share of core pairs that truly meet {_bar(summary) - SLACK:g}, the worst "
        "pair, and core items as a share of the oracle's core items; the simultaneous rule."
    )
    return "\n".join([legend, "", *markdown_grid(["design", *SCHEME_TITLES.values()], lines)])


def _what_was_run(summary: Summary) -> Iterator[str]:
    first = summary.results[0]
    lines = []
    for name in summary.designs:
        design = DESIGNS[name]
        n_datasets = sum(result["design"] == name for result in summary.results)
        lines.append(
            [
                design.title,
                design.mixture.describe(),
                str(design.mixture.n_features),
                str(design.n_items),
                f"{design.algorithm}, k = {design.n_clusters}",
                str(n_datasets),
            ]
        )
    header = ["design", "distribution", "features", "items", "clustering function", "datasets"]
    yield "\n".join(markdown_grid(header, lines))
    minutes = sum(result["seconds"] for result in summary.results) / 60
    proven = all(result["optimal"] for result in summary.results)
    yield "\n".join(
        [
            (
                f"- alpha = {first['alpha']:g}, confidence = {first['confidence']:g}, "
                f"m = {first['n_resamples']}, {first['n_truth']} resamples per pair for the truth, "
                f"seed {first['seed']}."
            ),
            f"- {'All' if proven else 'Not all'} cores are proven to be the largest.",
            (
                f"- Versions: {listed_versions(summary.results)}. "
                f"{minutes:.0f} minutes on a shared machine."
            ),
        ]
    )


def _check_of_truth(summary: Summary) -> Iterator[str]:
    if not summary.checks:
        yield "No design has a quick estimate to check."
        return
    lines = []
    for name, check in summary.checks.items():
        lines.append(
            [
                _title(name),
                str(check.n_pairs),
                f"{check.n_band_exact} of {check.n_band}",
                f"{check.n_core_exact} of {check.n_core}",
                *_differences(check.differences),
                str(check.outside.size),
                *_differences(check.outside)[1:],
                str(check.n_changed),
            ]
        )
    header = [
        "design", "pairs", "near the bar, exact", "of these in a core, exact",
        "mean", "mean absolute", "largest",
        "others, checked", "mean absolute", "largest", "changed sides",
    ]  # fmt: skip
    yield "\n".join(markdown_grid(header, lines))
    n_changed = sum(check.n_changed for check in summary.checks.values())
    n_checked = sum(check.outside.size for check in summary.checks.values())
    yield (
        f"Changed sides: for {n_changed} of the {n_checked} other pairs that were checked, the "
        f"exact and the quick estimate are on different sides of {_bar(summary):g} or "
        f"{_bar(summary) - SLACK:g}."
    )


def _differences(values: NDArray[np.float64]) -> list[str]:
    if values.size == 0:
        return ["", "", ""]
    absolute = np.abs(values)
    return [f"{values.mean():+.4f}", f"{absolute.mean():.4f}", f"{absolute.max():.3f}"]
