"""Rows, targets and weights on which the laws of learners are tried: in all containers, and with all faults."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rflib.kernels import Gaussian
from rflib.learners import ArrayRows, HardMarginSVM, ParquetRows
from rflib.maps import RFF

N = 60
FOURIER = RFF(Gaussian(2.0), n_components=16, random_state=0)


def targets(learner, frame):
    if isinstance(learner, HardMarginSVM):
        return np.where(frame["a"] > 0, "yes", "no")
    value = (2 * frame["a"] + frame["b"]).to_numpy()
    return np.where(value > 0, "yes", "no") if is_classifier(learner) else value


def ways(learner):
    """The methods that fit rows, as functions of rows, targets and weights: all of them, or in two blocks."""

    def in_memory(X, y, w=None):
        return clone(learner).fit(X, y, **({} if w is None else {"sample_weight": w}))

    def in_blocks(X, y, w=None):
        return clone(learner).fit_blocks(ArrayRows(X, y, w, block_size=35))

    def in_a_stream(X, y, w=None):
        more = {"classes": ["no", "yes"]} if is_classifier(learner) else {}
        return clone(learner).partial_fit(X, y, sample_weight=w, **more)

    found = [in_memory]
    found += [in_blocks] if hasattr(learner, "fit_blocks") else []
    return found + ([in_a_stream] if hasattr(learner, "partial_fit") else [])


def source_of(kind, X, y, folder):
    if kind == "frames":
        return [(X[:20], y[:20]), (X[20:], y[20:])]
    if kind == "array rows":
        return ArrayRows(X, y, block_size=20)
    pytest.importorskip("pyarrow")
    X.assign(y=y).to_parquet(folder / "rows.parquet")
    return ParquetRows(folder, list(X.columns), target="y", block_size=20)


def indices(n):
    texts = [f"row {i}" for i in range(n)]
    return {
        "backwards and duplicated": np.arange(n)[::-1] // 2,
        "texts": texts,
        "two levels": pd.MultiIndex.from_arrays([np.arange(n) // 7, texts]),
    }


NUMBERS = {
    "nullable integers": lambda y: pd.Series(np.round(y), dtype="Int64"),
    "nullable floats": lambda y: pd.Series(y, dtype="Float64"),
    "arrow": lambda y: pd.Series(y, dtype="float64[pyarrow]"),
    "objects": lambda y: y.astype(object),
    "list": lambda y: y.tolist(),
}


LABELS = {
    "strings": lambda y: pd.Series(y, dtype="string"),
    "categories": lambda y: pd.Series(y, dtype="category"),
    "arrow": lambda y: pd.Series(y, dtype="string[pyarrow]"),
    "objects": lambda y: y.astype(object),
    "list": lambda y: y.tolist(),
}


def with_value(y, place, value):
    y = np.array(y, dtype=object)
    y[place] = value
    return y


BAD_TARGETS = {
    "None": (lambda y: with_value(y, 41, None), "41", "contains None"),
    "NA": (lambda y: pd.Series(with_value(y, 41, pd.NA), dtype=object), "41", "contains <NA>"),
    "NaT": (lambda y: with_value(y, 41, pd.NaT), "41", "contains NaT"),
    "NaN": (lambda y: with_value(y, 41, np.nan), "41", "contains NaN"),
    "NA in the first block": (lambda y: with_value(y, 3, pd.NA), "3", "contains <NA>"),
    "date": (lambda y: with_value(y, 41, pd.Timestamp("2020")), "41", "contains Timestamp"),
    "complex": (lambda y: with_value(y, 41, 1j), "41", r"contains 1j"),
    "dates": (lambda y: pd.Series(pd.date_range("2020", periods=len(y))), None, "got dates"),
    "complex numbers": (lambda y: np.arange(len(y)) * 1j, None, "got complex numbers"),
    "sequences": (lambda y: [(y[0],), *((value, value) for value in y[1:])], "0", r"contains \("),
    "mixed": (lambda y: [*y[:41], "x" if isinstance(y[0], float) else 1, *y[42:]], "41", "contains"),
}


BAD_WEIGHTS = (
    (lambda w: np.where(np.arange(N) == 41, -1.0, w), r"in row 41\b.*sample_weight is -1"),
    (lambda w: np.where(np.arange(N) == 2, np.nan, w), r"in row 2\b.*sample_weight contains NaN"),
    (lambda w: with_value(w, 41, pd.NA), r"in row 41\b.*sample_weight contains <NA>"),
    (lambda w: with_value(w, 41, "x"), r"in row 41\b.*sample_weight contains 'x'"),
    (lambda w: w + 0j, r"sample_weight must hold numbers, got complex"),
)


def same(found, expected):
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    else:
        np.testing.assert_array_equal(found, expected)


def columns_map():
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    encoded = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = ColumnTransformer(
        [("numbers", numbers, ["a", "b", "c", "size"]), ("colours", encoded, ["colour"])]
    )
    return make_pipeline(parts, RFF(Gaussian(2.0), n_components=16, random_state=0))


BAD_VALUES = {
    "C": [0, -1, np.nan, "best", None, True],
    "Cs": [[1, -1], [], "grid", [[1.0]], None],
    "alpha": [0, np.inf, "a", None],
    "alphas": [(0.1, -1), (), (np.nan, 1), "a", None, {}],
    "batch_size": [0, 2.0, True],
    "block_size": [0, 2.0, "all"],
    "cache_size": [0, "a"],
    "class_weight": ["even", {"no": -1.0}, 2],
    "criterion": ["accuracy", 0],
    "cv": [1, True, "five", 2.5],
    "dual": ["never", None],
    "epsilon": [-0.1, np.nan, "a"],
    "feature_map": ["rff", RFF, 3],
    "fit_intercept": ["yes", 2],
    "gram_dtype": ["float16", 32],
    "device": [],  # in tests/arrays, with torch
    "kernel": ["rbf", 1],
    "loss": ["absolute", None],
    "max_iter": [0, 10.0],
    "n_blocks": [0, 2.5],
    "n_jobs": [0, "all", 1.5, True],
    "random_state": ["seed", -1, 0.5],
    "repair": ["clamp", None, 1],
    "ridge": ["n", None],
    "signature": [],  # in test_signed.py
    "signed": ["negative", True],
    "solver": ["lbfgs"],
    "step_size": [0, "a"],
    "tol": [0, -1.0, None],
    "verbose": ["yes", 2, None],
}


CONTAINERS = {
    **{dtype: lambda X, dtype=dtype: X.astype(dtype) for dtype in ("f2", "f4", "f8", "u1", "i8", "O")},
    "list": lambda X: X.tolist(),
    "DataFrame": lambda X: pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]),
    "DataFrame of integers": lambda X: pd.DataFrame(X.astype(int)).add_prefix("x"),
    "Fortran": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: np.ascontiguousarray(X[:, ::-1])[:, ::-1],
}


def read_only(X):
    if isinstance(X, np.ndarray):
        X.flags.writeable = False
    return X


def targets_of(learner, y):
    return np.where(y > np.median(y), "yes", "no") if is_classifier(learner) else y
