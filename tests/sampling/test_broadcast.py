import asyncio
import os
import signal
import sys
import threading
import time
from concurrent.futures import CancelledError

import joblib
import pytest
from sklearn.cluster import KMeans as SklearnKMeans

from coreclust import CoreClustering
from coreclust._sampling import broadcast
from coreclust.cluster import KMeans

distributed = pytest.importorskip("distributed", reason="needs the extra 'dask'")


def cluster(**settings):
    return distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",  # any free port
        **settings,
    )


@pytest.fixture(scope="module")
def client():
    """A scheduler and two workers in this process."""
    with cluster(processes=False) as local, distributed.Client(local) as client:
        yield client


@pytest.fixture
def attempts(client, monkeypatch):
    """What happens at the first attempts to send: errors, or None for no answer at all."""
    scatter, planned, made = client.scatter, [], []

    def scripted(*args, **how):
        made.append(args)
        if len(made) > len(planned):
            return scatter(*args, **how)
        if planned[len(made) - 1] is None:
            return asyncio.sleep(1e6)
        raise planned[len(made) - 1]

    monkeypatch.setattr(client, "scatter", scripted)
    monkeypatch.setattr(broadcast, "_PAUSE", 0.0)
    return planned, made


def fit(X, estimator=None, n_resamples=60):
    estimator = KMeans(3, n_init=2) if estimator is None else estimator
    cc = CoreClustering(estimator, n_resamples=n_resamples, alpha=0.5, random_state=0)
    return cc.fit(X)


def closed():
    return distributed.comm.CommClosedError("a worker is gone.")


@pytest.mark.parametrize("error", [closed(), KeyError("tcp://a:1"), CancelledError(), None])
def test_data_is_sent_again_after_a_failure(attempts, blobs, monkeypatch, error):
    if error is None:
        monkeypatch.setattr(broadcast, "_SECONDS", 1.0)
    planned, made = attempts
    planned += [error, error]
    with joblib.parallel_config(backend="dask"):
        found = fit(blobs)
    assert len(made) >= 3
    assert found.ensemble_ == fit(blobs).ensemble_


def test_the_number_of_tries_is_limited(attempts, blobs):
    planned, made = attempts
    planned += [closed()] * 100
    told = (
        r"^The data could not be sent to the workers of the Dask cluster in 5 tries; the last "
        r"error was CommClosedError: a worker is gone\. Check that the workers stay alive and"
    )
    with joblib.parallel_config(backend="dask"), pytest.raises(RuntimeError, match=told):
        fit(blobs)
    assert len(made) == 5


def test_what_no_other_try_can_mend_is_raised_at_once(attempts, blobs):
    planned, made = attempts
    planned += [TypeError("cannot pickle this")]
    with joblib.parallel_config(backend="dask"), pytest.raises(TypeError, match="cannot pickle"):
        fit(blobs)
    assert len(made) == 1


def test_all_workers_get_the_data(client, blobs):
    sent = broadcast._send(client, blobs)
    (holders,) = client.who_has([sent]).values()
    assert set(holders) == set(client.nthreads())


def arriving_slowly(folder):
    """A clustering function that notes in which process it arrives, and takes a second for it."""
    home = os.getpid()

    class Slow:
        def __getstate__(self):
            return folder, home

        def __setstate__(self, state):
            folder, home = state
            if os.getpid() != home:
                with open(folder / "arrivals", "a") as file:
                    file.write(f"{os.getpid()}\n")
                time.sleep(1)

        def __call__(self, Z, random_state):
            return SklearnKMeans(3, n_init=1, random_state=random_state).fit_predict(Z)

    return Slow()


def kill_at_arrivals(folder, which, killed, stop):
    """Kill the processes in which the function arrives, at these arrivals."""
    path = folder / "arrivals"
    for place in which:
        while not stop.is_set():
            arrived = path.read_text().split() if path.exists() else []
            if len(arrived) > place:
                os.kill(int(arrived[place]), signal.SIGKILL)
                killed.append(place)
                break
            time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="kills processes")
@pytest.mark.parametrize("which", [[0], [1], [0, 1], [0, 1, 2]])
def test_workers_that_die_while_the_data_is_sent_are_survived(blobs, tmp_path, which):
    killed, stop = [], threading.Event()
    killer = threading.Thread(target=kill_at_arrivals, args=(tmp_path, which, killed, stop))
    with cluster(processes=True, host="127.0.0.1") as local, distributed.Client(local):
        killer.start()
        try:
            with joblib.parallel_config(backend="dask"):
                found = fit(blobs, arriving_slowly(tmp_path), 200)
        finally:
            stop.set()
            killer.join()
    assert killed == which
    assert found.ensemble_ == fit(blobs, arriving_slowly(tmp_path), 200).ensemble_
