"""A user's own files: what is accepted, and errors that name file, row and column."""

import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_matrix, issparse, load_npz
from sklearn.datasets import dump_svmlight_file

from rflib.datasets.load import load
from rflib.datasets.prepare import prepare
from rflib.datasets.user import folder_of, identified

MINE = {"name": "mine", "task": "classification"}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((30, 3)), columns=["a", "b", "c"])
    return frame.assign(label=np.where(frame["a"] > 0, "yes", "no"))


def prepared(folder, **spec):
    prepare({"name": "mine", "task": "classification", **spec}, folder, folder / "out")
    return load(folder / "out")


def meta(folder):
    return json.loads((folder / "out/meta.json").read_text())


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".csv.bz2", ".csv.xz", ".parquet"])
def test_table(suffix, table, tmp_path):
    path = tmp_path / f"mine{suffix}"
    table.to_parquet(path) if suffix == ".parquet" else table.to_csv(path, index=False)
    data = prepared(tmp_path, file=str(path), target="label", test_size=0.2, columns=3)
    assert data.X_train.shape == (24, 3)
    assert data.X_test.shape == (6, 3)
    assert np.array_equal(data.y_train == 1, data.X_train[:, 0] > 0)
    assert meta(tmp_path)["labels"] == ["no", "yes"]
    assert meta(tmp_path)["files"][0]["name"] == path.name


def test_names_default_to_the_file_s(table, tmp_path):
    table.to_csv(tmp_path / "mine.csv", index=False)
    prepare(
        {"file": tmp_path / "mine.csv", "target": "label", "task": "classification"},
        tmp_path,
        tmp_path / "out",
    )
    assert meta(tmp_path)["name"] == "mine"
    assert len(load(tmp_path / "out").X_train) == 20


@pytest.mark.parametrize(
    ("labels", "known"),
    [
        ([3, 1, 2] * 10, ["1", "2", "3"]),
        ([1.0, -1.0] * 15, ["-1", "1"]),
        ([True, False] * 15, ["False", "True"]),
    ],
)
def test_labels(labels, known, table, tmp_path):
    table.assign(label=labels).to_parquet(tmp_path / "mine.parquet")
    data = prepared(tmp_path, file=str(tmp_path / "mine.parquet"), target="label")
    assert meta(tmp_path)["labels"] == known
    assert data.classes.tolist() == list(range(len(known)))


def test_labels_and_columns_of_a_test_file_follow_the_training_file(table, tmp_path):
    table.assign(label=["no", "perhaps", "yes"] * 10).to_csv(tmp_path / "train.csv", index=False)
    test = pd.DataFrame({"label": ["yes", "perhaps"], "c": [3.0, 6.0], "a": [1.0, 4.0], "b": [2.0, 5.0]})
    test.to_csv(tmp_path / "test.csv", index=False)
    data = prepared(tmp_path, file=tmp_path / "train.csv", test_file=tmp_path / "test.csv", target="label")
    assert data.X_test.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert data.y_test.tolist() == [2, 1]


def test_libsvm_stays_sparse(tmp_path):
    """A test file may lack the last columns."""
    (tmp_path / "train.libsvm").write_text("1.5 1:2 5:4\n-0.5 2:1 3:1\n")
    (tmp_path / "test.libsvm").write_text("2.5 2:7\n")
    spec = {"file": tmp_path / "train.libsvm", "test_file": tmp_path / "test.libsvm", "task": "regression"}
    data = prepared(tmp_path, **spec)
    assert data.X_train.tolist() == [[2, 0, 0, 0, 4], [0, 1, 1, 0, 0]]
    assert data.X_test.tolist() == [[0, 7, 0, 0, 0]]
    assert data.y_train.tolist() == [1.5, -0.5]
    stored = load_npz(tmp_path / "out/X_train.npz")
    assert issparse(stored)
    assert isinstance(csr_matrix(stored), csr_matrix)


def test_npz_and_regression(tmp_path):
    np.savez(tmp_path / "mine.npz", X=np.arange(20).reshape(10, 2), y=np.arange(10))
    data = prepared(tmp_path, file=tmp_path / "mine.npz", task="regression")
    assert data.y_train.dtype == data.X_train.dtype == np.float64
    assert data.classes is None


