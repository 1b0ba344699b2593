"""Every script of the folder `examples` runs, without a warning, and says what it should."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))

WORDS = {
    "posterior_draws.py": [
        "1000 posterior draws of the allocations of 150 items",
        "core of 50 (50 top)",
        "weak fraction: 0.",
        "1.000 of the cores",
        "posterior probability that two items share a component",
        "at least 0.9",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.name for script in SCRIPTS])
def test_example_runs(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    for words in WORDS.get(script.name, ["core"]):
        assert words in done.stdout


def test_no_example_is_lost():
    assert set(WORDS) <= {script.name for script in SCRIPTS}
