import numpy as np
import pytest
import sklearn
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coreclust import CoreClustering
from coreclust._inspection.verdict import verdict


@pytest.fixture(scope="module")
def fitted(blobs):
    return CoreClustering(KMeans(3), n_resamples=60, random_state=0).fit(blobs)


def test_unfitted_it_looks_as_estimators_do():
    cc = CoreClustering(KMeans(3), alpha=0.2)
    assert repr(cc) == "CoreClustering(alpha=0.2, estimator=KMeans(n_clusters=3))"
    assert "sk-top-container" in cc._repr_html_()
    assert "weak" not in cc._repr_html_().split("<style>")[0]


def test_fitted_it_shows_the_verdict_and_the_clusters(fitted):
    settings, *rest = repr(fitted).splitlines()
    assert settings.startswith("CoreClustering(estimator=KMeans(n_clusters=3)")
    gap = rest.index("")
    assert " ".join(rest[:gap]) == verdict(fitted)
    head, *rows = rest[gap + 1 :]
    assert head.split() == ["cluster", "items", "core", "weak", "weak", "fraction"]
    assert len({len(row) for row in [head, *rows]}) == 1
    for core, row in zip(fitted.cores_, rows, strict=True):
        counts = [core.label, core.n_items, core.n_core, core.weak.size]
        assert row.split()[:4] == [str(count) for count in counts]


def test_a_notebook_gets_a_table_and_the_diagram(fitted):
    page = fitted._repr_html_()
    assert verdict(fitted) in page
    assert page.count('<th scope="row">') == 3
    assert "sk-top-container" in page
    bundle = fitted._repr_mimebundle_()
    assert bundle["text/html"] == page or "sk-top-container" in bundle["text/html"]
    assert bundle["text/plain"] == repr(fitted)


def test_without_diagrams_there_is_only_text(fitted):
    with sklearn.config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert set(fitted._repr_mimebundle_()) == {"text/plain"}


def test_inside_a_pipeline_it_keeps_to_its_settings(fitted):
    assert "shaky" not in repr(make_pipeline(StandardScaler(), fitted))


def test_hostile_names_are_only_text(blobs):
    names = np.array(["<script>alert(1)</script>", 'x" onmouseover="alert(2)', "ok\n\x1b[31m"])
    labels = names[np.arange(60) % 3]
    cc = CoreClustering(lambda Z: labels[Z[:, 0].astype(int)], n_resamples=40, random_state=0)
    cc.fit(np.arange(60)[:, None])
    page = cc._repr_html_()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert '" onmouseover="' not in page
    assert "\x1b" not in repr(cc)


def test_many_clusters_are_cut(fitted):
    cut = fitted.recut()
    cut.cores_ = cut.cores_ * 10
    assert repr(cut).endswith("and 10 more: summary() has all of them")
    assert cut._repr_html_().count('<th scope="row">') == 20
