"""The page that tells what the study found, where the bars are missed, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from studies.calibration.margins import margin_table
from studies.calibration.methods import how_truth_was_found, what_was_run
from studies.calibration.plots import RULE_TITLES, SCHEME_TITLES
from studies.calibration.reasons import STRICT, missed_bars
from studies.calibration.summary import BAR_EACH, BAR_POOLED, BAR_SIZE, SLACK, Summary
from studies.calibration.words import bar_of, percent, title_of
from studies.paper.render import markdown_grid

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
        *missed_bars(summary),
        *(margin_table(summary) if "margins" in summary.results[0] else ()),
        "## Other ways to resample",
        *_scheme_table(summary),
        *_picture(pictures, "schemes"),
        "## What was run",
        *what_was_run(summary),
        "## How the truth was computed, and its error",
        *how_truth_was_found(summary),
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
                f"- **All designs together, `confidence=0.95`:** {percent(pooled.nearly)} of the "
                f"core pairs truly meet {bar_of(summary) - SLACK:g} (bar: {100 * BAR_POOLED:g} %; "
                f"{_verdict(pooled.nearly >= BAR_POOLED)}), {percent(pooled.meet)} meet "
                f"{bar_of(summary):g}. Under the paper's rule it is {percent(paper.nearly)} and "
                f"{percent(paper.meet)}."
            ),
            (
                f"- With every design counted the same ({_heaviest(summary)}): "
                f"{percent(summary.mean_nearly(*STRICT))} meet {bar_of(summary) - SLACK:g}, "
                f"against {percent(summary.mean_nearly('bootstrap', 'paper'))} under the paper's "
                "rule."
            ),
            (
                f"- **In every design:** {len(names) - len(low)} of {len(names)} reach "
                f"{100 * BAR_EACH:g} %{_except(low)}."
            ),
            (
                f"- **The size of the core:** {len(names) - len(small)} of {len(names)} designs "
                f"keep {100 * BAR_SIZE:g} % of the oracle's core{_except(small)}; over all designs "
                f"it is {percent(pooled.size)}, under the paper's rule {percent(paper.size)}."
            ),
        ]
    )
    yield (
        "`confidence` covers the noise of a finite number of samples. It does not cover what "
        "makes the bootstrap differ from new data: that the samples are drawn from the data at "
        "hand, and that an item in a sample has a say in where the clusters are. The figures "
        "here contain both."
    )


def _heaviest(summary: Summary) -> str:
    """Say which design has the most pairs in the pooled figures."""
    pairs = {name: summary.tally(*STRICT, name).n_pairs for name in summary.designs}
    most = max(pairs, key=lambda name: pairs[name])
    share = pairs[most] / max(sum(pairs.values()), 1)
    return f"the design {title_of(most)!r} alone has {100 * share:.0f} % of all core pairs"


def _rule_tables(summary: Summary) -> Iterator[str]:
    header = ["design", "paper", "per pair", "simultaneous"]
    columns: list[tuple[str, Any]] = [
        (
            (
                f"Share of core pairs that truly meet {bar_of(summary) - SLACK:g} "
                f"(bars: {100 * BAR_EACH:g} % each, {100 * BAR_POOLED:g} % over all)"
            ),
            lambda tally: percent(tally.nearly),
        ),
        (
            f"Share of core pairs that truly meet {bar_of(summary):g}",
            lambda tally: percent(tally.meet),
        ),
        ("The worst pair of any core: its true probability", lambda tally: f"{tally.worst:.3f}"),
        (
            f"Core items as a share of the oracle's (bar: {100 * BAR_SIZE:g} %)",
            lambda tally: percent(tally.size),
        ),
        ("Weak fraction", lambda tally: f"{tally.weak:.3f}"),
    ]
    for title, text in columns:
        lines = [
            [
                title_of(name),
                *(text(summary.tally("bootstrap", rule, name)) for rule in RULE_TITLES),
            ]
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


def _scheme_table(summary: Summary) -> Iterator[str]:
    yield (
        "The simultaneous rule, m the same. Each cell: share of core pairs that truly meet "
        f"{bar_of(summary) - SLACK:g}, the worst pair, and core items as a share of the oracle's."
    )
    lines = []
    for name in [*summary.designs, None]:
        line = [title_of(name)]
        for scheme in SCHEME_TITLES:
            if not summary.has(name, scheme):
                line.append("")
                continue
            tally = summary.tally(scheme, "simultaneous", name)
            line.append(f"{percent(tally.nearly)}, {tally.worst:.3f}, {percent(tally.size)}")
        lines.append(line)
    yield "\n".join(markdown_grid(["design", *SCHEME_TITLES.values()], lines))
    yield (
        'With `label="all"` every pair is seen in every sample, so the bound is tighter at the '
        "same m; half of the items is a smaller dataset, whose clusterings vary more."
    )


def _oracle_weak(summary: Summary, name: str | None) -> float:
    tally = summary.tally("bootstrap", "paper", name)
    return 1 - tally.n_oracle / tally.n_items


def _picture(pictures: Mapping[str, str], name: str) -> Iterator[str]:
    if name in pictures:
        yield f"![{_CAPTIONS[name]}]({pictures[name]})"
        yield f"*{_CAPTIONS[name]}.*"


def _except(names: list[str]) -> str:
    return f" (not: {'; '.join(title_of(name) for name in names)})" if names else ""


def _verdict(passed: bool) -> str:
    return "reached" if passed else "missed"
