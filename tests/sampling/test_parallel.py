import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="sends POSIX signals and reads ps"),
]

SCRIPT = textwrap.dedent(
    """
    import os, sys, time
    import joblib
    import numpy as np
    from coreclust import CoreClustering
    from coreclust.resampling import KnownDistribution

    def slow(Z):
        os.write(1, f"{os.getpid()}\\n".encode())
        time.sleep(0.05)
        return np.zeros(len(Z), int)

    X = np.random.default_rng(0).normal(size=(20, 2))
    backend, resampling = sys.argv[1:]
    if resampling == "pairs":
        resampling = KnownDistribution(X)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        CoreClustering(slow, n_resamples=100_000, resampling=resampling).fit(X)
    """
)


def living_members(session):
    """Processes of a session, without those that only wait to be reaped."""
    listed = subprocess.run(
        ["ps", "-o", "stat=,args=", "--sid", str(session)], capture_output=True, text=True
    )
    return [line for line in listed.stdout.splitlines() if not line.startswith("Z")]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(
    ("backend", "resampling"),
    [("loky", "bootstrap"), ("loky", "pairs"), ("multiprocessing", "bootstrap")],
)
def test_workers_end_with_a_process_that_is_killed(how, backend, resampling):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, backend, resampling],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        working = set()
        while len(working) < 3:  # the process itself and two workers
            working.add(int(process.stdout.readline()))
        os.kill(process.pid, how)
        assert process.wait(60) == -how
        deadline = time.monotonic() + 60
        while living_members(process.pid):
            assert time.monotonic() < deadline, living_members(process.pid)
            time.sleep(0.1)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
