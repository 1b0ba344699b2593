"""Tables as people have them."""

import gzip
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreclust.cli.errors import InputError
from coreclust.cli.reading import read_table
from coreclust.cli.reading.delimited import find_separator, has_header
from coreclust.cli.reading.values import is_number, looks_like_ids

NOTHING = frozenset()


@pytest.fixture
def read(tmp_path):
    """Write a file and read it."""

    def write_and_read(content, name="data.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, **options)

    return write_and_read


@pytest.fixture
def error(read):
    def message(content, name="data.csv", **options):
        with pytest.raises(InputError) as caught:
            read(content, name, **options)
        text = str(caught.value)
        assert "\n" not in text
        assert text.rstrip("?)").endswith((".", "open", "out", "formats]'")) or text[-1] in ".?"
        return text

    return message


def test_a_plain_table(read):
    table = read("x,y\n1,2\n3,4.5\n-1e3,0\n")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4.5], [-1000, 0]])
    assert table.feature_names == ["x", "y"]
    assert table.ids == ["2", "3", "4"]  # the lines they stand in
    assert table.classes is None
    assert table.notices == []


def test_columns_for_ids_and_classes_by_name_and_by_number(read):
    text = "name,x,species,y\nann,1,a,2\nbob,3,b,4\n"
    for id_column, label_column in (("name", "species"), ("1", "3")):
        table = read(text, id_column=id_column, label_column=label_column)
        assert table.ids == ["ann", "bob"]
        assert table.classes.tolist() == ["a", "b"]
        assert table.feature_names == ["x", "y"]


def test_a_column_of_that_name_comes_before_one_of_that_number(read):
    assert read("a,1\n5,6\n7,8\n", id_column="1", header=True).ids == ["6", "8"]


def test_columns_to_drop(read):
    assert read("a,b,c\n1,2,3\n4,5,6\n", drop=["a", "3"]).feature_names == ["b"]


def test_columns_that_are_not_there(error):
    assert "--id nope: there is no such column; there are x, y." in error(
        "x,y\n1,2\n", id_column="nope"
    )
    assert "did you mean Name?" in error("Name,y\na,2\n", id_column="name")
    assert "--drop 3" in error("x,y\n1,2\n", drop=["3"])
    assert "--label 0" in error("x,y\n1,2\n", label_column="0")


def test_columns_of_words_are_named_and_skipped(read):
    table = read("x,town,y,name\n1,A,2,u\n3,B,4,v\n")
    assert table.feature_names == ["x", "y"]
    assert table.notices == [
        "Skipped columns that hold words (--one-hot turns them into numbers): town, name."
    ]


def test_columns_of_words_one_hot(read):
    table = read("x,town\n1,B\n3,A\n5,B\n", one_hot_encode=True)
    assert table.feature_names == ["x", "town=A", "town=B"]
    np.testing.assert_array_equal(table.X, [[1, 0, 1], [3, 1, 0], [5, 0, 1]])
    many = "x,town\n" + "".join(f"{i},t{i}\n" for i in range(21))
    assert "more than 20 different words: town" in read(many, one_hot_encode=True).notices[0]


def test_a_missing_word_is_missing_in_all_of_its_columns(error, read):
    text = "x,town\n1,B\n3,NA\n5,A\n"
    assert "2 missing values in 1 row of 3 (line 3; in town=A, town=B)" in error(
        text, one_hot_encode=True
    )
    assert read(text, one_hot_encode=True, drop_missing=True).X.shape == (2, 3)


def test_nothing_left_to_cluster_by(error):
    assert "no column of numbers left to cluster by; its columns are a, b" in error(
        "a,b\nfoo,bar\nbaz,qux\n"
    )


