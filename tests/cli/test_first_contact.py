"""What new users met: input and output that did not do what they expected."""

import bz2
import io
import json
import lzma
import os
import re
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from coreclust import CoreClustering
from coreclust.cli.purity import purity_in_resamples
from coreclust.metrics import purity_score

FAST = "--resamples 30 --no-plots --quiet"


@pytest.fixture
def run(tmp_path, monkeypatch, run_command):
    """Run a command in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return run_command


@pytest.fixture
def data(tmp_path):
    """A table with two groups of ten items and a class."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20, 2)) + np.repeat([[0.0], [8.0]], 10, axis=0)
    rows = [f"{x:.4f},{y:.4f},{'ab'[i // 10]}\n" for i, (x, y) in enumerate(points)]
    (tmp_path / "data.csv").write_text("x,y,kind\n" + "".join(rows))
    return tmp_path / "data.csv"


class TestHeadersOfNumbers:
    @pytest.mark.parametrize(
        ("first", "names"),
        [
            ("2019,2020,2021", ["2019", "2020", "2021"]),
            ("1990,2000,2010", ["1990", "2000", "2010"]),
            ("0,1,2", ["0", "1", "2"]),
            ("1,2,3", ["1", "2", "3"]),
        ],
    )
    def test_they_name_the_columns(self, first, names, read):
        table = read(f"{first}\n5.1,3.5,1.4\n4.9,3.0,1.4\n6.0,3.1,4.4\n")
        assert table.feature_names == names
        assert len(table.X) == 3
        (text,) = table.notices
        assert text == (
            f"The first line ({', '.join(names)}) is read as the names of the columns (--no-header "
            "reads it as data)."
        )
        assert len(read(f"{first}\n5.1,3.5,1.4\n4.9,3,1\n", header=False).X) == 3

    def test_below_words(self, read):
        table = read("country,2019,2020\nA,5,7\nB,6,1\n")
        assert table.feature_names == ["2019", "2020"]
        assert len(table.X) == 2

    def test_beside_the_index_that_pandas_writes(self, tmp_path):
        from coreclust.cli.reading import read_table

        pd.DataFrame([[5, 3], [4, 8], [1, 1]]).to_csv(tmp_path / "a.csv")
        table = read_table(tmp_path / "a.csv")
        assert table.feature_names == ["0", "1"]
        assert table.ids == ["0", "1", "2"]

    @pytest.mark.parametrize(
        "text",
        [
            "1,2,3\n4,5,6\n7,8,9\n",  # every row counts
            "1,2\n3,5\n6,6\n",  # two columns say too little
            "2001,2003\n2004,2005\n1999,2010\n",  # years are the data
            "3,1,2\n4,6,5\n9,9,7\n",
            "5.1,6.1,7.1\n4.0,3.0,1.0\n",
        ],
    )
    def test_data_is_data(self, text, read):
        table = read(text)
        assert len(table.X) == text.count("\n")
        assert table.feature_names[0] == "column1"


