"""Tests of the paper's datasets: the same values from every source, and helpful errors."""

import gzip
import shutil
import socket
from http.client import IncompleteRead
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from studies.data import (
    PAPER_DATASETS,
    DatasetNotFoundError,
    load_kdd_population,
    load_paper_dataset,
)
from studies.data._r_random import RRandom
from studies.data.paper import kdd_sample_rows

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[3] / "shared" / "data"
OPENML = {"glass": 41, "bcw": 15, "yeast": 181}
GLASS_AT_OPENML = {
    "1": "'build wind float'",
    "2": "'build wind non-float'",
    "3": "vehic wind float",
    "5": "containers",
    "6": "tableware",
    "7": "headlamps",
}
FILES = {name: f"{name}.csv" for name in PAPER_DATASETS} | {"kdd": "kdd_sample200.csv"}


@pytest.fixture(scope="session")
def folder():
    if not FOLDER.is_dir():
        pytest.skip("the folder with the paper's datasets is not here")
    return FOLDER


@pytest.fixture(autouse=True)
def no_surprises(monkeypatch):
    """No folder from outside, and no test goes online."""
    monkeypatch.delenv("CORECLUST_DATA", raising=False)
    fail_with(monkeypatch, AssertionError("a test went online"))


@pytest.fixture(scope="session")
def population(folder):
    return load_kdd_population(folder, download=False)


def fail_with(monkeypatch, error):
    def fetch(**_):
        raise error

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    monkeypatch.setattr(sklearn.datasets, "fetch_kddcup99", fetch)


def copy(folder, name, tmp_path):
    return Path(shutil.copyfile(folder / name, tmp_path / name))  # the original is read-only


def rows_of(data, target):
    return sorted((*row, str(name)) for row, name in zip(data.tolist(), target, strict=True))


@pytest.mark.parametrize("name", PAPER_DATASETS)
def test_values_are_those_of_the_files(name, folder):
    table = np.genfromtxt(folder / FILES[name], delimiter=",", dtype=str)
    dataset = load_paper_dataset(name, folder, download=False)
    assert dataset.feature_names == table[0, :-1].tolist()
    assert dataset.data.dtype == np.float64
    tolerance = 1e-12 if name == "synthetic" else 0.0
    np.testing.assert_allclose(dataset.data, table[1:, :-1].astype(float), rtol=0, atol=tolerance)
    np.testing.assert_array_equal(dataset.target.astype(str), table[1:, -1])
    assert dataset.target.dtype.kind == ("i" if table[1, -1].isdigit() else "U")
    np.testing.assert_array_equal(dataset.target_names, np.unique(dataset.target))
    assert f"{len(table) - 1} items" in dataset.DESCR


@pytest.mark.parametrize("name", ["synthetic", "iris", "wine"])
def test_some_datasets_need_no_folder(name):
    assert load_paper_dataset(name, download=False).data.flags.c_contiguous


