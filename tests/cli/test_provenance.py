"""A report says where its data comes from: enough to read and cluster it again."""

import gzip
import hashlib
import html
import io
import re
import shlex

import numpy as np
import pytest

from coreclust import CoreClustering, __version__


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    points = np.repeat([[0.0, 0.0], [900.0, 3.0]], 15, axis=0) + rng.normal(size=(30, 2))
    lines = [f"n{row},{x:.3f},{y:.3f},{'ab'[row // 15]}" for row, (x, y) in enumerate(points)]
    lines[4] = "n4,-99,1.0,a"
    path = tmp_path / "my data.csv"
    path.write_text("\n".join(["name,width,height,kind", *lines]) + "\n")
    return path


def settings_of(page):
    """Return the lists of names and lines in a page."""
    pairs = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page, re.DOTALL)
    return [(html.unescape(name), html.unescape(text)) for name, text in pairs]


def test_the_report_of_fit_says_how_to_do_it_again(data, run_command, tmp_path):
    command = (
        f"fit {shlex.quote(str(data))} --algorithm rf --id name --label kind --missing -99 "
        "--drop-missing --resamples 150 --seed 3 --no-plots --report"
    )
    code, _, error = run_command(f"{command} --out {tmp_path / 'folder-1'}")
    assert code == 0, error
    page = (tmp_path / "folder-1" / "report.html").read_text("utf-8")
    settings = dict(settings_of(page))
    assert settings["File"] == str(data)
    assert settings["SHA-256 of the file"] == hashlib.sha256(data.read_bytes()).hexdigest()
    assert settings["Names of the features"] == "width, height"
    assert settings["Scaled"] == "no"
    assert settings["Missing values"] == "Declared codes: -99.<br>1 row left out."
    assert "width dominates" in settings["Notices"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", settings["Date"])
    assert f"coreclust {__version__}, scikit-learn" in settings["Versions"]
    # A random forest learned the classes, which the report counts.
    assert re.search(
        r'<table id="classes">.*?<th scope="col" class="number">a</th>', page, re.DOTALL
    )
    # The command that the page shows makes the same page.
    again = settings["Command"].removeprefix("coreclust ").replace("folder-1", "folder-2")
    assert run_command(again)[0] == 0
    second = (tmp_path / "folder-2" / "report.html").read_text("utf-8")
    assert second.replace("folder-2", "folder-1") == page


def test_scaling_is_told(data, run_command, tmp_path):
    command = f"fit {shlex.quote(str(data))} -k 2 --scale --id name --drop kind --resamples 60"
    assert run_command(f"{command} --no-plots --report --out {tmp_path / 'out'}")[0] == 0
    settings = dict(settings_of((tmp_path / "out" / "report.html").read_text("utf-8")))
    assert settings["Scaled"] == "yes, to unit variance"
    assert settings["Missing values"] == "none"
    assert "--seed 0" in settings["Command"]
    assert "Notices" not in settings


def test_the_checksum_is_that_of_what_was_read(data, run_command, tmp_path, monkeypatch):
    content = gzip.compress(data.read_bytes())
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    command = f"fit - -k 2 --id name --resamples 60 --no-plots --report --out {tmp_path / 'out'}"
    assert run_command(command)[0] == 0
    settings = dict(settings_of((tmp_path / "out" / "report.html").read_text("utf-8")))
    assert settings["File"] == "standard input"
    assert settings["SHA-256 of the file"] == hashlib.sha256(content).hexdigest()


def test_a_file_that_changes_during_the_fit(data, run_command, tmp_path, monkeypatch):
    before = data.read_bytes()
    fit = CoreClustering.fit

    def change(*arguments, **options):
        data.write_text("other\n")
        return fit(*arguments, **options)

    monkeypatch.setattr(CoreClustering, "fit", change)
    command = f"fit {shlex.quote(str(data))} -k 2 --id name --resamples 60 --no-plots --report"
    assert run_command(f"{command} --out {tmp_path / 'out'}")[0] == 0
    settings = dict(settings_of((tmp_path / "out" / "report.html").read_text("utf-8")))
    assert settings["SHA-256 of the file"] == hashlib.sha256(before).hexdigest()


@pytest.mark.parametrize("name", ["a b.csv", "ü 'x' \"y\" $HOME.csv", "-begins.csv", "*.csv"])
def test_odd_names_of_files(name, data, run_command, tmp_path, monkeypatch):
    """The shown commands work for any name, also after the end of the options."""
    monkeypatch.chdir(tmp_path)
    data.rename(tmp_path / name)
    options = "-k 2 --id name --drop kind --resamples 40 --no-plots --out out --report --quiet"
    assert run_command(f"fit {options} -- {shlex.quote(name)}")[0] == 0
    first = (tmp_path / "out" / "report.html").read_text("utf-8")
    command = dict(settings_of(first))["Command"]
    assert command.endswith(f" --seed 0 -- {shlex.quote(name)}")
    assert run_command(command.removeprefix("coreclust "))[0] == 0
    assert (tmp_path / "out" / "report.html").read_text("utf-8") == first


def test_the_commands_of_select_work(data, run_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data.rename(tmp_path / "-ü 'x'.csv")
    options = "-k 2,3 --id name --drop kind --missing -99 --drop-missing --resamples 40"
    options = f"{options} --nulls 5 --no-plots --quiet"
    command = f"select {options} --report 'my page.html' -- \"-ü 'x'.csv\""
    assert run_command(command)[0] == 0
    page = (tmp_path / "my page.html").read_text("utf-8")
    command = dict(settings_of(page))["Command"]
    assert run_command(command.removeprefix("coreclust "))[0] == 0
    date = re.compile("<dt>Date</dt><dd>.*?</dd>")
    again = (tmp_path / "my page.html").read_text("utf-8")
    assert date.sub("", again) == date.sub("", page)
    following = html.unescape(re.search("<pre>(.*?)</pre>", page)[1]).removeprefix("coreclust ")
    assert following.startswith("fit './-ü")
    code, _, error = run_command(f"{following} --resamples 40 --no-plots --quiet")
    assert code == 0, error


def test_the_report_of_select_tells_the_same(data, run_command, tmp_path):
    page = tmp_path / "selection.html"
    command = (
        f"select {shlex.quote(str(data))} -k 2..3 --id name --missing -99 --drop-missing "
        f"--resamples 40 --nulls 3 --no-plots --report {page} --out {tmp_path / 'out'}"
    )
    assert run_command(command)[0] == 0
    settings = settings_of(page.read_text("utf-8"))
    assert ("SHA-256 of the file", hashlib.sha256(data.read_bytes()).hexdigest()) in settings
    assert ("Missing values", "Declared codes: -99.") in settings
    assert ("Missing values", "1 row left out.") in settings