class TestOutput:
    def test_files_of_an_earlier_run_are_removed(self, run, data, tmp_path):
        out = tmp_path / "out"
        command = "fit data.csv -k 2 --resamples 30 --quiet --out out"
        assert run(command)[0] == 0
        (out / "notes.txt").write_text("mine")
        assert (out / "strength.png").exists()
        assert run(f"{command} --no-plots")[0] == 0
        assert {path.name for path in out.iterdir()} == {
            "core_clusters.csv",
            "summary.json",
            "notes.txt",
        }

    def test_also_those_of_other_commands(self, run, data, tmp_path):
        command = (
            "compare data.csv -k 2 --algorithms kmeans,hclust --resamples 30 --quiet --out out"
        )
        assert run(command)[0] == 0
        assert (tmp_path / "out" / "comparison.png").exists()
        assert run(f"{command} --no-plots")[0] == 0
        assert not (tmp_path / "out" / "comparison.png").exists()

    def test_files_of_others_stay(self, run, data, tmp_path):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "report.html").write_text("mine")
        (tmp_path / "out" / "summary.json").write_text('{"files": ["report.html"]}')
        assert run(f"fit data.csv -k 2 {FAST} --out out")[0] == 0
        assert (tmp_path / "out" / "report.html").read_text() == "mine"

    @pytest.mark.parametrize("command", ["fit", "select", "compare"])
    def test_a_folder_that_cannot_be_written_to_is_found_before_the_fit(
        self, command, run, data, tmp_path, monkeypatch
    ):
        def refuse(*_arguments, **_options):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
        monkeypatch.setattr(CoreClustering, "fit", lambda *_a, **_k: pytest.fail("a fit"))
        code, _, err = run(f"{command} data.csv -k 2 --quiet --out out")
        assert code == 2
        assert err == (
            "coreclust: error: out cannot be written to (Permission denied); name another folder "
            "with --out.\n"
        )

    @pytest.mark.parametrize(
        ("out", "message"),
        [
            ("data.csv/sub", "data.csv/sub cannot be written to (Not a directory)"),
            ("out", "out/summary.json is a folder; name another folder with --out."),
        ],
    )
    def test_other_obstacles(self, out, message, run, data, tmp_path, monkeypatch):
        (tmp_path / "out" / "summary.json").mkdir(parents=True)
        monkeypatch.setattr(CoreClustering, "fit", lambda *_a, **_k: pytest.fail("a fit"))
        code, _, err = run(f"fit data.csv -k 2 --quiet --out {out}")
        assert code == 2
        assert message in err

    def test_control_characters_do_not_reach_the_terminal(self, run, tmp_path):
        rows = "".join(f"{i * i % 7},w{i}\n" for i in range(9))
        (tmp_path / "a.csv").write_text(f"x,\x1b]0;owned\x07town\x9b31m\n{rows}")
        code, out, err = run("fit a.csv -k 2 --resamples 30 --no-plots")
        assert code == 0
        assert "town" in err
        assert all(letter.isprintable() for letter in (out + err).replace("\n", ""))
        code, out, err = run("fit a.csv -k 2 --drop x")
        assert code == 2
        assert all(letter.isprintable() for letter in (out + err).replace("\n", ""))

    @pytest.mark.parametrize(
        "command",
        [
            "fit {} -k 2 --resamples 30 --no-plots",
            "select {} -k 2 --nulls 3 --resamples 50 --no-plots",
            "compare {} -k 2 --algorithms kmeans --resamples 30 --no-plots",
            "fit {} -k 2{}",
            "fit {} -k 2 --no{}",
        ],
    )
    def test_also_not_from_names_of_files(self, command, run, data, tmp_path):
        name = "\x1b]0;owned\x07.csv"
        data.rename(tmp_path / name)
        code, out, err = run(command.replace("{}", name))
        assert code == 2 * (command.count("{}") == 2)
        assert ".csv" in out + err
        assert all(letter.isprintable() for letter in (out + err).replace("\n", ""))