@pytest.mark.parametrize("cell", ["", "NA", "n/a", "NaN", "null", "None", "?", "-", ".", " "])
def test_missing_values_are_counted_or_dropped(cell, error, read):
    text = f"id,x,y\na,1,{cell}\nb,3,4\nc,{cell},{cell}\nd,5,6\n"
    assert error(text, id_column="id").endswith(
        "has 3 missing values in 2 rows of 4 (lines 2, 4; in x, y); --drop-missing leaves those "
        "rows out."
    )
    table = read(text, id_column="id", drop_missing=True)
    assert table.ids == ["b", "d"]
    assert table.dropped == [2, 4]
    assert table.notices == ["2 rows with missing or infinite values left out: lines 2, 4."]


def test_many_rows_with_missing_values_are_not_all_listed(error, read):
    text = "x,y\n" + "1,\n" * 30 + "1,2\n" * 40
    assert "30 missing values in 30 rows of 70 (lines 2, 3, 4, 5, 6 and 25 more" in error(text)
    assert "and 20 more" in read(text, drop_missing=True).notices[0]


def test_missing_in_the_class_only(error, read):
    text = "x,class\n1,a\n2,b\n3,\n"
    assert "1 missing value in 1 row of 3 (line 4; in the classes)" in error(
        text, label_column="class"
    )
    kept = read(text, label_column="class", drop_missing=True)
    assert kept.classes.tolist() == ["a", "b"]
    assert len(kept.X) == 2


def test_all_rows_have_something_missing(error):
    assert "in every row" in error("x,y\n1,\n,2\n", drop_missing=True)


def test_other_ways_to_write_missing(read):
    assert len(read("x,y\n1,-99\n2,3\n4,5\n", missing=["-99"], drop_missing=True).X) == 2


def test_infinite_values(error, read):
    text = "x,y\n1,inf\n3,-Infinity\n5,\n7,8\n"
    assert "1 missing and 2 infinite values in 3 rows of 4" in error(text)
    assert "has 1 infinite value in 1 row of 2" in error("x,y\n1,inf\n3,4\n")
    assert read(text, drop_missing=True).X.tolist() == [[7, 8]]


def test_a_slip_in_a_column_of_numbers_is_not_a_column_of_words(error):
    message = error("x,y\n1,2\n3,4 kg\n5,6\n7,8\n9,oops\n")
    assert "column y is made of numbers, but 2 cells are not, first '4 kg' in line 3" in message


def test_true_and_false(read):
    table = read("x,y\nTRUE,1\nfalse,2\nTrue,3\n")
    np.testing.assert_array_equal(table.X[:, 0], [1, 0, 1])
    assert "TRUE and FALSE" in table.notices[0]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
def test_separators_are_found(separator, read):
    rows = [["x", "y", "z"], ["1", "2", "3"], ["4", "5", "6"]]
    table = read("\n".join(separator.join(row) for row in rows))
    assert table.feature_names == ["x", "y", "z"]
    np.testing.assert_array_equal(table.X, [[1, 2, 3], [4, 5, 6]])


def test_blanks_in_any_number_and_quotes(read):
    table = read('"x"   "long name"\n  1  2 \n 3\t4\n')
    assert table.feature_names == ["x", "long name"]
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])


def test_a_given_separator_wins(read):
    assert read("x,1;y\n3,4;5\n6,7;8\n", separator=";").feature_names == ["x,1", "y"]


@given(
    st.lists(
        st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=5).map(tuple), min_size=2, max_size=6
    ).filter(lambda rows: len({len(row) for row in rows}) == 1),
    st.sampled_from([",", ";", "\t", "|"]),
    st.booleans(),
)
def test_any_table_of_numbers_is_cut_as_it_was_joined(rows, separator, comma):
    comma = comma and separator != ","
    lines = [separator.join(f"{value:.3f}" for value in row) for row in rows]
    text = "\n".join(line.replace(".", ",") if comma else line for line in lines)
    assert find_separator(text, NOTHING) == separator


def test_decimal_comma(read):
    table = read("x;y\n1,5;2\n-3,25;4\n1.234,5;6\n")
    np.testing.assert_array_equal(table.X, [[1.5, 2], [-3.25, 4], [1234.5, 6]])
    assert "Read with a decimal comma: x." in table.notices