@pytest.mark.parametrize(
    ("change", "spec", "message"),
    [
        (
            {},
            {"target": "lable"},
            r"mine\.csv: there is no column 'lable'\..* The columns are a, b, c, label",
        ),
        ({}, {"target": None}, r"mine\.csv: the key 'target' is missing\. The columns are a, b, c, label"),
        ({}, {"columns": 4}, r"mine\.csv has 3 input columns, but columns is 4"),
        ({}, {"file": "nowhere.csv"}, r"data set 'mine': there is no file nowhere\.csv"),
        (
            {},
            {"task": "ranking"},
            "data set 'mine': task must be classification or regression, got 'ranking'",
        ),
        ({}, {"tset_size": 0.2}, r"data set 'mine': unknown key 'tset_size'\. The keys are file, task"),
        ({}, {"test_size": 1.5}, "data set 'mine': test_size must be between 0 and 1, got 1.5"),
        ({}, {"test_size": 0.001}, r"mine\.csv has 30 rows, so test_size 0\.001 leaves none"),
        ({}, {"test_size": 0.5, "test_file": "x.csv"}, "give test_file or test_size, not both"),
        (
            {"b": [1.0, None] * 15},
            {},
            r"mine\.csv: row 1 \(from 0\), column 'b' is missing or not finite \(15 such",
        ),
        (
            {"b": [1.0, 2.0, np.inf] * 10},
            {},
            r"mine\.csv: row 2 \(from 0\), column 'b' is missing or not finite",
        ),
        (
            {"b": ["1", "x"] * 15},
            {},
            r"mine\.csv: row 1 \(from 0\), column 'b' is 'x', not a number \(15 such",
        ),
        ({"label": [None] + ["yes", "no"] * 14 + ["no"]}, {}, r"mine\.csv: row 0 \(from 0\) has no target"),
        (
            {"label": ["yes"] * 30},
            {},
            r"mine\.csv: all labels are 'yes', but classification needs at least two different ones",
        ),
        (
            {"label": [0.5 * i for i in range(30)]},
            {},
            r"row 1 \(from 0\) has the target 0\.5: .* Is the task regr",
        ),
        (
            {},
            {"task": "regression"},
            r"mine\.csv: row 0 \(from 0\), column 'label' is '(yes|no)', not a number",
        ),
        (
            {"label": [1.0, np.inf] * 15},
            {"task": "regression"},
            r"row 1 \(from 0\), column 'label' is missing or",
        ),
    ],
)
def test_errors_of_tables(change, spec, message, table, tmp_path):
    path = tmp_path / "mine.csv"
    table.assign(**change).to_csv(path, index=False)
    with pytest.raises(ValueError, match=message):
        prepared(tmp_path, **({"file": str(path), "target": "label"} | spec))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.csv"]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_two_columns_of_one_name_are_refused(suffix, tmp_path):
    """pandas would read them as `a` and `a.1`."""
    path = tmp_path / f"mine{suffix}"
    rows = pd.DataFrame([[1, 2, 3, 0], [3, 4, 5, 1]] * 3, columns=["a", "c", "a", "y"])
    if suffix == ".parquet":
        names = ["a", "c", "a", "y"]
        pq.write_table(pa.Table.from_arrays([pa.array(rows.iloc[:, i]) for i in range(4)], names), path)
    else:
        rows.to_csv(path, index=False)
    spec = {**MINE, "file": str(path), "target": "y"}
    message = (
        r"mine\.\S+: columns 0 and 2 \(from 0\) have the same name 'a'\. Give each column a name of its own"
    )
    for read in (identified, lambda spec: prepared(tmp_path, **spec)):
        with pytest.raises(ValueError, match=message):
            read(spec)


