"""Sparse rows are made dense where a step needs dense ones, up to a bound that jobs reckon with."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

DENSE_MEGABYTES = 500


def made_dense(needs: str, *parts: Any) -> list[NDArray[np.floating]]:
    """Return arrays of rows, sparse ones made dense.

    Parameters
    ----------
    needs : str
        What needs dense rows, for the message.
    *parts : array or sparse array (n, d)
        Such as training and test rows.

    Raises
    ------
    ValueError
        If the sparse ones would take more than `DENSE_MEGABYTES` (of 10^6 bytes) together.
    """
    sparse = [X for X in parts if issparse(X)]
    megabytes = sum(X.shape[0] * X.shape[1] * X.dtype.itemsize for X in sparse) / 1e6
    if megabytes > DENSE_MEGABYTES:
        rows, columns = sum(X.shape[0] for X in sparse), sparse[0].shape[1]
        raise ValueError(
            f"{needs} needs dense rows, but the {rows:,} sparse rows of {columns:,} columns would take "
            f"{megabytes:,.0f} MB, more than {DENSE_MEGABYTES}. Take fewer rows (max_train, max_test), or only "
            "what takes sparse rows, as the step unit_norm does (docs/data.md#sparse-rows)."
        )
    return [X.toarray() if issparse(X) else X for X in parts]
