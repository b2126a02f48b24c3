"""Rows on which the laws of maps are tried: of any type and container, sparse, and unlike others."""

import re
from importlib.util import find_spec

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import normalize, scale

from rflib.kernels import (
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Matern,
    NeuralTangent,
    Polynomial,
    RadialFunction,
    SphericalPolynomial,
)


def sphere(n: int, d: int, seed: int = 0) -> np.ndarray:
    return normalize(np.random.default_rng(seed).standard_normal((n, d)))


X, Y = sphere(60, 6), (sphere(60, 6) ** [1, 2, 1, 1, 1, 1] @ [1, 1, 0, 0, 0, 0] > 0.1).astype(int)


# Rows of any type, size and container.

NORMAL = np.random.default_rng(0).standard_normal((12, 4))
WHOLE = np.random.default_rng(1).integers(0, 4, (12, 4))
# Each kernel for rows whose size is about the unit.
KERNELS = {
    "Gaussian": lambda unit: Gaussian(2 * unit),
    "Laplacian": lambda unit: Laplacian(0.3 / unit),
    "Cauchy": lambda unit: Cauchy(0.3 / unit),
    "Matern": lambda unit: Matern(1.5, 2 * unit),
    "rough Matern": lambda unit: Matern(0.01, unit),
    "smooth Matern": lambda unit: Matern(200, unit),
    "DeltaGaussian": lambda unit: DeltaGaussian((1, -0.5), (2 * unit, 5 * unit)),
    "Polynomial": lambda unit: Polynomial(3, 1.0, 1.0),
    "SphericalPolynomial": lambda unit: SphericalPolynomial(4, 3),
    "ArcCosine": lambda unit: ArcCosine(1),
    "NeuralTangent": lambda unit: NeuralTangent(2),
    "profile": lambda unit: RadialFunction(np.cos),
    "default": lambda unit: None,
}
CONTAINERS = {
    "array": lambda X: X,
    "list": lambda X: X.tolist(),
    "DataFrame": pd.DataFrame,
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda X: X[::-1].copy()[::-1],
    "read-only": lambda X: np.frombuffer(X.tobytes(), dtype=X.dtype).reshape(X.shape),
}
CAUSES = re.compile(
    r"Use .* instead|needs rows of unit norm, but row \d+ has norm|frequency for each of its 2 parts"
    r"|computed NaN or infinity in float(32|64) from numbers as large as"
)
OUTPUTS = ["default", "pandas", *(["polars"] if find_spec("polars") else [])]


def any_rows(dtype, exponent, on_sphere):
    if np.dtype(dtype).kind != "f":
        return (np.eye(4)[WHOLE[:, 0]] if on_sphere else WHOLE).astype(dtype)
    if on_sphere:
        return normalize(NORMAL).astype(dtype)
    return (NORMAL * 10.0 ** (exponent / 5 if dtype == "float16" else exponent)).astype(dtype)


# Sparse rows.


def shuffled(X):
    """CSR rows whose entries are not in order."""
    rows = sparse.csr_array(X)
    for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        rows.indices[start:stop] = rows.indices[start:stop][::-1]
        rows.data[start:stop] = rows.data[start:stop][::-1]
    rows.has_sorted_indices = False
    return rows


def repeated(X):
    """CSR rows in which each entry is the sum of two, x = 2 x - x."""
    rows = sparse.coo_array(X)
    data = np.concatenate([2 * rows.data, -rows.data])
    places = (np.tile(rows.row, 2), np.tile(rows.col, 2))
    order = np.lexsort((np.arange(len(data)), places[0]))
    starts = np.searchsorted(places[0][order], np.arange(len(X) + 1))
    return sparse.csr_array((data[order].astype(X.dtype), places[1][order], starts), shape=X.shape)


def filled(X):
    """CSR rows that store all zeros."""
    n, d = X.shape
    return sparse.csr_array((X.ravel().copy(), np.tile(np.arange(d), n), d * np.arange(n + 1)), shape=X.shape)


def with_long_indices(X):
    rows = sparse.csr_array(X)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return rows


# Every form of sparse rows, with a type of numbers and a share of entries that are not zero; slow maps have two.
SPARSE = [
    (sparse.csr_matrix, "float32", 0.5),
    (shuffled, "int64", 0.1),
    (sparse.csr_array, "float64", 0.1),
    (sparse.csc_matrix, "uint8", 0.5),
    (sparse.coo_array, "bool", 1.0),
    (repeated, "float64", 0.5),
    (sparse.lil_matrix, "float32", 0.1),
    (filled, "int64", 0.5),
    (with_long_indices, "float64", 1.0),
]


def general_rows(dtype="float64", density=1.0, seed=0):
    """Rows of five columns, of which one is empty; not of unit norm, and not centred."""
    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal((14, 5)) if np.dtype(dtype).kind == "f" else rng.integers(1, 3, (14, 5))
    X = (numbers * (rng.random((14, 5)) < density)).astype(dtype)
    X[rng.integers(14)] = 0
    if not X.any():
        X[0, 0] = 1
    return X


# Rows unlike the training rows.

LAWS_OF_ROWS = {
    "normal": lambda rng: rng.standard_normal((400, 5)),
    "heavy tails": lambda rng: rng.standard_t(2, (400, 5)),
    "few rows": lambda rng: rng.standard_normal((60, 5)),
    "more columns than rows": lambda rng: rng.standard_normal((100, 150)),
    "a cap": lambda rng: normalize(0.2 * rng.standard_normal((400, 6)) + np.eye(6)[0]),
    "single precision": lambda rng: rng.standard_normal((400, 5)).astype(np.float32),
    "rare categories": lambda rng: np.eye(60)[np.minimum(rng.zipf(1.5, 600), 60) - 1],
    "iris": lambda rng: rng.permutation(load_iris().data),
    "wine": lambda rng: rng.permutation(scale(load_wine().data)),
    "breast cancer": lambda rng: rng.permutation(scale(load_breast_cancer().data)),
    "digits": lambda rng: rng.permutation(scale(load_digits().data))[:600],
}


# Rows of which gradients are taken: one column has two values.
_RNG = np.random.default_rng(0)
TRAIN = _RNG.standard_normal((300, 4)) * (2, 1, 1, 0.5)
TRAIN[:, 3] = TRAIN[:, 3] > 0
NEW = TRAIN[:20] + 0.01 * _RNG.standard_normal((20, 4))


def differences(features, rows, weights, step=1e-5):
    """Central differences of linear functions of features."""
    found = np.empty((len(rows), weights.shape[1], rows.shape[1]))
    for j, shift in enumerate(step * np.eye(rows.shape[1])):
        above, below = features.transform(rows + shift), features.transform(rows - shift)
        found[:, :, j] = (above - below) @ weights / (2 * step)
    return found
