import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans

from coreclust import CoreClustering, LabelEnsemble
from coreclust._sampling.function import ClusteringFunction
from coreclust._sampling.native import BatchEngine
from coreclust._sampling.problem import Problem
from coreclust._sampling.runner import TRIES, label_resamples, report_dropped
from coreclust._utils import progress
from coreclust._utils.seeds import draw_entropy, seeds_of
from coreclust.cluster._native import Batch, NativeOffer
from coreclust.resampling import Bootstrap
from twins import algorithm_3


def run(function, X, n_resamples=20, entropy=0, **kwargs):
    problem = Problem(ClusteringFunction.of(function), X, None, Bootstrap())
    ensemble, errors, *_ = label_resamples(problem, n_resamples, entropy, **kwargs)
    report_dropped(errors, n_resamples)
    return ensemble, len(errors)


def test_the_estimate_is_algorithm_3_loop_by_loop():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    resamples = []

    def f(Z):
        rows = [int(np.flatnonzero((z == X).all(1))[0]) for z in Z]
        labels = (Z[:, 0] > np.median(Z[:, 0])).astype(int) + (Z[:, 1] > Z[:, 1].mean())
        resamples.append((rows, labels))
        return labels

    ensemble, _ = run(f, X, n_resamples=60)
    assert len(resamples) == 60
    expected = algorithm_3(resamples, 12)
    np.testing.assert_allclose(ensemble.cooccurrence_matrix(), expected, rtol=1e-13)


def test_resamples_are_bootstrap_resamples_of_the_data():
    X = np.arange(50)
    drawn = []
    run(lambda Z: drawn.append(Z) or np.zeros(len(Z), int), X, n_resamples=400)
    counts = np.array([np.bincount(Z, minlength=50) for Z in drawn])
    assert (counts.sum(1) == 50).all()
    # 20,000 draws: each item is expected 400 times, with a standard deviation of 20.
    assert (abs(counts.sum(0) - 400) < 100).all()
    # (1 - 1/50)^50 = 0.364 of the items are missing from a resample; standard error 0.003.
    assert abs((counts == 0).mean() - 0.364) < 0.015


@pytest.mark.parametrize(
    "how",
    [
        {"n_jobs": 2},
        {"n_jobs": -1},
        {"per_task": 1},
        {"per_task": 7, "n_jobs": 2},
        {"per_task": 1000},
    ],
)
def test_the_way_of_working_does_not_change_a_bit(blobs, how):
    expected, _ = run(KMeans(4, n_init=1), blobs)
    found, _ = run(KMeans(4, n_init=1), blobs, **how)
    assert found == expected


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_the_backend_does_not_change_a_bit(backend):
    X = np.random.default_rng(0).normal(size=(700, 3))  # several chunks for KMeans' threads
    expected, _ = run(KMeans(4, n_init=1), X)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        found, _ = run(KMeans(4, n_init=1), X)
    assert found == expected


def test_fewer_resamples_are_a_prefix_of_more(blobs):
    few, _ = run(KMeans(4, n_init=1), blobs, n_resamples=7)
    many, _ = run(KMeans(4, n_init=1), blobs, n_resamples=20)
    assert LabelEnsemble(many.labels[:, :7]) == few
    other, _ = run(KMeans(4, n_init=1), blobs, n_resamples=7, entropy=1)
    assert other != few


def test_thread_counts_and_warning_filters_are_as_before(blobs):
    from threadpoolctl import threadpool_info

    before, filters = threadpool_info(), list(warnings.filters)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        run(KMeans(2, n_init=1), blobs, n_resamples=200)
    assert threadpool_info() == before
    assert warnings.filters == filters


def failing(n_failures_for):
    """A function that fails the first times it is called for each resample."""
    calls = []

    def f(Z):
        calls.append(Z)
        if n_failures_for(len(calls) - 1):
            raise ZeroDivisionError("nothing to divide")
        return np.zeros(len(Z), int)

    return f, calls


def test_a_failing_resample_is_drawn_again():
    f, calls = failing(lambda call: call < 4)
    ensemble, n_dropped = run(f, np.arange(30), n_resamples=3)
    assert (ensemble.n_resamples, n_dropped, len(calls)) == (3, 0, 7)
    draws = {tuple(Z) for Z in calls}
    assert len(draws) == 7  # another resample every time
    fifth = Bootstrap().draw(30, seeds_of(0, 0, 2 * 4))
    np.testing.assert_array_equal(calls[4], fifth)


