"""Labels and numbers of users' files: what is written is what is read, in every format and every split."""

import re
import string

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rflib.datasets.formats.numbers import numbers
from rflib.datasets.user import read_user_file

SETTINGS = settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
BLANKS = " \t\r\n\f\v"
AWKWARD = (
    *("01", "1", "+1", "-1", "1.0", "1e3", "1000.0", "1E3", "00", "-0", "2e19", "3e19", "9007199254740993"),
    *("TRUE", "True", "FALSE", "false", "yes", "None", "NA", "N/A", "null", "nan", "NaN", "<NA>", "?", "-"),
    *(
        '"',
        "it's",
        'a "b" c',
        "a,b",
        "a;b",
        "a b",
        "a\nb",
        "a\r\nb",
        "a\tb",
        "0x1F",
        "1_000",
        "1,5",
        "é",
        "日本",
    ),
    *("\ufeff1", "2020-01-01", "12A", "inf.", "[1]", "=1+1", "12:30", "#1"),
)
TEXTS = st.sampled_from(AWKWARD) | st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=4
)
LABELS = st.lists(TEXTS.filter(lambda text: text.strip(BLANKS)), min_size=2, max_size=6)
VALUES = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70).map(float)


@st.composite
def rows(draw):
    """Inputs and labels of a training file, which has each label twice, and of a test file."""
    labels = draw(LABELS)
    train = draw(st.permutations(labels * 2))
    test = draw(st.lists(st.sampled_from(labels), min_size=1, max_size=4))
    d = draw(st.integers(1, 3))
    X = draw(st.lists(st.lists(VALUES, min_size=d, max_size=d), min_size=len(train), max_size=len(train)))
    return (np.array(X), train), (np.array(X[: len(test)]), test)


def write(path, X, labels, **options):
    """Write rows as a user would, in the format of the file's ending."""
    if path.suffix == ".npz":
        np.savez(path, X=X, y=np.array(labels))
    elif path.suffix == ".libsvm":
        lines = [
            " ".join([label, *(f"{number}:{value!r}" for number, value in enumerate(x, 1))])
            for label, x in zip(labels, X.tolist(), strict=True)
        ]
        path.write_bytes("\n".join(lines).encode())
    else:
        frame = pd.DataFrame(X, columns=[f"x {number}" for number in range(X.shape[1])]).assign(label=labels)
        frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False, **options)


def read(path, **spec):
    """Return the blocks of a user's file, and its labels in their order."""
    if path.name.endswith((".csv", ".csv.gz", ".parquet")):
        spec["target"] = "label"
    blocks, meta = read_user_file({"file": str(path), "task": "classification", **spec})
    return [*blocks], meta["labels"]


WRITERS = {
    "plain.csv": {},
    "spreadsheet.csv": {"sep": ";", "decimal": ",", "lineterminator": "\r\n", "encoding": "utf-8-sig"},
    "quoted.csv.gz": {"quoting": 1},
    "typed.parquet": {},
    "arrays.npz": {},
    "sparse.libsvm": {},
}


@pytest.mark.parametrize("name", WRITERS)
@SETTINGS
@given(rows())
def test_what_is_written_is_read_whatever_the_split(name, tmp_path, parts):
    """A label is the text without blanks around it; a test file need not have all of them."""
    texts = {label.strip(BLANKS) for label in parts[0][1]}
    assume(len(texts) > 1)
    if name.endswith(".libsvm"):
        assume(not any(re.search(r"[\s#:,]", text, re.ASCII) for text in texts))
    spec = {"separator": ";", "decimal": ","} if name.startswith("spreadsheet") else {}
    paths = tmp_path / f"train {name}", tmp_path / f"test {name}"
    for path, (X, labels) in zip(paths, parts, strict=True):
        write(path, X, labels, **WRITERS[name])
    blocks, order = read(paths[0], test_file=str(paths[1]), **spec)
    assert {*order} == texts
    for block, (X, labels) in zip(blocks, parts, strict=True):
        found = block.X.toarray() if name.endswith(".libsvm") else block.X
        assert np.array_equal(found, X)
        assert [order[code] for code in block.y] == [label.strip(BLANKS) for label in labels]


NUMERIC = ["plain.csv", "typed.parquet", "arrays.npz", "sparse.libsvm"]


@pytest.mark.parametrize(
    ("labels", "texts"),
    [
        ([10, 9, -1, 10], ["-1", "9", "10"]),
        ([2**53 + 1, 2**53, 2**53 + 1, 2**53], ["9007199254740992", "9007199254740993"]),
        ([1.5, 0.25, 1.5, 0.25], ["0.25", "1.5"]),
        ([True, False, True, False], ["False", "True"]),
    ],
)
@pytest.mark.parametrize("name", NUMERIC)
def test_codes_of_values_with_a_type_are_the_same_in_every_format(name, labels, texts, tmp_path):
    write(tmp_path / name, np.eye(4), labels if name != "sparse.libsvm" else [*map(str, labels)])
    blocks, order = read(tmp_path / name)
    assert order == texts
    assert [order[code] for code in blocks[0].y] == [*map(str, labels)]


