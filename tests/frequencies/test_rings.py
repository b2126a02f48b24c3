"""Rings of equispaced directions in the plane: mean and variance by quadrature, and the error of MVORF."""

import numpy as np
import pytest
from scipy.special import j0

from rflib.frequencies.rings import Rings, ring_variance
from rflib.kernels import DeltaGaussian, Gaussian, Matern
from rflib.maps import MVORF, QMC

RNG = np.random.default_rng(20)
X, NEW = RNG.uniform(0, 6, (800, 2)), RNG.uniform(0, 6, (800, 2))


@pytest.mark.parametrize("n", [1, 2, 5, 16, 40])
def test_mean_and_variance_of_a_ring(n):
    """Over all rotations, by the trapezoidal rule, which is exact for so many nodes."""
    t = np.array([0.0, 0.3, 2.0, 11.0, 60.0])
    turns = np.pi / n * (np.arange(512) + 0.5) / 512
    angles = turns[:, None] + np.pi * np.arange(n) / n
    means = np.cos(t[:, None, None] * np.cos(angles)).mean(axis=2)
    assert np.allclose(means.mean(axis=1), j0(t), atol=1e-13)
    assert np.allclose(((means - j0(t)[:, None]) ** 2).mean(axis=1), ring_variance(n, t), atol=1e-13)


@pytest.mark.parametrize(
    ("kernel", "columns"),
    [
        (Gaussian(1.0), 1000),
        pytest.param(Matern(1.5, 2.0), 200, marks=pytest.mark.nightly),
        pytest.param(DeltaGaussian((1, -1), (0.7, 5)), 200, marks=pytest.mark.nightly),
    ],
    ids=["Gaussian", "Matern", "DeltaGaussian"],
)
def test_error_in_the_plane(kernel, columns):
    """As predicted within 10 %, and far below that of low-discrepancy points, which fall as 1/D."""
    exact = kernel(NEW)
    maps = [MVORF(kernel, columns, random_state=seed).fit(X) for seed in range(100, 108)]
    assert all(isinstance(m.composition_, Rings) for m in maps)
    squares = [np.mean((m.kernel_matrix(NEW) - exact) ** 2) for m in maps]
    assert np.sqrt(np.mean(squares)) == pytest.approx(maps[0].predicted_error_, rel=0.1)
    if isinstance(kernel, Gaussian):
        peer = QMC(kernel, columns, random_state=100).fit(X)
        assert np.mean(squares) < np.mean((peer.kernel_matrix(NEW) - exact) ** 2) / 10**2


def test_error_of_rows_with_far_outliers():
    """The largest distances, of which a sample of pairs has few, count too."""
    rows = np.random.default_rng(3).standard_t(4, (1500, 2))
    kernel = Gaussian(1.0)
    fitted = MVORF(kernel, 1000, random_state=100).fit(rows[:1000])
    assert isinstance(fitted.composition_, Rings)
    error = fitted.kernel_matrix(rows[1000:]) - kernel(rows[1000:])
    assert np.sqrt(np.mean(error**2)) < 1e-3


@pytest.mark.parametrize("columns", [30, 31, 400, 401, 5000])
def test_columns(columns):
    fitted = MVORF(Gaussian(2.0), columns, random_state=0).fit(X)
    assert isinstance(fitted.composition_, Rings)
    assert fitted.transform(X).shape == (len(X), columns)
    again = MVORF(Gaussian(2.0), columns, random_state=0).restore(fitted.state())
    assert np.array_equal(again.transform(X), fitted.transform(X))
    single = fitted.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    assert np.abs(single - fitted.transform(X)).max() < 1e-5


def test_rings_are_for_the_plane():
    fitted = MVORF(Gaussian(1.0), 400, random_state=0).fit(np.column_stack([X, X[:, 0]]))
    assert not isinstance(fitted.composition_, Rings)


def test_weights_of_a_positive_definite_kernel_are_positive():
    fitted = MVORF(Matern(1.5, 2.0), 300, random_state=0).fit(X)
    assert isinstance(fitted.composition_, Rings)
    assert (fitted.signature_ == 1).all()
    assert fitted.bias_estimate_ < 1e-2
