"""Records the results of some forty fits, to show that a change of the code does not change them.

``python -m benchmarks.answers record FILE`` writes hashes of the labels. ``compare FILE`` fits
again and prints what differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.cluster import DBSCAN, AgglomerativeClustering, SpectralClustering
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import pairwise_distances
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coreclust import CoreClustering
from coreclust.cluster import HierarchicalClustering, KMeans, TClust, TrimmedKMeans
from coreclust.model_selection import compare_algorithms, select_n_clusters
from coreclust.resampling import (
    Bootstrap,
    KnownDistribution,
    ParametricBootstrap,
    SmoothedBootstrap,
    Subsample,
)

X, y = load_iris(return_X_y=True)
GROUPS = np.repeat(np.arange(50), 3)


def two_groups(n: int, rng: np.random.Generator) -> Any:
    """Draw items of two groups on a line."""
    return rng.normal(size=(n, 1)) + rng.choice([0.0, 4.0], size=(n, 1))


def halves(Z: Any) -> Any:
    """Cluster by thresholds."""
    return (Z[:, 0] > np.median(Z[:, 0])).astype(int) + 2 * (Z[:, 2] > Z[:, 2].mean())


def seeded(Z: Any, random_state: int | None = None) -> Any:
    """Cluster by a function that takes a seed."""
    return SklearnKMeans(3, n_init=1, random_state=random_state).fit_predict(Z)


def hashed(values: Any) -> str:
    """Return a short hash of whole numbers."""
    array = np.ascontiguousarray(np.asarray(values, dtype=np.int64))
    return hashlib.sha256(array.tobytes()).hexdigest()[:16]


def answer(cc: CoreClustering) -> dict[str, Any]:
    """Return all that a fit found, in hashes and small numbers."""
    evidence: Any = cc.ensemble_
    if hasattr(evidence, "labels"):
        labels = evidence.labels
    else:
        labels = np.concatenate([counts.ravel() for counts in evidence.counts])
    return {
        "labels": hashed(cc.labels_),
        "reference": hashed(cc.reference_labels_),
        "ensemble": hashed(labels),
        "cores": [(core.n_core, core.upper_bound) for core in cc.cores_],
        "engine": cc.engine_,
        "resamples": (cc.n_resamples_, cc.n_dropped_resamples_),
        "recut": hashed(cc.recut(alpha=0.2, confidence=0.9).labels_),
        "path": hashed(cc.alpha_path([0.05, 0.1, 0.3]).labels),
    }


def fits() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield names, and functions that fit."""

    def fit(estimator: Any, m: int, data: Any = X, y: Any = None, groups: Any = None, **how: Any):
        cc = CoreClustering(estimator, **({"n_resamples": m, "random_state": 0} | how))
        return answer(cc.fit(data, y, groups=groups))

    distances = pairwise_distances(X)
    line = two_groups(20, np.random.default_rng(0))
    blobs, _ = make_blobs(3000, centers=5, cluster_std=2.2, random_state=0)
    wine = load_wine().data
    sk = partial(SklearnKMeans, 3, n_init=1)
    known = KnownDistribution(two_groups)
    forest = RandomForestClassifier(10)
    model = ParametricBootstrap(GaussianMixture(3, random_state=0).fit(X))
    cases: dict[str, tuple[Any, ...]] = {
        "k-means": (KMeans(3), 300, {}),
        "hierarchical": (HierarchicalClustering(3, linkage="average"), 300, {}),
        "trimmed k-means": (TrimmedKMeans(3), 100, {}),
        "tclust, noise together": (TClust(3), 60, {"noise": "together"}),
        "tclust, noise absent": (TClust(3), 60, {"noise": "absent"}),
        "scikit-learn's k-means": (SklearnKMeans(3, n_init=2), 200, {"confidence": 0.95}),
        "default": (None, 50, {}),
        "agglomerative": (AgglomerativeClustering(3), 200, {}),
        "generic": (sk(), 60, {"engine": "generic"}),
        "generic, weights": (KMeans(3), 60, {"engine": "generic", "n_jobs": 2}),
        "mixture, all": (GaussianMixture(3), 60, {"resampling": Bootstrap("all")}),
        "pairs by themselves": (KMeans(3), 200, {"confidence": 0.9, "guarantee": "pair"}),
        "pipeline": (make_pipeline(StandardScaler(), sk()), 50, {"data": wine}),
        "DBSCAN": (DBSCAN(0.6), 50, {"resampling": Subsample(0.7)}),
        "classifier": (forest, 40, {"y": y}),
        "classifier, out of bag": (forest, 120, {"y": y, "resampling": Bootstrap("oob")}),
        "callable": (halves, 100, {}),
        "callable with a seed": (seeded, 60, {}),
        "distances": (HierarchicalClustering(3, metric="precomputed"), 100, {"data": distances}),
        "affinities": (
            SpectralClustering(3, affinity="precomputed"),
            15,
            {"data": np.exp(-distances)},
        ),
        "groups": (KMeans(3), 100, {"groups": GROUPS}),
        "groups, generic": (
            sk(),
            40,
            {"groups": GROUPS, "engine": "generic", "resampling": Subsample(0.6)},
        ),
        "subsample": (KMeans(3), 100, {"resampling": Subsample(0.6)}),
        "subsample, all": (KMeans(3), 100, {"resampling": Subsample(size=60, label="all")}),
        "out of bag": (KMeans(3), 200, {"resampling": Bootstrap("oob")}),
        "smoothed": (KMeans(3), 60, {"resampling": SmoothedBootstrap(0.2)}),
        "parametric": (sk(), 60, {"resampling": model}),
        "Algorithm 2": (KMeans(2), 60, {"data": line, "resampling": known}),
        "Algorithm 2, generic": (
            SklearnKMeans(2, n_init=1),
            10,
            {"data": line, "resampling": known, "engine": "generic"},
        ),
        "Algorithm 2, noise": (
            TrimmedKMeans(2, trim=0.1, n_init=5),
            20,
            {"data": line, "resampling": known, "noise": "absent"},
        ),
        "auto": (KMeans(3), 0, {"n_resamples": "auto", "confidence": 0.95}),
        "overlapping blobs": (KMeans(5, n_init=3), 100, {"data": blobs}),
        "one cluster too many": (KMeans(6, n_init=1), 100, {"data": blobs[:800]}),
    }
    for name, (estimator, m, how) in cases.items():
        yield name, partial(fit, estimator, m, **how)
    yield "checkpoint, continued", _continued
    yield "dask workers", _on_dask
    yield "predict", _predicted
    yield "select", _selected
    yield "compare", _compared


