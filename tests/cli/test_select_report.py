"""`coreclust select --report`."""

import json
import re

import numpy as np
import pytest

from coreclust.cli import select

OPTIONS = "-k 2,3 --nulls 3 --resamples 50 --no-plots"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table of three groups, in which commands run."""
    rng = np.random.default_rng(0)
    points = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 30.0]], 20, axis=0) + rng.normal(size=(60, 2))
    lines = [f"{x:.4f},{y:.4f}" for x, y in points.tolist()]
    (tmp_path / "data.csv").write_text("\n".join(["<b>x</b>,y", *lines]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_has_the_answer_the_tree_and_the_next_command(folder, run_command):
    code, out, err = run_command(f"select data.csv {OPTIONS} --report pages/chosen.html --scale")
    assert code == 0, err
    page = (folder / "pages" / "chosen.html").read_text()
    answer = json.loads((folder / "coreclust-data" / "selection.json").read_text())
    assert answer["report"] == "pages/chosen.html"
    assert answer["n_clusters"] == 3
    assert "Report: pages/chosen.html" in out
    assert answer["reason"] in page
    assert "<pre>coreclust fit data.csv --algorithm kmeans -k 3 --scale</pre>" in page
    assert "From 2 to 3, core " in page
    assert "&lt;b&gt;x&lt;/b&gt;, y" in page
    assert "<b>x" not in page
    assert re.search(r"<dt>SHA-256 of the file</dt><dd>[0-9a-f]{64}</dd>", page)
    assert "<dt>Scaled</dt><dd>yes, to unit variance</dd>" in page
    command = next(line for line in out.splitlines() if line.startswith("Repeat: "))
    assert f"<dt>Command</dt><dd>{command.removeprefix('Repeat: ')}</dd>" in page


def test_json_alone_writes_the_page_and_nothing_else(folder, run_command):
    code, out, err = run_command(f"select data.csv {OPTIONS} --json --report page.html")
    assert code == 0, err
    assert json.loads(out)["report"] == "page.html"
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv", "page.html"]


def test_without_a_report_the_answer_names_none(folder, run_command):
    code, out, _ = run_command(f"select data.csv {OPTIONS} --json")
    assert code == 0
    assert "report" not in json.loads(out)


def test_notices_and_left_out_rows_are_in_the_page(folder, run_command):
    with (folder / "data.csv").open("a") as file:
        file.write(",3.5\n")
    code, _, err = run_command(f"select data.csv {OPTIONS} --drop-missing --report page.html")
    assert code == 0, err
    page = (folder / "page.html").read_text()
    assert "<dt>Missing values</dt><dd>1 row left out.</dd>" in page
    assert "<dt>Notices</dt><dd>1 row with missing or infinite values left out" in page


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("pages", "--report pages is a folder; name a file, such as selection.html."),
        ("data.csv", "--report data.csv is the table itself; name another file."),
        ("./pages/../data.csv", "is the table itself; name another file."),
        ("data.csv/page.html", "data.csv is a file; name a folder with --report."),
        ("/proc/no/page.html", "name another folder with --report."),
    ],
)
def test_a_page_that_cannot_be_written_is_found_before_the_fit(
    folder, run_command, monkeypatch, path, words
):
    (folder / "pages").mkdir()
    before = (folder / "data.csv").read_bytes()
    monkeypatch.setattr("coreclust.model_selection.select_n_clusters", lambda *_, **__: 1 / 0)
    code, out, err = run_command(f"select data.csv {OPTIONS} --report {path}")
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert words in err
    assert (folder / "data.csv").read_bytes() == before


@pytest.mark.parametrize("library", ["jinja2", "matplotlib"])
def test_missing_packages_are_found_before_the_fit(folder, run_command, monkeypatch, library):
    found = select.importlib.util.find_spec
    monkeypatch.setattr(
        select.importlib.util, "find_spec", lambda name: None if name == library else found(name)
    )
    monkeypatch.setattr("coreclust.model_selection.select_n_clusters", lambda *_, **__: 1 / 0)
    code, out, err = run_command(f"select data.csv {OPTIONS} --report page.html")
    assert code != 0
    assert out == ""
    assert "pip install 'coreclust[report]'" in err
    assert len(err.splitlines()) == 1
    assert not (folder / "page.html").exists()


def test_no_next_command_where_nothing_is_recommended(folder, run_command):
    rng = np.random.default_rng(1)
    lines = [f"{x:.4f},{y:.4f}" for x, y in rng.random((60, 2)).tolist()]
    (folder / "noise.csv").write_text("\n".join(["x,y", *lines]) + "\n")
    code, out, err = run_command(f"select noise.csv {OPTIONS} --report page.html")
    assert code == 0, err
    page = (folder / "page.html").read_text()
    assert "1 cluster: no stable structure." in page
    assert "does not show that there is none" in page
    assert "What to do next" not in page
    assert "Next:" not in out