def test_a_resample_that_fails_every_time_is_dropped_and_counted():
    f, calls = failing(lambda call: call < TRIES)
    with pytest.warns(
        RuntimeWarning, match=r"1 of 3 resamples .* ZeroDivisionError: nothing to div"
    ):
        ensemble, n_dropped = run(f, np.arange(30), n_resamples=3)
    assert (ensemble.n_resamples, n_dropped, len(calls)) == (2, 1, TRIES + 2)


def test_more_than_half_dropped_is_an_error():
    f, _ = failing(lambda call: call < 2 * TRIES)
    with pytest.raises(RuntimeError, match=r"2 of 3 resamples .*More than half are lost"):
        run(f, np.arange(30), n_resamples=3)


def test_wrong_labels_on_a_resample_count_as_a_failure():
    f_calls = []

    def f(Z):
        f_calls.append(1)
        return [0] if len(f_calls) == 1 else np.zeros(len(Z), int)

    assert run(f, np.arange(5), n_resamples=2)[1] == 0
    assert len(f_calls) == 3


def test_many_labels_widen_the_type():
    ensemble, _ = run(lambda Z: np.arange(len(Z)), np.arange(400), n_resamples=12)
    assert ensemble.labels.dtype == np.int16
    few, _ = run(lambda Z: np.arange(len(Z)) % 100, np.arange(400), n_resamples=12)
    assert few.labels.dtype == np.int8


def test_entropy_of_all_kinds_of_random_state():
    assert draw_entropy(7) == 7
    assert draw_entropy(None) != draw_entropy(None)
    assert draw_entropy(np.random.RandomState(0)) == draw_entropy(np.random.RandomState(0))
    state = np.random.RandomState(0)
    assert draw_entropy(state) != draw_entropy(state)


class Slow(ClusterMixin, BaseEstimator):
    def fit(self, X, y=None):
        time.sleep(0.05)
        self.labels_ = np.zeros(len(X), int)
        return self


def test_progress_is_shown_only_when_asked_for(blobs, capfd):
    CoreClustering(Slow(), n_resamples=20).fit(blobs)
    assert capfd.readouterr().err == ""
    CoreClustering(Slow(), n_resamples=40, verbose=1).fit(blobs)
    lines = capfd.readouterr().err.splitlines()
    assert re.fullmatch(r"coreclust: \d+/40 resamples(, 0:0\d left)?", lines[0])
    assert lines[-1] == "coreclust: 40/40 resamples, 0:00 left"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown_at(moments, monkeypatch, terminal=None, **how):
    """What a progress bar of 100 steps shows if it is updated at these moments."""
    stream, now = terminal or io.StringIO(), [100.0]
    monkeypatch.setattr(progress.sys, "stderr", stream)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    bar = progress.Progress(100, "resamples", enabled=True, **how)
    for done, moment in moments:
        now[0] = moment
        bar.update(done)
    bar.close()
    return stream.getvalue()


def test_progress_on_a_terminal(monkeypatch):
    moments = [(1, 100.1), (10, 109.1), (50, 4109.1), (100, 4110.0)]
    shown = shown_at(moments, monkeypatch, Terminal())
    assert "1/100" not in shown.split("\r")[0]
    assert "[###...........................] 10/100 resamples, 1:30 left" in shown
    assert "[###############...............] 50/100 resamples, 1:08:11 left" in shown
    assert "] 100/100 resamples, 0:00 left" in shown
    assert shown.endswith("\n")


@pytest.mark.parametrize("done_before", [0, 5])
def test_compilation_does_not_count_into_the_time_left(done_before, monkeypatch):
    """The first ten steps take 40 seconds, which are mostly compilation; the others one second."""
    n = done_before
    moments = [(n + 10, 140.0), (n + 20, 140.1), (n + 30, 142.0), (100, 150.0)]
    shown = shown_at(moments, monkeypatch, done_before=done_before).splitlines()
    assert shown == [
        f"coreclust: {n + 10}/100 resamples",
        f"coreclust: {n + 20}/100 resamples",  # from another thread, which had to wait as well
        f"coreclust: {n + 30}/100 resamples, 0:0{(70 - n) // 10} left",
        "coreclust: 100/100 resamples, 0:00 left",
    ]


