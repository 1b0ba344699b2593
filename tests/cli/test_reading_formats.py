"""Reading files that store numbers as numbers: Parquet, .npy and .h5ad."""

import gzip
import io
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from coreclust.cli.errors import InputError
from coreclust.cli.reading import read_table


def test_npy(tmp_path, read, error):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(6).reshape(3, 2))
    assert read_table(path).X.tolist() == [[0, 1], [2, 3], [4, 5]]
    np.save(path, np.array([1.0, np.nan, 3.0]))
    assert read_table(path, drop_missing=True).dropped == [2]
    for bad, message in (
        (np.zeros((2, 2, 2)), "one row per item"),
        (np.array([1j]), "real numbers"),
        (np.array(["a"]), "real numbers"),
        (np.array([{}], dtype=object), "objects are not read"),
        (np.zeros((3, 0)), "no columns"),
        (np.zeros((0, 3)), "no rows"),
    ):
        np.save(path, bad, allow_pickle=True)
        with pytest.raises(InputError, match=message):
            read_table(path)
    np.savez(tmp_path / "a.npz", X=np.eye(2))
    assert read_table(tmp_path / "a.npz").X.tolist() == [[1, 0], [0, 1]]
    np.savez(tmp_path / "b.npz", X=np.eye(2), y=np.zeros(2))
    with pytest.raises(InputError, match=r"holds 2 arrays \(X, y\); save the one with the data"):
        read_table(tmp_path / "b.npz")
    assert "numpy can read" in error(b"junk", "x.npy")


def test_parquet(tmp_path, error):
    frame = pd.DataFrame(
        {
            "x": [1, 2, 3],
            "flag": [True, False, True],
            "town": ["A", None, "B"],
            "when": pd.to_datetime(["2020-01-01"] * 3),
            "maybe": pd.array([1, None, 3], dtype="Int64"),
        }
    )
    path = tmp_path / "a.parquet"
    frame.to_parquet(path)
    table = read_table(path, drop_missing=True)
    assert table.feature_names == ["x", "flag", "maybe"]
    assert table.X.tolist() == [[1, 1, 1], [3, 1, 3]]
    assert table.dropped == [2]
    assert "hold words (--one-hot turns them into numbers): town." in table.notices[0]
    assert "whose cells are not plain numbers: when (such as '20" in table.notices[1]
    frame[["x"]].set_axis(["a", "b", "c"]).to_parquet(path)
    assert read_table(path).ids == ["a", "b", "c"]
    assert "not a Parquet file" in error(b"junk", "x.parquet")


def test_h5ad_without_anndata(error, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "anndata", None)
    assert ".h5ad files need anndata; install it with: pip install 'coreclust[formats]'" in error(
        b"junk", "x.h5ad"
    )


