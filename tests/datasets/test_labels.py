"""Labels and numbers of users' files: what is written is what is read, in every format and every split."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rflib.datasets.user import read_user_file

SETTINGS = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
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