SCRIPT = textwrap.dedent(
    """
    import os, sys, time
    import numpy as np
    from coreclust import CoreClustering

    def slow(Z):
        time.sleep(0.05)
        os.write(1, b"working\\n")  # in one piece, also with two processes
        return np.zeros(len(Z), int)

    n_jobs = int(sys.argv[1])
    try:
        CoreClustering(slow, n_resamples=100_000, n_jobs=n_jobs).fit(np.zeros((20, 2)))
    except KeyboardInterrupt as interrupt:
        print("interrupted:", interrupt, flush=True)
        sys.exit(3)
    """
)


def living_members(session):
    """Processes of a session, without those that only wait to be reaped."""
    listed = subprocess.run(
        ["ps", "-o", "stat=,args=", "--sid", str(session)], capture_output=True, text=True
    )
    return [line for line in listed.stdout.splitlines() if not line.startswith("Z")]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="sends POSIX signals and reads ps")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("whole_group", [False, True], ids=["process", "terminal"])
def test_an_interrupt_stops_soon_and_leaves_nothing_running(n_jobs, whole_group):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(n_jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    group = os.getpgid(process.pid)
    try:
        for _ in range(40):  # surely some of them have come back
            assert process.stdout.readline() == "working\n"
        begin = time.monotonic()
        if whole_group:  # what a terminal does on Ctrl-C
            os.killpg(group, signal.SIGINT)
        else:
            os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert time.monotonic() - begin < 5  # half a second on an idle machine
        assert process.returncode == 3, err
        assert re.search(r"Interrupted after [1-9]\d* of 100000 resamples were clustered", out)
        while living_members(group) and time.monotonic() < begin + 10:  # they may be just going
            time.sleep(0.1)
        assert living_members(group) == []
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


def test_an_interrupt_on_the_way_into_a_kernel_is_still_one(blobs):
    """Numba raises a SystemError if it is interrupted while it unpacks the arguments."""

    def interrupted(counts, seeds):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as interrupt:
            raise SystemError("a result with an exception set") from interrupt

    def broken(counts, seeds):
        raise SystemError("of another kind")

    offer = NativeOffer(KMeans)
    with pytest.raises(KeyboardInterrupt, match="Interrupted after 0 of 20 resamples"):
        run(KMeans(3), blobs, engine=BatchEngine(interrupted, offer), n_jobs=1)
    with pytest.raises(SystemError, match="of another kind"):
        run(KMeans(3), blobs, engine=BatchEngine(broken, offer), n_jobs=1)


class FailsSometimes:
    """Clusters by the sign of the first feature; fails if the resample starts above a limit."""

    def __init__(self, limit):
        self.limit = limit

    def __call__(self, Z):
        if Z[0, 0] > self.limit:
            raise ZeroDivisionError("no luck")
        return (Z[:, 0] > 0).astype(int)


@pytest.mark.parametrize("how", [{}, {"n_jobs": 2}, {"n_resamples": "auto", "alpha": 0.5}])
def test_many_resamples_that_are_drawn_again_are_reported(how):
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[0, 0] = -9  # the data as given can be clustered
    settings = {"n_resamples": 100, "random_state": 0, **how}
    function = FailsSometimes(np.quantile(X[:, 0], 0.7))
    with pytest.warns(RuntimeWarning, match="fits to resamples failed") as caught:
        cc = CoreClustering(function, **settings).fit(X)
    (told,) = [str(one.message) for one in caught if "failed" in str(one.message)]
    n_failed, n_tries = map(int, re.match(r"(\d+) of (\d+) fits", told).groups())
    assert n_tries - n_failed == cc.n_resamples_
    assert n_failed / n_tries == pytest.approx(0.3, abs=0.1)
    assert "ZeroDivisionError: no luck." in told


def test_few_resamples_that_are_drawn_again_are_not_reported():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[0, 0] = -9
    CoreClustering(FailsSometimes(np.quantile(X[:, 0], 0.99)), n_resamples=100, random_state=0).fit(
        X
    )


def test_tries_of_compiled_code_are_counted():
    seen = []

    def label(counts, seeds):
        failed = counts[:, 0] == 0
        seen.append(failed)
        return Batch(np.where(counts > 0, 0, LabelEnsemble.ABSENT).astype(np.int32), failed)

    problem = Problem(ClusteringFunction.of(KMeans(1)), np.zeros((20, 1)), None, Bootstrap())
    engine = BatchEngine(label, NativeOffer(owner=KMeans, seeded=False))
    found = label_resamples(problem, 40, 0, engine=engine, n_jobs=1)
    n_failures = sum(int(failed.sum()) for failed in seen)
    assert found.n_redrawn == n_failures - TRIES * len(found.errors) > 5
    assert found.redraw_error == engine.offer.failure
