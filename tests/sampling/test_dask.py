import os
import signal
import sys
import threading
import time

import joblib
import numpy as np
import pytest
from sklearn.cluster import KMeans as SklearnKMeans

from coreclust import CoreClustering
from coreclust.cluster import KMeans
from coreclust.resampling import Bootstrap, Subsample

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed", reason="needs the extra 'dask'")


@pytest.fixture(scope="module")
def client():
    """A scheduler and two worker processes on this machine."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            processes=True,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",  # any free port
            host="127.0.0.1",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def fit(X, estimator, n_resamples=60, **settings):
    settings = {"random_state": 0, "alpha": 0.5} | settings
    return CoreClustering(estimator, n_resamples=n_resamples, **settings).fit(X)


def noted(tmp_path, n_clusters=3):
    """A function that says in which process it ran, and how often it has been sent."""

    class Noted:
        n_sent = 0

        def __getstate__(self):
            Noted.n_sent += 1
            return {}

        def __call__(self, Z, random_state):
            with open(tmp_path / "calls", "a") as file:
                file.write(f"{os.getpid()}\n")
            time.sleep(0.01)
            return SklearnKMeans(n_clusters, n_init=1, random_state=random_state).fit_predict(Z)

    return Noted()


def calls(tmp_path):
    path = tmp_path / "calls"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


@pytest.mark.parametrize("engine", ["auto", "generic"])
@pytest.mark.parametrize("resampling", ["bootstrap", Subsample(0.5, label="all")])
@pytest.mark.parametrize("keep_models", [False, True])
def test_a_cluster_gives_the_same_answer(client, blobs, engine, resampling, keep_models):
    how = {"engine": engine, "resampling": resampling, "keep_models": keep_models}
    expected = fit(blobs, KMeans(3, n_init=2), **how)
    with joblib.parallel_config(backend="dask"):
        found = fit(blobs, KMeans(3, n_init=2), **how)
    assert found.engine_ == expected.engine_
    assert found.ensemble_ == expected.ensemble_
    np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_the_resamples_run_on_the_workers_and_the_data_is_sent_once(client, blobs, tmp_path):
    function = noted(tmp_path)
    with joblib.parallel_config(backend="dask"):
        found = fit(blobs, function, 200)
    workers = set(client.run(os.getpid).values())
    everywhere = calls(tmp_path)
    there = [process for process in everywhere if process != os.getpid()]
    assert len(there) == 200
    assert set(there) == workers
    assert type(function).n_sent < 6  # Dask tries more than one way to pack it, for all 16 tasks
    assert found.ensemble_ == fit(blobs, noted(tmp_path), 200).ensemble_
    # The data as given is clustered here, and so is the trial that shows whether copies matter: all
    # that a fit without Dask clusters beside its resamples.
    n_alone = len(calls(tmp_path)) - len(everywhere)
    assert len(everywhere) - len(there) == n_alone - 200 > 1


def test_batches_run_on_the_workers_too(client, blobs, monkeypatch):
    from coreclust._sampling import runner

    def not_here(*_):
        raise AssertionError("a batch was labeled in this process")

    expected = fit(blobs, KMeans(3), 200)
    not_here.__module__, not_here.__qualname__ = runner.__name__, "_label_batch"  # sent by name
    monkeypatch.setattr(runner, "_label_batch", not_here)
    with joblib.parallel_config(backend="dask"):
        assert fit(blobs, KMeans(3), 200).ensemble_ == expected.ensemble_
    with pytest.raises(AssertionError, match="in this process"):
        fit(blobs, KMeans(3), 200)


def test_nothing_stays_on_the_workers(client, blobs):
    with joblib.parallel_config(backend="dask"):
        fit(blobs, KMeans(3), 200)
        fit(blobs, KMeans(3), "auto")
    deadline = time.monotonic() + 30
    while any(client.has_what().values()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(client.has_what().values())


def test_auto_and_checkpoints_work_on_a_cluster(client, blobs, tmp_path):
    expected = fit(blobs, KMeans(3), "auto")
    path = tmp_path / "run.ccz"
    with joblib.parallel_config(backend="dask"):
        fit(blobs, KMeans(3), 220, checkpoint=path)
        found = fit(blobs, KMeans(3), "auto", checkpoint=path)
    assert found.ensemble_ == expected.ensemble_


@pytest.mark.parametrize("engine", ["auto", "generic"])
def test_the_level_of_new_data_works_on_a_cluster(client, blobs, tmp_path, engine):
    nested = {"guarantee": "new-data", "confidence": 0.5, "engine": engine}
    nested["resampling"] = Bootstrap("all")
    expected = fit(blobs, KMeans(3, n_init=2), 60, **nested)
    path = tmp_path / "run.ccz"
    with joblib.parallel_config(backend="dask"):
        fit(blobs, KMeans(3, n_init=2), 40, checkpoint=path, **nested)
        found = fit(blobs, KMeans(3, n_init=2), 60, checkpoint=path, **nested)
    assert found.ensemble_ == expected.ensemble_
    np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_labels_come_back_in_small_integers_and_few_tasks(client, blobs, tmp_path, monkeypatch):
    from coreclust._sampling.collect import InMemory

    seen = []
    add = InMemory.add
    monkeypatch.setattr(InMemory, "add", lambda self, block: seen.append(block) or add(self, block))
    with joblib.parallel_config(backend="dask"):
        fit(blobs, noted(tmp_path), 200)
    assert {block.labels.dtype for block in seen} == {np.dtype(np.int8)}
    assert len(seen) <= 20  # 12 resamples each


def test_a_dask_array_is_written_to_a_file_and_mapped(client, blobs, tmp_path):
    """For schemes that a dask array itself is refused by."""
    import dask.array

    X = dask.array.from_array(blobs, chunks=(25, 2))
    file = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float64, X.shape)
    dask.array.store(X, file, scheduler="threads")
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert fit(mapped, KMeans(3)).ensemble_ == fit(blobs, KMeans(3)).ensemble_
    with pytest.raises(ValueError, match=r"or pass X\.compute\(\) if that fits into memory"):
        fit(X, KMeans(3))


@pytest.mark.filterwarnings("ignore:.*minutes on one processor")
@pytest.mark.parametrize("scheme", [Subsample(size=40, label="all"), Subsample(0.5, label="all")])
@pytest.mark.parametrize(
    "promise", [{}, {"guarantee": "new-data", "confidence": 0.5}], ids=["estimate", "new-data"]
)
def test_blocks_are_labeled_on_the_workers(client, blobs, scheme, promise):
    import dask.array

    X = dask.array.from_array(blobs, chunks=(25, 2))
    n_resamples = 20 if promise else 60  # of which new data takes 6.4 times as many
    blocked = fit(X, KMeans(3), n_resamples, resampling=scheme, **promise)
    here = fit(blobs, KMeans(3), n_resamples, resampling=scheme, engine="generic", **promise)
    assert blocked.ensemble_ == here.ensemble_


@pytest.mark.skipif(sys.platform != "linux", reason="kills a process")
def test_a_killed_worker_is_survived(client, blobs, tmp_path):
    expected = fit(blobs, noted(tmp_path), 300)
    (tmp_path / "calls").unlink()
    victim = min(client.run(os.getpid).values())

    def kill():
        while calls(tmp_path).count(victim) < 20:
            time.sleep(0.01)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    with joblib.parallel_config(backend="dask"):
        found = fit(blobs, noted(tmp_path), 300)
    killer.join(10)
    assert not killer.is_alive()
    assert victim not in client.run(os.getpid).values()
    assert calls(tmp_path).count(victim) >= 20
    assert found.ensemble_ == expected.ensemble_
    np.testing.assert_array_equal(found.labels_, expected.labels_)
