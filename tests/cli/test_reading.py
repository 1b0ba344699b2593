"""Reading tables of many kinds."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreclust.cli.errors import InputError
from coreclust.cli.reading import read_table
from coreclust.cli.reading.delimited import find_separator
from coreclust.cli.reading.header import has_header
from coreclust.cli.reading.values import is_number, looks_like_ids

NOTHING = frozenset()


def test_a_plain_table(read):
    table = read("x,y\n1,2\n3,4.5\n-1e3,0\n")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4.5], [-1000, 0]])
    assert table.feature_names == ["x", "y"]
    assert table.ids == ["2", "3", "4"]  # their lines in the file
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
    assert "--id nope: there is no such column; the columns are x, y." in error(
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
    assert "no column of numbers left to cluster; its columns are a, b" in error(
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
    assert "column y holds numbers except in 2 cells, first '4 kg' in line 3" in message


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


@pytest.mark.slow
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
    assert "is not utf-8, or it is damaged at byte 0" in error(b"\xff\n1\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04rest", "a zip file that cannot be read"),
        (b"%PDF-1.4", "a PDF file"),
        (b"\x00\x01\x02\xff" * 50, "is not a text file"),
        (b"\x1f\x8bjunk", "compressed by gzip, but damaged"),
        (b"PAR1junk", "rename it to .parquet"),
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
        ([["x", "2020"], ["a", "1"], ["b", "2"]], False),  # undecidable: the notice says so
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
        "line 3 has 1 cell and the header has 2, separated by ',' (2 such lines); fix the file "
        "or set --separator."
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
    (notice,) = table.notices
    new = f"{table.feature_names[1]}, {table.feature_names[3]}"
    assert notice == f"Several columns have the same name; they are renamed to {new}."
    np.testing.assert_array_equal(table.X[0], [1, 2, 3, 4])


@pytest.mark.parametrize("text", [",x,y\na,2,1\nb,4,3\n", "x y\na 2 1\nb 4 3\n"])
def test_a_first_column_without_a_name_is_ids(text, read):
    table = read(text)
    assert table.ids == ["a", "b"]
    assert table.feature_names == ["x", "y"]
    assert "used as the ids" in table.notices[-1]


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
    assert text.startswith("Column patient_id looks like an id, but it is clustered")
    assert text.endswith("--id patient_id or --drop patient_id leaves it out.")
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
    assert "1 id occurs more than once." in table.notices


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_table(tmp_path)


def outcome(path, **options):
    """Return the table in a file, or the message of the error."""
    try:
        return read_table(path, **options)
    except InputError as error:
        return str(error)


def is_table_or_sentence(found):
    if isinstance(found, str):
        return bool(found) and "\n" not in found
    return bool(np.isfinite(found.X).all()) and len(found.ids) == len(found.X) > 0


@given(st.binary(max_size=300))
def test_any_bytes_give_a_table_or_one_sentence(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(data)
    assert is_table_or_sentence(outcome(path))


@given(st.text(alphabet="ab1.,;\"'\n\t NA-", max_size=60))
def test_any_text_gives_a_table_or_one_sentence(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_text(text)
    assert is_table_or_sentence(outcome(path, drop_missing=True))


def test_columns_are_numbered_as_in_the_file_behind_a_column_of_ids(read):
    text = ",x,y,cls\nann,1,2,a\nbob,3,4,b\n"
    table = read(text, drop=["2"], label_column="4")
    assert table.ids == ["ann", "bob"]
    assert table.feature_names == ["y"]
    assert table.classes.tolist() == ["a", "b"]