class TestInterrupts:
    def test_before_the_commands_are_imported(self, tmp_path):
        script = (
            "import sys, runpy\n"
            "class Stop:\n"
            "    def find_spec(self, name, *_):\n"
            "        if name == 'coreclust.cli.select':\n"
            "            raise KeyboardInterrupt\n"
            "sys.meta_path.insert(0, Stop())\n"
            "sys.argv = ['coreclust', '--help']\n"
            "runpy.run_module('coreclust', run_name='__main__')\n"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert done.returncode == 130
        assert done.stderr == "\ncoreclust: Interrupted.\n"

    def test_the_program_starts_there(self):
        text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
        assert 'coreclust = "coreclust.__main__:main"' in text

    def test_while_arguments_are_parsed(self, run, monkeypatch):
        def stop(*_arguments):
            raise KeyboardInterrupt

        monkeypatch.setattr("argparse.ArgumentParser.parse_args", stop)
        assert run("--help") == (130, "", "\ncoreclust: Interrupted.\n")

    @pytest.mark.parametrize("stop", [KeyboardInterrupt(), ValueError("no")])
    def test_no_empty_folder_is_left(self, stop, run, data, tmp_path, monkeypatch):
        def fail(*_arguments, **_options):
            raise stop

        monkeypatch.setattr(CoreClustering, "fit", fail)
        assert run("fit data.csv -k 2 --quiet")[0] in (2, 130)
        assert not (tmp_path / "coreclust-data").exists()
        (tmp_path / "mine").mkdir()
        assert run("fit data.csv -k 2 --quiet --out mine")[0] in (2, 130)
        assert (tmp_path / "mine").exists()  # it was there before

    def test_an_interrupt_around_another_one(self, run, data, monkeypatch):
        def stop(*_arguments, **_options):
            raise KeyboardInterrupt(KeyboardInterrupt())

        monkeypatch.setattr(CoreClustering, "fit", stop)
        code, _, err = run("fit data.csv -k 2 --quiet")
        assert (code, err) == (130, "\ncoreclust: Interrupted.\n")

    def test_a_selection_does_not_count_resamples_of_one_of_its_fits(self, run, data, monkeypatch):
        def stop(*_arguments, **_options):
            raise KeyboardInterrupt("Interrupted after 0 of 100 resamples were clustered.")

        monkeypatch.setattr("coreclust.model_selection.select_n_clusters", stop)
        code, _, err = run("select data.csv -k 2 --quiet")
        assert (code, err) == (130, "\ncoreclust: Interrupted.\n")

    def test_an_interrupt_of_compiled_code(self, run, data, monkeypatch):
        def stop(*_arguments, **_options):
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

        monkeypatch.setattr(CoreClustering, "fit", stop)
        code, _, err = run("fit data.csv -k 2 --quiet")
        assert (code, err) == (130, "\ncoreclust: Interrupted.\n")

    def test_an_interrupt_that_python_cannot_raise(self, run, data, monkeypatch):
        """As in a function that C calls, where numba is while it compiles."""

        class Stop:
            def __del__(self):
                raise KeyboardInterrupt

        def go_on(*_arguments, **_options):
            stop = Stop()
            del stop  # the interrupt is ignored here
            for _ in range(500):
                time.sleep(0.01)
            pytest.fail("not interrupted")

        hook = sys.unraisablehook
        monkeypatch.setattr(CoreClustering, "fit", go_on)
        code, _, err = run("fit data.csv -k 2 --quiet")
        assert (code, err) == (130, "\ncoreclust: Interrupted.\n")
        assert sys.unraisablehook is hook

    def test_other_errors_that_python_cannot_raise_are_reported(self, run, data, monkeypatch):
        class Wrong:
            def __del__(self):
                raise ZeroDivisionError

        seen = []
        monkeypatch.setattr("sys.unraisablehook", lambda error: seen.append(error.exc_type))
        monkeypatch.setattr(CoreClustering, "fit", lambda *_a, **_k: (Wrong(), 1 / 0))
        with pytest.raises(ZeroDivisionError):
            run("fit data.csv -k 2 --quiet")
        assert seen == [ZeroDivisionError]


class TestStreams:
    @pytest.mark.parametrize("name", ["-", "/dev/stdin"])
    def test_standard_input(self, name, data, tmp_path):
        command = [sys.executable, "-m", "coreclust", "fit", name, "-k", "2", *FAST.split()]
        done = subprocess.run(
            command, input=data.read_text(), capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("standard input: 20 items, 2 features\n")
        assert (tmp_path / "coreclust-stdin" / "core_clusters.csv").exists()

    def test_a_pipe(self, run, data, tmp_path):
        """As bash gives it for <(zcat data.csv.gz)."""
        os.mkfifo(tmp_path / "pipe")
        content = data.read_bytes()
        thread = threading.Thread(
            target=lambda: (tmp_path / "pipe").write_bytes(content),
            daemon=True,  # it waits for a reader forever
        )
        thread.start()
        code, out, err = run(f"fit pipe -k 2 --json {FAST}")
        assert code == 0, err
        thread.join()
        assert json.loads(out)["n_items"] == 20

    def test_nothing_in_it(self, run, monkeypatch):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
        assert run("fit - -k 2")[2] == "coreclust: error: standard input is empty.\n"


class TestClassifiers:
    def test_purity_is_out_of_bag_by_default(self, run, tmp_path):
        """A random forest has memorized random classes, but cannot know those of other items."""
        rng = np.random.default_rng(1)
        rows = [f"{x:.4f},{y:.4f},{'ab'[rng.integers(2)]}\n" for x, y in rng.random((40, 2))]
        (tmp_path / "random.csv").write_text("x,y,kind\n" + "".join(rows))
        command = "fit random.csv --algorithm rf --label kind --resamples 80 --no-plots"
        code, out, err = run(command)
        assert code == 0, err
        assert "note: rf labels the items that were not drawn (--scheme oob)." in err
        assert "Purity of items that were not drawn (out of bag): 0." in out
        purity = json.loads((tmp_path / "coreclust-random" / "summary.json").read_text())["purity"]
        assert purity["clusters"] < 0.8
        code, out, _ = run(f"{command} --scheme bootstrap")
        assert "Purity of the training items (in bag): 1.000" in out
        assert "It says nothing about new items" in out

    def test_a_comparison_warns_of_purity_in_bag(self, run, data):
        command = "compare data.csv -k 2 --algorithms kmeans,svm --label kind --no-plots --json"
        code, _, err = run(f"{command} --resamples 30")
        assert code == 0, err
        assert "note: svm labels items that it was trained on, which look too stable" in err
        code, _, err = run(f"{command} --resamples 200 --scheme oob")
        assert code == 0, err
        assert "trained on" not in err

    def test_purity_in_resamples_is_the_mean_of_purities(self):
        rng = np.random.default_rng(2)
        classes = rng.choice(["a", "b", "c"], 30)
        labels = rng.integers(-2, 4, (30, 25))
        by_resample = [(purity_score(classes, column), (column >= 0).sum()) for column in labels.T]
        shares, sizes = zip(*by_resample, strict=True)
        expected = np.average(shares, weights=sizes)
        assert purity_in_resamples(classes, labels) == pytest.approx(expected)
        assert np.isnan(purity_in_resamples(classes, np.full((30, 2), -2)))

    def test_a_number_of_clusters_is_not_silently_ignored(self, run, data):
        code, _, err = run("fit data.csv --algorithm svm --label kind -k 7 --resamples 200 --json")
        assert code == 0
        assert "note: -k 7 has no effect: the classes are those of --label." in err


class TestScales:
    def test_identical_rows_in_spite_of_rounding(self, run, tmp_path):
        (tmp_path / "a.csv").write_text("x,y\n" + "0.1,0.7\n" * 12)
        assert np.full(12, 0.1).std() > 0
        code, _, err = run("fit a.csv -k 2")
        assert code == 2
        assert "a.csv: all rows are the same, so there are no clusters." in err

    @pytest.mark.parametrize("scale", ["", "--scale"])
    def test_constant_columns_in_spite_of_rounding(self, scale, run, tmp_path):
        (tmp_path / "a.csv").write_text("x,c\n" + "".join(f"{i % 5},0.1\n" for i in range(12)))
        code, _, err = run(f"fit a.csv -k 2 {scale} --resamples 30 --no-plots")
        assert code == 0
        assert "note: Columns with one value, which have no effect: c." in err
        assert "very different scales" not in err

    def test_constant_columns_are_zero_when_scaled(self):
        from coreclust.cli.loading import _scaled

        rng = np.random.default_rng(0)
        X = np.column_stack([np.full(12, 0.1), rng.normal(5, 3, 12)])
        Z = _scaled(X, np.array([True, False]))
        np.testing.assert_array_equal(Z[:, 0], 0)
        np.testing.assert_array_equal(Z[:, 1], (X[:, 1] - X[:, 1].mean()) / X[:, 1].std())

    def test_values_at_the_end_of_the_range(self, run, tmp_path):
        rows = "".join(f"{'-' * (i % 2)}1e308,{i}\n" for i in range(12))
        (tmp_path / "a.csv").write_text(f"x,y\n{rows}")
        code, out, err = run("fit a.csv -k 2 --scale --json --resamples 30")
        assert code == 0, err
        assert "overflow" not in err
        clusters = json.loads(out)["items"]["cluster"]
        assert clusters[0] != clusters[1]
        code, _, err = run("fit a.csv -k 2 --json --resamples 30")
        assert code == 2
        assert "column x holds values up to 1e+308, too large to compute distances" in err


def test_a_name_above_one_column_with_a_decimal_comma(read, error):
    table = read("v\n1,4\n7,5\n-2,25\n")
    assert table.feature_names == ["v"]
    assert table.X.tolist() == [[1.4], [7.5], [-2.25]]
    assert table.notices == ["Read with a decimal comma: v."]
    assert "the header has 1 cell and line 2 has 2 (1,4); name both columns, or set" in error(
        "v\n1,4\n2,5\n3,6\n"
    )
    assert read("v\n1,4\n2,5\n3,6\n", separator=";").X.tolist() == [[1.4], [2.5], [3.6]]
    assert read("v\na,4\nb,5\nc,6\n").ids == ["a", "b", "c"]


class TestFormats:
    TEXT = b"x,y\n1,2\n3,4\n"

    @pytest.mark.parametrize("name", ["data.csv.bz2", "data.csv.xz", "data.csv.zip", "data"])
    def test_compressed(self, name, read):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("data.csv", self.TEXT)
        packed = {".bz2": bz2.compress(self.TEXT), ".xz": lzma.compress(self.TEXT)}
        content = packed.get(Path(name).suffix, archive.getvalue())
        assert read(content, name).X.tolist() == [[1, 2], [3, 4]]

    def test_tabs_are_tried_first_in_a_compressed_tsv(self, read):
        text = "a,b\tc\n1,5\t2\n2,5\t3\n"
        assert read(bz2.compress(text.encode()), "a.tsv.bz2").feature_names == ["a,b", "c"]

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (bz2.compress(TEXT)[:-4], "is compressed by bzip2, but damaged"),
            (lzma.compress(TEXT)[:-4], "is compressed by xz, but damaged"),
        ],
    )
    def test_damaged(self, content, message, error):
        assert message in error(content)

    def test_zip_files_of_other_things(self, error):
        for names, message in (
            (["a.csv", "b.csv"], "holds 2 files (a.csv, b.csv); keep only the table in it."),
            ([], "is a zip file"),
            (["mimetype", "content.xml"], "is an OpenDocument file; save the sheet as CSV"),
        ):
            archive = io.BytesIO()
            with zipfile.ZipFile(archive, "w") as file:
                for name in names:
                    file.writestr(name, self.TEXT)
            assert message in error(archive.getvalue())

    def test_a_workbook(self, tmp_path, error):
        from coreclust.cli.reading import read_table

        frame = pd.DataFrame(
            {"name": ["a", "b", "c"], "x": [1.5, 2, -3e-7], "ok": [True, False, True]}
        )
        path = tmp_path / "a.xlsx"
        with pd.ExcelWriter(path) as book:
            frame.to_excel(book, sheet_name="first", index=False, startrow=2, startcol=1)
            pd.DataFrame({"u": [1, None], "v": [3, 4]}).to_excel(book, sheet_name="other")
        table = read_table(path, id_column="name")
        assert table.feature_names == ["x", "ok"]
        assert table.X.tolist() == [[1.5, 1], [2, 0], [-3e-7, 1]]
        assert table.ids == ["a", "b", "c"]
        assert table.notices[0] == "The sheet first is read (--sheet reads another: other)."
        other = read_table(path, sheet="other", drop_missing=True)
        assert other.X.tolist() == [[1, 3]]
        assert other.dropped == [3]
        with pytest.raises(Exception, match="--sheet none: there is no such sheet; it has first"):
            read_table(path, sheet="none")
        assert "--sheet is for .xlsx files" in error("x,y\n1,2\n3,4\n", sheet="first")

    def test_a_damaged_workbook(self, error):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("xl/workbook.xml", "junk")
        assert "is not a workbook that can be read" in error(archive.getvalue(), "a.xlsx")

    def test_a_workbook_without_openpyxl(self, error, monkeypatch):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("xl/workbook.xml", "")
        monkeypatch.setitem(sys.modules, "openpyxl", None)
        assert (
            ".xlsx files need openpyxl; install it with: pip install 'coreclust[formats]'"
            in error(archive.getvalue(), "a.xlsx")
        )

    def test_cells_that_were_reduced_to_components(self, tmp_path):
        anndata = pytest.importorskip("anndata")
        from coreclust.cli.reading import read_table

        counts, components = np.eye(4), np.arange(8.0).reshape(4, 2)
        cells = anndata.AnnData(counts, obsm={"X_pca": components, "X_umap": -components})
        path = tmp_path / "a.h5ad"
        cells.write_h5ad(path)
        table = read_table(path)
        np.testing.assert_array_equal(table.X, components)
        assert table.feature_names == ["X_pca1", "X_pca2"]
        assert table.notices == ["obsm['X_pca'] is clustered (--rep X clusters the matrix X)."]
        np.testing.assert_array_equal(read_table(path, rep="X").X, counts)
        np.testing.assert_array_equal(read_table(path, rep="X_umap").X, -components)
        with pytest.raises(Exception, match=r"--rep no: .* it has X and X_pca, X_umap"):
            read_table(path, rep="no")

    def test_a_representation_of_a_file_without_any(self, error):
        assert "--rep is for .h5ad files" in error("x,y\n1,2\n3,4\n", rep="X_pca")