def test_the_environment_names_the_folder(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("CORECLUST_DATA", str(folder))
    assert load_paper_dataset("glass", download=False).data.shape == (214, 9)
    with pytest.raises(DatasetNotFoundError):  # the argument takes precedence
        load_paper_dataset("glass", tmp_path, download=False)


def test_r_draws():
    # set.seed(1); runif(2). set.seed(1); rnorm(3). set.seed(123); rnorm(2). From R's own output.
    np.testing.assert_allclose(RRandom(1).uniform(2), [0.2655087, 0.3721239], atol=5e-8)
    np.testing.assert_allclose(RRandom(1).normal(3), [-0.6264538, 0.1836433, -0.8356286], atol=5e-8)
    np.testing.assert_allclose(RRandom(123).normal(2), [-0.56047565, -0.23017749], atol=5e-9)
    # set.seed(42); sample(1:10), as R printed it before version 3.6
    assert (RRandom(42).distinct(10, 10) + 1).tolist() == [10, 9, 3, 6, 4, 8, 5, 1, 2, 7]


def test_kdd_is_drawn_from_the_population(population, folder):
    assert population.data.shape == (485269, 5)
    assert population.data.dtype == np.float64
    names, sizes = np.unique(population.target, return_counts=True)
    assert dict(zip(names.tolist(), sizes.tolist(), strict=True)) == {
        "neptune": 107201,
        "normal": 97278,
        "smurf": 280790,
    }
    sample = load_paper_dataset("kdd", folder)
    np.testing.assert_array_equal(population.data[kdd_sample_rows()], sample.data)
    np.testing.assert_array_equal(population.target[kdd_sample_rows()], sample.target)


def test_kdd_without_its_file_comes_from_the_population(folder, tmp_path):
    copy(folder, "kdd.csv.gz", tmp_path)
    drawn, read = load_paper_dataset("kdd", tmp_path), load_paper_dataset("kdd", folder)
    np.testing.assert_array_equal(drawn.data, read.data)
    np.testing.assert_array_equal(drawn.target, read.target)
    assert (drawn.data.shape, drawn.feature_names) == ((200, 5), read.feature_names)


@pytest.mark.parametrize("name", ["Iris", "kdd99", None, ["iris"]])
def test_wrong_name_lists_the_names(name):
    with pytest.raises(ValueError, match=r"name must be one of synthetic, iris, .*, kdd, got"):
        load_paper_dataset(name)


@pytest.mark.parametrize("name", ["iris", "glass", "kdd"])
def test_data_home_must_be_a_folder(name, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for wrong in (tmp_path / "file", str(tmp_path / "nowhere"), 3):
        with pytest.raises(ValueError, match=r"^data_home must be a folder that exists, got"):
            load_paper_dataset(name, wrong)
    with pytest.raises(ValueError, match="data_home"):
        load_kdd_population(tmp_path / "file")
    monkeypatch.setenv("CORECLUST_DATA", str(tmp_path / "nowhere"))
    if name == "iris":  # needs no folder
        assert load_paper_dataset(name).data.shape == (150, 4)
        return
    with pytest.raises(ValueError, match=r"^CORECLUST_DATA must be a folder that exists, got"):
        load_paper_dataset(name)


@pytest.mark.parametrize("name", ["glass", "bcw", "yeast", "kdd"])
@pytest.mark.parametrize("error", [URLError("no route"), TimeoutError("timed out")])
def test_missing_and_offline(name, error, tmp_path, monkeypatch):
    fail_with(monkeypatch, error)
    with pytest.raises(DatasetNotFoundError) as caught:
        load_paper_dataset(name, tmp_path)
    message = str(caught.value)
    assert caught.value.__cause__ is error
    for part in (repr(name), str(tmp_path), FILES[name], "CORECLUST_DATA", "go online", str(error)):
        assert part in message
    assert (message.count("\n"), message.count(". "), message[-1]) == (0, 0, ".")


def test_missing_and_not_to_be_downloaded(tmp_path):
    with pytest.raises(DatasetNotFoundError, match=r"put yeast\.csv .* pass download=True"):
        load_paper_dataset("yeast", download=False)
    with pytest.raises(DatasetNotFoundError, match=r"put kdd\.csv\.gz .* pass download=True"):
        load_kdd_population(tmp_path, download=False)


@pytest.mark.parametrize("error", [IncompleteRead(b""), EOFError(), KeyError("url"), ValueError()])
def test_a_broken_download_counts_as_offline(error, monkeypatch):
    fail_with(monkeypatch, error)
    with pytest.raises(DatasetNotFoundError, match=rf"go online .* \({type(error).__name__}"):
        load_kdd_population()


def at_openml(folder, name):
    """A dataset in the form of OpenML: shuffled, other names, an identifier, missing values."""
    table = pd.read_csv(folder / FILES[name], dtype={"class": str})
    target = table.pop("class")
    if name == "glass":
        target = target.map(GLASS_AT_OPENML)
    table = table.astype(float)
    table.columns = [f"Other_{column}" for column in table.columns]
    if name == "bcw":
        gap = table.iloc[[0]].assign(Other_bare_nuclei=np.nan)
        table, target = pd.concat([table, gap]), pd.concat([target, target.iloc[[1]]])
    table.insert(0, "Id", np.arange(len(table)))
    table.insert(1, "Sequence", [f"ADT{i}_YEAST" for i in range(len(table))])
    order = np.random.default_rng(0).permutation(len(table))
    return Bunch(data=table.iloc[order], target=target.iloc[order].astype("category"))


@pytest.mark.parametrize("name", OPENML)
def test_openml_gives_the_same_rows(name, folder, monkeypatch):
    asked = []

    def fetch(**options):
        asked.append(options)
        return at_openml(folder, name)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    fetched, local = load_paper_dataset(name), load_paper_dataset(name, folder)
    assert len(asked) == 1  # the local file was enough
    assert (asked[0]["data_id"], asked[0]["n_retries"]) == (OPENML[name], 1)
    assert not np.array_equal(fetched.data, local.data)
    assert rows_of(fetched.data, fetched.target) == rows_of(local.data, local.target)
    assert fetched.feature_names == local.feature_names
    assert fetched.target.dtype == local.target.dtype
    assert f"OpenML (id {OPENML[name]})" in fetched.DESCR


def test_openml_with_other_values_is_refused(folder, monkeypatch):
    fetched = at_openml(folder, "glass")
    fetched.data.iloc[5, 4] += 0.01
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: fetched)
    with pytest.raises(
        ValueError, match=r"'glass' from OpenML \(id 41\) is not .* put an untouched"
    ):
        load_paper_dataset("glass")
    fetched.target = pd.Series(["bottle"] * 214)
    with pytest.raises(ValueError, match=r"'glass' from OpenML \(id 41\) has a class 'bottle'"):
        load_paper_dataset("glass")


def test_kddcup99_gives_the_same_rows(population, monkeypatch):
    """In the form of scikit-learn: objects, bytes with a full stop, other classes between."""
    features = ["duration", "service", *reversed(population.feature_names)]
    n_items = len(population.target) + 2
    data = np.empty((n_items, len(features)), dtype=object)
    data[:, 0], data[:, 1] = 0, b"http"
    data[1:-1, 2:] = population.data[:, ::-1]
    data[[0, -1], 2:] = 7
    target = np.empty(n_items, dtype=object)
    target[1:-1] = [f"{name}.".encode() for name in population.target.tolist()]
    target[[0, -1]] = b"back."
    bunch = Bunch(data=data, target=target, feature_names=features)
    monkeypatch.setattr(sklearn.datasets, "fetch_kddcup99", lambda **_: bunch)
    fetched = load_kdd_population()
    np.testing.assert_array_equal(fetched.data, population.data)
    np.testing.assert_array_equal(fetched.target, population.target)
    bunch.target[1] = b"back."
    with pytest.raises(ValueError, match="'kdd' from fetch_kddcup99 has 485268 rows"):
        load_kdd_population()


@pytest.mark.parametrize("name", ["glass", "bcw", "yeast", "kdd"])
def test_a_tampered_file_is_refused(name, folder, tmp_path):
    path = copy(folder, FILES[name], tmp_path)
    header, first, *rest = path.read_text().splitlines()
    path.write_text("\n".join(["renamed" + header, *rest[::-1], first]) + "\n\n")
    assert load_paper_dataset(name, tmp_path).data.shape[0] == len(rest) + 1  # only reordered

    cells = first.split(",")
    cells[2] = repr(float(cells[2]) + 1e-6)
    for tampered in ([header, ",".join(cells), *rest], [header, *rest], [header, first, *rest[1:]]):
        path.write_text("\n".join(tampered))
        with pytest.raises(
            ValueError, match=f"'{name}' from .* is not .*: replace the file"
        ) as got:
            load_paper_dataset(name, tmp_path)
        assert str(path) in str(got.value)


def test_exchanged_classes_are_refused(folder, tmp_path):
    path = copy(folder, "bcw.csv", tmp_path)
    lines = path.read_text().splitlines()
    lines[1] = lines[1].replace("benign", "malignant")
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match="is not the one of the paper"):
        load_paper_dataset("bcw", tmp_path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "it has 0 columns"),
        ("RI,Na,class\n1.5,13,1\n", "it has 3 columns"),
        ("a,b\n1,2\n1,2,3\n", "inhomogeneous"),
        ("RI,Na,Mg,Al,Si,K,Ca,Ba,Fe,class\n" + "a," * 9 + "1\n", "could not convert"),
    ],
)
def test_a_file_with_wrong_columns_is_refused(text, complaint, tmp_path):
    (tmp_path / "glass.csv").write_text(text)
    with pytest.raises(ValueError, match=f"{complaint}.*the columns RI, Na, .*, Fe, class"):
        load_paper_dataset("glass", tmp_path)


