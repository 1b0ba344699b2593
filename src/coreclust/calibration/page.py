"""The page that tells what the study found, where the bars are missed, and why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from coreclust.calibration.designs import DESIGNS, N_INIT, Design
from coreclust.calibration.plots import ALL_DESIGNS, RULE_TITLES, SCHEME_TITLES
from coreclust.calibration.summary import (
    BAR_EACH,
    BAR_POOLED,
    BAR_SIZE,
    SLACK,
    Summary,
    Tally,
)
from coreclust.calibration.truth import BAND, CORE_BAND
from coreclust.cores import pair_level
from coreclust.evidence import confidence_table
from coreclust.paper.render import markdown_grid
from coreclust.resampling import Bootstrap

STRICT = ("bootstrap", "simultaneous")

_CAPTIONS = {
    "shares": "Share of the core pairs that truly meet the guarantee, by rule, with Bootstrap(). "
    f"Dashed: the bar of {100 * BAR_EACH:g} % in every design; the short line in the last row: "
    f"{100 * BAR_POOLED:g} % over all",
    "sizes": "Core items as a share of the oracle's, and the worst pair of any core, by rule, with "
    f"Bootstrap(). Dashed: the bar of {100 * BAR_SIZE:g} %",
    "schemes": "The simultaneous rule under three schemes. Dashed: the bars. Average linkage "
    "cannot label items that are not in a sample",
}


def build_page(summary: Summary, pictures: Mapping[str, str], *, command: str) -> str:
    """Write the page.

    Parameters
    ----------
    summary : Summary
    pictures : mapping from str to str
        The paths of the pictures, from where the page is.
    command : str
        What makes this page.

    Returns
    -------
    page : str
        Markdown.
    """
    blocks = [
        "# Does the guarantee hold?",
        f"<!-- Written by `{command}`; edits will be lost. -->",
        (
            "Core pairs are promised to land together with probability 1 - alpha. On data of a "
            "known distribution the true probability can be computed, and the promise checked. "
            "This page does that for the three levels of the promise (the estimate, per pair, "
            f"simultaneous) and three ways to resample: `{command}`."
        ),
        *_in_short(summary),
        "## Figures",
        *_picture(pictures, "shares"),
        *_rule_tables(summary),
        *_picture(pictures, "sizes"),
        "## Where a bar is missed, and why",
        *_missed(summary),
        "## Other ways to resample",
        *_scheme_table(summary),
        *_picture(pictures, "schemes"),
        "## What was run",
        *_what_was_run(summary),
        "## How the truth was computed, and its error",
        *_truth(summary),
    ]
    return "\n\n".join(block.strip() for block in blocks) + "\n"


def _in_short(summary: Summary) -> Iterator[str]:
    pooled = summary.tally(*STRICT)
    paper = summary.tally("bootstrap", "paper")
    names = summary.designs
    low = [name for name in names if summary.tally(*STRICT, name).nearly < BAR_EACH]
    small = [name for name in names if summary.tally(*STRICT, name).size < BAR_SIZE]
    yield "\n".join(
        [
            (
                f"- **All designs together, `confidence=0.95`:** {_percent(pooled.nearly)} of the "
                f"core pairs truly meet {_bar(summary) - SLACK:g} (bar: {100 * BAR_POOLED:g} %; "
                f"{_verdict(pooled.nearly >= BAR_POOLED)}), {_percent(pooled.meet)} meet "
                f"{_bar(summary):g}. Under the paper's rule it is {_percent(paper.nearly)} and "
                f"{_percent(paper.meet)}."
            ),
            (
                f"- With every design counted the same, whatever its number of pairs: "
                f"{_percent(summary.mean_nearly(*STRICT))} meet {_bar(summary) - SLACK:g}, against "
                f"{_percent(summary.mean_nearly('bootstrap', 'paper'))} under the paper's rule."
            ),
            (
                f"- **In every design:** {len(names) - len(low)} of {len(names)} reach "
                f"{100 * BAR_EACH:g} %{_except(low)}."
            ),
            (
                f"- **The size of the core:** {len(names) - len(small)} of {len(names)} designs "
                f"keep {100 * BAR_SIZE:g} % of the oracle's core{_except(small)}; over all designs "
                f"it is {_percent(pooled.size)}, under the paper's rule {_percent(paper.size)}."
            ),
        ]
    )
    yield (
        "`confidence` covers the noise of a finite number of samples. It does not cover what "
        "makes the bootstrap differ from new data: that the samples are drawn from the data at "
        "hand, and that an item in a sample has a say in where the clusters are. The figures "
        "here contain both."
    )


def _rule_tables(summary: Summary) -> Iterator[str]:
    header = ["design", "paper", "per pair", "simultaneous"]
    columns: list[tuple[str, Any]] = [
        (
            (
                f"Share of core pairs that truly meet {_bar(summary) - SLACK:g} "
                f"(bars: {100 * BAR_EACH:g} % each, {100 * BAR_POOLED:g} % over all)"
            ),
            lambda tally: _percent(tally.nearly),
        ),
        (
            f"Share of core pairs that truly meet {_bar(summary):g}",
            lambda tally: _percent(tally.meet),
        ),
        ("The worst pair of any core: its true probability", lambda tally: f"{tally.worst:.3f}"),
        (
            f"Core items as a share of the oracle's (bar: {100 * BAR_SIZE:g} %)",
            lambda tally: _percent(tally.size),
        ),
        ("Weak fraction", lambda tally: f"{tally.weak:.3f}"),
    ]
    for title, text in columns:
        lines = [
            [_title(name), *(text(summary.tally("bootstrap", rule, name)) for rule in RULE_TITLES)]
            for name in [*summary.designs, None]
        ]
        yield f"**{title}.** Bootstrap()."
        if title == "Weak fraction":
            lines = [
                [*line, f"{_oracle_weak(summary, name):.3f}"]
                for line, name in zip(lines, [*summary.designs, None], strict=True)
            ]
            yield "\n".join(markdown_grid([*header, "oracle"], lines))
        else:
            yield "\n".join(markdown_grid(header, lines))


def _missed(summary: Summary) -> Iterator[str]:
    any_missed = False
    for name in summary.designs:
        tally = summary.tally(*STRICT, name)
        if tally.nearly < BAR_EACH:
            any_missed = True
            yield _why_low(summary, name, tally)
        if tally.size < BAR_SIZE:
            any_missed = True
            yield _why_small(summary, name, tally)
    pooled = summary.tally(*STRICT)
    if pooled.nearly < BAR_POOLED:
        any_missed = True
        lost = {
            name: (tally := summary.tally(*STRICT, name)).n_pairs - tally.n_nearly
            for name in summary.designs
        }
        most = max(lost, key=lambda name: lost[name])
        yield (
            f"**Over all designs**, {_percent(pooled.nearly)} is below the bar of "
            f"{100 * BAR_POOLED:g} %. Of the {sum(lost.values())} pairs below "
            f"{_bar(summary) - SLACK:g}, {lost[most]} are in the design {_title(most)!r}."
        )
    if not any_missed:
        yield "Nowhere."


def _why_low(summary: Summary, name: str, tally: Tally) -> str:
    shares = [_percent(each.nearly) for each in summary.tallies(*STRICT, name)]
    clean = summary.tally("subsample", "simultaneous", name)
    return (
        f"**{_title(name).capitalize()}: {_percent(tally.nearly)} of the core pairs meet "
        f"{_bar(summary) - SLACK:g}** (by dataset: {', '.join(shares)}), the worst at "
        f"{tally.worst:.3f}. The rule bounds the chance of *any* error from the noise of "
        "resampling by 5 % a dataset, so this is not noise: the bootstrap of these data is "
        "steadier than new data of the same distribution would be. More samples do not help. "
        f"Under Subsample(0.5), whose samples vary more, it is {_percent(clean.nearly)}."
    )


def _why_small(summary: Summary, name: str, tally: Tally) -> str:
    paper = summary.tally("bootstrap", "paper", name)
    needed = 100 * _share_needed(summary, name)
    text = (
        f"**{_title(name).capitalize()}: the core keeps {_percent(tally.size)} of the oracle's.** "
        f"At m = {_samples(summary)}, a pair is in {_seen(summary, name)} samples, and has to be "
        f"together in {needed:.1f} % of them to pass for all pairs at once. The paper's rule keeps "
        f"{_percent(paper.size)}"
    )
    if paper.size < BAR_SIZE:
        return text + (
            ", less than the bar as well: here the bootstrap finds the clustering less steady than "
            "new data would, and more samples cannot make up for all of it."
        )
    return text + "; the difference is the price of the certainty, which more samples lower."


def _scheme_table(summary: Summary) -> Iterator[str]:
    yield (
        "The simultaneous rule, m the same. Each cell: share of core pairs that truly meet "
        f"{_bar(summary) - SLACK:g}, the worst pair, and core items as a share of the oracle's."
    )
    lines = []
    for name in [*summary.designs, None]:
        line = [_title(name)]
        for scheme in SCHEME_TITLES:
            if name is not None and not summary.has(name, scheme):
                line.append("")
                continue
            tally = summary.tally(scheme, "simultaneous", name)
            line.append(f"{_percent(tally.nearly)}, {tally.worst:.3f}, {_percent(tally.size)}")
        lines.append(line)
    yield "\n".join(markdown_grid(["design", *SCHEME_TITLES.values()], lines))
    yield (
        'With `label="all"` every pair is seen in every sample, so the bound is tighter at the '
        "same m; half of the items is a smaller dataset, whose clusterings vary more."
    )


def _what_was_run(summary: Summary) -> Iterator[str]:
    first = summary.results[0]
    lines = []
    for name in summary.designs:
        design = DESIGNS[name]
        n_datasets = sum(result["design"] == name for result in summary.results)
        lines.append(
            [
                design.title,
                _distribution(design),
                str(design.mixture.n_features),
                str(design.n_items),
                f"{design.algorithm}, k = {design.n_clusters}",
                str(n_datasets),
            ]
        )
    header = ["design", "distribution", "features", "items", "clustering function", "datasets"]
    yield "\n".join(markdown_grid(header, lines))
    minutes = sum(result["seconds"] for result in summary.results) / 60
    unproven = sum(not result["optimal"] for result in summary.results)
    yield "\n".join(
        [
            (
                f"- alpha = {first['alpha']:g}, confidence = {first['confidence']:g}, "
                f"m = {first['n_resamples']}, seed {first['seed']}."
            ),
            "- The designs were chosen before the study was run, and none was changed after.",
            (
                f"- k-means is `KMeans(k, n_init={N_INIT})`: few starts, because the truth takes "
                "millions of clusterings. They are part of the clustering function, the same "
                "everywhere."
            ),
            "- All rules of a scheme are cut from the same samples (`recut`). "
            + ("All cores are" if not unproven else "Not all cores are")
            + " proven to be the largest.",
            f"- The oracle's core is cut from the truth, at {_bar(summary):g}.",
            f"- Versions: {_versions(summary)}. {minutes:.0f} minutes on a shared machine.",
        ]
    )


def _truth(summary: Summary) -> Iterator[str]:
    m = summary.results[0]["n_truth"]
    error = math.sqrt(_bar(summary) * (1 - _bar(summary)) / m)
    yield (
        "The truth is the probability that two items get the same label when the other n - 2 are "
        "drawn afresh from the distribution (Algorithm 2 of the paper), from "
        f"{m} samples a pair: its standard error at {_bar(summary):g} is {error:.4f}, against "
        f"the {SLACK:g} that the bars leave."
    )
    if not summary.checks:
        return
    yield (
        "For k-means, a quick estimate comes first: new datasets of n items are clustered, and the "
        "items of the data get the label of the nearest centre. One clustering serves all pairs, "
        "but the influence of the two items themselves is missing, and it matters: two neighbours "
        "at a border both draw the border away. So pairs near the bar (a quick estimate from "
        f"{BAND[0]:g} to {BAND[1]:g}, for pairs of any core from {CORE_BAND[0]:g}) are sampled by "
        "Algorithm 2, which replaces it: at most 30,000 / n a dataset, those of cores first. So "
        "are 40 others a dataset, at random, as a check. Average linkage is sampled by Algorithm 2 "
        "throughout. The table has the differences, exact minus quick; the noise of the two is "
        f"part of them (about {math.sqrt(4 / math.pi) * error:.3f} in the mean absolute "
        f"difference at {_bar(summary):g})."
    )
    lines = []
    for name, check in summary.checks.items():
        lines.append(
            [
                _title(name),
                str(check.n_pairs),
                f"{check.n_band_exact} of {check.n_band}",
                *_differences(check.differences),
                str(check.outside.size),
                *_differences(check.outside)[1:],
                str(check.n_changed),
            ]
        )
    header = [
        "design", "pairs", "near the bar, exact", "mean", "mean absolute", "largest",
        "others, checked", "mean absolute", "largest", "changed sides",
    ]  # fmt: skip
    yield "\n".join(markdown_grid(header, lines))
    n_changed = sum(check.n_changed for check in summary.checks.values())
    n_checked = sum(check.outside.size for check in summary.checks.values())
    yield (
        f"Changed sides: of the {n_checked} other pairs that were checked, {n_changed} are "
        f"on another side of {_bar(summary):g} or {_bar(summary) - SLACK:g} by the exact samples "
        "than by the quick estimate."
    )


def _differences(values: Any) -> list[str]:
    if values.size == 0:
        return ["", "", ""]
    absolute = np.abs(values)
    return [f"{values.mean():+.4f}", f"{absolute.mean():.4f}", f"{absolute.max():.3f}"]


def _share_needed(summary: Summary, name: str) -> float:
    """Return the least share of samples in which a pair has to be together to pass for all."""
    result = next(result for result in summary.results if result["design"] == name)
    sizes = np.bincount(np.array(result["reference"]))
    level = pair_level(sizes, result["confidence"], "simultaneous")
    seen = _seen(summary, name)
    allowed = int(confidence_table(result["alpha"], level, seen)[seen])
    return 1 - allowed / seen


def _seen(summary: Summary, name: str) -> int:
    return round(_samples(summary) * Bootstrap().pair_share(DESIGNS[name].n_items))


def _samples(summary: Summary) -> int:
    return int(summary.results[0]["n_resamples"])


def _oracle_weak(summary: Summary, name: str | None) -> float:
    tally = summary.tally("bootstrap", "paper", name)
    return 1 - tally.n_oracle / tally.n_items


def _distribution(design: Design) -> str:
    mixture = design.mixture
    kind = "normal" if mixture.degrees is None else f"t with {mixture.degrees} degrees of freedom"
    shares = ", ".join(f"{100 * weight:.0f}" for weight in mixture.weights)
    equal = len(set(mixture.weights)) == 1
    return f"3 groups, {kind}, {mixture.side:g} apart" + ("" if equal else f", {shares} %")


def _versions(summary: Summary) -> str:
    found: dict[str, dict[str, None]] = {}
    for result in summary.results:
        for name, version in result["versions"].items():
            found.setdefault(name, {})[version] = None
    return ", ".join(f"{name} {' and '.join(known)}" for name, known in found.items())


def _picture(pictures: Mapping[str, str], name: str) -> Iterator[str]:
    if name in pictures:
        yield f"![{_CAPTIONS[name]}]({pictures[name]})"
        yield f"*{_CAPTIONS[name]}.*"


def _bar(summary: Summary) -> float:
    return 1 - float(summary.results[0]["alpha"])


def _title(name: str | None) -> str:
    return ALL_DESIGNS if name is None else DESIGNS[name].title


def _except(names: list[str]) -> str:
    return f" (not: {'; '.join(_title(name) for name in names)})" if names else ""


def _verdict(passed: bool) -> str:
    return "reached" if passed else "missed"


def _percent(share: float) -> str:
    """Return a share in percent; only what is whole says 100 %."""
    digits = 1 if share < 0.999 or share >= 1 else 2
    text = f"{100 * share:.{digits}f}"
    if share < 1 and float(text) >= 100:
        text = "99.99"
    return f"{text} %".replace("100.0 %", "100 %")