@pytest.mark.parametrize(
    ("cells", "expected", "how"),
    [
        (["5.1%", "12 %", "-3%"], [0.051, 0.12, -0.03], "a percent sign, divided by 100"),
        (
            ["$5.1", "-$3", "$1,200.5"],
            [5.1, -3, 1200.5],
            "a currency sign and a comma between thousands",
        ),
        (["5 €", "€7", "12"], [5, 7, 12], "a currency sign"),
        (["1\u00a0234", "12\u202f000.5", "7"], [1234, 12000.5, 7], None),
        (["1'234", "12\u2019000.5", "7"], [1234, 12000.5, 7], None),
        (["\u22125.1", "\u22122e-3", "4"], [-5.1, -2e-3, 4], None),
    ],
)
def test_notations_of_numbers(cells, expected, how, read):
    rows = "".join(f"{cell}\t{i * i}\n" for i, cell in enumerate(cells))
    separator = "," if any("," in cell for cell in cells) else "\t"
    rows = (
        "".join(f'"{cell}",{i * i}\n' for i, cell in enumerate(cells)) if separator == "," else rows
    )
    table = read(f"x{separator}y\n{rows}")
    np.testing.assert_allclose(table.X[:, 0], expected)
    assert table.notices == ([f"Read with {how}: x."] if how else [])


