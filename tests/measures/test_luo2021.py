"""luo2021's measures of the polynomial kernel: as printed (eq. 18), and as the authors ran it."""

import os
from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy.special import gammaln

from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.gaussian import Gaussian
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.maps.gorf import GORF
from rflib.maps.grff import GRFF
from rflib.measures.domain import Domain
from rflib.measures.omega import omega
from rflib.measures.reference import reference
from rflib.measures.truncated_fourier import log_density, log_radial_density, truncated_fourier

MIRROR = Path(os.environ.get("RFLIB_TEST_MIRROR", Path(__file__).parents[2].parent / "shared" / "data"))


def domain(d: int) -> Domain:
    return Domain(d, 2.0, np.linspace(0, 2, 101)[1:])


def printed(a: float, p: int, d: int, w: float) -> mpmath.mpf:
    """Eq. (18) as it stands."""
    a, w, half = mpmath.mpf(a), mpmath.mpf(w), mpmath.mpf(d) / 2
    return mpmath.fsum(
        mpmath.factorial(p)
        / mpmath.factorial(p - i)
        * (1 - 4 / a**2) ** (p - i)
        * (2 / a**2) ** i
        * (2 / w) ** (half + i)
        * mpmath.besselj(half + i, 2 * w)
        for i in range(p + 1)
    )


@pytest.mark.parametrize("d", [1, 2, 16, 100, 256, 340, 784])
@pytest.mark.parametrize(("a", "p"), [(3, 1), (4, 10), (2, 3)])
def test_density_agrees_with_mpmath(a, p, d):
    """To 1e-9 of the largest term of the sum, from far below the turning point d/4 to far above it."""
    w = np.array([1e-3, 0.5, 3.0, 0.1 * d + 1, d / 4 + 0.3, d / 4 + 1, 0.4 * d + 2, d + 5.0, 100.0])
    sign, log_size = log_density(SphericalPolynomial(a, p), d, w)
    with mpmath.workdps(30):
        for s, log_value, v in zip(sign, log_size, w, strict=True):
            exact = printed(a, p, d, v)
            bound = abs(exact) + (mpmath.mpf(2) / v) ** (mpmath.mpf(d) / 2) * mpmath.mpf("0.01") * (2 * v > d)
            assert abs(int(s) * mpmath.exp(mpmath.mpf(log_value)) - exact) <= 1e-9 * bound


@pytest.mark.parametrize("d", [1, 2, 3, 5, 16])
def test_radial_density_is_the_hankel_transform_of_the_cut_kernel(d):
    """rho(r) = (2 pi)^-d A_d^2 r^(d-1) int_0^2 z^(d-1) k(z) Omega_d(r z) dz."""
    kernel = SphericalPolynomial(4, 3)
    x, weights = np.polynomial.legendre.leggauss(200)
    z = x + 1
    r = np.array([0.3, 1.0, 4.0, 9.0, 30.0])
    log_area = np.log(2) + d / 2 * np.log(np.pi) - gammaln(d / 2)
    integral = omega(d, np.multiply.outer(r, z)) @ (weights * z ** (d - 1) * kernel.at_distance(z))
    direct = np.exp(2 * log_area - d * np.log(2 * np.pi)) * r ** (d - 1) * integral
    sign, log_size = log_radial_density(kernel, d, r)
    np.testing.assert_allclose(sign * np.exp(log_size), direct, rtol=1e-8)


@pytest.mark.parametrize(("cutoff", "mass"), [(20, 3.5e4), (50, 2.6e7), (100, 5e9)])
def test_mass_diverges_with_the_cutoff(cutoff, mass):
    """The positive part's, at d = 16, a = 3, p = 1 (SPEC 10)."""
    measure = truncated_fourier(SphericalPolynomial(3, 1), domain(16), cutoff=cutoff)
    assert measure.positive.mass == pytest.approx(mass, rel=0.01)
    assert measure.negative.mass > mass / 2


def test_masses_grow_and_errors_fall_as_the_theory_says():
    """At z > 0 the measure's kernel tends to k; at z = 0 it does so for d < 3 only."""
    kernel, z = SphericalPolynomial(3, 1), np.array([0.5, 1.0, 1.5])
    for d in (1, 2, 3, 5):
        small, large = (truncated_fourier(kernel, domain(d), cutoff=c) for c in (20, 320))
        error_small, error_large = (
            np.abs(m.profile(z) - kernel.at_distance(z)).max() for m in (small, large)
        )
        assert error_large < 0.2 * error_small
        assert error_large < 0.02
        growth = np.log(large.total_mass / small.total_mass) / np.log(16)
        assert growth == pytest.approx((d - 1) / 2, abs=0.12)
    at_zero = [truncated_fourier(kernel, domain(7), cutoff=c).profile(0.0)[0] for c in (20.5, 82.0)]
    assert min(np.abs(at_zero)) > 10


