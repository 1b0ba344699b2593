import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.ensemble import RandomForestClassifier

from coreclust import CoreClustering, LabelEnsemble, core_clusters
from coreclust._checkpoint import folder as checkpoint
from coreclust._sampling import function as functions
from coreclust.cluster import KMeans
from coreclust.resampling import Bootstrap, Subsample

pytestmark = pytest.mark.slow


@pytest.fixture
def mapped(tmp_path, blobs):
    """The blobs, in a file that is not read into memory."""
    np.save(tmp_path / "X.npy", blobs)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


def fit(X, estimator=None, y=None, **settings):
    settings = {"n_resamples": 40, "random_state": 0} | settings
    estimator = KMeans(3, n_init=2) if estimator is None else estimator
    return CoreClustering(estimator, **settings).fit(X, y)


@pytest.mark.parametrize("engine", ["auto", "generic"])
@pytest.mark.parametrize("resampling", ["bootstrap", Subsample(size=30, label="all")])
def test_mapped_data_gives_the_same_answer(blobs, mapped, engine, resampling):
    expected = fit(blobs, engine=engine, resampling=resampling)
    found = fit(mapped, engine=engine, resampling=resampling)
    assert found.ensemble_ == expected.ensemble_
    np.testing.assert_array_equal(found.labels_, expected.labels_)


@pytest.mark.parametrize("wrapped", [False, True])
def test_the_function_is_given_the_file_itself(mapped, wrapped):
    given = []

    class Watching(SklearnKMeans):
        def fit(self, X, y=None, sample_weight=None):
            given.append(X)
            return super().fit(X, y, sample_weight)

    def watching(Z):
        given.append(Z)
        return (Z[:, 0] > 1).astype(int)

    fit(mapped, watching if wrapped else Watching(3), n_resamples=20)
    assert np.shares_memory(given[0], mapped)
    assert not np.shares_memory(given[1], mapped)


def test_a_file_open_for_writing_is_not_handed_on(tmp_path, blobs):
    np.save(tmp_path / "X.npy", blobs)
    X = np.load(tmp_path / "X.npy", mmap_mode="r+")

    def scribbling(Z):
        Z[:] = 0
        return np.zeros(len(Z), int)

    fit(X, scribbling, n_resamples=20)
    np.testing.assert_array_equal(np.load(tmp_path / "X.npy"), blobs)


@pytest.mark.parametrize("label", ["all", "oob"])
@pytest.mark.parametrize("block", [1, 7, 60])
def test_predicting_in_blocks_changes_nothing(blobs, monkeypatch, label, block):
    y = np.repeat([0, 1, 2], 20)
    forest = RandomForestClassifier(5)
    how = {"resampling": Bootstrap(label), "alpha": 0.3, "engine": "generic"}
    expected = fit(blobs, forest, y, **how)
    sizes = []
    predict = RandomForestClassifier.predict

    def watched(self, X):
        sizes.append(len(X))
        return predict(self, X)

    monkeypatch.setattr(functions, "_ITEMS_PER_BLOCK", block)
    monkeypatch.setattr(RandomForestClassifier, "predict", watched)
    found = fit(blobs, forest, y, **how)
    assert found.ensemble_ == expected.ensemble_
    assert max(sizes[1:]) <= block  # the first is the data as given


@pytest.fixture
def on_disk(tmp_path, blobs, monkeypatch):
    """A fit that leaves its labels on the disk, and the same in memory."""
    monkeypatch.setattr(checkpoint, "LARGE", 1000)
    cc = fit(blobs, checkpoint=tmp_path / "run.ccz")
    assert isinstance(cc.ensemble_.labels, np.memmap)
    return cc, fit(blobs)