def test_thousands(read):
    table = read('x,y\n"1,234",2\n"12,000.5",4\n7,8\n')
    np.testing.assert_array_equal(table.X[:, 0], [1234, 12000.5, 7])


@pytest.mark.parametrize("cell", ["1", "-2.5", "1e-3", "+7", ".5", "inf", "nan", "1,234"])
def test_numbers(cell):
    assert is_number(cell)


@pytest.mark.parametrize("cell", ["", "a", "1_000", "1.2.3", "0x10", "12 kg", "1,2", "--1", "+"])
def test_words(cell):
    assert not is_number(cell)


@pytest.mark.parametrize("cell", ["1,5", "-0,25", "1.234,5", "1.234.567", ",5", "1,5e3", "7"])
def test_numbers_with_a_decimal_comma(cell):
    assert is_number(cell, decimal_comma=True)


@pytest.mark.parametrize("cell", ["", ",", "e5", "1,2,3", "1.23,4"])
def test_words_with_a_decimal_comma(cell):
    assert not is_number(cell, decimal_comma=True)


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_encodings_are_found(encoding, read):
    table = read("größe,höhe in €\n1,2\n3,4\n".encode(encoding))
    assert table.feature_names == ["größe", "höhe in €"]
    assert table.notices == []


@pytest.mark.parametrize(("encoding", "sign"), [("cp1252", "€"), ("latin-1", "\x81")])
def test_old_encodings_are_guessed_and_said(encoding, sign, read):
    table = read(f"größe,{sign}\n1,2\n3,4\n".encode(encoding))
    assert table.feature_names == ["größe", sign]
    assert "not UTF-8" in table.notices[0]


def test_an_encoding_that_is_given(read, error):
    assert read("ж,y\n1,2\n3,4\n".encode("koi8-r"), encoding="koi8-r").feature_names[0] == "ж"
    assert "--encoding nope is not known" in error("x\n1\n", encoding="nope")
    assert "is not utf-8, or it is broken at byte 0" in error(b"\xff\n1\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04rest", "a spreadsheet or a zip file; save the sheet as CSV"),
        (b"%PDF-1.4", "a PDF"),
        (b"\x00\x01\x02\xff" * 50, "is not text"),
        (b"\x1f\x8bjunk", "packed by gzip, but broken"),
        (b"PAR1junk", "name it .parquet"),
    ],
)
def test_files_that_are_something_else(content, message, error):
    assert message in error(content)


def test_gzip(read):
    assert read(gzip.compress(b"x,y\n1,2\n3,4\n"), "data.csv.gz").X.shape == (2, 2)


def test_no_header(read):
    table = read("5.1,3.5,setosa\n4.9,3.0,setosa\n")
    assert table.feature_names == ["column1", "column2"]
    assert table.ids == ["1", "2"]
    assert "The first line holds data" in table.notices[0]
    assert read("5.1,3.5\n4.9,3.0\n", header=True).feature_names == ["5.1", "3.5"]
    assert len(read("x,y\n1,2\n3,4\n", header=False, missing=["x", "y"], drop_missing=True).X) == 2


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["x", "y"], ["1", "2"]], True),
        ([["1", "2"], ["3", "4"]], False),
        ([["x", "2020"], ["a", "1"], ["b", "2"]], False),  # cannot be told: the notice says so
        ([["id", "2020"], ["7", "1"], ["8", "2"]], True),
        ([["name", "town"], ["a", "b"]], True),
        ([["x", "y"]], True),
        ([["1", "y"]], False),
        ([["NA", "1"], ["3", "4"]], False),
    ],
)
def test_headers_are_recognized(rows, expected):
    assert has_header(rows, NOTHING) is expected


@pytest.mark.parametrize("content", ["", "\n", " \n\r\n\n", b"\xef\xbb\xbf"])
def test_nothing_in_it(content, error):
    assert "is empty" in error(content)


def test_no_rows(error):
    assert "has a header but no rows" in error("x,y\n")