@pytest.mark.parametrize("name", ["typed.parquet", "arrays.npz"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_numbers_are_their_digits_whatever_their_type(name, dtype, tmp_path):
    labels = np.array([1, -2, 0.1, 1000] * 2, dtype)
    write(tmp_path / name, np.ones((8, 1)), labels)
    assert read(tmp_path / name)[1] == ["-2", "0.1", "1", "1000"]


@pytest.mark.parametrize("name", ["typed.parquet", "arrays.npz"])
@pytest.mark.parametrize("value", [np.float32(123456792), np.float64(2**63), np.uint64(2**63)])
def test_whole_numbers_have_all_their_digits(name, value, tmp_path):
    write(tmp_path / name, np.eye(4), np.array([0, value, value, 0], value.dtype))
    assert read(tmp_path / name)[1] == ["0", str(int(value))]


def test_the_order_of_bytes_does_not_matter(tmp_path):
    write(tmp_path / "mine.npz", np.eye(4).astype(">f8"), np.array([300, 1, 1, 300], ">i4"))
    (block,), order = read(tmp_path / "mine.npz")
    assert (block.X.tolist(), order) == (np.eye(4).tolist(), ["1", "300"])


@pytest.mark.parametrize(
    ("labels", "texts"),
    [
        (["TRUE", "FALSE"] * 10_000 + ["UNKNOWN"] * 50 + ["TRUE"] * 50, ["FALSE", "TRUE", "UNKNOWN"]),
        (["01", "02"] * 10_000 + ["12A"] * 50 + ["1"] * 50, ["01", "02", "1", "12A"]),
        (["1e3", "1000.0"] * 10_000 + ["+1"] * 50 + ["01"] * 50, ["+1", "01", "1000.0", "1e3"]),
        (["2e19", "3e19", "-2e400"], ["-2e400", "2e19", "3e19"]),
    ],
)
@pytest.mark.parametrize("name", NUMERIC)
def test_labels_do_not_depend_on_the_other_rows(name, labels, texts, tmp_path):
    write(tmp_path / name, np.ones((len(labels), 1)), labels)
    blocks, order = read(tmp_path / name)
    assert order == texts
    assert [order[code] for code in blocks[0].y] == labels


@pytest.mark.parametrize(
    ("train", "test"),
    [("1", "1.0"), ("TRUE", "True"), ("\xe9", "e\N{COMBINING ACUTE ACCENT}"), ("a", "a\N{NO-BREAK SPACE}")],
)
def test_a_label_that_is_written_otherwise_in_the_test_file_is_another_one(train, test, tmp_path):
    write(tmp_path / "train.csv", np.eye(2), [train, "2"])
    write(tmp_path / "test.csv", np.eye(2), [test, "2"])
    with pytest.raises(ValueError, match=r"test\.csv: row 0 .* which no training row has") as error:
        read(tmp_path / "train.csv", test_file=str(tmp_path / "test.csv"))
    assert str(error.value).endswith(f"Labels are texts, so write {test!a} as {train!a} in both files.")


@pytest.mark.parametrize(
    ("labels", "row"),
    [
        ([0, 1, 0.5, 2, 3], 2),
        ([0.0, 1.0, 0.0, np.inf], 3),
        ([0.0, -np.inf, 0.0, np.inf], 1),
        ([k % 101 + 0.5 for k in range(500)], 0),
    ],
)
@pytest.mark.parametrize("name", NUMERIC)
def test_measured_quantities_are_no_labels(name, labels, row, tmp_path):
    write(
        tmp_path / name, np.ones((len(labels), 1)), labels if name != "sparse.libsvm" else [*map(str, labels)]
    )
    with pytest.raises(
        ValueError, match=rf"{name}: row {row} \(from 0\) has the target .*Is the task regression\?"
    ):
        read(tmp_path / name)


@pytest.mark.parametrize("name", NUMERIC)
def test_numbers_with_fractions_may_be_labels(name, tmp_path):
    """Chapters 1.1 and 1.2 are labels, as are the words inf and nan among others."""
    write(tmp_path / name, np.ones((8, 1)), ["1.10", "1.1", "1.2", "10.1"] * 2)
    assert read(tmp_path / name)[1] == ["1.1", "1.10", "1.2", "10.1"]
    write(tmp_path / name, np.ones((4, 1)), ["inf", "nan", "low", "nan"])
    assert read(tmp_path / name)[1] == ["inf", "low", "nan"]


@settings(SETTINGS, max_examples=200)
@given(
    st.lists(st.text(string.digits + ".eE+-xinfaN_ ,", max_size=8) | VALUES.map(repr), min_size=1, max_size=6)
)
def test_a_number_is_what_float_takes_but_for_words_and_underscores(tmp_path, texts):
    """The value is the nearest double, beside any other text; with a decimal comma, points are no part of it."""
    for text, decimal in ((text, decimal) for text in texts for decimal in ".,"):
        plain = text.replace(decimal, ".") if re.fullmatch(f"[ 0-9eE+{decimal}-]*", text) else ""
        try:
            expected = float(plain)
        except ValueError:
            expected = np.nan
        table = pa.table({"x": pa.array([text, " 1"])})
        if not np.isfinite(expected):
            with pytest.raises(ValueError, match=r"row 0 \(from 0\), column 'x' is "):
                numbers(tmp_path, table, decimal=decimal)
        else:
            assert numbers(tmp_path, table, decimal=decimal).ravel().tolist() == [expected, 1]


@pytest.mark.parametrize("name", ["plain.csv", "typed.parquet", "arrays.npz"])
def test_words_that_the_study_names_are_missing(name, tmp_path):
    """Without its word, NA is a label and no number; a number such as -999 stands for its value."""
    path = tmp_path / name
    write(path, np.eye(4), ["a", "NA", "b", "?"])
    assert read(path)[1] == ["?", "NA", "a", "b"]
    with pytest.raises(ValueError, match=rf"{name}: row 1 \(from 0\) has no target \(2 such rows\)"):
        read(path, missing=["NA", "?"])
    write(path, np.array([["1"], ["NA"], ["2"]]), ["a", "b", "a"])
    with pytest.raises(
        ValueError, match=r"row 1 \(from 0\), column '.+' is 'NA', not a number.*missing: \[\.\.\.\]"
    ):
        read(path)
    with pytest.raises(ValueError, match=r"row 1 \(from 0\), column '.+' is missing"):
        read(path, missing=["NA"])
    write(path, np.array([[1], [2], [-999]]), ["a", "b", "a"])
    with pytest.raises(ValueError, match=r"row 2 \(from 0\), column '.+' is missing"):
        read(path, missing=["-999.00"])


@pytest.mark.parametrize("name", NUMERIC)
def test_one_row_can_be_a_test_file_but_not_be_divided(name, tmp_path):
    train, test = tmp_path / f"train {name}", tmp_path / f"test {name}"
    write(train, np.eye(2), ["a", "b"])
    write(test, np.eye(1, 2), ["b"])
    assert read(train, test_file=str(test))[0][1].y.tolist() == [1]
    with pytest.raises(ValueError, match=rf"test {name}: all labels are 'b', but"):
        read(test)
    write(test, np.eye(1, 2), ["2.5"])
    with pytest.raises(ValueError, match=rf"test {name} has 1 row, so test_size 0\.3333 leaves none"):
        read(test, task="regression")


@pytest.mark.parametrize("shape", [(4,), (4, 1), (1, 4)])
def test_targets_of_an_npz_file_may_be_a_row_or_a_column(shape, tmp_path):
    np.savez(tmp_path / "mine.npz", X=np.eye(4), y=np.reshape([0, 1, 1, 0], shape))
    assert read(tmp_path / "mine.npz")[0][0].y.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(
    ("at", "where"), [("X", "row 1 .*, column 0 of X is "), ("y", "row 1 .*, column 0 of y is ")]
)
def test_complex_numbers_are_refused(task, at, where, tmp_path):
    arrays = {"X": np.ones((2, 2)), "y": np.array([0.0, 1.0])}
    arrays[at] = arrays[at].astype(complex)
    arrays[at][1] += 2j
    np.savez(tmp_path / "mine.npz", **arrays)
    with pytest.raises(ValueError, match=rf"mine\.npz: {where}.*j\)?, a complex number"):
        read(tmp_path / "mine.npz", task=task)


def test_types_of_parquet_files(tmp_path):
    """Dictionaries, views of text, decimals and integers beyond 2^53 mean their values."""
    texts = pa.array(["1.5", "+2"] * 2)
    columns = {
        "dictionary": texts.dictionary_encode(),
        "view": texts.cast(pa.string_view()),
        "decimal": pa.array(["1.50", "2.00"] * 2).cast(pa.decimal128(5, 2)),
        "large": pa.array([2**62 + 1, 2**53 + 1] * 2),
    }
    expected = {
        "dictionary": ["+2", "1.5"],
        "view": ["+2", "1.5"],
        "decimal": ["1.5", "2"],
        "small": ["1.5", "2"],
    }
    for name in columns:
        pq.write_table(pa.table({**columns, "label": columns[name]}), tmp_path / "mine.parquet")
        (block,), order = read(tmp_path / "mine.parquet")
        assert block.X[:2].T.tolist() == [[1.5, 2]] * 3 + [[float(2**62), float(2**53)]]
        assert {*order} == {*expected.get(name, ["4611686018427387905", "9007199254740993"])}


def test_decimals_have_no_exponents(tmp_path):
    labels = pa.array(["0.1", "0.0000000001", "0.0000000001", "0.1"]).cast(pa.decimal128(20, 12))
    pq.write_table(pa.table({"x": [1, 2, 3, 4], "label": labels}), tmp_path / "mine.parquet")
    assert read(tmp_path / "mine.parquet")[1] == ["0.0000000001", "0.1"]
