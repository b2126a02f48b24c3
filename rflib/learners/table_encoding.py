"""Tables as numbers: what the columns of a table hold, and the scikit-learn parts that encode them."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    QuantileTransformer,
    StandardScaler,
    TargetEncoder,
)

from rflib.kernels.row_faults import is_missing
from rflib.learners.values import refuse_extremes

# Numbers of at most so many different values are never replaced by quantiles, which would set them far apart.
_FEW_VALUES = 10
# Beside quantiles, standardised numbers are kept below it, so that no outlier is far from all other rows.
_BOUND = 4.0
# Levels of which there are fewer rows are joined. A column with more levels gets the mean targets of these alone,
# and others get them too where there are so many rows a level: those of few rows are mostly noise.
_RARE, _MANY_LEVELS, _FEWEST_ROWS, _ROWS_A_LEVEL = 10, 40, 100, 1000
# Sparse rows are projected to so many columns. Up to so many columns get quantiles; from so many on, columns may
# be of one unit, as those of images are.
# From so many rows on, single precision serves, which is twice as fast.
_SINGLE_FROM = 2000
_SPARSE_COLUMNS, _MOST_QUANTILES, _ONE_UNIT = 200, 100, 30


@dataclass(frozen=True)
class Table:
    """The places of the columns of a table, by what they hold.

    Attributes
    ----------
    numbers, counts : list of int
        Columns of numbers, and those of few different numbers.
    levels, means : list of int
        Columns of texts, categories or booleans to be one-hot, and to be mean targets; some are both.
    has_gaps : bool
        Whether a number is missing.
    is_sparse : bool
        Whether the rows are sparse, whose columns are numbers.
    n_rows : int
        Number of rows.
    """

    numbers: list[int]
    counts: list[int]
    levels: list[int]
    means: list[int]
    has_gaps: bool
    is_sparse: bool
    n_rows: int

    @classmethod
    def of(cls, owner: object, X: Any) -> Self:
        """Return what the columns of checked rows X (n, d) are: an array, a sparse matrix, or a DataFrame.

        Raises
        ------
        ValueError
            If a column holds dates, infinite numbers or other objects.
        """
        n, d = X.shape
        if issparse(X):
            refuse_extremes(owner, abs(X).max(axis=1).toarray(), "X")
            return cls(list(range(d)), [], [], [], False, True, n)
        columns = [_numbers(owner, X, j) for j in range(d)] if hasattr(X, "iloc") else list(X.T)
        names = X.columns if hasattr(X, "iloc") else range(d)
        numbers: list[int] = []
        counts: list[int] = []
        levels: list[int] = []
        means: list[int] = []
        for j, values in enumerate(columns):
            if values is None:
                n_levels = X.iloc[:, j].nunique()
                many = n >= _FEWEST_ROWS and n_levels > _MANY_LEVELS
                if not many:
                    levels.append(j)
                if many or 2 < n_levels <= n / _ROWS_A_LEVEL:
                    means.append(j)
            else:
                refuse_extremes(owner, values, f"column {names[j]!r} of X")
                few = len(np.unique(values[~np.isnan(values)])) <= _FEW_VALUES
                (counts if few else numbers).append(j)
        has_gaps = any(values is not None and np.isnan(values).any() for values in columns)
        return cls(numbers, counts, levels, means, has_gaps, False, n)

    def check(self, owner: object, X: Any) -> None:
        """Raise ValueError if a column of new rows, a DataFrame, holds no finite numbers as those of `of` do."""
        for j in sorted(self.numbers + self.counts):
            values, name = _numbers(owner, X, j), X.columns[j]
            if values is None and X.dtypes.iloc[j].kind != "b":
                raise ValueError(
                    f"{type(owner).__name__}: column {name!r} of X held numbers in fit, and is of type "
                    f"{X.dtypes.iloc[j]} now. Convert it to numbers."
                )

    @property
    def encodings(self) -> tuple[str, ...]:
        """The ways to encode the numbers that may suit."""
        found: tuple[str, ...] = ("standard",)
        if self.is_sparse:
            return (*found, "raw")
        if 0 < len(self.numbers) <= _MOST_QUANTILES:
            found = (*found, "quantile", "both")
        return (*found, "raw") if len(self.numbers) + len(self.counts) >= _ONE_UNIT else found

    def encoder(self, numbers: str, task: str, seed: int) -> Pipeline:
        """Return an unfitted encoder: ``numbers`` is one of `encodings`, and ``task`` is that of LearnedMetric.

        Of many rows its output is float32. Missing numbers are replaced by the median, beside a column that says
        where; missing levels are a level.
        """
        if self.is_sparse:
            width = min(_SPARSE_COLUMNS, len(self.numbers))
            scale = [StandardScaler(with_mean=False)] if numbers == "standard" else []
            return make_pipeline(*scale, TruncatedSVD(width, random_state=seed), _precision(self.n_rows))
        parts: list[tuple[str, Any, list[int]]] = []
        every = self.counts + self.numbers
        scaling: list[Any] = [] if numbers == "raw" else [StandardScaler()]
        if numbers == "both":
            scaling.append(FunctionTransformer(bounded, feature_names_out="one-to-one"))
        scaled = self.counts if numbers == "quantile" else every
        parts.append(("scaled", make_pipeline(_imputer(), *scaling), scaled))
        if numbers in ("quantile", "both"):
            quantiles = QuantileTransformer(
                n_quantiles=min(1000, self.n_rows), output_distribution="normal", random_state=seed
            )
            parts.append(
                (
                    "quantiles",
                    make_pipeline(_imputer(), StandardScaler(), quantiles, StandardScaler()),
                    self.numbers,
                )
            )
        if self.has_gaps:
            parts.append(("missing", MissingIndicator(error_on_new=False), every))
        one_hot = OneHotEncoder(
            min_frequency=max(1, min(_RARE, self.n_rows // 50)),
            max_categories=_MANY_LEVELS,
            handle_unknown="infrequent_if_exist",
            sparse_output=False,
        )
        means = [] if task == "several" else self.means
        levels = self.levels if means else sorted({*self.levels, *self.means})
        kind = "continuous" if task == "regression" else "auto"
        target = TargetEncoder(target_type=kind, random_state=seed)
        parts.append(("levels", make_pipeline(_texts(), one_hot), levels))
        parts.append(("means", make_pipeline(_texts(), target, StandardScaler()), means))
        used = [part for part in parts if part[2]]
        return make_pipeline(ColumnTransformer(used), _precision(self.n_rows))

    def sources(self, encoder: Pipeline) -> NDArray[np.intp] | None:
        """Return the column of the table that each column of a fitted encoder is made of; None of sparse rows."""
        if self.is_sparse:
            return None
        found: list[int] = []
        for name, part, columns in encoder[0].transformers_:
            if name == "missing":
                found += [columns[j] for j in part.features_]
            elif name == "levels":
                rare = part[-1].infrequent_categories_
                counts = [
                    len(kept) - (0 if few is None else len(few) - 1)
                    for kept, few in zip(part[-1].categories_, rare, strict=True)
                ]
                found += np.repeat(columns, counts).tolist()
            else:  # several means where there are several classes
                found += np.repeat(columns, len(part.get_feature_names_out()) // len(columns)).tolist()
        return np.array(found, dtype=np.intp)


def frame(owner: object, X: Any) -> Any:
    """Return a DataFrame whose columns are dense.

    Raises
    ------
    ValueError
        If it is a Series, has no rows or no columns, or two columns of one name.
    """
    import pandas as pd

    name = type(owner).__name__
    if X.ndim == 1:
        raise ValueError(
            f"{name}: X must be a table, got a Series. Give X.to_frame(), or X.to_frame().T if it is a row."
        )
    for n, what in zip(X.shape, ("sample", "feature"), strict=True):
        if not n:  # in scikit-learn's words
            raise ValueError(
                f"{name}: found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required."
            )
    if not X.columns.is_unique:
        twice = X.columns[X.columns.duplicated()][0]
        raise ValueError(
            f"{name}: several columns of X are called {twice!r}. Rename them, or drop all but one."
        )
    sparse = {key: dtype.subtype for key, dtype in X.dtypes.items() if isinstance(dtype, pd.SparseDtype)}
    return X.astype(sparse) if sparse else X


def level_texts(X: Any) -> NDArray[np.object_]:
    """Return the levels of columns (n, d) as texts; a whole number is the same text whatever its type."""
    text = np.frompyfunc(_text, 1, 1)
    found = np.empty(X.shape, dtype=object)
    for j in range(X.shape[1]):
        column = X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]
        if hasattr(column, "cat"):  # each category once, and that of the code -1
            levels = text(np.array([*column.cat.categories, None], dtype=object))
            found[:, j] = levels[column.cat.codes]
        else:
            found[:, j] = text(np.asarray(column, dtype=object))
    return found


def bounded(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return X / sqrt(1 + (X / bound)^2), which hardly changes numbers near zero and has a bound.

    Holzmueller, Grinsztajn and Steinwart, *Better by default: strong pre-tuned MLPs and boosted trees on tabular
    data*, NeurIPS 2024, have a bound of 3.
    """
    found: NDArray[np.float64] = X / np.sqrt(1 + (X / _BOUND) ** 2)
    return found