def test_without_jump_the_mass_stays_finite():
    """a = 2: the kernel vanishes at z = 2, and a smooth enough one has an integrable transform."""
    kernel = SphericalPolynomial(2, 6)
    masses = [truncated_fourier(kernel, domain(5), cutoff=c).total_mass for c in (20, 100)]
    assert masses[1] == pytest.approx(masses[0], rel=1e-3)
    z = np.linspace(0, 2, 21)
    measure = truncated_fourier(kernel, domain(5), cutoff=100)
    np.testing.assert_allclose(measure.profile(z), kernel.at_distance(z), atol=1e-5)


@pytest.mark.parametrize(
    ("kernel", "d", "cutoff", "message"),
    [
        (Gaussian(), 3, 20, "SphericalPolynomial only"),
        (SphericalPolynomial(), 3, 0, "cutoff must be a positive number"),
        (SphericalPolynomial(), 3, np.inf, "cutoff must be a positive number"),
        (SphericalPolynomial(), 784, 20, r"about 10\^-\d+\. Choose another cutoff"),
        (SphericalPolynomial(3, 1), 784, 1200, r"about 10\^\d+\. Choose another cutoff"),
    ],
)
def test_errors(kernel, d, cutoff, message):
    with pytest.raises(ValueError, match=message):
        truncated_fourier(kernel, domain(d), cutoff=cutoff)


@pytest.mark.parametrize(("a", "p"), [(3, 1), (4, 10), (4, 20)])
def test_reference_measure_represents_another_kernel(a, p):
    """(1 + z^2/4)^(-1/2) for large d, whatever a and p."""
    z = np.linspace(0, 2, 21)
    measure = reference(SphericalPolynomial(a, p), domain(784))
    assert measure.total_mass == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(measure.profile(z), (1 + z**2 / 4) ** -0.5, atol=2e-2)
    if p > 1:
        assert np.abs(measure.profile(z) - SphericalPolynomial(a, p).at_distance(z)).max() > 0.3


def test_reference_is_for_the_papers_polynomial_kernel():
    with pytest.raises(ValueError, match="exist for SphericalPolynomial only, not for DeltaGaussian"):
        reference(DeltaGaussian(), domain(4))


@pytest.fixture(scope="module")
def unit_rows():
    def rows(name: str):
        path = MIRROR / "gorf_splits" / f"gorf_{name}.npz"
        if not path.exists():
            pytest.skip(f"{path.name} is not in the mirror (RFLIB_TEST_MIRROR)")
        with np.load(path) as arrays:
            X = arrays["X_train"].astype(np.float64)
        X = X[np.random.default_rng(0).choice(len(X), 1000, replace=False)]
        return X / np.linalg.norm(X, axis=1, keepdims=True)

    return rows


@pytest.mark.parametrize(("name", "floor"), [("letter", 0.0155), ("ijcnn", 0.040), ("usps", 0.0128)])
def test_reference_has_the_bias_of_the_authors_code(name, floor, unit_rows):
    X = unit_rows(name)
    kernel = SphericalPolynomial(3, 1)
    exact = kernel(X)
    z = np.sqrt(np.maximum(2 - 2 * X @ X.T, 0))
    grid = np.linspace(0, 2, 101)
    profile = np.interp(z, grid, reference(kernel, domain(X.shape[1])).profile(grid))
    np.fill_diagonal(profile, 1)
    assert np.linalg.norm(profile - exact) / np.linalg.norm(exact) == pytest.approx(floor, rel=0.05)


@pytest.mark.parametrize(
    ("method", "errors"),
    [
        (lambda n, seed: GRFF(SphericalPolynomial(3, 1), n, measure="reference", random_state=seed),
         (0.0885, 0.0615, 0.0430, 0.0278)),
        (lambda n, seed: GORF(SphericalPolynomial(3, 1), n, measure="reference", directions="frame",
                              random_state=seed),
         (0.0930, 0.0662, 0.0372, 0.0244)),
    ],
    ids=["GRFF", "GORF"],
)  # fmt: skip
def test_reference_gives_the_errors_of_the_authors_code(method, errors, unit_rows):
    """Ten repetitions on letter, s = d/2, d, 2d, 8d; theirs are means of ten too: within 5 standard errors."""
    X = unit_rows("letter")[:400]
    exact = SphericalPolynomial(3, 1)(X)
    for s, published in zip((8, 16, 32, 128), errors, strict=True):
        ours = []
        for seed in range(10):
            estimate = method(4 * s, seed).fit(X).kernel_matrix(X)
            np.fill_diagonal(estimate, 1)
            ours.append(np.linalg.norm(estimate - exact) / np.linalg.norm(exact))
        assert abs(np.mean(ours) - published) < 5 * np.std(ours, ddof=1) * np.sqrt(2 / 10)
