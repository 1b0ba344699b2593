"""Renders the report of a fitted estimator as one self-contained HTML file."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coreclust._inspection.confusion import find_confusion
from coreclust._inspection.verdict import explanation, headline
from coreclust._utils.text import shorten
from coreclust.plotting._style import COLORS
from coreclust.report import _content as content
from coreclust.report import _html as html
from coreclust.report import _next_steps as next_steps
from coreclust.report._audit import check_audit
from coreclust.report._figures import draw_figures
from coreclust.report._text import clean

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering

# Lighter than the colors of plots, for the dark color scheme.
_DARK_COLORS = (
    "#4aa3df", "#f07b2e", "#2cc295", "#e39ac2", "#f0b429", "#8fd0f5", "#e8e8e8",
    "#e0647f", "#63c26b", "#d6cf5a", "#a89bff", "#dd82dd", "#c99a6b",
)  # fmt: skip
_SCRIPTS = ("items.js", "charts.js", "print.js", "report.js")


def write_report(
    fitted: CoreClustering,
    path: str | os.PathLike[str],
    X: Any = None,
    *,
    ids: Any = None,
    title: str | None = None,
    positions: Any = None,
    classes: Any = None,
    provenance: Any = None,
    audit: Any = None,
) -> None:
    """Write a report to a file; see :meth:`coreclust.CoreClustering.to_html`.

    Parameters
    ----------
    fitted : CoreClustering
        A fitted estimator.
    path : str or path-like
        The file. It is written completely or not at all.
    X, ids, title, positions, classes, provenance, audit
        As for :meth:`coreclust.CoreClustering.to_html`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> from coreclust.report import write_report
    >>> X = load_iris().data
    >>> cc = CoreClustering(KMeans(3), n_resamples=50, random_state=0).fit(X)
    >>> write_report(cc, Path(mkdtemp()) / "report.html", X)
    """
    html.write_page(
        path,
        lambda: report_html(
            fitted,
            X,
            ids=ids,
            title=title,
            positions=positions,
            classes=classes,
            provenance=provenance,
            audit=audit,
        ),
        "report.html",
    )


def report_html(
    fitted: CoreClustering,
    X: Any = None,
    *,
    ids: Any = None,
    title: str | None = None,
    positions: Any = None,
    classes: Any = None,
    provenance: Any = None,
    audit: Any = None,
) -> str:
    """Return a report as HTML; see :meth:`coreclust.CoreClustering.to_html`.

    Parameters
    ----------
    fitted : CoreClustering
        A fitted estimator.
    X, ids, title, positions, classes, provenance, audit
        As for :meth:`coreclust.CoreClustering.to_html`.

    Returns
    -------
    page : str

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> from coreclust.report import report_html
    >>> X = load_iris().data
    >>> cc = CoreClustering(KMeans(3), n_resamples=50, random_state=0).fit(X)
    >>> report_html(cc, X)[:15]
    '<!doctype html>'
    """
    check_is_fitted(fitted)
    if X is not None and positions is not None:
        raise ValueError("Pass either X, the data, or positions, where to draw the items.")
    html.check_title(title)
    check_audit(fitted, audit)
    names = content.check_ids(fitted, ids)
    given = next_steps.provenance_rows(provenance)
    layout = content.lay_out(fitted, X, positions)
    environment = html.templates("vl_convert")
    items = content.shown_items(fitted)
    path = content.report_path(fitted)
    diagnosis = fitted.diagnose(X)
    data = content.chart_data(fitted, path, layout, names, items)
    data |= {"markers": _MARKERS, "nColors": len(COLORS)}
    possible = [cluster["possible"] for cluster in data["clusters"]]
    listed_core = np.bincount(fitted.labels_[items] + 1, minlength=fitted.n_clusters_ + 1)[1:]
    confusion = find_confusion(fitted, next_steps.MAX_CONFUSED)
    if confusion is not None:
        data["confusion"] = next_steps.confusion_data(confusion)
    n_cut = sum(isinstance(names[i], str) and len(names[i]) > content.MAX_TEXT for i in items)
    bundle, script = _chart_bundle(), _script()
    style = html.asset("report.css") + _palette()
    return environment.get_template("report.html").render(
        title=clean(shorten(title, 120)) if title else "Core clusters",
        headline=clean(headline(fitted)),
        explanation=clean(explanation(fitted)),
        fitted=fitted,
        clusters=content.cluster_rows(fitted),
        possible=possible,
        outside=(items.size - listed_core - possible).tolist(),
        actions=next_steps.action_rows(fitted, diagnosis),
        sections=content.optional_sections(
            fitted, X, audit=audit, confusion=confusion, classes=classes
        ),
        findings=[clean(sentence) for sentence in diagnosis.sentences],
        pairs=content.pair_rows(diagnosis),
        n_pairs=len(diagnosis.pairs),
        alphas=data["alphas"],
        place=data["fitted"],
        layout=layout,
        n_shown=items.size,
        n_cut=n_cut,
        longest=content.MAX_TEXT,
        given=given,
        made=content.how_made(fitted, path),
        figures=draw_figures(fitted, path, layout, items),
        n_colors=len(COLORS),
        markers=_MARKERS,
        data=html.script_data(data),
        style=html.trusted(style),
        bundle=html.trusted(bundle),
        script=html.trusted(script),
        policy=html.policy(style, [bundle, script]),
    )


@cache
def _chart_bundle() -> str:
    """Return Vega as one script, with its interpreter that works without eval."""
    import vl_convert

    code = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    # In a function, so that its names are not global.
    return html.inert(f"(function () {{'use strict';{code}\n}})();")


def _script() -> str:
    """Return our code as one script; its parts share their names."""
    parts = "".join(html.asset(name) for name in _SCRIPTS)
    return f"(function () {{\n'use strict';\n{parts}}})();\n"


def _palette() -> str:
    """Return the colors of clusters as CSS variables."""
    light = "".join(f"--c{place}:{color};" for place, color in enumerate(COLORS))
    dark = "".join(f"--c{place}:{color};" for place, color in enumerate(_DARK_COLORS))
    classes = "".join(f".k{place}{{color:var(--c{place})}}" for place in range(len(COLORS)))
    # The class `light` is set while the page is printed.
    where = "@media screen and (prefers-color-scheme:dark)"
    return f":root{{{light}}}{where}{{:root:not(.light){{{dark}}}}}{classes}\n"


# The markers of plotting._style as SVG paths in a box from -1 to 1.
_MARKERS = (
    "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z",
    "M-0.85,-0.85H0.85V0.85H-0.85Z",
    "M0,-1.1L1.1,0L0,1.1L-1.1,0Z",
    "M0,-1L1,0.85H-1Z",
    "M0,1L1,-0.85H-1Z",
    "M-0.35,-1H0.35V-0.35H1V0.35H0.35V1H-0.35V0.35H-1V-0.35H-0.35Z",
    "M-1,0L0.85,-1V1Z",
    "M1,0L-0.85,-1V1Z",
    "M0,-1L0.87,-0.5V0.5L0,1L-0.87,0.5V-0.5Z",
    "M-0.6,-1L0,-0.45L0.6,-1L1,-0.6L0.45,0L1,0.6L0.6,1L0,0.45L-0.6,1L-1,0.6L-0.45,0L-1,-0.6Z",
)
