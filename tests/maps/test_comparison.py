"""MVORF against the field, at the same number of columns on unit-norm digits, mean over five seeds."""

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_digits

from rflib.kernels import DeltaGaussian, SphericalPolynomial
from rflib.maps import GORF, GRFF, MVORF, SRF, RandomMaclaurin, TensorSketch

SEEDS = 5


@cache
def digits():
    X = load_digits().data
    X = X[np.random.default_rng(0).permutation(len(X))[:300]]
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@cache
def error(cls, kernel, columns, **options):
    X = digits()
    exact = kernel(X)
    if cls in (GORF, GRFF, SRF):
        options["measure"] = cls(kernel, **options).spectrum(X)
    return np.mean(
        [
            np.linalg.norm(cls(kernel, columns, random_state=seed, **options).fit(X).kernel_matrix(X) - exact)
            for seed in range(SEEDS)
        ]
    ) / np.linalg.norm(exact)


@pytest.mark.parametrize(
    ("p", "columns"),
    [(3, 128), *(pytest.param(*c, marks=pytest.mark.nightly) for c in ((10, 512), (20, 128)))],
)
def test_polynomial_kernels(p, columns):
    kernel = SphericalPolynomial(4, p)
    ours = error(MVORF, kernel, columns)
    for cls, options in (
        (GORF, {"measure": "reference"}),
        (SRF, {}),
        (SRF, {"layout": "phase"}),
        (TensorSketch, {}),
        (RandomMaclaurin, {}),
    ):
        assert ours < error(cls, kernel, columns, **options), (cls, options)


@pytest.mark.parametrize(("p", "ratio"), [(3, 0.2), (10, 0.8), (20, 1.05)])
def test_strongest_simple_baseline(p, ratio):
    """SRF with orthogonal directions: its bias is the limit at low degrees; at p = 20 both are equally good."""
    kernel = SphericalPolynomial(4, p)
    ours = error(MVORF, kernel, 512)
    assert ours < ratio * error(SRF, kernel, 512, directions="orthogonal")


@pytest.mark.parametrize("columns", [128, 512])
def test_delta_gaussian(columns):
    kernel = DeltaGaussian(sigmas=(0.5, 5))
    ours = error(MVORF, kernel, columns)
    for cls, options in ((GRFF, {}), (GORF, {}), (GORF, {"directions": "frame"}), (SRF, {})):
        assert ours < error(cls, kernel, columns, **options), (cls, options)
