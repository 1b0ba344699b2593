"""Every command, run as users run it."""

import csv
import io
import json
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coreclust import CoreClustering
from coreclust._utils.constants import NOISE_RULES
from coreclust.algorithms import make_algorithm
from coreclust.cli.arguments import CLASSIFIERS, CLUSTERERS, SCHEMES, algorithms, jobs, k_range
from coreclust.cli.completion import subcommands
from coreclust.cli.loading import make_scheme
from coreclust.cli.main import make_parser
from coreclust.cli.output import plain, safe_text, to_json, write_csv
from coreclust.evidence._guarantees import GUARANTEES
from coreclust.model_selection import _number
from coreclust.model_selection._null import NULLS

HOSTILE = ["=cmd()", "+1+1", "@SUM(A1)", "-x", "<script>alert(1)</script>", 'a "quote", b', "🙂"]


def coreclust(command, *, cwd):
    return subprocess.run(
        [sys.executable, "-m", "coreclust", *shlex.split(command)],
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table of sixty items: awkward names, a class, a hole, words."""
    where = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    points = np.repeat([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]], 20, axis=0)
    points += rng.normal(size=points.shape)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["name", "x, in mm", "y", "kind", "note"])
    for row, (x, y) in enumerate(points):
        name = HOSTILE[row] if row < len(HOSTILE) else f"item {row}"
        writer.writerow([name, f"{x:.4f}", f"{y:.4f}", "abc"[row // 20], "words"])
    writer.writerow(["hole", "", "1.5", "a", ""])
    (where / "data.csv").write_text(text.getvalue(), encoding="utf-8")
    (where / "noise.csv").write_text(
        "u,v\n" + "".join(f"{u:.4f},{v:.4f}\n" for u, v in rng.random((80, 2)))
    )
    (where / "words.csv").write_text("a,b\nx,y\nz,w\n")
    return where


@pytest.fixture(scope="module")
def fitted(folder):
    return coreclust(
        "fit data.csv -k 3 --id name --label kind --drop-missing --resamples 100 "
        "--report --seed 4 --out fitted",
        cwd=folder,
    )


@pytest.mark.slow
def test_fit_says_what_it_did(fitted):
    assert fitted.returncode == 0, fitted.stderr
    assert "data.csv: 60 items, 2 features" in fitted.stdout
    assert "3 clusters; every item is core." in fitted.stdout
    assert "Purity: 1.000 of the clusters, 1.000 of their cores." in fitted.stdout
    assert "note: Skipped columns that hold words" in fitted.stderr
    assert "note: 1 row with missing or infinite values left out: line 62." in fitted.stderr
    assert "Traceback" not in fitted.stderr


def test_fit_writes_its_files(fitted, folder):
    summary = json.loads((folder / "fitted" / "summary.json").read_text())
    on_disk = {path.name for path in (folder / "fitted").iterdir()}
    assert on_disk == {*summary["files"], "summary.json"}
    assert {"core_clusters.csv", "report.html", "core_clusters.png"} < on_disk
    for name in on_disk:
        data = (folder / "fitted" / name).read_bytes()
        assert not name.endswith(".png") or data.startswith(b"\x89PNG")
    assert summary["weak_fraction"] == 0
    assert summary["dropped_rows"] == [62]
    assert summary["features"] == ["x, in mm", "y"]
    assert summary["purity"] == {"clusters": 1.0, "cores": 1.0}
    assert sum(cluster["n_items"] for cluster in summary["clusters"]) == 60
    assert b"<script>alert(1)" not in (folder / "fitted" / "report.html").read_bytes()


def test_the_table_of_items_is_the_fit_and_holds_no_formula(fitted, folder):
    with (folder / "fitted" / "core_clusters.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["id", "cluster", "core", "strength", "class"]
    assert [row["id"] for row in rows[:7]] == [
        "'=cmd()",
        "'+1+1",
        "'@SUM(A1)",
        "'-x",
        *HOSTILE[4:],
    ]
    with (folder / "data.csv").open(newline="", encoding="utf-8") as file:
        X = [[float(row["x, in mm"]), float(row["y"])] for row in list(csv.DictReader(file))[:60]]
    cc = CoreClustering(make_algorithm("kmeans", 3), n_resamples=100, random_state=4).fit(X)
    assert [int(row["cluster"]) for row in rows] == cc.reference_labels_.tolist()
    assert [row["core"] == "yes" for row in rows] == (cc.labels_ >= 0).tolist()
    strength = cc.item_table(details=False)["strength"]
    np.testing.assert_allclose([float(row["strength"]) for row in rows], strength, atol=1e-4)


@pytest.mark.slow
def test_the_printed_command_repeats_the_run(fitted, folder):
    (line,) = [line for line in fitted.stdout.splitlines() if line.startswith("Repeat: ")]
    assert line.startswith("Repeat: coreclust fit data.csv -k 3")
    assert line.count("--seed") == 1
    before = (folder / "fitted" / "core_clusters.csv").read_bytes()
    picture = (folder / "fitted" / "core_clusters.png").read_bytes()
    again = coreclust(line.removeprefix("Repeat: coreclust "), cwd=folder)
    assert again.stdout == fitted.stdout
    assert (folder / "fitted" / "core_clusters.csv").read_bytes() == before
    assert (folder / "fitted" / "core_clusters.png").read_bytes() == picture


@pytest.mark.slow
def test_a_checkpoint_and_an_automatic_number_of_resamples(folder):
    command = "fit data.csv -k 3 --drop-missing --resamples auto --checkpoint kept --json"
    first, again = (coreclust(command, cwd=folder) for _ in range(2))
    assert first.returncode == 0, first.stderr
    answer = json.loads(first.stdout)
    assert 200 <= answer["resamples"] <= 5000
    assert again.stdout == first.stdout
    assert (folder / "kept" / "header.json").is_file()
    other = coreclust(command.replace("-k 3", "-k 2"), cwd=folder)
    assert other.returncode == 2
    assert "was made with n_clusters=3" in other.stderr


@pytest.mark.slow
def test_fit_for_programs(folder):
    done = coreclust(
        "fit data.csv --algorithm tkmeans -k 3 --drop-missing --resamples 40 --json", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert len(answer["items"]["id"]) == answer["n_items"] == 60
    assert answer["items"]["id"][:2] == ["2", "3"]  # their lines in the file
    trimmed = [c is None for c in answer["items"]["cluster"]]
    assert sum(trimmed) == answer["n_trimmed"] == 3
    assert all(s is None for s, t in zip(answer["items"]["strength"], trimmed, strict=True) if t)
    assert "--seed 0" in answer["command"]
    assert not (folder / "coreclust-data").exists()  # without --out nothing is written


@pytest.mark.slow
def test_select_finds_three_and_says_so(folder):
    done = coreclust("select data.csv -k 2..4 --drop-missing --nulls 6 --resamples 50", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "3 clusters: they are stable beyond chance" in done.stdout
    assert "<- recommended" in done.stdout
    assert "more stable than chance if p is at most 0.01." in done.stdout
    assert "Next: coreclust fit data.csv --algorithm kmeans -k 3 --drop-missing" in done.stdout
    out = folder / "coreclust-data"
    assert (out / "selection.png").read_bytes().startswith(b"\x89PNG")
    answer = json.loads((out / "selection.json").read_text())
    assert (answer["n_clusters"], answer["stable"], answer["level"]) == (3, True, 0.01)
    with (out / "selection.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["k"] for row in rows] == ["2", "3", "4"]
    assert [row["recommended"] for row in rows] == ["False", "True", "False"]


@pytest.mark.slow
def test_select_for_programs_on_noise(folder):
    done = coreclust("select noise.csv -k 2,3 --nulls 6 --resamples 50 --json", cwd=folder)
    answer = json.loads(done.stdout)
    assert (answer["n_clusters"], answer["stable"]) == (1, False)
    assert "no stable structure" in answer["reason"]


@pytest.mark.slow
def test_compare(folder):
    done = coreclust(
        "compare data.csv -k 3 --algorithms kmeans,hclust,svm --label kind --drop-missing "
        "--resamples 60 --out compared",
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    out = folder / "compared"
    assert (out / "comparison.png").read_bytes().startswith(b"\x89PNG")
    with (out / "comparison.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["algorithm"] for row in rows] == ["kmeans", "hclust", "svm"]
    assert rows[0]["sizes"] == "20 20 20"
    with (out / "agreement.csv").open(newline="") as file:
        pairs = list(csv.DictReader(file))
    assert [(pair["first"], pair["second"]) for pair in pairs] == [
        ("kmeans", "hclust"),
        ("kmeans", "svm"),
        ("hclust", "svm"),
    ]
    answer = json.loads((out / "comparison.json").read_text())
    assert answer["agreement"][0][1] == pytest.approx(float(pairs[0]["agreement"]))
    assert "leaves the fewest items weak" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fit words.csv -k 2", "has no column of numbers left"),
        ("select words.csv", "has no column of numbers left"),
        ("compare none.csv -k 2", "There is no file none.csv."),
        ("fit data.csv -k 3", "has 1 missing value in 1 row of 61 (line 62; in x, in mm)"),
    ],
)
def test_a_wrong_file_is_one_line_and_exit_code_2(arguments, message, folder):
    done = coreclust(f"{arguments} --quiet", cwd=folder)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("coreclust: error: ")
    assert message in line


@pytest.fixture
def run(folder, monkeypatch, run_command):
    """Run a command in the folder of the tests."""
    monkeypatch.chdir(folder)
    return run_command


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fit data.csv", "-k, the number of clusters, is needed"),
        ("compare data.csv", "-k, the number of clusters, is needed"),
        ("fit noise.csv -k 80", "-k 80 is too many: there are 80 items."),
        ("select noise.csv -k 2..90", "-k 90 is too many"),
        ("select noise.csv -k 2..12 --max-items 12", "-k 12 is too many for --max-items 12."),
        ("fit noise.csv -k 2 --algorithm svm", "svm is a classifier and needs classes"),
        ("compare noise.csv --algorithms rf", "rf is a classifier and needs classes"),
        ("fit noise.csv -k 2 --algorithm hclust --scheme all", "--scheme all labels items"),
        ("fit noise.csv -k 2 --id w", "--id w: there is no such column; the columns are u, v."),
        ("fit noise.csv -k 2 --out data.csv", "data.csv is a file; name a folder with --out."),
        ("fit noise.csv -k x", "x is not a whole number from 1 to 1000"),
        ("fit noise.csv -k 2 --confidence 1", "1 is not a number above 0 and below 1"),
        ("fit noise.csv -k 2 --time-limit -1", "-1 is not a number of seconds"),
        ("fit noise.csv -k 2 --separator ab", "'ab' is not a single sign"),
        ("fit noise.csv -k 2 --jobs 0", "0 is not a whole number other than 0"),
        ("select noise.csv -k 1..3", "1..3 is not a range"),
        ("compare noise.csv -k 2 --algorithms kmeans,nope", "nope is not one of kmeans"),
        ("completion nosuchshell", "invalid choice"),
        ("fit noise.csv -k 2 --guarantee none", "invalid choice"),
        ("fit noise.csv -k 2 --noise none", "invalid choice"),
    ],
)
def test_wrong_usage_ends_in_one_line_and_exit_code_2(arguments, message, run):
    code, out, err = run(arguments)
    assert code == 2
    assert out == ""
    assert message in err.splitlines()[-1]
    assert len(err.splitlines()) <= 4


def test_a_classifier(run):
    code, out, err = run(
        "fit data.csv --algorithm svm --label kind --drop-missing --resamples 200 --json --quiet"
    )
    assert (code, err) == (0, "")
    assert {cluster["cluster"] for cluster in json.loads(out)["clusters"]} == {"a", "b", "c"}


def test_too_few_rows_and_rows_that_are_all_alike(run, folder):
    (folder / "two.csv").write_text("x,y\n1,2\n3,4\n")
    (folder / "same.csv").write_text("x,y\n" + "1,2\n" * 9)
    assert "has 2 usable rows; at least 3 are needed" in run("fit two.csv -k 2")[2]
    assert "all rows are the same" in run("fit same.csv -k 2")[2]


def test_scaling(run, folder):
    rows = [f"{i % 2},{1000 * (i * 37 % 40)}\n" for i in range(40)]
    (folder / "uneven.csv").write_text("flag,dose\n" + "".join(rows))
    options = "uneven.csv -k 2 --resamples 40 --json"
    plain_err = run(f"fit {options}")[2]
    assert "The features have very different scales, and dose dominates" in plain_err
    code, out, err = run(f"fit {options} --scale")
    assert code == 0
    assert "scale" not in err
    assert json.loads(out)["scaled"] is True


def test_an_alpha_of_zero_is_warned_of(run):
    code, out, err = run("fit noise.csv -k 2 --resamples 50 --alpha 0 --json")
    assert code == 0
    assert "coreclust: warning: No number of resamples can show a co-occurrence of 1" in err
    assert [cluster["n_core"] for cluster in json.loads(out)["clusters"]] == [1, 1]


def test_select_shows_p_values_on_the_right_side_of_its_level(run, monkeypatch, capsys):
    """A p-value of 0.0104 was shown as 0.010, and 0.01 in the reason, yet was too large."""
    p_value = np.array([0.0104, 0.3])
    monkeypatch.setattr(_number, "gains", lambda *shares, **_: (np.array([1.0, 0.1]), p_value))
    code, out, _ = run("select noise.csv -k 2,3 --nulls 3 --resamples 50 --no-plots --out chosen")
    assert code == 0
    assert "0.0104" in out
    assert "p = 0.0104)" in out
    assert "1 cluster: no stable structure" in out


def test_warnings_are_one_line_without_code(run):
    code, _, err = run("fit noise.csv -k 2 --resamples 3 --json")
    assert code == 0
    assert "coreclust: warning: 3 resamples are too few" in err
    assert ".py:" not in err


def test_a_failure_is_one_line_and_exit_code_1(run, monkeypatch):
    def fail(*_args, **_options):
        raise RuntimeError("more than half\nof the resamples failed")

    monkeypatch.setattr(CoreClustering, "fit", fail)
    code, out, err = run("fit noise.csv -k 2 --json")
    assert (code, out) == (1, "")
    assert err == "coreclust: error: more than half of the resamples failed\n"


@pytest.mark.parametrize(
    ("interrupt", "message"),
    [
        (KeyboardInterrupt(), "Interrupted."),
        (KeyboardInterrupt("Continue later."), "Continue later."),
    ],
)
def test_an_interrupt_is_one_line_and_exit_code_130(interrupt, message, run, monkeypatch):
    def stop(*_args, **_options):
        raise interrupt

    monkeypatch.setattr(CoreClustering, "fit", stop)
    code, out, err = run("fit noise.csv -k 2 --json")
    assert (code, out) == (130, "")
    assert err == f"\ncoreclust: {message}\n"


def test_without_matplotlib_there_are_tables_but_no_pictures(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, err = run("fit noise.csv -k 2 --resamples 30 --out bare")
    assert code == 0
    assert "no plots; they need matplotlib" in err
    assert {path.name for path in (folder / "bare").iterdir()} == {
        "core_clusters.csv",
        "summary.json",
    }


def test_without_what_a_report_needs_it_is_said_before_any_work(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    code, _, err = run("fit noise.csv -k 2 --report --out never")
    assert code == 1
    assert "--report needs more packages; install them with: pip install 'coreclust[report]'" in err


def test_tables_by_rich_and_without_it(monkeypatch, capsys):
    from coreclust.cli import output

    rows = [["[red]a", 1, 0.5], ["b" * 60, 20, float("nan")]]
    output.print_table(["name", "n", "share"], rows)
    without = capsys.readouterr().out
    assert without.splitlines()[1].split() == ["[red]a", "1", "0.500"]
    assert len(without.splitlines()[2]) <= 60
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    output.print_table(["name", "n", "share"], rows, marked=0)
    by_rich = capsys.readouterr().out
    assert "[red]a" in by_rich
    monkeypatch.setitem(sys.modules, "rich", None)
    output.print_table(["name", "n", "share"], rows, marked=0)
    assert capsys.readouterr().out == without


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=1", "'=1"),
        ("+a", "'+a"),
        ("-a", "'-a"),
        ("@a", "'@a"),
        ("\ta", "'\ta"),
        ("\r1", "'\r1"),
        ("-1.5", "-1.5"),
        ("+1e3", "+1e3"),
        ("-1_0", "'-1_0"),
        (-2, "-2"),
        (None, ""),
        ("plain", "plain"),
    ],
)
def test_no_formulas_for_spreadsheets(value, text):
    assert safe_text(value) == text


def test_csv_with_text_that_utf8_cannot_encode(tmp_path):
    write_csv(tmp_path / "a.csv", ["=id"], [["\ud800"], ["x\ny"]])
    assert (tmp_path / "a.csv").read_bytes() == b'\'=id\n?\n"x\ny"\n'


def test_json_is_json():
    value = {"a": np.float64("nan"), 1: np.arange(2), "c": (np.bool_(True), float("inf"))}
    assert json.loads(to_json(value)) == {"a": None, "1": [0, 1], "c": [True, None]}
    assert plain(np.str_("x")) == "x"


def test_choices_are_those_of_the_registries():
    assert CLUSTERERS == ("kmeans", "hclust", "tkmeans", "tclust")
    assert CLASSIFIERS == ("rf", "svm")
    for name in ("fit", "compare"):
        options = {action.dest: action for action in subcommands(make_parser())[name]._actions}
        assert options["guarantee"].choices == tuple(GUARANTEES)
        assert name != "fit" or options["noise"].choices == tuple(NOISE_RULES)
    options = {action.dest: action for action in subcommands(make_parser())["select"]._actions}
    assert options["null"].choices == tuple(NULLS)


@pytest.mark.parametrize("command", ["fit data.csv", "compare data.csv --algorithms kmeans"])
def test_the_guarantee_is_passed_on(command, run):
    options = "-k 3 --drop-missing --resamples 60 --confidence 0.9 --guarantee pair --json --quiet"
    code, out, err = run(f"{command} {options}")
    assert code == 0, err
    assert json.loads(out)["guarantee"] == "pair"


def test_no_module_of_the_command_line_imports_main_back():
    """Imports inside functions count, too."""
    folder = Path(__file__).parents[2] / "src" / "coreclust" / "cli"
    for path in folder.rglob("*.py"):
        if path != folder / "__init__.py":
            assert "coreclust.cli.main" not in path.read_text()
            assert "from coreclust.cli import main" not in path.read_text()


def test_schemes():
    names = list(SCHEMES)
    shown = [repr(make_scheme(name, ["kmeans"])) for name in names]
    assert len(set(shown)) == 6
    assert shown[1] == "Bootstrap(label='all')"


def test_a_classifier_with_a_smoothed_bootstrap(run):
    code, out, err = run(
        "fit data.csv --label kind --id name --drop note --drop-missing --algorithm svm "
        "--scheme smoothed --resamples 40 --seed 0 --no-plots --json"
    )
    assert code == 0, err
    assert json.loads(out)["scheme"] == "smoothed"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2..4", [2, 3, 4]), ("2-3", [2, 3]), ("2:3", [2, 3]), ("5", [5]), ("7,2..3, 3", [2, 3, 7])],
)
def test_ranges_of_k(text, expected):
    assert k_range(text) == expected


def test_lists_and_jobs():
    assert algorithms("kmeans, hclust,kmeans") == ["kmeans", "hclust"]
    assert jobs("-1") == -1


def test_help_has_examples_and_exit_codes_for_every_command():
    parser = make_parser()
    assert "exit codes:" in parser.format_help()
    commands = subcommands(parser)
    assert set(commands) == {"fit", "select", "compare", "demo", "completion"}
    for name, command in commands.items():
        text = command.format_help()
        assert "example" in text
        assert f"coreclust {name}" in text
        assert name not in ("fit", "select", "compare") or "exit codes:" in text


def test_the_picture_of_a_terminal_shows_these_commands_and_fetches_nothing():
    picture = Path(__file__).parents[2] / "docs" / "images" / "terminal.svg"
    text = picture.read_text().replace("&#160;", " ")
    assert picture.stat().st_size < 200_000
    assert "coreclust select iris.csv" in text
    assert "&lt;- recommended" in text or "<- recommended" in text
    assert "url(http" not in text
    assert "href" not in text


def test_help_does_not_wait_for_anything_heavy(tmp_path):
    code = (
        "import sys; from coreclust.cli.main import make_parser; parser = make_parser(); "
        "parser.format_help(); [p.format_help() for p in parser._actions[-1].choices.values()]; "
        "print(*sorted({m.split('.')[0] for m in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "coreclust" in loaded
    heavy = {
        "numpy",
        "sklearn",
        "scipy",
        "numba",
        "joblib",
        "pandas",
        "matplotlib",
        "rich",
        "shtab",
    }
    assert not loaded & heavy
