"""A user's own file (CSV, Parquet, npz or LIBSVM), which is checked like any other data set."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_letters, digits
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from rflib.datasets.checksum import checksum
from rflib.datasets.entry import Block, Blocks
from rflib.datasets.formats.checked import reading
from rflib.datasets.formats.libsvm import read_libsvm
from rflib.datasets.formats.npz import npz_table, read_npz
from rflib.datasets.formats.numbers import numbers
from rflib.datasets.formats.text_table import header, text_table
from rflib.datasets.labels import coded, label_texts
from rflib.validation import hint

if TYPE_CHECKING:
    import pyarrow as pa

_FILES = ("file", "test_file")
_OF_CSV = ("separator", "decimal")
_OF_VALUES = f'{ascii_letters}{digits}"+-'
_KEYS = (
    *("file", "task", "name", "target", "test_file", "test_size", "columns", "zero_based", "missing"),
    *_OF_CSV,
)
_TASKS = ("classification", "regression")
_TABLES = (".csv", ".parquet")
_LIBSVM = (".libsvm", ".svm")
_FORMATS = ".csv, .parquet, .npz, .libsvm or .svm (the text formats also with .gz, .bz2 or .xz)"
_TEST_SIZE = 1 / 3
# Names of columns that pandas and pyarrow give to an index without a name.
_NAMELESS = ("Unnamed: ", "__index_level_")


def files_of(spec: Mapping[str, Any]) -> list[str]:
    """Return the files that a study names for a data set: none, one, or a training and a test file."""
    return [str(spec[key]) for key in _FILES if key in spec]


def identified(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a study says of the data in a user's file, with the sha256 of its files.

    Raises
    ------
    ValueError
        For what can be seen without reading a file whole: an unknown key, a file or a column that is missing.
    """
    known = {key: spec[key] for key in _KEYS if key in spec}
    _check_spec(known)
    paths = [*map(Path, files_of(known))]
    for path in paths:
        _check_columns(path, known)
    return {**known, "sha256": [*map(checksum, paths)]}


def folder_of(spec: Mapping[str, Any]) -> str:
    """Return the name of the folder of the prepared data: of what ``identified`` returned, by content.

    Where the files lie is no part of it, their kind and all that is said of them is.
    """
    said = {key: value for key, value in spec.items() if key not in ("name", *_FILES)}
    kinds = [_suffix(Path(file)) for file in files_of(spec)]
    text = json.dumps([said, kinds], sort_keys=True)
    return f"{spec['name']}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def read_user_file(spec: Mapping[str, Any]) -> tuple[Blocks, dict[str, Any]]:
    """Return the rows and the description of a user's file.

    Parameters
    ----------
    spec : mapping
        ``file``: path of a .csv, .parquet, .npz (arrays X and y) or .libsvm file;
        ``task``: "classification" or "regression";
        ``target``: name of the target's column, for CSV and Parquet;
        ``test_file``: file of the same form with the test rows, or
        ``test_size``: share of the rows that each repetition tests on, drawn at random (default 1/3);
        ``name``: default the file's name; ``columns``: number of input columns, if it is to be checked, which
        also sets the width of LIBSVM files;
        ``zero_based``: whether a LIBSVM file counts columns from 0, not from 1;
        ``missing``: words that mean, as an empty field does, that a value is missing;
        ``separator``: what separates the values of a CSV file (default ",");
        ``decimal``: the decimal mark of a CSV file, "." (default) or ",";
        ``sha256``: digests of file and test file, if they are to be checked.

    Raises
    ------
    ValueError
        For a missing file or column, another format, values that are missing, not finite or no numbers, labels
        that do not fit the task or are not among the training rows. The message names file, row and column.
    """
    expected = dict(zip(map(Path, files_of(spec)), spec.get("sha256", []), strict=False))
    try:
        _check_spec({key: value for key, value in spec.items() if key != "sha256"})
        for file in files_of(spec):
            _check_file(Path(file), spec)
    except ValueError as error:
        raise ValueError(f"data set {spec.get('name', spec.get('file'))!r}: {error}") from error
    path = Path(spec["file"])
    X, target, names = _read_whole(path, spec, expected.get(path))
    _check_count(path, X.shape[1], spec)
    y, labels = _target(path, target, spec)
    meta = {
        "name": spec.get("name", path.stem),
        "task": spec["task"],
        "labels": labels,
        "files": [_file(path)],
    }
    if "test_file" not in spec:
        size = spec.get("test_size", _TEST_SIZE)
        if not 0 < round(size * len(y)) < len(y):
            rows = f"{len(y)} rows" if len(y) > 1 else "1 row"
            raise ValueError(
                f"{path} has {rows}, so test_size {size:.4g} leaves none to train or to test on."
            )
        return iter([Block("all", X, y)]), {**meta, "split": f"test {size}"}
    other = Path(spec["test_file"])
    X_test, target_test, names_test = _read_whole(other, spec, expected.get(other))
    X_test = _in_order(other, X_test, names_test, path, names, X.shape[1])
    y_test, _ = _target(other, target_test, spec, labels)
    meta["files"].append(_file(other))
    return iter([Block("train", X, y), Block("test", X_test, y_test)]), {**meta, "split": "given"}


