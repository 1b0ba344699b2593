"""Every script of the folder `examples` runs, without a warning, and says what it should."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

pytestmark = pytest.mark.slow

SCRIPTS = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))

WORDS = {
    "cells.py": ["core clusters, as written into adata.obs", "weak", "of core cells"],
    "classifier.py": ["of 900 digits are in a core", "least certain are in a core: False"],
    "customers.py": ["segments: 3. ", "who is core, by habit", "letters to send: 3"],
    "mixed_customers.py": [
        "encoded: 1",
        "Gower: 1",
        "what to do, by true segment",
        "written to mailing.csv: 1",
    ],
    "patients.py": [
        "of 569 tumors are weak",
        "purity of the cores:    0.9",
        "written to patients-to-examine.csv",
    ],
    "posterior_draws.py": [
        "1000 posterior draws of the allocations of 150 items",
        "core of 50 (50 top)",
        "weak fraction: 0.",
        "1.000 of the cores",
        "posterior probability that two items share a component",
        "at least 0.9",
    ],
    "topics.py": [
        "180 sentences, 4 topics",
        "digits, handwritten",
        "iris, petal",
        "written to topics-to-read.csv",
    ],
    "strings.py": ["core of 14: feddrrico, fedeico, federico", "to look at: escrico, ftderiu"],
}


# Lists for the next step that a script writes, with a column that they have.
LISTS = {
    "mixed_customers.py": ("mailing.csv", "action"),
    "patients.py": ("patients-to-examine.csv", "strength"),
    "topics.py": ("topics-to-read.csv", "sentence"),
}


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.name for script in SCRIPTS])
def test_example_runs(script, tmp_path):
    if script.name == "cells.py":
        pytest.importorskip("scanpy", reason="scanpy, which has the cells, is not installed")
    ignored = []
    if script.name == "topics.py":
        pytest.importorskip("umap", reason="umap-learn is not installed")
        ignored = ["-W", "ignore::ImportWarning"]  # of umap, that Tensorflow is not installed
    done = subprocess.run(
        [sys.executable, "-W", "error", *ignored, str(script)],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    for words in WORDS[script.name]:
        assert words in done.stdout
    if script.name in LISTS:
        name, column = LISTS[script.name]
        rows = pd.read_csv(tmp_path / name)
        assert column in rows.columns
        assert 5 < len(rows) <= 200
    figure = tmp_path / f"{script.stem}.png"  # what the documentation shows
    assert 5_000 < figure.stat().st_size < 100_000


def test_no_example_is_lost():
    assert set(WORDS) == {script.name for script in SCRIPTS}