def _continued() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        how = {"random_state": 0, "checkpoint": Path(folder) / "run.ccz"}
        CoreClustering(KMeans(3), n_resamples=40, **how).fit(X)
        return answer(CoreClustering(KMeans(3), n_resamples=120, **how).fit(X))


def _on_dask() -> Any:
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    scheme = Subsample(size=60, label="all")
    blocks = CoreClustering(KMeans(3), n_resamples=40, resampling=scheme, random_state=0)
    sklearn_kmeans = SklearnKMeans(3, n_init=1)
    generic = CoreClustering(sklearn_kmeans, n_resamples=40, engine="generic", random_state=0)
    local = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with local, Client(local), joblib.parallel_config("dask"):
        found = answer(generic.fit(X))
    return [answer(blocks.fit(da.from_array(X, chunks=(40, 4)))), found]


def _predicted() -> Any:
    models = [KMeans(3), GaussianMixture(3)]
    how = {"n_resamples": 60, "keep_models": True, "random_state": 0}
    return [hashed(CoreClustering(e, **how).fit(X[::2]).predict(X[1::2])) for e in models]


def _selected() -> Any:
    number = select_n_clusters(None, X, range(2, 5), n_resamples=40, n_nulls=4, random_state=0)
    return [number.n_clusters, number.gain.round(12).tolist(), number.p_value.round(12).tolist()]


def _compared() -> Any:
    found = compare_algorithms(
        X, ["kmeans", "hclust"], n_clusters=3, n_resamples=40, random_state=0
    )
    return found.agreement.round(12).tolist()


def main() -> int:
    """Record or compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers", description=__doc__)
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    before = json.loads(arguments.file.read_text()) if arguments.what == "compare" else {}
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, run in fits():
            found[name] = json.loads(json.dumps(run()))
            same = name not in before or before[name] == found[name]
            print(f"{name}: {'same' if same and before else 'recorded' if same else 'DIFFERENT'}")
    if arguments.what == "record":
        arguments.file.write_text(json.dumps(found, indent=1))
        return 0
    different = [name for name in before if before[name] != found.get(name)]
    print(f"{len(before) - len(different)} of {len(before)} results are the same.")
    return 1 if different else 0


if __name__ == "__main__":
    raise SystemExit(main())
