"""More than a hundred odd or broken tables, each with the answer or the message that it gets."""

# ruff: noqa: E501, RUF001 - messages are easier to find on one line, and tables have odd signs

import bz2
import gzip
import io
import lzma
import zipfile
from dataclasses import dataclass, field

import pytest

from coreclust.cli.errors import InputError
from coreclust.cli.reading import read_table

NO_HEADER = (
    "The first line holds data, so the columns are called column1, column2 and so on (--header "
    "reads it as names)."
)


@dataclass
class Read:
    """What is read from a table; the ids are lines of the file, from 2 on, unless given."""

    names: list
    X: list
    ids: list | None = None
    classes: list | None = None
    notices: list = field(default_factory=list)


def zipped(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("_", "."), text)
    return out.getvalue()


# A name, the content of the file, the options, and what is expected: a table or a message.
TABLES = [
    # nothing or nearly nothing
    ("empty file", b"", {}, "{file} is empty."),
    ("blank lines only", "\n \n\r\n", {}, "{file} is empty."),
    ("a byte order mark only", b"\xef\xbb\xbf", {}, "{file} is empty."),
    ("comments only", "# a\n# b\n", {}, "{file} is empty."),
    ("a header only", "x,y\n", {}, "{file} has a header but no rows."),
    ("a single number", "5\n", {}, Read(["column1"], [[5]], ids=["1"], notices=[NO_HEADER])),
    (
        "one row of numbers",
        "1,2\n",
        {},
        Read(["column1", "column2"], [[1, 2]], ids=["1"], notices=[NO_HEADER]),
    ),
    ("separators only", ",,\n,,\n", {}, "{file} is empty."),
    (
        "a name and holes",
        "x\nNA\nNA\n",
        {},
        "{file} has no column of numbers left to cluster; its columns are x.",
    ),
    # headers
    ("a plain table", "x,y\n1,2\n3,4\n", {}, Read(["x", "y"], [[1, 2], [3, 4]])),
    (
        "no header",
        "1,2\n3,4\n5,7\n",
        {},
        Read(
            ["column1", "column2"],
            [[1, 2], [3, 4], [5, 7]],
            ids=["1", "2", "3"],
            notices=[NO_HEADER],
        ),
    ),
    (
        "years as header",
        "2019,2020\n1.5,2\n3,4\n",
        {},
        Read(
            ["2019", "2020"],
            [[1.5, 2], [3, 4]],
            notices=[
                "The first line (2019, 2020) is read as the names of the columns (--no-header reads it as data)."
            ],
        ),
    ),
    (
        "years below a word",
        "land,2019,2020\nA,1,2\nB,3,1\n",
        {},
        Read(
            ["2019", "2020"],
            [[1, 2], [3, 1]],
            notices=[
                "The first line (land, 2019, 2020) is read as the names of the columns (--no-header reads it as data).",
                "Skipped columns that hold words (--one-hot turns them into numbers): land.",
            ],
        ),
    ),
    (
        "years as data",
        "2001,2002\n1999,2005\n2010,2011\n",
        {},
        Read(
            ["column1", "column2"],
            [[2001, 2002], [1999, 2005], [2010, 2011]],
            ids=["1", "2", "3"],
            notices=[NO_HEADER],
        ),
    ),
    (
        "counted columns",
        "0,1,2\n5,3,1\n4,3,1\n",
        {},
        Read(
            ["0", "1", "2"],
            [[5, 3, 1], [4, 3, 1]],
            notices=[
                "The first line (0, 1, 2) is read as the names of the columns (--no-header reads it as data)."
            ],
        ),
    ),
    (
        "counted columns and an index",
        ",0,1\n0,5,3\n1,4,3\n",
        {},
        Read(
            ["0", "1"],
            [[5, 3], [4, 3]],
            ids=["0", "1"],
            notices=[
                "The first line (0, 1) is read as the names of the columns (--no-header reads it as data).",
                "The first column has no name; it is used as the ids of the rows.",
            ],
        ),
    ),
    (
        "counted rows are data",
        "0,1,2\n3,4,5\n6,7,8\n",
        {},
        Read(
            ["column1", "column2", "column3"],
            [[0, 1, 2], [3, 4, 5], [6, 7, 8]],
            ids=["1", "2", "3"],
            notices=[NO_HEADER],
        ),
    ),
    (
        "numbers as header by option",
        "5,7\n1,2\n3,4\n",
        {"header": True},
        Read(["5", "7"], [[1, 2], [3, 4]]),
    ),
    (
        "years as data by option",
        "2019,2020\n1.5,2\n3,4\n",
        {"header": False},
        Read(["column1", "column2"], [[2019, 2020], [1.5, 2], [3, 4]], ids=["1", "2", "3"]),
    ),
    (
        "a header twice the same",
        "x,x\n1,2\n3,4\n",
        {},
        Read(
            ["x", "x.2"],
            [[1, 2], [3, 4]],
            notices=["There is more than one column 'x'; one of them is renamed to 'x.2'."],
        ),
    ),
    (
        "an empty name in the middle",
        "x,,y\n1,2,3\n4,5,6\n",
        {},
        Read(["x", "column2", "y"], [[1, 2, 3], [4, 5, 6]]),
    ),
    (
        "a header with line breaks",
        '"x\nin mm",y\n1,2\n3,4\n',
        {},
        Read(["x\nin mm", "y"], [[1, 2], [3, 4]], ids=["3", "4"]),
    ),
    ("a header with quotes", '"x ""q""",y\n1,2\n3,4\n', {}, Read(['x "q"', "y"], [[1, 2], [3, 4]])),
    (
        "names of rows as R writes them",
        "x,y\na,1,2\nb,3,4\n",
        {},
        Read(
            ["x", "y"],
            [[1, 2], [3, 4]],
            ids=["a", "b"],
            notices=["The first column has no name; it is used as the ids of the rows."],
        ),
    ),
    (
        "names of rows between blanks",
        '"x" "y"\n"1" 1 2\n"2" 3 4\n',
        {},
        Read(
            ["x", "y"],
            [[1, 2], [3, 4]],
            ids=["1", "2"],
            notices=["The first column has no name; it is used as the ids of the rows."],
        ),
    ),
    (
        "a first column without a name",
        ",x\na,1\nb,2\n",
        {},
        Read(
            ["x"],
            [[1], [2]],
            ids=["a", "b"],
            notices=["The first column has no name; it is used as the ids of the rows."],
        ),
    ),
    ("names in a comment", "# x y\n1 2\n3 4\n", {}, Read(["x", "y"], [[1, 2], [3, 4]])),
    (
        "comments above the header",
        "# made by hand\nx,y\n1,2\n3,4\n",
        {},
        Read(["x", "y"], [[1, 2], [3, 4]], ids=["3", "4"]),
    ),
    (
        "a header repeated below",
        "x,y\n1,2\n3,4\nx,y\n5,6\n",
        {},
        "{file}: column x holds numbers except in 1 cell, first 'x' in line 4; fix the file, declare the code with --missing, or --drop the column.",
    ),
    (
        "units below the header",
        "x,y\nmm,kg\n1,2\n3,4\n5,6\n",
        {},
        "{file}: column x holds numbers except in 1 cell, first 'mm' in line 2; fix the file, declare the code with --missing, or --drop the column.",
    ),
    (
        "years above decimal commas",
        "2019;2020\n1,5;2,5\n3,25;4\n",
        {},
        Read(
            ["2019", "2020"],
            [[1.5, 2.5], [3.25, 4]],
            notices=[
                "The first line (2019, 2020) is read as the names of the columns (--no-header reads it as data).",
                "Read with a decimal comma: 2019, 2020.",
            ],
        ),
    ),
    (
        "counted columns above money",
        "0\t1\n$5\t$7\n$6\t$1\n",
        {},
        Read(
            ["0", "1"],
            [[5, 7], [6, 1]],
            notices=[
                "The first line (0, 1) is read as the names of the columns (--no-header reads it as data).",
                "Read with a currency sign: 0, 1.",
            ],
        ),
    ),
    (
        "two columns of counts with a hole",
        "0,1\nNA,3\n5,4\n2,2\n",
        {"drop_missing": True},
        Read(
            ["column1", "column2"],
            [[0, 1], [5, 4], [2, 2]],
            ids=["1", "3", "4"],
            notices=[NO_HEADER, "1 row with missing or infinite values left out: line 2."],
        ),
    ),
    # separators
    ("semicolons", "x;y\n1;2\n3;4\n", {}, Read(["x", "y"], [[1, 2], [3, 4]])),
    ("tabs", "x\ty\n1\t2\n3\t4\n", {}, Read(["x", "y"], [[1, 2], [3, 4]])),
    ("bars", "x|y\n1|2\n3|4\n", {}, Read(["x", "y"], [[1, 2], [3, 4]])),
    ("blanks", "x y\n1  2\n3   4\n", {}, Read(["x", "y"], [[1, 2], [3, 4]])),
    (
        "the separator that Excel declares",
        "sep=;\nx;y\n1;2\n3;4\n",
        {},
        Read(["x", "y"], [[1, 2], [3, 4]], ids=["3", "4"]),
    ),
    (
        "separators at the end of lines",
        "x,y,\n1,2,\n3,4,\n",
        {},
        Read(["x", "y"], [[1, 2], [3, 4]]),
    ),
    ("Windows line ends", "x,y\r\n1,2\r\n3,4\r\n", {}, Read(["x", "y"], [[1, 2], [3, 4]])),
    ("old Mac line ends", "x,y\r1,2\r3,4\r", {}, Read(["x", "y"], [[1, 2], [3, 4]])),
    (
        "a short row",
        "x,y\n1,2\n3\n",
        {},
        "{file}: line 3 has 1 cell and the header has 2, separated by ','; fix the file or set --separator.",
    ),
    (
        "a long row",
        "x,y\n1,2\n3,4,5\n6,7\n",
        {},
        "{file}: line 3 has 3 cells and the header has 2, separated by ','; fix the file or set --separator.",
    ),
    (
        "an open quotation mark",
        'x,y\n1,"2\n3,4\n',
        {},
        "{file} cannot be cut into cells (unexpected end of data); is a quotation mark left open?",
    ),
    (
        "the wrong separator by option",
        "x,y\n1,2\n3,4\n",
        {"separator": ";"},
        Read(["x,y"], [[1.2], [3.4]], notices=["Read with a decimal comma: x,y."]),
    ),
    (
        "a title above the table",
        "Results of Monday\nx,y,z\n1,2,3\n4,5,6\n",
        {},
        Read(
            ["x", "y", "z"],
            [[1, 2, 3], [4, 5, 6]],
            ids=["3", "4"],
            notices=["Left out above the names of the columns: Results of Monday."],
        ),
    ),
    (
        "a title above a table without names",
        "Results of Monday\n1,2,3\n4,5,6\n",
        {},
        "{file}: line 2 has 3 cells and the header has 1, separated by ',' (2 such lines); fix the file or set --separator.",
    ),
    # numbers
    (
        "decimal commas",
        "x;y\n1,5;2\n2,5;3\n",
        {},
        Read(["x", "y"], [[1.5, 2], [2.5, 3]], notices=["Read with a decimal comma: x."]),
    ),
    (
        "one column with decimal commas",
        "v\n1,4\n7,5\n",
        {},
        Read(["v"], [[1.4], [7.5]], notices=["Read with a decimal comma: v."]),
    ),
    (
        "one column or two",
        "v\n1,4\n2,5\n",
        {},
        "{file}: the header has 1 cell and line 2 has 2 (1,4); name both columns, or set --separator ';' if the comma is a decimal sign.",
    ),
    (
        "ids before one column",
        "v\na,4\nb,5\n",
        {},
        Read(
            ["v"],
            [[4], [5]],
            ids=["a", "b"],
            notices=["The first column has no name; it is used as the ids of the rows."],
        ),
    ),
    (
        "points between thousands",
        "x;y\n1.234,5;2\n7;3\n",
        {},
        Read(["x", "y"], [[1234.5, 2], [7, 3]], notices=["Read with a decimal comma: x."]),
    ),
    (
        "commas between thousands",
        'x,y\n"1,234",2\n"5,678.5",3\n',
        {},
        Read(
            ["x", "y"],
            [[1234, 2], [5678.5, 3]],
            notices=["Read with a comma between thousands: x."],
        ),
    ),
    (
        "non-breaking blanks between thousands",
        "x;y\n1\u00a0234;2\n5\u202f678,5;3\n",
        {},
        Read(["x", "y"], [[1234, 2], [5678.5, 3]], notices=["Read with a decimal comma: x."]),
    ),
    (
        "apostrophes between thousands",
        "x,y\n1'234,2\n5\u2019678.5,3\n",
        {},
        Read(["x", "y"], [[1234, 2], [5678.5, 3]]),
    ),
    (
        "the Unicode minus",
        "x,y\n\u22125,2\n3,\u22124.5\n",
        {},
        Read(["x", "y"], [[-5, 2], [3, -4.5]]),
    ),
    (
        "percent signs",
        "x,y\n5.1%,2\n7 %,3\n",
        {},
        Read(
            ["x", "y"],
            [[0.051, 2], [0.07, 3]],
            notices=["Read with a percent sign, divided by 100: x."],
        ),
    ),
    (
        "percent signs in most cells",
        "x,y\n5%,1\n7,2\n9%,4\n",
        {},
        "{file}: column x holds numbers with a percent sign except in 1 cell, first '7' in line 3; fix the file, declare the code with --missing, or --drop the column.",
    ),
    (
        "dollars",
        "x,y\n$5.1,2\n-$7,3\n",
        {},
        Read(["x", "y"], [[5.1, 2], [-7, 3]], notices=["Read with a currency sign: x."]),
    ),
    (
        "euros behind",
        "x;y\n5,10 €;2\n1.200 €;3\n",
        {},
        Read(
            ["x", "y"],
            [[5.1, 2], [1200, 3]],
            notices=["Read with a currency sign and a decimal comma: x."],
        ),
    ),
    (
        "scientific notation",
        "x,y\n1e-3,2\n-2E5,3\n",
        {},
        Read(["x", "y"], [[0.001, 2], [-200000, 3]]),
    ),
    ("numbers in quotes", '"x","y"\n"1","2"\n"3","4"\n', {}, Read(["x", "y"], [[1, 2], [3, 4]])),
    ("blanks around numbers", "x , y\n 1 , 2\n 3 , 4\n", {}, Read(["x", "y"], [[1, 2], [3, 4]])),
    (
        "truth values",
        "x,y\nTRUE,2\nfalse,3\n",
        {},
        Read(["x", "y"], [[1, 2], [0, 3]], notices=["Read with TRUE and FALSE, as 1 and 0: x."]),
    ),
    (
        "underscores are no numbers",
        "x,y\n1_000,2\n2_000,3\n",
        {},
        Read(
            ["y"],
            [[2], [3]],
            notices=["Skipped columns whose cells are not plain numbers: x (such as '1_000')."],
        ),
    ),
    (
        "hexadecimal is no number",
        "x,y\n0x1F,2\n0x2F,3\n",
        {},
        Read(
            ["y"],
            [[2], [3]],
            notices=["Skipped columns whose cells are not plain numbers: x (such as '0x1F')."],
        ),
    ),
    (
        "units in cells",
        "x,y\n5 kg,2\n7 kg,3\n",
        {},
        Read(
            ["y"],
            [[2], [3]],
            notices=["Skipped columns whose cells are not plain numbers: x (such as '5 kg')."],
        ),
    ),
    (
        "units in all cells",
        "x\n5 kg\n7 kg\n",
        {},
        "{file} has no column of numbers left to cluster; its columns are x, and x holds '5 kg' in line 2.",
    ),
    (
        "one slip",
        "x,y\n1,2\noops,3\n4,5\n6,7\n",
        {},
        "{file}: column x holds numbers except in 1 cell, first 'oops' in line 3; fix the file, declare the code with --missing, or --drop the column.",
    ),
    (
        "dates",
        "day,x\n2020-01-01,1\n2020-01-02,5\n",
        {},
        Read(
            ["x"],
            [[1], [5]],
            notices=[
                "Skipped columns whose cells are not plain numbers: day (such as '2020-01-01')."
            ],
        ),
    ),
    (
        "a huge number",
        "x,y\n1e400,2\n3,4\n",
        {},
        "{file} has 1 infinite value in 1 row of 2 (line 2; in x); --drop-missing leaves that row out.",
    ),
    (
        "infinity",
        "x,y\ninf,2\n3,4\n",
        {},
        "{file} has 1 infinite value in 1 row of 2 (line 2; in x); --drop-missing leaves that row out.",
    ),
    (
        "words only",
        "a,b\nu,v\nw,z\n",
        {},
        "{file} has no column of numbers left to cluster; its columns are a, b, and a holds 'u' in line 2.",
    ),
    (
        "words one-hot",
        "x,town\n1,B\n3,A\n5,B\n",
        {"one_hot_encode": True},
        Read(["x", "town=A", "town=B"], [[1, 0, 1], [3, 1, 0], [5, 0, 1]]),
    ),
    # missing values
    (
        "a hole",
        "x,y\n1,\n3,4\n",
        {},
        "{file} has 1 missing value in 1 row of 2 (line 2; in y); --drop-missing leaves that row out.",
    ),
    (
        "a hole left out",
        "x,y\n1,\n3,4\n5,6\n",
        {"drop_missing": True},
        Read(
            ["x", "y"],
            [[3, 4], [5, 6]],
            ids=["3", "4"],
            notices=["1 row with missing or infinite values left out: line 2."],
        ),
    ),
    (
        "NA in several spellings",
        "x,y\nNA,1\nn/a,2\nNone,3\n?,4\n5,6\n",
        {"drop_missing": True},
        Read(
            ["x", "y"],
            [[5, 6]],
            ids=["6"],
            notices=["4 rows with missing or infinite values left out: lines 2, 3, 4, 5."],
        ),
    ),
    (
        "a code of your own",
        "x,y\n-99,1\n2,3\n4,5\n",
        {"missing": ["-99"], "drop_missing": True},
        Read(
            ["x", "y"],
            [[2, 3], [4, 5]],
            ids=["3", "4"],
            notices=["1 row with missing or infinite values left out: line 2."],
        ),
    ),
    (
        "a hole in every row",
        "x,y\n1,\n,4\n",
        {"drop_missing": True},
        "{file} has a missing or infinite value in every row; --drop the worst columns.",
    ),
    (
        "an empty column",
        "x,y\n1,\n3,\n",
        {},
        Read(["x"], [[1], [3]], notices=["Skipped columns without any value: y."]),
    ),
    (
        "a class without a value",
        "x,c\n1,a\n2,\n",
        {"label_column": "c"},
        "{file} has 1 missing value in 1 row of 2 (line 3; in the classes); --drop-missing leaves that row out.",
    ),
    # columns
    (
        "ids and classes",
        "n,x,c\nu,1,a\nv,2,b\n",
        {"id_column": "n", "label_column": "c"},
        Read(["x"], [[1], [2]], ids=["u", "v"], classes=["a", "b"]),
    ),
    (
        "a column that is not there",
        "x,y\n1,2\n3,4\n",
        {"id_column": "name"},
        "--id name: there is no such column; the columns are x, y.",
    ),
    (
        "a column in other letters",
        "Name,y\na,2\nb,3\n",
        {"id_column": "name"},
        "--id name: there is no such column; did you mean Name?",
    ),
    ("a column by number", "x,y\n1,2\n3,4\n", {"drop": ["1"]}, Read(["y"], [[2], [4]])),
    (
        "everything dropped",
        "x,y\n1,2\n3,4\n",
        {"drop": ["x", "y"]},
        "{file} has no column of numbers left to cluster; its columns are x, y.",
    ),
    (
        "a forgotten id",
        "id,x\n10,1\n20,5\n30,2\n",
        {},
        Read(
            ["id", "x"],
            [[10, 1], [20, 5], [30, 2]],
            notices=[
                "Column id looks like an id, but it is clustered like any other; --id id or --drop id leaves it out."
            ],
        ),
    ),
    (
        "ids that repeat",
        "n,x\na,1\na,2\nb,3\n",
        {"id_column": "n"},
        Read(["x"], [[1], [2], [3]], ids=["a", "a", "b"], notices=["1 id occurs more than once."]),
    ),
    (
        "control characters in a name",
        "x,\x1b[31mred\n1,a\n2,b\n",
        {},
        Read(
            ["x"],
            [[1], [2]],
            notices=[
                "Skipped columns that hold words (--one-hot turns them into numbers): \x1b[31mred."
            ],
        ),
    ),
    # encodings
    (
        "UTF-8 with a mark",
        "größe,y\n1,2\n3,4\n".encode("utf-8-sig"),
        {},
        Read(["größe", "y"], [[1, 2], [3, 4]]),
    ),
    ("UTF-16", "größe,y\n1,2\n3,4\n".encode("utf-16"), {}, Read(["größe", "y"], [[1, 2], [3, 4]])),
    (
        "UTF-16 without a mark",
        "x,y\n1,2\n3,4\n".encode("utf-16-le"),
        {},
        Read(["x", "y"], [[1, 2], [3, 4]]),
    ),
    (
        "Windows-1252",
        "größe,y\n1,2\n3,4\n".encode("cp1252"),
        {},
        Read(
            ["größe", "y"],
            [[1, 2], [3, 4]],
            notices=["The file is not UTF-8; it is read as Windows-1252 (see --encoding)."],
        ),
    ),
    (
        "an encoding that is not known",
        "x,y\n1,2\n",
        {"encoding": "klingon"},
        "--encoding klingon is not known; try utf-8 or cp1252.",
    ),
    (
        "the wrong encoding",
        b"\xff\xfe,y\n1,2\n",
        {"encoding": "ascii"},
        "{file} is not ascii, or it is damaged at byte 0; try another --encoding.",
    ),
    # files of other kinds
    ("gzip", gzip.compress(b"x,y\n1,2\n3,4\n"), {}, Read(["x", "y"], [[1, 2], [3, 4]])),
    ("bzip2", bz2.compress(b"x,y\n1,2\n3,4\n"), {}, Read(["x", "y"], [[1, 2], [3, 4]])),
    ("xz", lzma.compress(b"x,y\n1,2\n3,4\n"), {}, Read(["x", "y"], [[1, 2], [3, 4]])),
    ("zip", zipped(a_csv="x,y\n1,2\n3,4\n"), {}, Read(["x", "y"], [[1, 2], [3, 4]])),
    (
        "a zip file of two tables",
        zipped(a_csv="x\n1\n", b_csv="y\n2\n"),
        {},
        "{file} holds 2 files (a.csv, b.csv); keep only the table in it.",
    ),
    (
        "an OpenDocument sheet",
        zipped(mimetype="x", content_xml="y"),
        {},
        "{file} is an OpenDocument file; save the sheet as CSV or as .xlsx.",
    ),
    (
        "damaged gzip",
        b"\x1f\x8bjunk",
        {},
        "{file} is compressed by gzip, but damaged: Compressed file ended before the end-of-stream marker was reached.",
    ),
    (
        "damaged zip",
        b"PK\x03\x04junk",
        {},
        "{file} is a zip file that cannot be read: File is not a zip file.",
    ),
    (
        "an old spreadsheet",
        b"\xd0\xcf\x11\xe0junk",
        {},
        "{file} is an old spreadsheet; save the sheet as CSV or as .xlsx.",
    ),
    (
        "a PDF",
        b"%PDF-1.7 junk",
        {},
        "{file} is a PDF file, but a table such as a CSV file is needed.",
    ),
    (
        "a picture",
        b"\x89PNG\r\n\x1a\n",
        {},
        "{file} is a picture, but a table such as a CSV file is needed.",
    ),
    (
        "a Parquet file without its suffix",
        b"PAR1junk",
        {},
        "{file} is a Parquet file; rename it to .parquet.",
    ),
    (
        "bytes",
        b"\x00\x01\x02\xff" * 40,
        {},
        "{file} is not a text file, but a table such as a CSV file is needed.",
    ),
    (
        "a web page",
        "<!DOCTYPE html>\n<html><body>\n<p>Not found</p>\n</body></html>\n",
        {},
        "{file} is a web page, but a table such as a CSV file is needed.",
    ),
    (
        "JSON",
        '{"x": [1, 2], "y": [3, 4]}\n',
        {},
        "{file} is a JSON file, but a table such as a CSV file is needed.",
    ),
    # what else people have
    (
        "a totals row",
        "name,x,y\na,1,2\nb,3,4\nTotal,4,6\n",
        {},
        Read(
            ["x", "y"],
            [[1, 2], [3, 4], [4, 6]],
            notices=[
                "Skipped columns that hold words (--one-hot turns them into numbers): name.",
                "The last line, 4, is called 'Total', but it is clustered like any other; delete it if it is not an item.",
            ],
        ),
    ),
    (
        "a sum without a name for its column",
        ",x\na,1\nb,3\nSum,4\n",
        {},
        Read(
            ["x"],
            [[1], [3], [4]],
            ids=["a", "b", "Sum"],
            notices=[
                "The first column has no name; it is used as the ids of the rows.",
                "The last line, 4, is called 'Sum', but it is clustered like any other; delete it if it is not an item.",
            ],
        ),
    ),
    (
        "a totals row with a hole is left out",
        "name,x,y\na,1,2\nb,3,4\nTotal,4,\n",
        {"drop_missing": True},
        Read(
            ["x", "y"],
            [[1, 2], [3, 4]],
            notices=[
                "Skipped columns that hold words (--one-hot turns them into numbers): name.",
                "1 row with missing or infinite values left out: line 4.",
            ],
        ),
    ),
    (
        "a table of Markdown",
        "| x | y |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n",
        {},
        "{file}: column x holds numbers except in 1 cell, first '---' in line 2; fix the file, declare the code with --missing, or --drop the column.",
    ),
    (
        "a comment between rows",
        "x,y\n1,2\n# note\n3,4\n",
        {},
        "{file}: line 3 has 1 cell and the header has 2, separated by ','; fix the file or set --separator.",
    ),
    (
        "columns of fixed width",
        "name   x    y\nann  1.5  2\nbob  2.5  3\n",
        {},
        Read(
            ["x", "y"],
            [[1.5, 2], [2.5, 3]],
            notices=["Skipped columns that hold words (--one-hot turns them into numbers): name."],
        ),
    ),
    (
        "fractions",
        "x,y\n1/2,1\n3/4,2\n",
        {},
        Read(
            ["y"],
            [[1], [2]],
            notices=["Skipped columns whose cells are not plain numbers: x (such as '1/2')."],
        ),
    ),
    (
        "below a limit of detection",
        "x,y\n<0.1,1\n5,2\n6,3\n7,5\n",
        {},
        "{file}: column x holds numbers except in 1 cell, first '<0.1' in line 2; fix the file, declare the code with --missing, or --drop the column.",
    ),
    (
        "negative numbers in parentheses",
        "x,y\n(5),1\n7,2\n(3.5),4\n",
        {},
        Read(
            ["x", "y"],
            [[-5, 1], [7, 2], [-3.5, 4]],
            notices=["Read with negative numbers in parentheses: x."],
        ),
    ),
    (
        "negative dollars in parentheses",
        'x,y\n"($1,200.50)",1\n$7,2\n',
        {},
        Read(
            ["x", "y"],
            [[-1200.5, 1], [7, 2]],
            notices=["Read with negative numbers in parentheses and a comma between thousands: x."],
        ),
    ),
    (
        "numbers of footnotes",
        "x,y\n5 (1),1\n7 (2),2\n",
        {},
        Read(
            ["y"],
            [[1], [2]],
            notices=["Skipped columns whose cells are not plain numbers: x (such as '5 (1)')."],
        ),
    ),
    (
        "thousands as in India",
        'x,y\n"1,23,456",1\n"2,34,567",2\n',
        {},
        Read(
            ["x", "y"],
            [[123456, 1], [234567, 2]],
            notices=["Read with a comma between thousands: x."],
        ),
    ),
    (
        "blanks between thousands",
        "x;y\n1 234;1\n25 678;2\n7;4\n",
        {},
        Read(
            ["x", "y"],
            [[1234, 1], [25678, 2], [7, 4]],
            notices=["Read with a blank between thousands: x."],
        ),
    ),
    (
        "blanks between thousands and decimal commas",
        "x;y\n1 234,5;1\n5 678,25;2\n",
        {},
        Read(
            ["x", "y"],
            [[1234.5, 1], [5678.25, 2]],
            notices=["Read with a blank between thousands and a decimal comma: x."],
        ),
    ),
    (
        "euros with blanks",
        "x;y\n1 234,50 €;1\n5 678,25 €;2\n",
        {},
        Read(
            ["x", "y"],
            [[1234.5, 1], [5678.25, 2]],
            notices=[
                "Read with a currency sign and a blank between thousands and a decimal comma: x."
            ],
        ),
    ),
    (
        "groups of digits that are no thousands",
        "x;y\n12 34;1\n56 78;2\n",
        {},
        Read(
            ["y"],
            [[1], [2]],
            notices=["Skipped columns whose cells are not plain numbers: x (such as '12 34')."],
        ),
    ),
    (
        "exponents of Fortran",
        "x,y\n1.5D+03,1\n2.5D+03,2\n",
        {},
        Read(
            ["y"],
            [[1], [2]],
            notices=["Skipped columns whose cells are not plain numbers: x (such as '1.5D+03')."],
        ),
    ),
    ("an en dash as minus", "x,y\n\u20135,1\n7,2\n", {}, Read(["x", "y"], [[-5, 1], [7, 2]])),
    (
        "ranges",
        "x,y\n3\u20135,1\n4\u20137,2\n",
        {},
        Read(
            ["y"],
            [[1], [2]],
            notices=["Skipped columns whose cells are not plain numbers: x (such as '3–5')."],
        ),
    ),
    (
        "digits of other scripts",
        "x,y\n\u0661\u0662,1\n\uff13\uff14,2\n",
        {},
        Read(["x", "y"], [[12, 1], [34, 2]]),
    ),
    (
        "a blank of no width",
        "x,y\n\u200b5,1\n7,2\n8,3\n",
        {},
        "{file}: column x holds numbers except in 1 cell, first '\\u200b5' in line 2; fix the file, declare the code with --missing, or --drop the column.",
    ),
    (
        "single quotation marks",
        "'x','y'\n'1','2'\n'3','4'\n",
        {},
        "{file} has no column of numbers left to cluster; its columns are 'x', 'y', and 'x' holds \"'1'\" in line 2.",
    ),
    (
        "numbers as formulas of Excel",
        'x,y\n="1",2\n="3",4\n',
        {},
        Read(
            ["y"],
            [[2], [4]],
            notices=["Skipped columns whose cells are not plain numbers: x (such as '=\"1\"')."],
        ),
    ),
    (
        "errors of Excel",
        "x,y\n#DIV/0!,2\n3,4\n5,6\n",
        {},
        "{file}: column x holds numbers except in 1 cell, first '#DIV/0!' in line 2; fix the file, declare the code with --missing, or --drop the column.",
    ),
    (
        "errors of Excel, declared",
        "x,y\n#DIV/0!,2\n3,4\n5,6\n",
        {"missing": ["#DIV/0!"], "drop_missing": True},
        Read(
            ["x", "y"],
            [[3, 4], [5, 6]],
            ids=["3", "4"],
            notices=["1 row with missing or infinite values left out: line 2."],
        ),
    ),
    (
        "dashes for holes",
        "x,y\n--,2\n3,\u2014\n\u2013,6\n7,8\n9,1\n",
        {"drop_missing": True},
        Read(
            ["x", "y"],
            [[7, 8], [9, 1]],
            ids=["5", "6"],
            notices=["3 rows with missing or infinite values left out: lines 2, 3, 4."],
        ),
    ),
    (
        "missing values of pandas and Windows",
        "x,y\n<NA>,2\n-1.#IND,4\n1.#QNAN,6\n#NA,7\n9,1\n",
        {"drop_missing": True},
        Read(
            ["x", "y"],
            [[9, 1]],
            ids=["6"],
            notices=["4 rows with missing or infinite values left out: lines 2, 3, 4, 5."],
        ),
    ),
    (
        "truth values and numbers",
        "x,y\nTrue,2\n0,4\n1,6\n",
        {},
        "{file}: column x holds numbers except in 1 cell, first 'True' in line 2; fix the file, declare the code with --missing, or --drop the column.",
    ),
    (
        "a hole in words, one-hot",
        "x,s\n1,M\n2,\n3,F\n",
        {"one_hot_encode": True},
        "{file} has 2 missing values in 1 row of 3 (line 3; in s=F, s=M); --drop-missing leaves that row out.",
    ),
    (
        "too many words for one-hot",
        "x,s\n" + "".join(f"{i % 3},w{i}\n" for i in range(30)),
        {"one_hot_encode": True},
        Read(
            ["x"],
            [[i % 3] for i in range(30)],
            notices=["Skipped columns with more than 20 different words: s."],
        ),
    ),
    (
        "a cell with line breaks",
        'x,note,y\n1,"a\nb",2\n3,c,4\n',
        {},
        Read(
            ["x", "y"],
            [[1, 2], [3, 4]],
            ids=["2", "4"],
            notices=["Skipped columns that hold words (--one-hot turns them into numbers): note."],
        ),
    ),
    (
        "inches",
        'x,name\n1,5" pipe\n2,6" pipe\n3,a\n',
        {},
        Read(
            ["x"],
            [[1], [2], [3]],
            notices=[
                "Skipped columns whose cells are not plain numbers: name (such as '5\" pipe')."
            ],
        ),
    ),
    (
        "line ends of several kinds",
        "x,y\r\n1,2\n3,4\r5,6\n",
        {},
        Read(["x", "y"], [[1, 2], [3, 4], [5, 6]]),
    ),
    ("the end of a DOS file", "x,y\n1,2\n3,4\n\x1a", {}, Read(["x", "y"], [[1, 2], [3, 4]])),
    (
        "a zero byte in text",
        b"x,y\n1,\x00\n3,4\n",
        {},
        "{file} is not a text file, but a table such as a CSV file is needed.",
    ),
    (
        "an empty first column",
        ",x,y\n,1,2\n,3,4\n",
        {},
        Read(["x", "y"], [[1, 2], [3, 4]], notices=["Skipped columns without any value: column1."]),
    ),
    (
        "two rows of names",
        "a,a,b\nx,y,z\n1,2,3\n4,5,6\n7,8,9\n",
        {},
        "{file}: column a holds numbers except in 1 cell, first 'x' in line 2; fix the file, declare the code with --missing, or --drop the column.",
    ),
    (
        "many columns with one name",
        "x,x,x,x,x,x,x\n1,2,3,4,5,6,7\n7,6,5,4,3,2,1\n",
        {},
        Read(
            ["x", "x.2", "x.3", "x.4", "x.5", "x.6", "x.7"],
            [[1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1]],
            notices=[
                "Several columns have the same name; they are renamed to x.2, x.3, x.4, x.5 and 2 more."
            ],
        ),
    ),
    (
        "a separator that is not tried",
        "x~y\n1~2\n3~4\n",
        {},
        "{file} has no column of numbers left to cluster; its columns are x~y, and x~y holds '1~2' in line 2.",
    ),
    (
        "that separator by option",
        "x~y\n1~2\n3~4\n",
        {"separator": "~"},
        Read(["x", "y"], [[1, 2], [3, 4]]),
    ),
    (
        "codes with zeros in front",
        "zip,x\n01234,1\n10115,2\n07777,8\n",
        {},
        Read(
            ["zip", "x"],
            [[1234, 1], [10115, 2], [7777, 8]],
            notices=[
                "Columns with zeros in front look like codes, but are clustered as numbers (see --drop): zip."
            ],
        ),
    ),
    (
        "zeros that are numbers",
        "x,y\n0,1\n0.5,2\n00.5,3\n",
        {},
        Read(
            ["x", "y"],
            [[0, 1], [0.5, 2], [0.5, 3]],
            notices=[
                "Column y looks like an id, but it is clustered like any other; --id y or --drop y leaves it out."
            ],
        ),
    ),
    (
        "telephone numbers",
        "tel,x\n+49 30 123,1\n+49 30 124,2\n",
        {},
        Read(
            ["x"],
            [[1], [2]],
            notices=[
                "Skipped columns whose cells are not plain numbers: tel (such as '+49 30 123')."
            ],
        ),
    ),
    (
        "dates with points",
        "t;x\n01.02.2020;1,5\n02.03.2020;4,5\n",
        {},
        Read(
            ["x"],
            [[1.5], [4.5]],
            notices=[
                "Skipped columns whose cells are not plain numbers: t (such as '01.02.2020').",
                "Read with a decimal comma: x.",
            ],
        ),
    ),
    (
        "pairs in one cell",
        'p,x\n"(1, 2)",1\n"(3, 4)",2\n',
        {},
        Read(
            ["x"],
            [[1], [2]],
            notices=["Skipped columns whose cells are not plain numbers: p (such as '(1, 2)')."],
        ),
    ),
    (
        "ids that are all missing",
        "n,x\n,1\n,2\n",
        {"id_column": "n"},
        Read(["x"], [[1], [2]], ids=["", ""]),
    ),
    (
        "a column by the number 0",
        "x,y\n1,2\n3,1\n",
        {"drop": ["0"]},
        "--drop 0: there is no such column; the columns are x, y.",
    ),
    (
        "empty lines between rows",
        "x,y\n\n1,2\n\n,\n3,4\n",
        {},
        Read(["x", "y"], [[1, 2], [3, 4]], ids=["3", "6"]),
    ),
    ("UTF-32", "x,y\n1,2\n3,4\n".encode("utf-32"), {}, Read(["x", "y"], [[1, 2], [3, 4]])),
    (
        "Japanese by option",
        "\u540d\u524d,y\n1,2\n3,4\n".encode("shift_jis"),
        {"encoding": "shift_jis"},
        Read(["名前", "y"], [[1, 2], [3, 4]]),
    ),
    (
        "a code that is no encoding of text",
        "x,y\n1,2\n",
        {"encoding": "rot13"},
        "--encoding rot13 is not known; try utf-8 or cp1252.",
    ),
    (
        "an HTML table",
        "<table><tr><td>1</td></tr></table>",
        {},
        "{file} is a web page, but a table such as a CSV file is needed.",
    ),
    (
        "XML",
        '<?xml version="1.0"?>\n<a/>\n',
        {},
        "{file} is an XML file, but a table such as a CSV file is needed.",
    ),
    (
        "a list of JSON",
        "[[1, 2],\n [3, 4]]\n",
        {},
        "{file} is a JSON file, but a table such as a CSV file is needed.",
    ),
    (
        "lines of JSON",
        ' {"x": 1}\n{"x": 2}\n',
        {},
        "{file} is a JSON file, but a table such as a CSV file is needed.",
    ),
    ("names in brackets", "[mm],[kg]\n1,2\n3,4\n", {}, Read(["[mm]", "[kg]"], [[1, 2], [3, 4]])),
    (
        "a spreadsheet with a password",
        b"\xd0\xcf\x11\xe0junk" + "EncryptedPackage".encode("utf-16-le"),
        {},
        "{file} is a spreadsheet with a password; save it as .xlsx without one.",
    ),
    (
        "a tar archive",
        gzip.compress(b"a.csv" + bytes(252) + b"ustar\x0000"),
        {},
        "{file} is a tar archive; unpack it, and pass the table in it.",
    ),
    (
        "a 7z archive",
        b"7z\xbc\xaf'\x1c" + bytes(20),
        {},
        "{file} is a 7z archive; unpack it, and pass the table in it.",
    ),
    (
        "an R object",
        gzip.compress(b"X\n\x00\x00\x00\x03"),
        {},
        "{file} is an R object; write the table with write.csv.",
    ),
    ("a pickle", b"\x80\x04\x95\x00\x00", {}, "{file} is a Python pickle; write the table as CSV."),
    ("a Stata file", "<stata_dta><header>", {}, "{file} is a Stata file; save it as CSV."),
    (
        "a pointer of Git LFS",
        "version https://git-lfs.github.com/spec/v1\noid sha256:1f\nsize 9\n",
        {},
        "{file} is a pointer of Git LFS to a file; fetch the file with git lfs pull.",
    ),
    ("nothing, compressed", gzip.compress(b""), {}, "{file} is empty."),
    (
        "compressed twice",
        gzip.compress(gzip.compress(b"x\n1\n")),
        {},
        Read(["x"], [[1]]),
    ),
]


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [pytest.param(*table[1:], id=table[0]) for table in TABLES],
)
def test_a_table_or_one_sentence(content, options, expected, tmp_path):
    path = tmp_path / "table"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if isinstance(expected, str):
        with pytest.raises(InputError) as caught:
            read_table(path, **options)
        assert str(caught.value) == expected.replace("{file}", str(path))
        return
    table = read_table(path, **options)
    assert table.feature_names == expected.names
    assert table.X.tolist() == expected.X
    assert table.ids == (expected.ids or [str(line) for line in range(2, 2 + len(table.X))])
    assert (table.classes if table.classes is None else table.classes.tolist()) == expected.classes
    assert table.notices == expected.notices


def test_there_are_a_hundred():
    assert len({table[0] for table in TABLES}) == len(TABLES) >= 100
