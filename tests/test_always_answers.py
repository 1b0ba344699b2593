"""Label matrices that are as unpleasant as we could think of, with the default limits."""

from __future__ import annotations

import signal
import threading
import time
import warnings

import numpy as np
import pytest

from coreclust import LabelEnsemble, core_clusters
from coreclust._utils.constants import ABSENT, NOISE
from coreclust.cores import core_path, find_cores
from coreclust.evidence import CoreRule


def drawn(labels, seed=0, share=0.632):
    """Hide labels at random, as a bootstrap does."""
    seen = np.random.default_rng(seed).random(labels.shape) < share
    return np.where(seen, labels, ABSENT)


def halves(n, m, seed=0):
    """Return labels of two halves, which are together in every second resample."""
    labels = np.zeros((m, n), dtype=np.int16)
    labels[::2, n // 2 :] = 1
    return labels


def alternating(n, m):
    """Return labels of two partitions that cross each other."""
    first, second = np.arange(n) % 2, np.arange(n) // 2 % 2
    return np.array([first if resample % 2 else second for resample in range(m)])


def random_labels(n, m, k, seed=0):
    return np.random.default_rng(seed).integers(0, k, (m, n))


def chain(n, m):
    """Return labels of a line that is cut at another place in every resample."""
    cuts = np.random.default_rng(0).integers(0, n, m)
    return (np.arange(n) >= cuts[:, None]).astype(int)


# name: labels, and the largest core if it is known
NASTY = {
    "constant": (lambda: np.zeros((100, 5000), int), 5000),
    "all absent": (lambda: np.full((100, 3000), ABSENT), 1),
    "all noise": (lambda: np.full((100, 3000), NOISE), 1),
    "every item alone": (lambda: np.tile(np.arange(3000), (100, 1)), 1),
    "two alternating partitions": (lambda: alternating(4000, 100), 1000),
    "two alternating partitions, drawn": (lambda: drawn(alternating(4000, 100)), 1000),
    "random labels": (lambda: random_labels(4000, 100, 8), None),
    "random labels, few resamples": (lambda: random_labels(4000, 12, 3), None),
    "one resample": (lambda: random_labels(3000, 1, 3), None),
    "one item": (lambda: np.zeros((50, 1), int), 1),
    "two items": (lambda: np.zeros((50, 2), int), 2),
    "two items that never meet": (lambda: np.array([[0, ABSENT], [ABSENT, 0]] * 20), 1),
    "a line cut anywhere": (lambda: chain(5000, 200), None),
}
LARGE = {
    "a line cut anywhere, drawn": (lambda: drawn(chain(5000, 200)), None),
    "equal halves of 50,000": (lambda: halves(100_000, 100), 50_000),
    "equal halves of 10,000, drawn": (lambda: drawn(halves(20_000, 100)), 10_000),
    "hardly any pair can pass": (lambda: drawn(np.zeros((12, 300_000), np.int8)), None),
    "random labels of 12,500": (lambda: random_labels(12_500, 100, 8), None),
}


def check(labels, largest):
    ensemble = LabelEnsemble(labels.T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about too few resamples, and about unproven cores
        (core,) = core_clusters(ensemble, np.zeros(ensemble.n_items, int))
    assert 1 <= core.n_core <= core.upper_bound <= max(ensemble.n_items, 1)
    rng = np.random.default_rng(0)
    first, second = rng.choice(core.core, (2, 20_000))
    estimates = ensemble.cooccurrence(first[first != second], second[first != second])
    assert (estimates >= 0.9).all()
    if largest is not None:
        assert core.n_core == core.upper_bound == largest
    return core


@pytest.mark.parametrize("name", NASTY)
def test_a_nasty_matrix_gets_a_valid_core_and_bound(name):
    make, largest = NASTY[name]
    check(make(), largest)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_a_large_nasty_matrix_gets_a_valid_core_and_bound(name):
    make, largest = LARGE[name]
    check(make(), largest)


def test_no_time_gives_a_valid_core_and_bound():
    ensemble = LabelEnsemble(drawn(chain(3000, 200)).T)
    with pytest.warns(UserWarning, match="time_limit"):
        (core,) = core_clusters(ensemble, np.zeros(3000, int), time_limit=0)
    assert (ensemble.cooccurrence_matrix(core.core) >= 0.9).all()
    assert core.upper_bound > core.n_core
    assert core.limited_by == "time_limit"


@pytest.fixture
def interrupted_after():
    """Return a function that raises KeyboardInterrupt after some seconds, as Ctrl-C does."""

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_the_search_wherever_it_is(interrupted_after, n_jobs):
    ensemble = LabelEnsemble(drawn(random_labels(12_000, 100, 2)).T)
    reference = np.arange(12_000) % 3
    with pytest.warns(UserWarning, match="time_limit"):
        core_clusters(ensemble, reference, time_limit=0.1, n_jobs=n_jobs)  # compiles everything
    n_threads = threading.active_count()
    for seconds in np.random.default_rng(0).uniform(0.01, 2, 15):
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the search must be interrupted
            interrupted_after(seconds)
            core_clusters(ensemble, reference, time_limit=None, alpha=0.45, n_jobs=n_jobs)
            time.sleep(4)  # the search was faster
        assert threading.active_count() == n_threads, "a thread of the search goes on"


def test_progress_shows_the_search(capsys, monkeypatch):
    monkeypatch.setattr("coreclust._utils.progress._PATIENCE", 0.0)
    ensemble = LabelEnsemble(np.zeros((40, 30), int))
    find_cores(ensemble, np.arange(40) % 4, CoreRule(), verbose=1)
    assert "4/4 clusters searched for cores" in capsys.readouterr().err
    find_cores(ensemble, np.arange(40) % 4, CoreRule())
    assert capsys.readouterr().err == ""


def test_more_alphas_than_sixteen_bits_can_count():
    labels = np.zeros((3, 40), int)
    labels[2, :20] = 1
    rules = [CoreRule(alpha) for alpha in np.linspace(0, 0.7, 70_000)]
    path = core_path(LabelEnsemble(labels), [0, 0, 0], rules)
    assert [path[place][0].n_core for place in (20_000, 40_000, 60_000, 69_999)] == [2, 2, 3, 3]