def _check_spec(spec: Mapping[str, Any]) -> None:
    if unknown := [key for key in spec if key not in _KEYS]:
        raise ValueError(f"unknown key {unknown[0]!r}. The keys are {', '.join(_KEYS)}.")
    if "file" not in spec:
        raise ValueError("the key 'file' is missing.")
    if spec.get("task") not in _TASKS:
        raise ValueError(f"task must be {' or '.join(_TASKS)}, got {spec.get('task')!r}.")
    if "test_file" in spec and "test_size" in spec:
        raise ValueError("give test_file or test_size, not both.")
    if not isinstance(zero_based := spec.get("zero_based", False), bool):
        raise ValueError(f"zero_based must be true or false, without quotes, got {zero_based!r}.")
    size, columns = spec.get("test_size", _TEST_SIZE), spec.get("columns", 1)
    if not isinstance(size, int | float) or not 0 < size < 1:
        raise ValueError(f"test_size must be between 0 and 1, got {size!r}.")
    if not isinstance(columns, int | np.integer) or columns < 1 or columns is True:
        raise ValueError(f"columns must be a whole number from 1, got {columns!r}.")
    if len({_suffix(Path(file)) in _LIBSVM for file in files_of(spec)}) > 1:
        raise ValueError("file and test_file must have the same format, got a LIBSVM file and another one.")
    missing = spec.get("missing", [])
    if not isinstance(missing, list | tuple) or not all(isinstance(word, str) for word in missing):
        raise ValueError(f"missing must be a list of words in quotes, got {missing!r}.")
    separator, decimal = spec.get("separator", ","), spec.get("decimal", ".")
    if decimal not in (".", ","):
        raise ValueError(f"decimal must be '.' or ',', got {decimal!r}.")
    if not isinstance(separator, str) or not re.fullmatch(r"[\t -~]", separator) or separator in _OF_VALUES:
        raise ValueError(f"separator must be one character, such as ';' or '|', got {separator!r}.")
    if separator == decimal:
        raise ValueError(f"separator and decimal are both {decimal!r}. Give another separator, such as ';'.")


def _check_count(path: Path, columns: int, spec: Mapping[str, Any]) -> None:
    if columns == 0:
        raise ValueError(f"{path} has no input columns.")
    if spec.get("columns", columns) != columns:
        raise ValueError(f"{path} has {columns} input columns, but columns is {spec['columns']}.")


def _check_columns(path: Path, spec: Mapping[str, Any]) -> None:
    """Raise ValueError if the file is missing, of another format, or has not the columns that the study says."""
    _check_file(path, spec)
    if _suffix(path) in _TABLES:
        names = _column_names(path, spec)
        _check_target(path, names, spec.get("target"))
        _check_count(path, len(names) - 1, spec)


def _check_file(path: Path, spec: Mapping[str, Any]) -> None:
    if not path.is_file():
        raise ValueError(f"there is no file {path}.")
    suffix = _suffix(path)
    if suffix not in (*_TABLES, *_LIBSVM, ".npz"):
        raise ValueError(f"{path} has an unknown format. Use {_FORMATS}.")
    if suffix in (".npz", ".parquet") and path.suffix.lower() != suffix:
        raise ValueError(f"{path}: {suffix} files are compressed as they are. Unpack it.")
    if "target" in spec and suffix not in _TABLES:
        raise ValueError(
            f"{path}: target names a column of a CSV or Parquet file, and a {suffix} file has none."
        )
    if "zero_based" in spec and suffix not in _LIBSVM:
        raise ValueError(f"{path}: zero_based is for LIBSVM files, not for {suffix} files.")
    if suffix != ".csv" and (given := [key for key in _OF_CSV if key in spec]):
        raise ValueError(f"{path}: {given[0]} is for CSV files, not for {suffix} files.")


def _suffix(path: Path) -> str:
    """Return the ending that tells the format, in small letters, without that of a compression."""
    return (Path(path.stem).suffix if path.suffix in (".gz", ".bz2", ".xz") else path.suffix).lower()


def _file(path: Path) -> dict[str, str]:
    return {"name": path.name, "checksum": f"sha256 {checksum(path)}"}


def _read_whole(
    path: Path, spec: Mapping[str, Any], sha256: str | None
) -> tuple[NDArray | csr_matrix, pa.Table, list[str] | None]:
    """Return inputs, a table with the target alone, and the names of the inputs if the form has any.

    There must be rows.
    """
    if sha256 not in (None, checksum(path)):
        raise ValueError(
            f"{path} was changed after this run began. Start Snakemake again to use the new content."
        )
    X, y, names = _read(path, spec)
    if len(y) == 0:
        raise ValueError(f"{path} has no rows.")
    return X, y, names


def _read(path: Path, spec: Mapping[str, Any]) -> tuple[NDArray | csr_matrix, pa.Table, list[str] | None]:
    import pyarrow as pa

    suffix = _suffix(path)
    if suffix in _TABLES:
        return _table(path, spec)
    if suffix == ".npz":
        return *_npz(path, spec), None
    X, y = read_libsvm(path, spec.get("columns"), spec.get("zero_based", False))
    return X, pa.table({"target": y}), None