def test_names_that_pandas_would_make_are_accepted(tmp_path):
    (tmp_path / "mine.csv").write_text("a,a.1,y\n" + "1,2,0\n3,4,1\n" * 3)
    assert prepared(tmp_path, file=tmp_path / "mine.csv", target="y").X_train.shape == (4, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"label": ["yes", "maybe"]},
            r"test\.csv: row 1 \(from 0\) has the label 'maybe', which no training row has",
        ),
        ({"d": [1, 2]}, r"test\.csv and .*train\.csv differ in the columns d\."),
        ({"a": [1, None]}, r"test\.csv: row 1 \(from 0\), column 'a' is missing"),
    ],
)
def test_errors_of_test_files(change, message, table, tmp_path):
    table.to_csv(tmp_path / "train.csv", index=False)
    table.head(2).assign(label=["yes", "no"]).assign(**change).to_csv(tmp_path / "test.csv", index=False)
    with pytest.raises(ValueError, match=message):
        prepared(tmp_path, file=tmp_path / "train.csv", test_file=tmp_path / "test.csv", target="label")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            {"X": [[1.0, 2.0], [3.0, np.nan]], "y": [0, 1]},
            r"row 1 \(from 0\), column '1' is missing or not finite",
        ),
        (
            {"X": [[1.0, 2.0], [3.0, 4.0]], "y": [0, 1, 0]},
            r"X must be \(rows, columns\) and y \(rows,\), got \(2, 2\)",
        ),
        ({"X": [1.0, 2.0], "y": [0, 1]}, r"X must be \(rows, columns\)"),
        ({"X": [[1.0], [2.0]]}, r"it has no array y\. Its arrays are X"),
        ({"X": np.empty((2, 0)), "y": [0, 1]}, "has no input columns"),
        (
            {"X": np.array([[{}], [{}]], dtype=object), "y": [0, 1]},
            r"without pickled objects: Object arrays cannot.* store them by X\.astype\(str\)",
        ),
        ({"X": [["a"], ["b"]], "y": [0, 1]}, r"row 0 \(from 0\), column '0' is 'a', not a number"),
    ],
)
def test_errors_of_npz(arrays, message, tmp_path):
    np.savez(tmp_path / "mine.npz", **arrays)
    with pytest.raises(ValueError, match=r"mine\.npz.*" + message):
        prepared(tmp_path, file=tmp_path / "mine.npz")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "mine.libsvm",
            "1 1:2\n1 2:3\n-1 1:2 1:3\n",
            "cannot be read as LIBSVM data: line 3: .*sorted and unique",
        ),
        ("mine.libsvm", "1 1:2\n-1 a:3\n", "line 2: "),
        ("mine.libsvm", "1 0:2\n-1 1:3\n", r"line 1: Invalid index 0 in SVMlight/LibSVM data file\. If"),
        (
            "mine.libsvm",
            "# a comment\n\n1 1:2\n-1 1:3 7:nan 9:inf\n",
            "line 4: the value of index 7 is missing or not finite",
        ),
        ("mine.libsvm", "1 1:2\n-1 2:1e400\n", "line 2: the value of index 2 is missing or not finite"),
        ("mine.libsvm", "1 1:2\n-1 3:3 2:4\n", "line 2: .*sorted and unique"),
        ("mine.libsvm", "1\n-1\n1\n", "has no input columns"),
        ("mine.libsvm", "# a comment\n", "has no rows"),
        ("mine.libsvm", "", "it is empty"),
        ("mine.libsvm.gz", "1 1:2\n", "Not a gzipped file"),
        ("mine.npz", "text", "cannot be read as npz"),
        ("mine.parquet", "text", "cannot be read as Parquet"),
        ("mine.csv", "", "it is empty"),
        ("mine.csv", "a,label\n1,2\n1,2,3\n", r"row 1 \(from 0\) has 3 values, but the header has 2 names"),
        (
            "mine.csv",
            "t,z,label\n1,0.5,3,107\n2,0.5,3,108\n",
            r"row 0 \(from 0\) has 4 values, but the header",
        ),
        ("mine.csv", "a,label\n1,x,\n2,y,\n", r"row 0 \(from 0\) has 3 values, but the header has 2 names"),
        (
            "mine.csv",
            "a,b,label\n\n  \n1,2,x\n \n1,x\n",
            r"row 1 \(from 0\) has 2 values, but the header has 3",
        ),
        ("mine.csv", "a,label,\n1,x,\n2,y,\n", r"column 2 \(from 0\) has no name"),
        ("mine.csv", 'a,label\n1,x\n2,"y\n1,x\n', r"row 1 \(from 0\) has a quote that is never closed"),
        (
            "mine.csv",
            'a,label\n1,x\n\n2,"y\n1,x\n2,"y"\n1,x\n',
            r"row 1 \(from 0\) has a quote that is never",
        ),
        ("mine.csv", 'a,label\n1,"x"\n 2, "x"\n', r"row 1 \(from 0\) has a blank before a quote"),
        (
            "mine.csv",
            'a,label\n1,"x"y\n2,x\n',
            r"row 0 \(from 0\) has a quote that is never closed, or closed w",
        ),
        ("mine.csv", "a, a,label\n1,2,x\n", r"columns 0 and 1 \(from 0\) have the same name 'a'"),
        ("mine.csv", "a,label\n1_000,x\n", "row 0 .*, column 'a' is '1_000', not a number"),
        ("mine.csv", "a,label\n1,x\n0x1F,y\n", "row 1 .*, column 'a' is '0x1F', not a number"),
        ("mine.csv", "a,label\nTRUE,x\n", "row 0 .*, column 'a' is 'TRUE', not a number"),
        ("mine.csv", 'a,label\n"1,5",x\n', "column 'a' is '1,5', not a number.*decimal: ','"),
        (
            "mine.csv",
            "a,label\n1,x\n\N{MINUS SIGN}2,y\n",
            r"row 1 .* It is '\\u22122', with characters that only look like those of -2: replace them",
        ),
        (
            "mine.csv",
            "a,label\n\xa01,x\n",
            r"It is '\\xa01', with characters that only look like those of 1:",
        ),
        ("mine.csv", "sep=;\na;label\n1;x\n", "first line begins with 'sep=;', which is for spreadsheets"),
        ("mine.csv", b"\xff\xfea\0,\0l\0a\0b\0e\0l\0", "it is not text in UTF-8"),
        ("mine.csv", b"a,label\n1,x\n2,\xe9\n", "it is not text in UTF-8"),
        ("mine.libsvm", b"1 1:2\n\xe9 1:3\n", "line 2: it is not text in UTF-8"),
        ("mine.libsvm", "1 1:2\n1:3 2:4\n", "line 2: it begins with '1:3' and not with a label"),
        ("mine.libsvm", "1,2 1:2\n1 2:4\n", "line 1: '1,2' are several labels"),
        ("mine.libsvm", "1 1:2 # a_b\n2 1:1_0\n", "line 2: a number has no '_'"),
        ("mine.libsvm", "1 1:2\n2 4000000000:1\n", "line 2: an index is larger than 2147483646"),
        ("mine.libsvm", "1 1:2#:\nC# 1:1\n", "line 2: the label 'C#' holds '#', which begins a comment"),
        ("mine.libsvm", "1 1:2\n2 qid:1 1:1 2 :3\n", "line 2: '2' is not a column and its value"),
        ("mine.npz.gz", "text", r"\.npz files are compressed as they are"),
        ("mine.csv", "a,label\n", "no rows"),
        ("mine.csv", "label\n1\n2\n", "no input columns"),
        ("mine.txt", "text", r"has an unknown format\. Use \.csv"),
        ("mine.mat", "text", "has an unknown format"),
    ],
)
def test_errors_of_damaged_files(name, content, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    spec = {"target": "label"} if name.endswith((".csv", ".parquet")) else {}
    with pytest.raises(ValueError, match=re.escape(name) + ".*" + message):
        prepared(tmp_path, file=path, **spec)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"sep": ";"},
            r"mine\.csv: its header is a single name, 'a;b;c;label'\. .*by ',', not .*by ';'; .*separator: \";\"",
        ),
        (
            {"index": True},
            r"mine\.csv: column 0 \(from 0\) has no name, like the row numbers that pandas writes",
        ),
    ],
)
@pytest.mark.parametrize("function", [prepared, lambda folder, **spec: identified(MINE | spec)])
def test_other_tables_that_pandas_writes(function, options, message, table, tmp_path):
    table.to_csv(tmp_path / "mine.csv", **({"index": False} | options))
    with pytest.raises(ValueError, match=message):
        function(tmp_path, file=str(tmp_path / "mine.csv"), target="label")


