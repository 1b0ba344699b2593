"""Every script of the folder `examples` runs, without a warning, and says what it should."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPTS = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))

WORDS = {
    "cells.py": ["core clusters, as written into adata.obs", "weak", "of core cells"],
    "classifier.py": ["of 900 digits are in a core", "least certain are in a core: False"],
    "customers.py": ["segments: 3. ", "who is core, by habit", "letters to send: 3"],
    "patients.py": ["of 569 tumours are weak points", "purity of the cores:    0.9"],
    "posterior_draws.py": [
        "1000 posterior draws of the allocations of 150 items",
        "core of 50 (50 top)",
        "weak fraction: 0.",
        "1.000 of the cores",
        "posterior probability that two items share a component",
        "at least 0.9",
    ],
    "strings.py": ["core of 14: feddrrico, fedeico, federico", "to look at: escrico, ftderiu"],
}


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.name for script in SCRIPTS])
def test_example_runs(script, tmp_path):
    if script.name == "cells.py":
        pytest.importorskip("scanpy", reason="scanpy, which has the cells, is not installed")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    for words in WORDS[script.name]:
        assert words in done.stdout
    figure = tmp_path / f"{script.stem}.png"  # what the documentation shows
    assert 5_000 < figure.stat().st_size < 100_000


def test_no_example_is_lost():
    assert set(WORDS) == {script.name for script in SCRIPTS}
