import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


def run(*command):
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True
    )


def test_one_command_runs_everything_and_writes_the_page(tmp_path, paper_data, paper_tables):
    pytest.importorskip("scanpy", reason="scanpy is not installed")
    done = run("benchmarks", "--quick", "--data", "../shared", "--out", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "benchmarks.md").read_text()
    _, peers, scale, clusterers, clique, kmeans, cells, first = page.split("\n## ")[1:]

    assert "| coreclust | " in peers
    assert "| plain loop | " in peers
    assert (tmp_path / "images" / "benchmarks.png").read_bytes().startswith(b"\x89PNG")
    assert "PASS  2,000 items: as the dense implementation" in scale
    rows = [line.split() for line in clusterers.split("```")[1].splitlines()[2:]]
    assert [row[1] for row in rows] == ["kmeans", "hclust", "tkmeans", "tclust", "rf", "svm"]
    assert "networkx" in clique
    assert [line.split()[:3] for line in kmeans.split("```")[1].splitlines()[2:]] == [
        ["300", "2", "3"],
        ["300", "50", "3"],
    ]
    assert "ratio" in cells
    name, first_seconds, second_seconds, *_ = first.split("```")[1].splitlines()[2].split()
    assert name == "KMeans"
    assert float(first_seconds) > float(second_seconds)  # the second does not compile
    assert "disagree" not in done.stderr


def test_the_selection_benchmark_runs():
    done = run("benchmarks.selection", "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:]] == [
        ["three-150", "3"],
        ["uniform-150", "1"],
    ]