def test_labels_on_the_disk_answer_like_others(on_disk, blobs, tmp_path):
    cc, expected = on_disk
    ensemble = cc.ensemble_
    assert not ensemble.labels.flags.writeable
    assert ensemble == expected.ensemble_
    assert np.load(tmp_path / "run.ccz" / "labels.npy").tolist() == ensemble.labels.tolist()
    assert cc.summary().equals(expected.summary())
    assert cc.item_table().equals(expected.item_table())
    assert cc.cooccurrence(0, 1) == expected.cooccurrence(0, 1)
    recut = cc.recut(alpha=0.4)
    np.testing.assert_array_equal(recut.labels_, expected.recut(alpha=0.4).labels_)
    cores = core_clusters(ensemble, cc.reference_labels_, alpha=0.2)
    assert [core.n_items for core in cores] == [core.n_items for core in cc.cores_]


def test_labels_on_the_disk_can_be_saved_merged_and_pickled(on_disk, tmp_path):
    cc, expected = on_disk
    cc.ensemble_.save(tmp_path / "labels.npz")
    assert LabelEnsemble.load(tmp_path / "labels.npz") == expected.ensemble_
    assert cc.ensemble_.merge(expected.ensemble_).n_resamples == 80
    copy = pickle.loads(pickle.dumps(cc))  # noqa: S301 - our own
    assert copy.ensemble_ == expected.ensemble_


def test_labels_on_the_disk_outlive_the_next_run(on_disk, blobs, tmp_path):
    cc, expected = on_disk
    longer = fit(blobs, n_resamples=70, checkpoint=tmp_path / "run.ccz")
    assert longer.ensemble_ == fit(blobs, n_resamples=70).ensemble_
    assert cc.ensemble_ == expected.ensemble_  # still the file that it was


MEMORY = textwrap.dedent(
    """
    import sys, threading, time
    import numpy as np
    from sklearn.cluster import MiniBatchKMeans
    from coreclust import core_clustering
    from coreclust._checkpoint import folder as checkpoint
    from coreclust.cluster import KMeans
    from coreclust.core_clustering import CoreClustering
    from coreclust._sampling.function import ClusteringFunction
    from coreclust.resampling import Subsample

    def anonymous():  # what the process holds that is not a copy of a file, in MB
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) / 1024

    def watch():
        while not done.is_set():
            peak[0] = max(peak[0], anonymous())
            time.sleep(0.002)

    # The cores themselves are measured elsewhere.
    core_clustering.find_cores = lambda *_, **__: []
    engine, data, folder = sys.argv[1:]
    estimator = KMeans(2, n_init=1, max_iter=5) if engine == "auto" else MiniBatchKMeans(
        2, n_init=1, max_iter=5, batch_size=1024)
    how = {"resampling": Subsample(size=500, label="all"), "engine": engine, "random_state": 0,
           "n_jobs": 1}
    checkpoint.LARGE, checkpoint._MOST_WAITING = 1 << 20, 1 << 22
    X = np.load(data, mmap_mode="r")
    CoreClustering(estimator, n_resamples=5, checkpoint=folder + "1", **how).fit(X[:70_000])
    done, peak = threading.Event(), [0.0]
    before = anonymous()
    watcher = threading.Thread(target=watch)
    watcher.start()
    cc = CoreClustering(estimator, n_resamples=150, checkpoint=folder + "2", **how).fit(X)
    done.set()
    watcher.join()
    assert isinstance(cc.ensemble_.labels, np.memmap)
    print(X.nbytes / 2**20, cc.ensemble_.labels.nbytes / 2**20, peak[0] - before)
    """
)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("engine", ["auto", "generic"])
def test_neither_data_nor_labels_are_held_in_memory(tmp_path, engine):
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float64, (400_000, 16))
    for block in np.array_split(X, 20):
        block[:] = rng.normal(size=block.shape) + 5 * rng.integers(2, size=(len(block), 1))
    X.flush()
    found = subprocess.run(
        [sys.executable, "-c", MEMORY, engine, tmp_path / "X.npy", tmp_path / "run"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONWARNINGS": "default"},
    )
    assert found.returncode == 0, found.stderr
    data, labels, peak = map(float, found.stdout.split())
    assert data > 48
    assert labels > 57
    assert peak < 40  # some resamples, the reference clustering being one of them
