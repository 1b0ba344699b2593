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


def test_the_clusterer_benchmark_runs(paper_data, paper_tables):
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.clusterers", "--data", "../shared", "--quick"],
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[1] for line in done.stdout.splitlines()[1:]] == [
        "kmeans",
        "hclust",
        "tkmeans",
        "tclust",
    ]


def test_the_scale_benchmark_agrees_with_the_dense_implementation():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", "--quick", "--sizes", "2000"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS  2,000 items: as the dense implementation" in done.stdout


def test_the_selection_benchmark_runs():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.selection", "--quick"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:]] == [
        ["three-150", "3"],
        ["uniform-150", "1"],
    ]