def _table(path: Path, spec: Mapping[str, Any]) -> tuple[NDArray, pa.Table, list[str]]:
    from pyarrow.parquet import ParquetFile

    target = spec.get("target")
    names = _column_names(path, spec)
    _check_target(path, names, target)
    if _suffix(path) == ".csv":
        table = text_table(path, spec.get("separator", ","))
    else:
        with reading(path, "Parquet"), ParquetFile(path) as file:
            table = file.read()
    inputs = [name for name in names if name != target]
    return numbers(path, table.select(inputs), **_rules(spec)), table.select([target]), inputs


def _rules(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the study says of the numbers in a file, as options of `numbers`."""
    return {"missing": spec.get("missing", ()), "decimal": spec.get("decimal", ".")}


def _column_names(path: Path, spec: Mapping[str, Any]) -> list[str]:
    """Return the names of a table's columns, reading no rows."""
    if _suffix(path) == ".parquet":
        from pyarrow.parquet import read_schema

        with reading(path, "Parquet"):
            schema = read_schema(path)
            index = (schema.pandas_metadata or {}).get("index_columns", [])
            names = [name for name in schema.names if name not in index]
        _check_names(path, names)
        return names
    separator = spec.get("separator", ",")
    names = header(path, separator)
    if names[0].lower().startswith("sep="):
        raise ValueError(
            f"{path}: its first line begins with {names[0]!r}, which is for spreadsheets. Remove the line, and "
            "give a separator other than a comma in the study by separator:."
        )
    if len(names) == 1 and (found := [mark for mark in ";\t|," if mark in names[0]]):
        raise ValueError(
            f"{path}: its header is a single name, {names[0]!r}. Values must be separated by {separator!r}, not "
            f"by {found[0]!r}; or say so in the study by separator: {json.dumps(found[0])}."
        )
    _check_names(path, names)
    return names


def _check_names(path: Path, names: Sequence[str]) -> None:
    """Raise ValueError if a column has no name, or the same name as another."""
    first: dict[str, int] = {}
    for number, name in enumerate(names):
        if not name or name.startswith(_NAMELESS):
            raise ValueError(
                f"{path}: column {number} (from 0) has {f'the name {name!r}' if name else 'no name'}, like the "
                "row numbers that pandas writes. Remove it, for example with to_csv(..., index=False), or give it "
                "a name of its own if it is an input."
            )
        if first.setdefault(name, number) < number:
            raise ValueError(
                f"{path}: columns {first[name]} and {number} (from 0) have the same name {name!r}. Give each "
                "column a name of its own, or remove one of them."
            )


def _check_target(path: Path, names: Sequence[str], target: str | None) -> None:
    if target not in names:
        wrong = "the key 'target' is missing" if target is None else f"there is no column {target!r}"
        raise ValueError(
            f"{path}: {wrong}.{hint(target, names) if target else ''} The columns are {', '.join(names)}. Give "
            "one of them as target."
        )


def _npz(path: Path, spec: Mapping[str, Any]) -> tuple[NDArray[np.float64], pa.Table]:
    X, y = read_npz(path, "X", "y")
    if X.ndim != 2 or y.ndim not in (1, 2) or not len(X) == y.size == max(y.shape):
        raise ValueError(f"{path}: X must be (rows, columns) and y (rows,), got {X.shape} and {y.shape}.")
    table = npz_table(path, "y", y.reshape(-1, 1)).rename_columns(["target"])
    return numbers(path, npz_table(path, "X", X), **_rules(spec)), table


def _in_order(
    path: Path,
    X: NDArray | csr_matrix,
    names: list[str] | None,
    train_path: Path,
    train_names: list[str] | None,
    columns: int,
) -> NDArray | csr_matrix:
    """Return the test rows with the columns of the training rows: by name if they have names, else by number."""
    if names is not None and train_names is not None:
        if set(names) != set(train_names):
            differing = sorted(set(names) ^ set(train_names))
            raise ValueError(f"{path} and {train_path} differ in the columns {', '.join(differing)}.")
        place = {name: number for number, name in enumerate(names)}
        return X[:, [place[name] for name in train_names]]
    if isinstance(X, csr_matrix) and X.shape[1] < columns:
        X.resize(X.shape[0], columns)
    if X.shape[1] != columns:
        remedy = f" Set columns: {X.shape[1]} for the data set." if isinstance(X, csr_matrix) else ""
        raise ValueError(f"{path} has {X.shape[1]} input columns, but {train_path} has {columns}.{remedy}")
    return X


def _target(
    path: Path, target: pa.Table, spec: Mapping[str, Any], labels: Sequence[str] | None = None
) -> tuple[NDArray, list[str] | None]:
    """Return targets as numbers, and for classification the labels whose positions they are."""
    if spec["task"] == "regression":
        return numbers(path, target, **_rules(spec)).ravel(), None
    rules = _rules(spec)
    return coded(path, label_texts(path, target.column(0), rules["missing"]), labels, rules["decimal"])