def test_parquet_without_pyarrow(error, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert "Parquet files need pyarrow" in error(b"junk", "x.parquet")


class FakeAnnData:
    """The used part of AnnData, to test its reading without the package."""

    def __init__(self, X):
        self.X = X
        self.obsm = {}
        self.var_names = ["gene", "gene", "kind"]
        self.obs_names = ["c1", "c2"]
        self.obs = pd.DataFrame({"kind": ["T", "B"], "depth": [3, 4]}, index=self.obs_names)


@pytest.mark.parametrize("sparse", [False, True])
def test_h5ad_as_anndata_gives_it(sparse, read, monkeypatch):
    from types import SimpleNamespace

    from scipy.sparse import csr_matrix

    X = np.array([[1.0, 0, 2], [0, 3, 4]], dtype=np.float32)
    fake = SimpleNamespace(
        read_h5ad=lambda path: FakeAnnData(csr_matrix(X) if sparse else X),
    )
    monkeypatch.setitem(__import__("sys").modules, "anndata", fake)
    table = read(b"any", "x.h5ad", label_column="obs:kind")
    np.testing.assert_array_equal(table.X, X)
    assert table.ids == ["c1", "c2"]
    assert table.classes.tolist() == ["T", "B"]
    assert table.feature_names == ["gene", "gene.2", "kind"]  # and not the depth


@pytest.mark.skipif(find_spec("anndata") is None, reason="anndata is not installed")
def test_h5ad_for_real(tmp_path):
    import anndata

    data = anndata.AnnData(
        np.arange(6.0).reshape(3, 2), obs=pd.DataFrame({"kind": list("aab")}, index=list("xyz"))
    )
    data.write_h5ad(tmp_path / "a.h5ad")
    table = read_table(tmp_path / "a.h5ad", label_column="kind")
    assert table.X.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert table.ids == ["x", "y", "z"]
    assert table.classes.tolist() == ["a", "a", "b"]
    (tmp_path / "b.h5ad").write_bytes(b"junk")
    with pytest.raises(InputError, match="not an AnnData file"):
        read_table(tmp_path / "b.h5ad")


@pytest.mark.skipif(find_spec("anndata") is None, reason="anndata is not installed")
@pytest.mark.parametrize(
    ("command", "written", "shown"),
    [
        ("fit {} -k 3 --resamples 100", "core_clusters.csv", "3 clusters; every item is core"),
        ("select {} -k 2..3 --nulls 3 --resamples 60", "selection.csv", "3 clusters: "),
        ("compare {} -k 3 --resamples 60 --algorithms kmeans,hclust", "comparison.csv", "hclust"),
    ],
)
def test_every_command_clusters_the_components_of_cells(
    command, written, shown, tmp_path, run_command
):
    """The matrix X is one cloud; only the components have three groups."""
    import anndata

    rng = np.random.default_rng(0)
    components = np.repeat([[0.0, 0.0], [40.0, 0.0], [0.0, 40.0]], 20, axis=0)
    cells = anndata.AnnData(
        rng.normal(size=(60, 5)), obsm={"X_pca": components + rng.normal(size=(60, 2))}
    )
    path = tmp_path / "cells.h5ad"
    cells.write_h5ad(path)
    code, out, error = run_command(f"{command.format(path)} --out {tmp_path / 'found'} --no-plots")
    assert code == 0, error
    assert shown in out
    assert "obsm['X_pca'] is clustered" in error
    assert (tmp_path / "found" / written).exists()


def test_numbers_as_ids_and_classes_keep_all_their_digits(tmp_path):
    path = tmp_path / "data.parquet"
    frame = pd.DataFrame({"id": [1234567, 1234568, 7], "x": [1.0, 2, 3], "c": [0.1, 0.25, 1e9]})
    frame.to_parquet(path)
    table = read_table(path, id_column="id", label_column="c")
    assert table.ids == ["1234567", "1234568", "7"]
    assert table.classes.tolist() == ["0.1", "0.25", "1000000000"]


def test_missing_is_for_text_files(tmp_path):
    np.save(tmp_path / "data.npy", [[1.0, 2], [-99, 3]])
    with pytest.raises(InputError, match="--missing is for text files"):
        read_table(tmp_path / "data.npy", missing=["-99"])


@pytest.mark.parametrize("name", ["data.npy", "data.npz"])
def test_a_damaged_archive_is_one_sentence(error, name):
    assert "not an array of numbers" in error(b"PK\x03\x04" + b"x" * 50, name)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"separator": ";"}, "separator"),
        ({"encoding": "utf-8"}, "encoding"),
        ({"header": True}, "header"),
        ({"header": False}, "no-header"),
    ],
)
def test_options_for_text_are_not_ignored(options, name, tmp_path):
    np.save(tmp_path / "a.npy", np.eye(3))
    with pytest.raises(InputError) as caught:
        read_table(tmp_path / "a.npy", **options)
    assert str(caught.value) == (
        f"--{name} is for text files, and {tmp_path / 'a.npy'} is not one; leave it out."
    )


def test_a_hidden_sheet_is_not_the_first(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "lists"
    book.active.sheet_state = "hidden"
    sheet = book.create_sheet("data")
    for row in (["x", "y"], [1, 2], [3, 4]):
        sheet.append(row)
    book.active = 1
    book.save(tmp_path / "a.xlsx")
    table = read_table(tmp_path / "a.xlsx")
    assert table.X.tolist() == [[1, 2], [3, 4]]
    assert table.notices == ["The sheet data is read (--sheet reads another: lists)."]


def test_a_cell_far_away_from_the_table(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["x", "y"], [1, 2], [3, 4]):
        book.active.append(row)
    book.active["XFD100000"] = "lost"  # filling up to it would take all memory
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(InputError) as caught:
        read_table(tmp_path / "a.xlsx")
    assert str(caught.value) == (
        f"{tmp_path / 'a.xlsx'}: the sheet Sheet reaches to column 16,384 of row 100,000; delete "
        "the cells far from the table, or save the table as CSV."
    )


def test_archives_in_archives(read, error, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")

    def packed(**files):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return out.getvalue()

    text = b"x,y\n1,2\n3,4\n"
    book = openpyxl.Workbook()
    for row in (["x", "y"], [1, 2], [3, 4]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    workbook = (tmp_path / "a.xlsx").read_bytes()
    for content in (
        packed(**{"a.csv.gz": gzip.compress(text)}),
        packed(**{"a.xlsx": workbook}),
        gzip.compress(gzip.compress(text)),
        packed(**{"d/a.csv": text, ".DS_Store": b"?", "d/._a.csv": b"?", "Thumbs.db": b"?"}),
    ):
        assert read(content, "a.zip").X.tolist() == [[1, 2], [3, 4]]
    tabs = packed(**{"a.tsv.gz": gzip.compress(b"a,b\tc\n1,5\t2\n2,5\t3\n")})
    assert read(tabs, "a.zip").feature_names == ["a,b", "c"]
    assert "a.zip is not a text file" in error(
        gzip.compress(gzip.compress(gzip.compress(gzip.compress(text)))), "a.zip"
    )


def test_a_sheet_of_what_has_no_sheets(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(3))
    for name in ("a.npy", "a.csv"):
        (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n")
        with pytest.raises(InputError, match=rf"--sheet is for .xlsx files, and .*{name} is not"):
            read_table(tmp_path / name, sheet="results")


def test_an_address_is_no_file():
    with pytest.raises(InputError, match=r"is an address; download the file, and name it\."):
        read_table(Path("https://example.org/a.csv"))