def test_the_index_of_a_parquet_file_is_no_input(table, tmp_path):
    table.set_index(table.index * 2).to_parquet(tmp_path / "mine.parquet")
    data = prepared(tmp_path, file=str(tmp_path / "mine.parquet"), target="label", columns=3)
    assert data.X_train.shape[1] == 3


@pytest.mark.parametrize("name", ["Unnamed: 0", "__index_level_0__"])
def test_row_numbers_that_another_program_made_a_column_are_refused(name, table, tmp_path):
    rows = pa.Table.from_pandas(table.assign(**{name: table.index}))
    pq.write_table(rows.replace_schema_metadata(), tmp_path / "mine.parquet")
    with pytest.raises(ValueError, match=rf"column 4 \(from 0\) has the name '{name}', like the row numbers"):
        prepared(tmp_path, file=str(tmp_path / "mine.parquet"), target="label")


def test_libsvm_that_counts_from_0(tmp_path):
    X = np.array([[1.5, 0, 2], [0, 3, 0], [4, 0, 0]])
    path = str(tmp_path / "mine.libsvm")
    dump_svmlight_file(X, [1, 2, 3], path)
    with pytest.raises(ValueError, match=r"mine\.libsvm .*Invalid index 0 .*set zero_based: true"):
        prepared(tmp_path, file=path, task="regression")
    prepare({"file": path, "task": "regression", "zero_based": True}, tmp_path, tmp_path / "out")
    assert load_npz(tmp_path / "out/X.npz").toarray().tolist() == X.tolist()


