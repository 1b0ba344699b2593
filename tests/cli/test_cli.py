import csv
import subprocess
import sys

import pytest


def coreclust(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "coreclust", *arguments], cwd=cwd, capture_output=True, text=True
    )


@pytest.mark.slow
def test_demo(tmp_path):
    done = coreclust("demo", "--resamples", "60", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "150 flowers" in done.stdout
    assert "items are core" in done.stdout
    assert done.stdout.splitlines()[2].split()[:4] == ["cluster", "items", "core", "weak"]
    folder = tmp_path / "coreclust-demo"
    assert sorted(path.name for path in folder.iterdir()) == [
        "core_clusters.csv",
        "core_clusters.png",
    ]
    assert (folder / "core_clusters.png").read_bytes().startswith(b"\x89PNG")
    with (folder / "core_clusters.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 150
    assert {row["status"] for row in rows} <= {"core", "weak"}
    assert all((row["core_label"] == "-1") == (row["status"] == "weak") for row in rows)


@pytest.mark.slow
def test_demo_twice_gives_the_same_files(tmp_path):
    for folder in ("one", "two"):
        done = coreclust("demo", "--resamples", "60", "--out", folder, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    for name in ("core_clusters.csv", "core_clusters.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_without_matplotlib_there_is_a_table_but_no_plot(tmp_path):
    script = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.figure'] = None; "
        "from coreclust.cli import main; sys.exit(main(['demo', '--resamples', '60']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "No plot; it needs matplotlib" in done.stdout
    assert (tmp_path / "coreclust-demo" / "core_clusters.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "--alpha", "2"], "2 is not a number between 0 and 1"),
        (["demo", "--resamples", "0"], "0 is not a whole number from 1 to"),
        (["demo", "--seed", "-1"], "-1 is not a whole number from 0 to"),
        (["demo", "--alpha", "x"], "x is not a number between 0 and 1"),
        (["demo", "--seed", "5000000000"], "is not a whole number"),
        (["nonsense"], "invalid choice"),
        ([], "required"),
    ],
)
def test_wrong_usage_is_one_line_after_the_usage(arguments, message, tmp_path):
    done = coreclust(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "taken").write_text("a file")
    done = coreclust("demo", "--out", "taken", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("coreclust: error: taken is a file")
    assert len(done.stderr.splitlines()) == 1


def test_help_and_version(tmp_path):
    assert "demo" in coreclust("--help", cwd=tmp_path).stdout
    assert "example: coreclust demo" in coreclust("demo", "--help", cwd=tmp_path).stdout
    assert coreclust("--version", cwd=tmp_path).stdout.startswith("coreclust 0.")
