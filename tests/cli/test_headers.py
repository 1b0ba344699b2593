"""Headers that consist of numbers, rows of data that look like headers, and titles."""

import numpy as np
import pandas as pd
import pytest

from coreclust.cli.reading import read_table
from coreclust.cli.reading.header import has_header

NOTHING = frozenset()


def rows_of(text):
    return [line.split(",") for line in text.split()]


@pytest.mark.parametrize(
    "text",
    [
        "2021,2020,2019 5,3,1 4,3,1 7,8,9",  # the latest year first
        "1990,1995,2010,2015 5,3,1,4 4,3,1,4 7,8,9,4",
        "2010,2020 5,3 4,1 7,8",
        "2019.0,2020.0 1,2 3,4 5,7",  # years that were floats
        "2019,2020,land 5,3,A 7,4,B 2,1,C",
        "2019,land,2020 5,A,3 7,B,4 2,C,1",
        "0.0,1.0,2.0 1.5,2,3 3,4,1 5,7,0",
        ",0,1,2 0,.5,.3,.1 1,.4,.3,.2 2,.5,.6,.7",  # the last row is in even steps by chance
        "0,1,2 5,3,1 4,3,1 7,7,0 2,9,9 3,4,5",
        "1,2 5.1,3.5 4.9,3.2 4.7,3.3",
        "0 1.5 2.5 3.5",  # as pandas writes a series
        "400,410,420,430 .1,.2,.3,.2 .5,.1,.2,.4 .2,.3,.1,.9",  # wavelengths
        "s,400.5,401.0,401.5,402.0 a,.1,.2,.3,.2 b,.5,.1,.2,.4 c,.2,.3,.1,.9",
        "id,1,2 b,5.1,3.5 c,4.9,3.0 d,4.7,3.2",
        "Gene,101,102,103 A,1,2,3 B,4,5,6 C,4,4,1",
        "name,2020 A,3 B,4 C,5",
    ],
)
def test_numbers_that_name_columns(text):
    assert has_header(rows_of(text), NOTHING)


@pytest.mark.parametrize(
    "text",
    [
        "1,2,3 2,1,3 3,2,1 1,3,2",  # ranks
        "1,2,3,4 2,1,3,4 4,3,2,1",
        "0,1,2 3,4,5 6,7,8",
        "0,1 1,0 1,1 0,0",
        "0,1 5,3 4,8 1,2",
        "1,2 5,3 4,8 1,2",
        "1 1.5 2.5 3",
        "0 1 2 5",
        "2019 5 6 7",
        "2001,5 2002,7 2003,9",  # years and values
        "1850,2010 900,1200 3000,2500",  # weights
        "2001,2003,2005 2000,2001,2008 1990,1999,2004",
        "1850,1990,1870 9,3,4 3,2,1",
        "400,410,420,430 390,425,470,440 510,405,300,415",
        "400,410,420 .1,.2,.3 .5,.1,.2",  # three are by chance in even steps
        "101,102,103 1.5,2,3 4.1,5,6",
        "A,1,2 B,3,4 C,5,6",
        "id,1,2 id,3,4 id,5,6",  # a word of all rows
        "1,2,kind 1.5,2,a 3,4,b",
        "-1,0,1 5,3,1 4,4,1",
    ],
)
def test_numbers_that_are_data(text):
    assert not has_header(rows_of(text), NOTHING)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 10])
@pytest.mark.parametrize("index", [False, True])
def test_what_pandas_writes_without_names(n_columns, index, tmp_path):
    X = np.random.default_rng(n_columns).normal(size=(8, n_columns))
    pd.DataFrame(X).to_csv(tmp_path / "a.csv", index=index)
    table = read_table(tmp_path / "a.csv")
    assert table.feature_names == [str(column) for column in range(n_columns)]
    np.testing.assert_allclose(table.X, X)
    pd.DataFrame(X).to_csv(tmp_path / "a.csv", header=False, index=False)
    assert len(read_table(tmp_path / "a.csv").X) == 8


def test_a_table_of_digits_keeps_its_counted_header(tmp_path):
    """Some of many rows of small whole numbers are in even steps by chance."""
    X = np.random.default_rng(0).integers(10, size=(200, 3))
    pd.DataFrame(X).to_csv(tmp_path / "a.csv", index=False)
    assert len(read_table(tmp_path / "a.csv").X) == 200
    pd.DataFrame(X[1:]).to_csv(tmp_path / "a.csv", index=False, header=False)
    assert len(read_table(tmp_path / "a.csv").X) == 199


@pytest.mark.parametrize(
    "text",
    [
        "My flowers\nx,y\n1,2\n3,4\n",
        "My flowers,\nx,y\n1,2\n3,4\n",
        "My,\n\nflowers,\nx,y\n1,2\n3,4\n",
    ],
)
def test_titles_are_left_out(text, read):
    table = read(text)
    assert table.feature_names == ["x", "y"]
    assert table.X.tolist() == [[1, 2], [3, 4]]
    assert table.notices == ["Left out above the names of the columns: My flowers."]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("v\na,4\nb,5\nc,6\n", ["v"]),  # R writes no name above the names of the rows
        ("x,y\n1,2\n3,4\n", ["x", "y"]),
        ("x\n1\n3\n", ["x"]),
    ],
)
def test_a_header_is_no_title(text, names, read):
    assert read(text).feature_names == names