@pytest.mark.parametrize("text", ["x\n1\n2\n3\n", "1\n2\n3\n"])
def test_one_column(text, read):
    assert read(text).X.tolist() == [[1], [2], [3]]


def test_rows_of_different_length(error):
    assert error("x,y\n1,2\n3\n4,5,6\n").endswith(
        "line 3 has 1 cell and the header has 2, separated by ',' (2 such lines); mend the file, "
        "or name its --separator."
    )
    assert "line 2 has 3 cells and most lines have 2" in error("1,2\n3,4,5\n6,7\n8,9\n")


def test_lines_are_counted_as_an_editor_does(error):
    assert "line 5 has 3 cells" in error('x,y\n\n1,"two\nlines"\n1,2,3\n')


def test_a_quotation_mark_left_open(error):
    assert "is a quotation mark left open?" in error('x,y\n1,"2\n3,4\n')


@pytest.mark.parametrize("text", ["x,y,\n1,2,\n3,4,\n", "x,y\n1,2,\n3,4,\n", "1,2,,\n3,4,,\n"])
def test_separators_at_the_end_of_lines(text, read):
    assert read(text).X.tolist() == [[1, 2], [3, 4]]


def test_an_empty_column_with_a_name(read):
    table = read("x,y\n1,\n3,\n")
    assert table.feature_names == ["x"]
    assert table.notices == ["Skipped columns without any value: y."]


def test_duplicated_names(read):
    table = read("x,x,x.2,x\n1,2,3,4\n5,6,7,9\n")
    assert len(set(table.feature_names)) == 4
    assert table.feature_names[0] == "x"
    assert table.feature_names[2] == "x.2"
    assert sum("more than one column 'x'" in text for text in table.notices) == 2
    np.testing.assert_array_equal(table.X[0], [1, 2, 3, 4])


@pytest.mark.parametrize("text", [",x,y\na,2,1\nb,4,3\n", "x y\na 2 1\nb 4 3\n"])
def test_a_first_column_without_a_name_is_ids(text, read):
    table = read(text)
    assert table.ids == ["a", "b"]
    assert table.feature_names == ["x", "y"]
    assert "taken as the ids" in table.notices[-1]


def test_a_first_column_may_be_called_column1(read):
    assert read("column1,x\n5,2\n6,4\n").feature_names == ["column1", "x"]


def test_the_separator_that_excel_is_told(read, error):
    assert read("sep=;\nx,y;z\n1;2\n3;4\n").feature_names == ["x,y", "z"]
    assert "line 3 has 3 cells" in error("sep=;\nx;z\n1;2;3\n4;5\n")


@pytest.mark.parametrize("above", ["# made on a Monday\n# by hand\n", "#\n\n# x and y, both\n"])
def test_comments_above_the_table(above, read, error):
    assert read(f"{above}x,y\n1,2\n3,4\n").feature_names == ["x", "y"]
    assert read(f"{above}1,2\n3,4\n5,6\n").X.shape == (3, 2)
    assert f"line {above.count(chr(10)) + 2} has 3 cells" in error(f"{above}x,y\n1,2,3\n4,5\n")


def test_names_in_a_comment(read):
    assert read("# x y\n1 2\n3 4\n").feature_names == ["x", "y"]
    assert read("# note\n#x,y\n1,2\n3,4\n").feature_names == ["x", "y"]
    assert read("# 1 2\n3 4\n5 6\n").X.shape == (2, 2)


def test_nothing_but_comments(error):
    assert "is empty" in error("# x\n# y\n")


def test_ids_that_were_forgotten(read):
    rows = "".join(f"{10 - i},{i * i}\n" for i in range(5))
    (text,) = read(f"patient_id,x\n{rows}").notices
    assert text.startswith("Column patient_id looks like an id, and is clustered by")
    assert text.endswith("--id patient_id or --drop patient_id keeps it out.")
    assert read(f"patient_id,x\n{rows}", id_column="patient_id").notices == []
    assert read(f"height,x\n{rows}").notices == []


