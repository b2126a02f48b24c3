"""The formulas of multiplications count what the fitted maps hold, and the table divides them by the seconds."""

import numpy as np
import pytest

from rflib.kernels import Gaussian, SphericalPolynomial
from rflib.maps import (
    ORF,
    QMC,
    RFF,
    SORF,
    SRF,
    Nystroem,
    QuadratureRFF,
    RandomMaclaurin,
    SphericalRadialRFF,
    TensorSketch,
)
from rflib.maps.nystroem import _PANEL
from rflib.report.kinds.multiplications import FORMULAS, formula_of

from .made_up import made, made_up_cells

POLYNOMIAL = SphericalPolynomial(a=4, p=3)
D = 64


def unit_rows(d, n=100):
    X = np.random.default_rng(0).standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize(
    "feature_map", [RFF(), ORF(), QMC(), SORF(), QuadratureRFF(), SphericalRadialRFF(), SRF(POLYNOMIAL)]
)
def test_maps_of_cosines_multiply_rows_with_their_frequencies(feature_map):
    feature_map.set_params(n_components=D).fit(unit_rows(8))
    assert formula_of(type(feature_map).__name__, 8)[1](8, D, 0) == feature_map.frequencies_.size


@pytest.mark.parametrize("columns", [D, 512])
def test_nystroem_multiplies_with_its_landmarks_and_their_triangle(columns):
    feature_map = Nystroem(Gaussian(1), n_components=columns).fit(unit_rows(8, 600))
    ends = [min(start + _PANEL, columns) for start in range(0, columns, _PANEL)]
    used = sum(end * width for end, width in zip(ends, np.diff(ends, prepend=0), strict=True))
    assert formula_of("Nystroem", 8)[1](8, columns, 0) == feature_map.landmarks_.size + used


def test_random_maclaurin_multiplies_d_times_a_factor():
    """The mean number of factors of a column is one within five standard errors."""
    feature_map = RandomMaclaurin(SphericalPolynomial(a=4, p=30), n_components=40_000).fit(unit_rows(4))
    factors = feature_map.degrees_
    assert abs(factors.mean() - 1) < 5 * factors.std() / np.sqrt(factors.size)
    assert formula_of("RandomMaclaurin", 4)[1](4, D, 30) == 4 * D


def test_tensor_sketch_changes_its_way_where_the_map_does():
    narrow, wide = formula_of("TensorSketch", 47), formula_of("TensorSketch", 48)
    assert narrow == FORMULAS["TensorSketch"] != wide
    feature_map = TensorSketch(POLYNOMIAL, n_components=D)
    named = [feature_map.fit(unit_rows(d))._transforms(unit_rows(d))[0].__qualname__ for d in (47, 48)]
    assert [name.split(".")[0] for name in named] == ["_by_product", "_by_transform"]


def test_the_table_divides_by_the_seconds():
    cells = made_up_cells({"RFF": 2.0, "OptimizedMaclaurin": 1.0}, spread=0).assign(metric="row_microseconds")
    study = {
        "datasets": [{"name": "letter"}, {"name": "usps"}],
        "kernels": {"delta": {"type": "SphericalPolynomial", "a": 4, "p": 3}},
        "methods": {"RFF": {"type": "RFF"}, "OptimizedMaclaurin": {"type": "OptimizedMaclaurin"}},
        "s": [["d", "2d"]],
    }
    found = made({"type": "multiplications", "title": "T", "n_components": 128}, cells, study=study)
    letter, usps = found.to_dict("records")
    assert (letter["d"], usps["d"], letter["method"], letter["formula"]) == (16, 256, "RFF", "d D / 2")
    assert letter["thousands of multiplications"] == 16 * 128 / 2 / 1000
    assert letter["multiplications a nanosecond"] == pytest.approx(16 * 128 / 2 / 1000 / 2)
