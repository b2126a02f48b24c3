"""Atoms for maps with exact harmonics: few input columns, and kernels that are narrow in the range of the rows."""

import numpy as np
import pytest

from rflib.kernels import DeltaGaussian, Gaussian, Matern
from rflib.maps import MVORF
from rflib.measures.construct import construct
from rflib.measures.domain import Domain
from rflib.metrics import relative_frobenius_error

ROWS = {
    "heavy-tailed": lambda rng, d: rng.standard_t(3, size=(600, d)),
    "20 widths": lambda rng, d: 20 * rng.uniform(size=(600, d)),
    "150 widths": lambda rng, d: 150 * rng.uniform(size=(600, d)),
}
KERNELS = {"Gaussian": Gaussian(1), "Matern": Matern(nu=1.5)}


def rows_of(name, d):
    rows = ROWS[name](np.random.default_rng(d), d)
    return rows[:300], rows[300:]


@pytest.mark.filterwarnings("ignore::rflib.measures.RangeWarning")
@pytest.mark.parametrize(
    ("d", "rows", "kernel"),
    [
        (1, "heavy-tailed", "Matern"),
        pytest.param(1, "150 widths", "Gaussian", marks=pytest.mark.nightly),
        pytest.param(2, "20 widths", "Matern", marks=pytest.mark.nightly),
        pytest.param(3, "heavy-tailed", "Gaussian", marks=pytest.mark.nightly),
    ],
)
def test_errors_are_below_those_of_independent_frequencies(d, rows, kernel):
    """Before, norms could be so far apart that errors stayed at .38 whatever the number of columns."""
    train, new = rows_of(rows, d)
    exact = KERNELS[kernel](new)
    found = MVORF(KERNELS[kernel], 1000, random_state=0).fit(train)
    error = relative_frobenius_error(exact, found.kernel_matrix(new))
    # With 500 independent frequencies, a value has the variance ((1 + k(2z)) / 2 - k(z)^2) / 500.
    twice = KERNELS[kernel](2 * new)
    variance = ((1 + twice) / 2 - exact**2) / 500
    assert error < np.sqrt(variance.sum()) / np.linalg.norm(exact)


@pytest.mark.parametrize("d", [1, 2])
def test_a_narrow_indefinite_kernel_is_represented(d):
    train, _ = rows_of("20 widths", d)
    kernel, domain = DeltaGaussian(coefficients=(1, -0.5), sigmas=(1, 3)), Domain.of(train)
    candidate = min(
        construct("minimum_residual", kernel, domain).candidates,
        key=lambda candidate: candidate.bias_estimate,
    )
    assert candidate.bias_estimate < 1e-3
    z = np.linspace(0, domain.zmax, 501)
    assert np.abs(candidate.profile(z) - kernel.at_distance(z)).max() < 1.01 * candidate.bias_estimate + 1e-9


@pytest.mark.parametrize("d", [4, 20])
def test_other_rows_have_the_norms_of_the_first_grid(d):
    """A wide range needs no further norms where Omega_d decays quickly."""
    train, _ = rows_of("20 widths", d)
    measure = construct("minimum_residual", Gaussian(1), Domain.of(train))
    assert max(candidate.radii.size for candidate in measure.candidates) <= 64 + 12
