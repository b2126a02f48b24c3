"""What a learner does with the -1 columns of signed features (K_hat = Z diag(e) Z^T)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

COLUMN_TREATMENTS = ("associated", "positive")


def check_signature(signature: ArrayLike, n_columns: int) -> NDArray[np.float64]:
    """Return the signature as an array of +1.0 and -1.0, one entry a column.

    Raises
    ------
    ValueError
        If it has another length than n_columns, or an entry that is not +1 or -1.
    """
    signs = np.asarray(signature, dtype=np.float64)
    if signs.shape != (n_columns,):
        raise ValueError(
            f"signature must have one entry for each of the {n_columns} feature columns, "
            f"got an array of shape {signs.shape}."
        )
    if not np.all(np.abs(signs) == 1):
        raise ValueError("signature may hold +1 and -1 only.")
    return signs


def signed_columns(Z: NDArray, signature: ArrayLike, how: str) -> NDArray:
    """Return the columns of signed features that a convex learner uses.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_components)
        Features.
    signature : array-like of shape (n_components,)
        Their signs, +1 or -1.
    how : {"associated", "positive"}
        ``"associated"``: all columns, which is the positive definite kernel k_+ + k_-. ``"positive"``: the +1
        columns only, the kernel k_+; what the code released with luo2021 does in effect, where the -1 columns
        are imaginary and their imaginary part is discarded.

    Raises
    ------
    ValueError
        If the signature does not fit Z, no column is left, or ``how`` is unknown. ``"krein"`` is one of the
        unknown: with the indefinite kernel k_+ - k_- an SVM is not convex; `KRR` has it.
    """
    signs = check_signature(signature, Z.shape[1])
    if how == "associated":
        return Z
    if how == "positive":
        if not np.any(signs > 0):
            raise ValueError("signed='positive' leaves no column: every entry of the signature is -1.")
        return Z if np.all(signs > 0) else Z[:, signs > 0]
    hint = " ('krein' is for KRR and ExactKRR only: an SVM with it is not convex)" if how == "krein" else ""
    raise ValueError(f"signed must be one of {list(COLUMN_TREATMENTS)}, got {how!r}{hint}.")