def test_a_file_with_a_wrong_class_is_refused(tmp_path):
    (tmp_path / "glass.csv").write_text("RI,Na,Mg,Al,Si,K,Ca,Ba,Fe,class\n" + "0," * 9 + "4\n")
    with pytest.raises(ValueError, match="has a class '4', but its classes must be 1, 2, 3, 5, 6"):
        load_paper_dataset("glass", tmp_path)


def test_a_wrong_population_is_refused(population, tmp_path):
    path = tmp_path / "kdd.csv.gz"
    lines = ["a,b,c,d,e,class", *["0,0,0,0,0,smurf"] * len(population.target)]
    for wrong, complaint in [
        (lines[:4], "has 3 rows"),
        (lines, "is not the one of the paper"),
        (["a,b", "1,smurf"], "it has 2 columns"),
        (["a,b,c,d,e,class", "0,0,0,0,zero,smurf"], "could not convert"),
    ]:
        path.write_bytes(gzip.compress("\n".join(wrong).encode(), compresslevel=1))
        with pytest.raises(ValueError, match=f"'kdd' .*{complaint}.*replace the file"):
            load_kdd_population(tmp_path)
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(ValueError, match=r"'kdd' cannot be read from .*replace the file"):
        load_kdd_population(tmp_path)
    path.write_text("not compressed")
    with pytest.raises(ValueError, match=r"'kdd' cannot be read from .*replace the file"):
        load_kdd_population(tmp_path)


def test_downloads_have_a_time_limit(monkeypatch):
    limits = []

    def fetch(**_):
        limits.append(socket.getdefaulttimeout())
        raise URLError("no route")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    with pytest.raises(DatasetNotFoundError):
        load_paper_dataset("glass")
    assert limits[0] is not None
    assert limits[0] <= 60
    assert socket.getdefaulttimeout() is None
