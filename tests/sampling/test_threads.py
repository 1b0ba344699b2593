import itertools
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from coreclust import CoreClustering
from coreclust._sampling.threads import one_thread_in_worker


def blas_threads():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


def set_blas_threads(limits):
    """Set the count from a thread that ends, so that no thread is in charge of it afterwards."""
    thread = threading.Thread(target=threadpool_limits, args=(limits, "blas"))
    thread.start()
    thread.join()


@pytest.fixture(params=["of the main thread", "of no thread"])
def two_blas_threads(request):
    if request.param == "of the main thread":  # which may then ignore other threads
        with threadpool_limits(limits=2, user_api="blas"):
            yield
        return
    before = threadpool_info()
    set_blas_threads(2)
    yield
    set_blas_threads(before)


def waits_in_the_first_resample(here, other, seen=None):
    """A clustering function that says `here` and waits for `other`."""
    calls = itertools.count()

    def label(Z):
        if next(calls) == 1:  # call 0 is for the data as given
            here.set()
            assert other.wait(60)
            if seen is not None:
                seen.update(blas_threads())
        return (Z[:, 0] > 5).astype(int)

    return label


def test_fits_that_overlap_in_threads_leave_blas_as_it_was(blobs, two_blas_threads):
    first_runs, second_runs, first_is_done = (threading.Event() for _ in range(3))
    seen, fitted = set(), []

    def fit(function, after=None, done=None):
        assert after is None or after.wait(60)
        cc = CoreClustering(function, alpha=0.5, n_resamples=20, random_state=0)
        fitted.append(cc.fit(blobs).labels_)
        if done is not None:
            done.set()

    first = waits_in_the_first_resample(first_runs, second_runs)
    second = waits_in_the_first_resample(second_runs, first_is_done, seen)
    threads = [
        threading.Thread(target=fit, args=(first, None, first_is_done)),
        threading.Thread(target=fit, args=(second, first_runs)),
    ]
    assert blas_threads() == {2}
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert blas_threads() == {2}
    assert seen == {1}  # in the second fit, after the first one has ended
    np.testing.assert_array_equal(*fitted)


def test_a_thread_of_a_worker_leaves_blas_alone():
    """It would restore a count that others have changed meanwhile."""
    begun, changed = threading.Event(), threading.Event()

    def work():
        with one_thread_in_worker():
            begun.set()
            assert changed.wait(60)

    before = blas_threads()
    with threadpool_limits(limits=3, user_api="blas"):
        thread = threading.Thread(target=work)
        thread.start()
        assert begun.wait(60)
    changed.set()
    thread.join()
    assert blas_threads() == before != {3}