@pytest.mark.parametrize("zero_based", [False, True])
def test_columns_sets_the_width_of_libsvm_files(zero_based, tmp_path):
    """Of files whose rows have no values, too; the wider one of two files names the remedy."""
    last = 3 - zero_based
    (tmp_path / "train.svm").write_text("1\n-1 1:2\n1\n")
    (tmp_path / "test.svm").write_text(f"1\n-1 {last}:4\n")
    (tmp_path / "empty.svm").write_text("-1\n1\n")
    files = {"file": tmp_path / "train.svm", "test_file": tmp_path / "test.svm", "zero_based": zero_based}
    with pytest.raises(
        ValueError, match=r"test\.svm has 3 input columns, but .* has [12]\. Set columns: 3 for the"
    ):
        prepared(tmp_path, **files)
    for columns in (3, 5):
        for test, value in (("test.svm", 4), ("empty.svm", 0)):
            data = prepared(tmp_path, **files | {"columns": columns, "test_file": tmp_path / test})
            assert data.X_train.shape == (3, columns)
            assert np.asarray(data.X_test.sum(axis=0)).tolist() == [0, 0, value] + [0] * (columns - 3)
    with pytest.raises(
        ValueError, match=rf"test\.svm .*line 2: the index {last} is beyond the 2 columns that are said to be"
    ):
        prepared(tmp_path, **files | {"columns": 2})
    (tmp_path / "nan.svm").write_text(f"1\n-1 {1 - zero_based}:nan\n")
    with pytest.raises(
        ValueError, match=rf"line 2: the value of index {1 - zero_based} is missing .*the row$"
    ):
        prepared(tmp_path, **files | {"test_file": tmp_path / "nan.svm"})
    narrower = prepared(tmp_path, **files | {"test_file": tmp_path / "empty.svm"})
    assert narrower.X_test.shape == (2, 2 if zero_based else 1)