def _text(value: object) -> str:
    if is_missing(value):
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _texts() -> FunctionTransformer:
    return FunctionTransformer(level_texts, feature_names_out="one-to-one")


def _precision(n_rows: int) -> FunctionTransformer:
    dtype = np.float32 if n_rows >= _SINGLE_FROM else np.float64
    return FunctionTransformer(np.asarray, kw_args={"dtype": dtype}, feature_names_out="one-to-one")


def _imputer() -> SimpleImputer:
    return SimpleImputer(strategy="median", keep_empty_features=True)


def _numbers(owner: object, X: Any, j: int) -> NDArray[np.float64] | None:
    """Return column j of a DataFrame as numbers, NaN where they are missing, or None if it holds levels."""
    import pandas as pd
    from pandas.api import types

    column, name = X.iloc[:, j], X.columns[j]
    dtype = column.dtype
    kind = types.infer_dtype(column, skipna=True) if types.is_object_dtype(dtype) else ""
    if types.is_datetime64_any_dtype(dtype) or kind in ("datetime", "datetime64", "date", "time"):
        raise ValueError(
            f"{type(owner).__name__}: column {name!r} of X holds dates. Replace it by numbers that may matter, "
            "such as its .dt.month, .dt.dayofweek and .dt.hour, or the days since a date."
        )
    if types.is_bool_dtype(dtype) or kind == "boolean" or isinstance(dtype, pd.CategoricalDtype):
        return None
    is_number = types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype)
    if is_number or kind in ("integer", "floating", "mixed-integer-float", "decimal", "empty"):
        values = pd.to_numeric(column).to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isinf(values).any():
            row = int(np.argmax(np.isinf(values)))
            raise ValueError(
                f"{type(owner).__name__}: Input X contains infinity in column {name!r}, row {row}. Complete it or "
                "leave the row out."
            )
        return values
    mixed = kind in ("mixed", "mixed-integer")
    texts = mixed and all(isinstance(value, str | Real) or is_missing(value) for value in column)
    if texts or kind == "string" or (not kind and types.is_string_dtype(dtype)):
        return None
    raise ValueError(
        f"{type(owner).__name__}: column {name!r} of X is of type {dtype} ({kind or 'no numbers or texts'}). "
        "Columns must hold numbers, booleans, categories or texts: convert or drop it."
    )
