"""Measures survive a file, and a broken file is an error that names it."""

from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from rflib.files import write_arrays
from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.gaussian import Gaussian
from rflib.kernels.laplacian import Laplacian
from rflib.kernels.matern import Matern
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.measures.construct import construct
from rflib.measures.domain import Domain
from rflib.measures.store import load, save

X = np.random.default_rng(0).standard_normal((60, 4))
X /= np.linalg.norm(X, axis=1, keepdims=True)
POLYNOMIAL = SphericalPolynomial(4, 3)

CASES = {
    "chi": (Gaussian(2.0), "exact"),
    "product": (Laplacian(0.5), "exact"),
    "student": (Matern(1.5, 2.0), "exact"),
    "tables of both signs": (DeltaGaussian(), "exact"),
    "candidates": (POLYNOMIAL, "minimum_variance"),
    "table": (POLYNOMIAL, "srf"),
    "discrete": (POLYNOMIAL, {"type": "srf", "method": "optimum"}),
    "reference": (POLYNOMIAL, "reference"),
    "truncated": (POLYNOMIAL, "truncated_fourier"),
    "mixture": (DeltaGaussian(), "digmm"),
    "differences": (DeltaGaussian(), "digmm_reference"),
}


def assert_same(a, b):
    assert type(a) is type(b)
    if is_dataclass(a):
        for field in fields(a):
            assert_same(getattr(a, field.name), getattr(b, field.name))
    elif isinstance(a, tuple):
        assert len(a) == len(b)
        for left, right in zip(a, b, strict=True):
            assert_same(left, right)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    else:
        assert a == b


@pytest.mark.parametrize("name", CASES)
def test_round_trip(name, tmp_path):
    kernel, measure = CASES[name]
    original = construct(measure, kernel, Domain.of(X))
    path = tmp_path / "measure.npz"
    save(original, path)
    assert_same(original, load(path))
    assert [p.name for p in tmp_path.iterdir()] == ["measure.npz"]


def test_part_of_a_file_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "measure.npz"
    save(construct("exact", DeltaGaussian(), Domain.of(X)), path)
    whole = path.read_bytes()
    for content in (b"", b"PK", whole[: len(whole) // 2], whole[:-10], b"not a measure"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"measure\.npz is damaged.*run again"):
            load(path)


def test_arrays_of_something_else_are_an_error(tmp_path):
    path = tmp_path / "measure.npz"
    for arrays in ({"x": np.ones(3)}, {"measure/class": np.array("Unknown")}):
        write_arrays(path, arrays)
        with pytest.raises(ValueError, match="holds no spectral measure"):
            load(path)


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "measure.npz")