def test_percent_signs_in_some_cells(error):
    assert (
        "column x holds numbers with a percent sign except in 1 cell, first '7' in line 3"
        in error("x,y\n5%,1\n7,2\n9%,4\n")
    )


def test_the_cell_that_is_no_number_is_quoted(error):
    message = error("size,town\n12 kg,A\n7 kg,B\n")
    assert message.endswith(
        "has no column of numbers left to cluster; its columns are size, town, and size holds "
        "'12 kg' in line 2."
    )


def test_a_refused_checkpoint_folder_is_left_alone(tmp_path, blobs):
    (tmp_path / "mine.txt").write_text("mine")
    cc = CoreClustering(n_resamples=5, checkpoint=tmp_path, random_state=0)
    with pytest.raises(ValueError, match=r"holds other files, such as 'mine.txt'"):
        cc.fit(blobs)
    (tmp_path / "header.json").write_text("{}")
    with pytest.raises(ValueError, match="damaged or belongs to something else"):
        cc.fit(blobs)
    assert {path.name for path in tmp_path.iterdir()} == {"mine.txt", "header.json"}


@pytest.mark.parametrize(
    "options", ["-k 2", "-k 2 --scheme smoothed", "--algorithm svm --label kind"]
)
def test_the_audit_is_printed_and_in_the_json(tmp_path, run_command, options):
    rng = np.random.default_rng(0)
    points = np.repeat([[0.0, 0.0], [3.0, 0.0]], 20, axis=0) + rng.normal(size=(40, 2))
    lines = [f"{x:.3f},{y:.3f},{'ab'[row // 20]}" for row, (x, y) in enumerate(points)]
    data = tmp_path / "data.csv"
    data.write_text("\n".join(["x,y,kind", *lines]) + "\n")
    command = f"fit {data} {options} --audit --resamples 100 --seed 0 --no-plots"
    code, text, _ = run_command(f"{command} --out {tmp_path / 'out'} --report")
    assert code == 0
    assert "On new data, " in text
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert re.search(r"On new data, .*\.", text)[0] in page
    code, answer, _ = run_command(f"{command} --json")
    audit = json.loads(answer)["audit"]
    assert 0 < audit["share"] <= 1
    assert len(audit["clusters"]) == 2
    assert " ".join(audit["sentences"]) in text
    assert code == 0
    without = json.loads(run_command(command.replace(" --audit", "") + " --json")[1])
    assert "audit" not in without
