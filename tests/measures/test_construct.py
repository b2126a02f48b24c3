"""From a name to a measure, and what is said when there is none."""

import re
from dataclasses import dataclass

import numpy as np
import pytest

from rflib.kernels.arc_cosine import ArcCosine
from rflib.kernels.base import RadialKernel
from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.gaussian import Gaussian
from rflib.kernels.laplacian import Laplacian
from rflib.kernels.polynomial import Polynomial, SphericalPolynomial
from rflib.maps import DIGMM, GORF, GRFF, SRF
from rflib.measures.atomic import CandidateMeasures
from rflib.measures.base import RadialMeasure
from rflib.measures.construct import CONSTRUCTIONS, construct, has_exact_measure
from rflib.measures.domain import Domain
from rflib.measures.exact_measures import exact_measure

X = np.random.default_rng(0).standard_normal((50, 3))
X /= np.linalg.norm(X, axis=1, keepdims=True)
DOMAIN = Domain.of(X)


def test_auto_is_exact_where_there_is_an_exact_measure():
    assert has_exact_measure(DeltaGaussian()) and not has_exact_measure(SphericalPolynomial())
    assert isinstance(construct("auto", DeltaGaussian(), DOMAIN), RadialMeasure)
    assert isinstance(construct("auto", SphericalPolynomial(), DOMAIN), CandidateMeasures)


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_every_construction_takes_luo2021s_kernel(name):
    measure = construct(name, SphericalPolynomial(3, 1), DOMAIN)
    assert measure.dimension == 3


def test_options_reach_the_construction():
    masses = [
        construct({"type": "truncated_fourier", "cutoff": c}, SphericalPolynomial(), DOMAIN).total_mass
        for c in (10, 40)
    ]
    assert masses[0] < masses[1]
    with pytest.raises(TypeError, match="cutof"):
        construct({"type": "truncated_fourier", "cutof": 3}, SphericalPolynomial(), DOMAIN)


def test_a_measure_is_returned_as_it_is():
    measure = construct("exact", Gaussian(), DOMAIN)
    assert construct(measure, Gaussian(), DOMAIN) is measure
    with pytest.raises(ValueError, match="for 3 input columns, but the data have 2"):
        construct(measure, Gaussian(), Domain.of(X[:, :2]))


@dataclass
class Mutable(RadialKernel):
    """A user's kernel that cannot be hashed and can be changed."""

    sigma: float

    def at_distance(self, z):
        return Gaussian(self.sigma).at_distance(z)


def test_a_users_kernel_is_not_remembered():
    exact_measure.register(
        Mutable, lambda kernel, dimension: exact_measure(Gaussian(kernel.sigma), dimension)
    )
    kernel = Mutable(1.0)
    assert construct("exact", kernel, DOMAIN).positive.sigma == 1
    kernel.sigma = 3.0
    assert construct("exact", kernel, DOMAIN).positive.sigma == 3


@pytest.mark.parametrize("cls", [GRFF, GORF, SRF, DIGMM])
def test_the_zero_kernel_is_named(cls):
    kernel = DeltaGaussian((1, -1), (1, 1))
    with pytest.raises(ValueError, match=rf"{re.escape(repr(kernel))}.*(is zero|not constant)"):
        cls(kernel).fit(X)


def test_terms_that_cancel_up_to_rounding_are_zero_too():
    with pytest.raises(ValueError, match="is zero everywhere: its terms cancel"):
        exact_measure(DeltaGaussian((0.1, 0.2, -0.3), (2, 2, 2)), 3)
    assert exact_measure(DeltaGaussian((1, -1), (1, 1 + 1e-6)), 3).total_mass > 0


@pytest.mark.parametrize("measure", ["extact", {"type": "nothing"}, {"cutoff": 3}, {}, 3, None])
def test_unknown_names(measure):
    with pytest.raises(ValueError, match=r"measure must be one of 'auto', 'paper', 'exact', .* got "):
        construct(measure, Gaussian(), DOMAIN)


@pytest.mark.parametrize("name", CONSTRUCTIONS)
@pytest.mark.parametrize("kernel", [Laplacian(), Polynomial()])
def test_constructions_need_a_kernel_of_the_distance(name, kernel):
    with pytest.raises(ValueError, match="needs a kernel of the Euclidean distance"):
        construct(name, kernel, DOMAIN)


def test_kernel_without_exact_measure():
    with pytest.raises(ValueError, match="no exact finite spectral measure"):
        construct("exact", SphericalPolynomial(), DOMAIN)


def test_the_papers_measure_is_its_authors():
    assert construct("paper", SphericalPolynomial(), DOMAIN).total_mass == pytest.approx(1)
    assert isinstance(construct("paper", SphericalPolynomial(), DOMAIN), RadialMeasure)
    assert not isinstance(construct("paper", SphericalPolynomial(), DOMAIN), CandidateMeasures)
    exact = construct("exact", DeltaGaussian(), DOMAIN)
    assert construct("paper", DeltaGaussian(), DOMAIN).total_mass == exact.total_mass
    assert isinstance(construct("paper", ArcCosine(), DOMAIN), CandidateMeasures)
