"""A hundred odd or broken tables, each with the answer or the message that it gets."""

# ruff: noqa: E501 - messages are easier to find on one line

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
        "{file}: line 2 has 3 cells and the header has 1, separated by ',' (3 such lines); fix the file or set --separator.",
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
            notices=["Skipped columns that hold words (--one-hot turns them into numbers): x."],
        ),
    ),
    (
        "hexadecimal is no number",
        "x,y\n0x1F,2\n0x2F,3\n",
        {},
        Read(
            ["y"],
            [[2], [3]],
            notices=["Skipped columns that hold words (--one-hot turns them into numbers): x."],
        ),
    ),
    (
        "units in cells",
        "x,y\n5 kg,2\n7 kg,3\n",
        {},
        Read(
            ["y"],
            [[2], [3]],
            notices=["Skipped columns that hold words (--one-hot turns them into numbers): x."],
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
            notices=["Skipped columns that hold words (--one-hot turns them into numbers): day."],
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
