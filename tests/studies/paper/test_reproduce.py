"""Tests of runs that are interrupted and continued, and of the command line."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from studies.data import load_paper_dataset
from studies.paper import reproduce as module
from studies.paper.cells import Cell, Results, run_cell
from studies.paper.plan import Plan
from studies.paper.reproduce import Datasets, reproduce, stored_result

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
DATA = Path(__file__).parents[4] / "shared" / "data"
ALWAYS_THERE = ("synthetic", "iris", "wine")


def made_up(cell):
    """A result with the right shape: everything core but the first item."""
    n_items = len(load_paper_dataset(cell.dataset, download=False).data)
    reference = (np.arange(n_items) % 2).tolist()
    cut = {"purity_core": 0.5, "weak_fraction": 0.5, "labels": [-1, *reference[1:]]}
    return {
        **asdict(cell),
        "alpha": 0.1,
        "purity_original": 0.5,
        "reference": reference,
        "noise": {"together": cut, "apart": cut},
        "optimal": True,
        "n_dropped": 0,
        "seconds": 0.5,
        "versions": {"python": "3.11"},
    }


@pytest.fixture
def runs(monkeypatch):
    """Cells that are run, each with a made-up result; no folder with data."""
    monkeypatch.delenv("CORECLUST_DATA", raising=False)
    seen = []

    def run(cell, *, data_home, download, verbose):
        assert (data_home, download, verbose) == (None, False, 0)
        seen.append(cell)
        return made_up(cell)

    monkeypatch.setattr(module, "run_cell", run)
    monkeypatch.setattr(module, "warm_up", lambda algorithm: None)
    return seen


def test_finished_cells_are_not_run_again(runs, tmp_path, capsys):
    first = reproduce((4,), (), out=tmp_path, download=False, verbose=1)
    assert len(runs) == 18
    assert {cell.dataset for cell in runs} == set(ALWAYS_THERE)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 42
    assert lines[0] == "[1/42] synthetic hclust (bootstrap, m = 1000) … 0.5 s"
    before = [path.read_bytes() for path in first.files]
    second = reproduce((4, 5), (), out=tmp_path, download=False)
    assert len(runs) == 18
    assert capsys.readouterr().err == ""
    assert [path.read_bytes() for path in second.files[:2]] == before


def test_quick_runs_have_cells_of_their_own(runs, tmp_path):
    reproduce((4,), (), out=tmp_path, download=False)
    full = len(runs)
    reproduce((4,), (), quick=True, out=tmp_path, download=False)
    assert len(runs) == full + 18
    reproduce((4,), (), out=tmp_path, download=False, seed=1)
    assert len(runs) == full + 18 + full


def test_an_interrupted_run_keeps_what_is_finished(runs, tmp_path, monkeypatch):
    def interrupted(cell, **options):
        if len(runs) == 5:
            raise KeyboardInterrupt
        runs.append(cell)
        return made_up(cell)

    working = module.run_cell
    monkeypatch.setattr(module, "run_cell", interrupted)
    with pytest.raises(KeyboardInterrupt, match=r"5 of 42 cells are finished and kept in .*cells"):
        reproduce((4,), (), out=tmp_path, download=False)
    assert len(list((tmp_path / "cells").iterdir())) == 5
    monkeypatch.setattr(module, "run_cell", working)
    reproduce((4,), (), out=tmp_path, download=False)
    assert len(runs) == len(set(runs)) == 18


@pytest.mark.parametrize("content", ["", '{"dataset": "iris"', "[]", "null", "{}", "other", "cut"])
def test_a_damaged_cell_is_run_again(runs, tmp_path, content):
    cell = Cell("synthetic", "kmeans", "bootstrap", 1000)
    reproduce((), (1,), out=tmp_path, download=False)
    path = tmp_path / "cells" / cell.file_name
    good = json.loads(path.read_text())
    if content == "other":
        content = json.dumps(good | {"seed": 5})
    elif content == "cut":
        content = json.dumps(good | {"noise": {"together": good["noise"]["together"]}})
    path.write_text(content)
    reproduce((), (1,), out=tmp_path, download=False)
    assert runs == [cell, cell]
    assert json.loads(path.read_text()) == good


def test_a_cell_that_fails_does_not_stop_the_others(runs, tmp_path, monkeypatch, capsys):
    def failing(cell, **options):
        if cell.algorithm == "tclust":
            raise RuntimeError("More than half are lost.")
        return made_up(cell)

    monkeypatch.setattr(module, "run_cell", failing)
    outcome = reproduce((), (2,), out=tmp_path, download=False, verbose=1)
    assert "failed: More than half are lost." in capsys.readouterr().err
    assert "synthetic tclust (bootstrap, m = 1000), which failed" in outcome.left_out
    assert (tmp_path / "images" / "figure2.png").exists()


def test_what_is_left_out_is_one_sentence(runs, tmp_path):
    outcome = reproduce(quick=True, out=tmp_path, download=False)
    assert outcome.left_out == (
        "Left out: glass, BCW and KDD, whose data was not found (put glass.csv, bcw.csv and "
        "kdd.csv.gz into a folder and name it with --data or CORECLUST_DATA, or drop "
        "--offline); yeast and most of Algorithm 2, which --quick skips (run without it)."
    )
    assert outcome.left_out in (tmp_path / "reproduction.md").read_text()
    assert reproduce((), (1,), out=tmp_path, download=False).left_out == ""


def test_a_page_only_with_everything(runs, tmp_path):
    reproduce((1, 2), (1,), quick=True, out=tmp_path, download=False)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"cells", "images", "table1.csv", "table1.md", "table2.csv", "table2.md"}
    reproduce(quick=True, out=tmp_path, download=False)
    page = (tmp_path / "reproduction.md").read_text()
    for line in page.splitlines():
        if line.startswith("!["):
            assert (tmp_path / line.partition("](")[2].rstrip(")")).exists()
    assert str(tmp_path) not in page


def test_only_the_generated_blocks_of_a_page_change(runs, tmp_path):
    docs = ROOT / "docs" / "reproduction.md"
    page = tmp_path / "page.md"
    page.write_text(docs.read_text())
    before = re.split(r"(?m)^<!-- (?:generated: .*|end) -->$", docs.read_text())
    outcome = reproduce((1,), (1,), out=tmp_path / "out", page=page, download=False)
    after = re.split(r"(?m)^<!-- (?:generated: .*|end) -->$", page.read_text())
    changed = [place for place, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    table = next(place for place, text in enumerate(before) if "**Table 1." in text)
    assert set(changed) <= {table, next(i for i, text in enumerate(before) if "(images/" in text)}
    assert table in changed  # only three of the seven datasets are here
    assert outcome.files[-1] == page
    assert (tmp_path / "images" / "figure1.png").exists()
    assert not (tmp_path / "images" / "figure1.svg").exists()


def test_a_page_without_the_block_is_refused_before_any_run(runs, tmp_path):
    (tmp_path / "page.md").write_text("<!-- generated: table 4 -->\n<!-- end -->\n")
    with pytest.raises(ValueError, match="must have the line <!-- generated: table 3 --> exactly"):
        reproduce((3,), (), out=tmp_path / "out", page=tmp_path / "page.md", download=False)
    assert runs == []
    assert not (tmp_path / "out").exists()


def test_pages_of_two_runs_are_the_same(runs, tmp_path):
    for name in ("one", "two"):
        reproduce(quick=True, out=tmp_path / name, download=False)
    for path in (tmp_path / "one").rglob("*.*"):
        assert (
            path.read_bytes()
            == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()
        )


def test_without_matplotlib_there_are_no_figures(runs, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    outcome = reproduce((1,), (1,), out=tmp_path, download=False)
    assert (
        "the figures, as matplotlib is missing (pip install 'coreclust[plot]')" in outcome.left_out
    )
    assert not (tmp_path / "images").exists()


def test_a_missing_population_leaves_the_bootstrap_alone(tmp_path):
    if not DATA.is_dir():
        pytest.skip("the folder with the paper's datasets is not here")
    shutil.copy(DATA / "kdd_sample200.csv", tmp_path)
    datasets = Datasets(tmp_path, download=False)
    assert datasets.has(Cell("kdd", "hclust", "bootstrap", 10))
    assert not datasets.has(Cell("kdd", "hclust", "known", 10))
    assert set(datasets.missing) == {"kdd population"}


def test_a_file_that_is_not_the_dataset_is_an_error(tmp_path):
    (tmp_path / "glass.csv").write_text("a,b\n1,2\n")
    with pytest.raises(OSError, match=r"glass.*replace the file"):
        Datasets(tmp_path, download=False).get("glass")


def test_a_real_result_is_whole(tmp_path):
    cell = Cell("iris", "tkmeans", "bootstrap", 40)
    results = Results(tmp_path)
    results.put(cell, run_cell(cell, download=False))
    stored = stored_result(results, cell)
    assert stored is not None
    assert stored["reference"].count(-1) == 8  # 5 % of 150, rounded up
    assert 0 < stored["noise"]["apart"]["weak_fraction"] < 1


def study(*arguments, cwd, data=""):
    return subprocess.run(
        [sys.executable, "-m", "studies.paper", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        env=os.environ | {"CORECLUST_DATA": data, "PYTHONPATH": str(ROOT)},
    )


def test_quick_from_the_command_line_then_without_data(tmp_path):
    data = str(DATA) if DATA.is_dir() else ""
    done = study("--quick", "--offline", "--out", "made", cwd=tmp_path, data=data)
    assert done.returncode == 0, done.stderr
    made = tmp_path / "made"
    names = {str(path.relative_to(made)) for path in made.rglob("*") if path.is_file()}
    assert names >= {
        *(f"table{number}.{suffix}" for number in range(1, 6) for suffix in ("md", "csv")),
        *(f"images/figure{number}.{suffix}" for number in (1, 2) for suffix in ("png", "svg")),
        "reproduction.md",
    }
    cells = list((made / "cells").iterdir())
    expected = [cell for cell in Plan(quick=True).cells() if data or cell.dataset in ALWAYS_THERE]
    assert {path.name for path in cells} == {cell.file_name for cell in expected}
    assert len(done.stderr.splitlines()) == len(Plan(quick=True).cells())
    assert "Left out: " in done.stdout.splitlines()[-1]
    assert "\x1b" not in done.stdout
    with (made / "table4.csv").open(newline="") as file:
        rows = {(row["dataset"], row["algorithm"]): row for row in csv.DictReader(file)}
    assert len(rows) == 42
    # With fewer resamples, but still close to the paper.
    for key in (("iris", "kmeans"), ("iris", "rf"), ("wine", "svm"), ("wine", "tkmeans")):
        assert rows[key]["purity_original_within"] == rows[key]["weak_within"] == "yes"
    assert (made / "images" / "figure2.png").stat().st_size < 200_000

    # The same without data: only cells that need no file are kept, and one of them is run again.
    for path in cells:
        if not any(f"-{name}-" in path.name for name in ALWAYS_THERE) or "iris-hclust" in path.name:
            path.unlink()
    done = study("--table", "4", "--quick", "--offline", "--out", "made", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert sum(line.endswith("done before") for line in lines) == 17
    assert sum(line.endswith(" s") for line in lines) == 1
    assert sum(line.endswith("the data was not found") for line in lines) == len(lines) - 18
    last = done.stdout.splitlines()[-1]
    assert last.startswith("Left out: glass, BCW and KDD, whose data was not found")
    assert "iris       k-means++" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--table", "6"], "invalid choice: 6"),
        (["--figure", "3"], "invalid choice: 3"),
        (["--table", "1", "--figure", "1"], "not allowed with argument"),
        (["--table", "1", "--all"], "not allowed with argument"),
        (["--data", "nowhere"], "nowhere is not a folder"),
        (["--seed", "x"], "x is not a whole number"),
    ],
)
def test_wrong_usage(arguments, message, tmp_path):
    done = study(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]


def test_wrong_folders_are_one_line(tmp_path):
    done = study("--table", "1", "--offline", cwd=tmp_path, data="nowhere")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("python -m studies.paper: error: CORECLUST_DATA must be a folder that ")
    assert line.endswith("exists, got 'nowhere'.")
    (tmp_path / "taken").write_text("a file")
    done = study("--table", "1", "--offline", "--out", "taken", cwd=tmp_path)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


def test_help():
    assert "example: python -m studies.paper --table 4" in study("--help", cwd=ROOT).stdout