def test_the_folder_follows_the_content_and_what_is_said_of_it(table, tmp_path):
    for name, rows in (("a", 30), ("b", 30), ("c", 29)):
        table.head(rows).to_csv(tmp_path / f"{name}.csv", index=False)

    def folder(name, **spec):
        return folder_of(identified(MINE | {"file": str(tmp_path / f"{name}.csv"), "target": "label"} | spec))

    assert re.fullmatch("mine-[0-9a-f]{8}", folder("a"))
    assert folder("a") == folder("b") == folder("a", preprocess="unit_norm", max_train=5)
    assert len({folder("a"), folder("c"), folder("a", target="a", task="regression")}) == 3


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"file": "nowhere.csv"}, "there is no file nowhere.csv"),
        ({"target": "lable"}, r"there is no column 'lable'\. Did you mean 'label'\?"),
        ({"columns": 4}, "has 3 input columns, but columns is 4"),
        ({"test_file": "nowhere.csv"}, "there is no file nowhere.csv"),
        ({"zero_based": True}, "zero_based is for LIBSVM files"),
        ({"zero_based": "no"}, "zero_based must be true or false, without quotes, got 'no'"),
        ({"separator": "::"}, "separator must be one character, such as ';' or '|', got '::'"),
        ({"separator": "1"}, "separator must be one character"),
        ({"decimal": ";"}, "decimal must be '.' or ',', got ';'"),
        ({"decimal": ","}, "separator and decimal are both ','"),
        ({"missing": "NA"}, "missing must be a list of words in quotes, got 'NA'"),
        ({"test_size": "0.2"}, "test_size must be between 0 and 1, got '0.2'"),
        ({"columns": "3"}, "columns must be a whole number from 1, got '3'"),
        ({"test_file": "other.svm"}, "the same format, got a LIBSVM file and another one"),
    ],
)
def test_what_can_be_seen_without_reading_rows(spec, message, table, tmp_path):
    table.to_csv(tmp_path / "mine.csv", index=False)
    with pytest.raises(ValueError, match=message):
        identified(MINE | {"file": str(tmp_path / "mine.csv"), "target": "label"} | spec)


def test_a_file_that_was_changed_after_its_digest_was_taken_is_refused(table, tmp_path):
    table.to_csv(tmp_path / "mine.csv", index=False)
    spec = identified(MINE | {"file": str(tmp_path / "mine.csv"), "target": "label"})
    prepare(spec, tmp_path, tmp_path / "out")
    table.head(20).to_csv(tmp_path / "mine.csv", index=False)
    with pytest.raises(ValueError, match=r"mine\.csv was changed after this run began"):
        prepare(spec, tmp_path, tmp_path / "out")


def test_target_is_for_tables(tmp_path):
    np.savez(tmp_path / "mine.npz", X=np.eye(2), y=[0, 1])
    with pytest.raises(
        ValueError, match=r"target names a column of a CSV or Parquet file, and a \.npz file has none"
    ):
        prepared(tmp_path, file=tmp_path / "mine.npz", target="y")


@pytest.mark.parametrize(("key", "value"), [("separator", ";"), ("decimal", ".")])
def test_separator_and_decimal_are_for_csv_files(key, value, tmp_path):
    np.savez(tmp_path / "mine.npz", X=np.eye(2), y=[0, 1])
    with pytest.raises(ValueError, match=rf"{key} is for CSV files, not for \.npz files"):
        prepared(tmp_path, file=tmp_path / "mine.npz", **{key: value})


@pytest.mark.parametrize(
    "content",
    [
        "a,b,label\r1,2,x\r3,4,y\r",
        '\ufeff a ,b,"label"\r\n\r\n 1, 2., x\r\n \r\n3,4e0,y',
        '"a" ,b,"label"\n"1" ,2,"x"\t\n3, 4,"y" ',
        "\n\na,b,label\n1,2,x\n3,4,y\n\n",
    ],
)
def test_line_ends_marks_blanks_and_blank_lines_are_no_content(content, tmp_path):
    (tmp_path / "mine.csv").write_bytes(content.encode())
    data = prepared(tmp_path, file=tmp_path / "mine.csv", target="label", test_size=0.5)
    assert sorted([*data.X_train.tolist(), *data.X_test.tolist()]) == [[1, 2], [3, 4]]
    assert meta(tmp_path)["labels"] == ["x", "y"]


def test_files_of_different_width(tmp_path):
    for name, columns in (("train", 2), ("test", 3)):
        np.savez(tmp_path / f"{name}.npz", X=np.eye(3, columns), y=[0, 1, 0])
    with pytest.raises(ValueError, match=r"test\.npz has 3 input columns, but .*train\.npz has 2"):
        prepared(tmp_path, file=tmp_path / "train.npz", test_file=tmp_path / "test.npz")
