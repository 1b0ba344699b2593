import numpy as np
import pytest
from sklearn.cluster import DBSCAN, KMeans

from coreclust import Core, CoreClustering
from coreclust._inspection.verdict import headline, percent, shorten, verdict
from coreclust.resampling import KnownDistribution, Subsample


@pytest.fixture(scope="module")
def fitted(blobs):
    return CoreClustering(KMeans(3), n_resamples=60, random_state=0).fit(blobs)


def fixed(labels, **parameters):
    """A clustering that gives every item the same label each time."""
    cc = CoreClustering(
        lambda Z: [labels[z] for z in Z], n_resamples=50, random_state=0, **parameters
    )
    return cc.fit(list(range(len(labels))))


def test_numbers_are_those_of_the_fit(fitted):
    weak = fitted.weak_sample_indices_.size
    assert weak > 0
    shares = [1 - core.n_core / core.n_items for core in fitted.cores_]
    worst = fitted.cores_[int(np.argmax(shares))]
    text = verdict(fitted)
    assert f"{round(100 * weak / 60)} % of items are weak" in text
    assert f"{60 - weak} of 60 items are core, {weak} weak." in text
    name = fitted.cluster_names_[worst.label]
    assert f"cluster {name} is the least stable" in headline(fitted)
    assert f"Of the {worst.n_items} items of cluster {name}, {worst.n_weak} are weak." in text
    assert "at least 0.9 in resamples of these data." in text
    assert "at least 0.8" in verdict(fitted.recut(alpha=0.2))
    assert "\n" not in text


def test_nothing_weak_and_no_shaky_cluster():
    text = verdict(fixed(["a", "a", "b", "b"]))
    assert text.startswith("2 clusters; every item is core. Any two")
    assert "shaky" not in text


def test_a_few_weak_items_make_no_cluster_shaky(fitted):
    cut = fitted.recut()
    sizes = (100, 100)
    for n_weak, is_shaky in ((4, False), (5, True)):
        cut.cores_ = [
            Core(code, np.arange(size), np.arange(size - (code == 1) * n_weak), size, np.ones(size))
            for code, size in enumerate(sizes)
        ]
        assert ("cluster 1 is the least stable" in headline(cut)) == is_shaky
        assert ("Of the 100 items" in verdict(cut)) == is_shaky


def test_one_cluster():
    assert headline(fixed(["a", "a"])) == "1 cluster; every item is core"


def test_trimmed_items_are_mentioned(blobs):
    X = np.vstack([blobs, [[50.0, 50.0]]])
    cc = CoreClustering(DBSCAN(eps=1.5), n_resamples=60, random_state=0).fit(X)
    n_trimmed = cc.trimmed_sample_indices_.size
    assert n_trimmed > 0
    assert f"{n_trimmed} trimmed (in no cluster)." in verdict(cc)
    assert "are trimmed" in headline(cc)


def test_no_clusters_at_all():
    assert verdict(fixed([-1, -1, -1])) == "No clusters; all 3 items are trimmed."


def test_what_is_promised_depends_on_the_confidence(fitted):
    assert "estimated" in verdict(fitted)
    simultaneous = verdict(fitted.recut(confidence=0.9, alpha=0.5))
    assert "With 90 % confidence, every two items" in simultaneous
    pair = verdict(fitted.recut(confidence=0.9, alpha=0.5, guarantee="pair"))
    assert "taken by themselves" in pair
    assert "estimated" not in simultaneous + pair


def test_the_verdict_says_what_the_probabilities_are_about(blobs):
    source = KnownDistribution(blobs)
    known = CoreClustering(KMeans(2), n_resamples=20, resampling=source, random_state=0)
    assert "at least 0.9 in data from the known distribution." in verdict(known.fit(blobs[:9]))
    part = CoreClustering(KMeans(3), n_resamples=200, resampling=Subsample(0.7), random_state=0)
    assert (
        "at least 0.97486 in resamples of these data, which corresponds to 0.9 under the bootstrap."
        in verdict(part.fit(blobs))
    )


def test_unproven_cores_are_mentioned():
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=(120, 60))
    cc = fixed([0] * 120)
    cc.ensemble_ = type(cc.ensemble_).from_labels(labels)
    with pytest.warns(UserWarning, match="too little to prove"):
        cut = cc.recut(alpha=0.45, time_limit=0)
    assert "1 of 1 core could not be proven" in verdict(cut)


def test_dropped_resamples_are_mentioned(fitted):
    fitted = fitted.recut()
    fitted.n_dropped_resamples_ = 3
    assert verdict(fitted).endswith("3 resamples that could not be clustered were left out.")


def test_hostile_names_stay_on_one_line_and_short():
    text = verdict(fixed(["x" * 10_000, "x" * 10_000, "a\n\x1b[31mb", "a\n\x1b[31mb"]))
    assert len(text) < 600
    assert text.isprintable()
    assert shorten("a\n\x1b[31mb") == "a  [31mb"
    assert shorten("y" * 30 + "z" * 30) == "y" * 20 + "…" + "z" * 19
    assert shorten("y" * 40) == "y" * 40


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (0.0001, "less than 1 %"),
        (0.0099, "less than 1 %"),
        (0.01, "1 %"),
        (0.99, "99 %"),
        (0.991, "more than 99 %"),
        (1, "100 %"),
    ],
)
def test_percent(share, text):
    assert percent(share) == text
