"""Kernels of arrays of other libraries: the values of numpy, in the library, on the device and in the type."""

import sys

import numpy as np
import pytest

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
    Similarity,
    SphericalPolynomial,
)
from rflib.kernels.namespaces import (
    _COPIES,
    as_array,
    beside,
    held_beside,
    namespace,
    on_torch,
    to_numpy,
)

KERNELS = [
    Gaussian(2.0),
    Gaussian((1.0, 2.0, 3.0, 1.0, 2.0)),
    Laplacian(0.1),
    Cauchy(0.3),
    Matern(0.8, 3.0),
    Matern(1.5, 3.0),
    Matern(25, 3.0),
    Polynomial(3, 0.2, 1.0),
    SphericalPolynomial(4.0, 6),
    DeltaGaussian(width=2.0),
    ArcCosine(0),
    ArcCosine(1),
    NeuralTangent(2),
    RadialFunction(lambda z: (1 + z * z) ** -1),
    Similarity(lambda X, Y: (X @ Y.T) ** 3),
]
ROUNDING = {"float64": 1e-12, "float32": 1e-5}


def rows(n: int = 40, *, unit: bool) -> np.ndarray:
    X = np.random.default_rng(0).standard_normal((n, 5)) + 0.5
    return X / np.linalg.norm(X, axis=1, keepdims=True) if unit else X


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: repr(kernel).split("<")[0])
def test_kernels_equal_those_of_numpy(kernel, home, stays_there):
    X = rows(unit=kernel.unit_norm)
    for dtype in home.dtypes:
        X_there, Y_there = home.array(X, dtype), home.array(X[:7], dtype)
        with stays_there():
            square, matrix = kernel(X_there), kernel(X_there, Y_there)
        for found, known in ((square, kernel(X)), (matrix, kernel(X, X[:7]))):
            assert home.holds(found) and dtype in str(found.dtype)
            # ArcCosine(0) has a root in it, by which rounding errors near 0 grow
            slack = (
                ROUNDING[dtype] ** 0.5 if isinstance(kernel, ArcCosine | NeuralTangent) else ROUNDING[dtype]
            )
            np.testing.assert_allclose(to_numpy(found), known, atol=10 * slack * np.abs(known).max())


@pytest.mark.parametrize("columns", [5, 40])
def test_rows_far_from_the_origin_and_from_each_other(columns, home, stays_there):
    X = np.random.default_rng(0).integers(-1024, 1024, (30, columns)) / 1024  # exact in single precision
    X[1] = X[0]
    far = X + 1024 * np.repeat([0, 1, 2], 10)[:, None]
    for dtype in home.dtypes:
        there = home.array(far, dtype)
        with stays_there():
            square, matrix = Gaussian(2.0)(there), Gaussian(2.0)(there, home.array(far[::2], dtype))
        expected = Gaussian(2.0)(far)
        np.testing.assert_allclose(expected[:10, :10], Gaussian(2.0)(X[:10]), atol=1e-14)
        np.testing.assert_allclose(to_numpy(square), expected, atol=ROUNDING[dtype])
        np.testing.assert_allclose(to_numpy(matrix), expected[:, ::2], atol=ROUNDING[dtype])
        assert (np.diag(to_numpy(square)) == 1).all() and to_numpy(square)[0, 1] == 1


@pytest.mark.parametrize("nu", [0.05, 0.5, 0.7, 2.3, 7.5, 19.9])
def test_the_matern_kernel_is_a_mixture_of_gaussians(nu, home):
    z = np.concatenate([[0.0], np.geomspace(1e-6, 100, 200)])
    found = to_numpy(Matern(nu).at_distance(home.array(z, home.dtypes[0])))
    np.testing.assert_allclose(found, Matern(nu).at_distance(z), atol=10 * ROUNDING[home.dtypes[0]])


def test_rows_of_another_norm_are_refused(home):
    with pytest.raises(ValueError, match=r"row 0 has norm 2 \(5 of 5 rows"):
        SphericalPolynomial()(home.array(2 * np.eye(5), "float32"))


def test_functions_of_a_user_compute_with_the_arrays_that_they_get():
    strict = pytest.importorskip("array_api_strict")
    X = strict.asarray(rows(unit=False), device=strict.Device("device1"))
    with pytest.raises(
        TypeError, match=r"arrays that it gets, here those of array_api_strict.*arrays of numpy"
    ):
        RadialFunction(lambda z: np.exp(-z))(X)
    with pytest.raises(TypeError, match="returned ndarray"):
        Similarity(lambda X, Y: np.ones((X.shape[0], Y.shape[0])))(X)


def test_the_width_of_a_rule_is_that_of_numpy(home):
    X = rows(unit=False)
    for rule in ("scale", "median"):
        found = Gaussian(rule).for_rows(home.array(X, "float32")).single_width
        assert found == Gaussian(rule).for_rows(X.astype("float32")).single_width


def test_a_missing_package_is_named(monkeypatch):
    X = pytest.importorskip("array_api_strict").eye(3)
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(ImportError, match=r'array_api_compat.*checkout: pip install "\.\[array\]"$'):
        Gaussian()(X)


def test_torch_is_in_no_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        ImportError, match=r"A device needs torch, .*No extra has torch: .* driver"
    ) as missing:
        on_torch(np.eye(3), "cuda")
    assert "pip" not in str(missing.value) and missing.value.name == "torch"
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(
        ImportError, match=r'needs array_api_compat, torch, .*No extra has torch.*"\.\[array\]"$'
    ):
        on_torch(np.eye(3), "cuda")


def test_values_in_memory_are_numpys():
    assert all(as_array(values)[0] is np for values in ([1.0], 2.0, np.eye(2)))


def test_an_array_that_is_held_is_copied_once_while_it_lives(home):
    held, copies = np.arange(3.0), len(_COPIES)
    for dtype in home.dtypes:
        X = home.array(np.eye(2), dtype)
        first = held_beside(held, X)
        assert held_beside(held, X) is first and first.dtype == X.dtype
        assert held_beside(held.copy(), X) is not first
    with pytest.raises(ValueError, match="read-only"):
        held[0] = 7
    assert len(_COPIES) == copies + len(home.dtypes)
    del held
    assert len(_COPIES) == copies


def test_arrays_come_beside_rows_in_their_type(home):
    X = home.array(np.eye(2), home.dtypes[0])
    for values in (np.arange(3.0), np.ones(3, dtype=np.int8), np.ones(3, dtype=np.float32)):
        found = beside(values, X)
        assert found.dtype == X.dtype and home.holds(found)
    assert beside(np.arange(3), X).dtype == namespace(X).int64
