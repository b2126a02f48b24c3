"""Nystroem: fewer rows than landmarks, rank, and single precision."""

import numpy as np
import pytest

from rflib.kernels import Cauchy, DeltaGaussian, Gaussian, Polynomial, SphericalPolynomial
from rflib.maps import Nystroem

from .conftest import sphere


def test_fewer_rows_than_landmarks_warn_as_in_scikit_learn(X):
    with pytest.warns(UserWarning, match="only 9 rows for n_components = 20"):
        m = Nystroem(n_components=20, random_state=0).fit(X[:9])
    assert m.n_components_ == m.transform(X).shape[1] == 9


@pytest.mark.parametrize("kernel", [Gaussian(5.0), Cauchy(0.1), DeltaGaussian(sigmas=(2, 8)), Polynomial(2)])
def test_single_precision_of_kernels_of_low_rank(kernel):
    """Small eigenvalues must not blow up the rounding of the kernel's values."""
    X = sphere(300, 6)
    double = Nystroem(kernel, 150, random_state=0).fit(X).kernel_matrix(X)
    m = Nystroem(kernel, 150, random_state=0).fit(X.astype(np.float32))
    single = m.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    assert np.abs((single * m.signature_) @ single.T - double).max() < 1e-5


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Gaussian(1.5), SphericalPolynomial(4, 10)])
def test_features_of_single_precision_are_those_of_double(kernel):
    """Some columns are products in single precision, those of small eigenvalues in double; all within 1e-5."""
    X = sphere(2000, 16).astype(np.float32)
    m = Nystroem(kernel, 300, random_state=0).fit(X)
    assert np.abs(m.transform(X) - m.transform(X.astype(np.float64))).max() < 1e-5


def test_landmarks_are_reproduced_exactly(X):
    for kernel in (Gaussian(0.5), DeltaGaussian(sigmas=(0.5, 2))):
        m = Nystroem(kernel, 20, random_state=0).fit(X)
        assert np.allclose(m.kernel_matrix(m.landmarks_, X), kernel(m.landmarks_, X), atol=1e-8)
