"""The prediction for new data in the report."""

import re

import numpy as np
import pandas as pd
import pytest

from coreclust import CoreClustering
from coreclust._inspection.audit import Audit
from coreclust.cluster import KMeans
from coreclust.report import report_html


@pytest.fixture(scope="module")
def fitted(blobs):
    return CoreClustering(KMeans(3), n_resamples=60, random_state=0).fit(blobs)


def made_up(names, shares, errors):
    clusters = pd.DataFrame({"cluster": names, "share": shares, "standard_error": errors})
    alphas = pd.DataFrame(
        {
            "alpha": [0.05, 0.1],
            "share": [0.99, 0.875],
            "standard_error": [0.004, 0.0213],
            "core_fraction": [0.421, 0.8],
        }
    )
    sentences = ["One <b>sentence</b>.", "In cluster 2 it is 75 %."]
    return Audit(0.875, 0.0213, clusters, alphas, 0.97, 0.05, 17, sentences)


def table_of(html, name):
    """Return the rows of a table as texts."""
    body = re.search(rf'<table id="{name}">.*?<tbody>(.*?)</tbody>', html, re.DOTALL)[1]
    rows = [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row, re.DOTALL) for row in body.split("</tr>")]
    return [[re.sub(r"<[^>]*>", "", cell).strip() for cell in row] for row in rows if row]


def test_the_prediction_is_shown_for_each_cluster_and_alpha(fitted, blobs):
    audit = made_up([0, 1, 2], [1.0, np.nan, 0.75], [0.0, np.nan, 0.03])
    html = report_html(fitted, blobs, audit=audit)
    assert "<p>One &lt;b&gt;sentence&lt;/b&gt;. In cluster 2 it is 75 %.</p>" in html
    assert table_of(html, "audit") == [
        ["0", "100.0 %", "0.0 %"],
        ["1", "unknown", "unknown"],
        ["2", "75.0 %", "3.0 %"],
        ["All clusters", "87.5 %", "2.1 %"],
    ]
    assert table_of(html, "audit-alphas") == [
        ["0.05", "99.0 %", "0.4 %", "42.1 %"],
        ["0.1", "87.5 %", "2.1 %", "80.0 %"],
    ]
    assert "17 datasets were drawn" in html
    assert "probability of at least 0.88." in html


def test_a_real_audit_is_shown_by_to_html(fitted, blobs, tmp_path):
    audit = fitted.audit(blobs, n_draws=3)
    fitted.to_html(tmp_path / "report.html", blobs, audit=audit)
    html = (tmp_path / "report.html").read_text("utf-8")
    assert audit.sentences[0] in html
    rows = table_of(html, "audit")
    shares = [*audit.clusters["share"], audit.share]
    assert [row[1] for row in rows] == [f"{100 * share:.1f} %" for share in shares]
    assert len(table_of(html, "audit-alphas")) == len(audit.alphas)


def test_without_an_audit_there_is_no_section(fitted, blobs):
    assert 'id="audit' not in report_html(fitted, blobs)


def test_nothing_known_is_said(blobs):
    """No core has two items, so that nothing can be predicted; the page can still be made."""
    alone = CoreClustering(lambda Z: np.arange(len(Z)), n_resamples=40, random_state=0)
    alone.fit(blobs[:6])
    html = report_html(alone, blobs[:6], audit=alone.audit(blobs[:6], n_draws=2))
    assert "so nothing can be predicted" in html
    assert table_of(html, "audit")[-1] == ["All clusters", "unknown", "unknown"]


def test_an_audit_of_something_else_is_refused(fitted, blobs):
    with pytest.raises(TypeError, match="audit must be what the audit method returns, got bool"):
        report_html(fitted, blobs, audit=True)
    other = made_up([0, 1], [1.0, 1.0], [0.0, 0.0])
    with pytest.raises(ValueError, match="audit must be of the same clusters"):
        report_html(fitted, blobs, audit=other)
    audit = made_up([0, 1, 2], [1.0] * 3, [0.0] * 3)
    with pytest.raises(ValueError, match=r"audit must be of alpha=0\.05, got one of alpha=0\.1;"):
        report_html(fitted.recut(alpha=0.05), blobs, audit=audit)
