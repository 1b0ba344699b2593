import subprocess
import sys
from pathlib import Path


def test_the_clique_benchmark_agrees_with_its_peers():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.clique", "--quick"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "networkx" in done.stdout
    assert "disagree" not in done.stderr