def test_what_looks_like_ids():
    assert looks_like_ids("n", np.arange(1.0, 5))
    assert not looks_like_ids("year", np.arange(2000.0, 2005))
    assert not looks_like_ids("id", np.array([1.0, 1.0, 2.0]))
    assert not looks_like_ids("width", np.array([3.0, 1.0, 2.0]))
    assert not looks_like_ids("id", np.array([1.5, 2.5, 3.5]))


def test_ids_that_come_twice(read):
    table = read("n,x\na,1\na,2\nb,3\n", id_column="n")
    assert "Some ids come more than once (1 repetitions)." not in table.notices
    assert "1 id comes more than once." in table.notices


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_table(tmp_path)


def test_npy(tmp_path, read, error):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(6).reshape(3, 2))
    assert read_table(path).X.tolist() == [[0, 1], [2, 3], [4, 5]]
    np.save(path, np.array([1.0, np.nan, 3.0]))
    assert read_table(path, drop_missing=True).dropped == [2]
    for bad, message in (
        (np.zeros((2, 2, 2)), "a row an item"),
        (np.array([1j]), "real numbers"),
        (np.array(["a"]), "real numbers"),
        (np.array([{}], dtype=object), "objects are not read"),
        (np.zeros((3, 0)), "no columns"),
        (np.zeros((0, 3)), "no rows"),
    ):
        np.save(path, bad, allow_pickle=True)
        with pytest.raises(InputError, match=message):
            read_table(path)
    np.savez(tmp_path / "a.npz", X=np.zeros((2, 2)))
    with pytest.raises(InputError, match="several arrays"):
        read_table(tmp_path / "a.npz")
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
    assert "hold words (--one-hot turns them into numbers): town, when" in table.notices[0]
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
    """What is used of an AnnData, so that the way through it is tested without the package."""

    def __init__(self, X):
        self.X = X
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


def outcome(path, **options):
    """Return the table in a file, or the sentence that says why there is none."""
    try:
        return read_table(path, **options)
    except InputError as error:
        return str(error)


def is_table_or_sentence(found):
    if isinstance(found, str):
        return bool(found) and "\n" not in found
    return bool(np.isfinite(found.X).all()) and len(found.ids) == len(found.X) > 0


@given(st.binary(max_size=300))
def test_whatever_is_in_a_file_the_answer_is_a_table_or_one_sentence(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(data)
    assert is_table_or_sentence(outcome(path))


@given(st.text(alphabet="ab1.,;\"'\n\t NA-", max_size=60))
def test_any_text_too(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_text(text)
    assert is_table_or_sentence(outcome(path, drop_missing=True))


def test_numbers_as_ids_and_classes_keep_all_their_digits(tmp_path):
    path = tmp_path / "data.parquet"
    frame = pd.DataFrame({"id": [1234567, 1234568, 7], "x": [1.0, 2, 3], "c": [0.1, 0.25, 1e9]})
    frame.to_parquet(path)
    table = read_table(path, id_column="id", label_column="c")
    assert table.ids == ["1234567", "1234568", "7"]
    assert table.classes.tolist() == ["0.1", "0.25", "1000000000"]


def test_columns_are_numbered_as_in_the_file_behind_a_column_of_ids(read):
    text = ",x,y,cls\nann,1,2,a\nbob,3,4,b\n"
    table = read(text, drop=["2"], label_column="4")
    assert table.ids == ["ann", "bob"]
    assert table.feature_names == ["y"]
    assert table.classes.tolist() == ["a", "b"]


def test_missing_is_for_text_files(tmp_path):
    np.save(tmp_path / "data.npy", [[1.0, 2], [-99, 3]])
    with pytest.raises(InputError, match="--missing is for text files"):
        read_table(tmp_path / "data.npy", missing=["-99"])


@pytest.mark.parametrize("name", ["data.npy", "data.npz"])
def test_a_damaged_archive_is_one_sentence(error, name):
    assert "not an array of numbers" in error(b"PK\x03\x04" + b"x" * 50, name)
