"""Every map under all laws: one class declares the map, its kernels and the facts about it."""

from functools import partial

import rflib.maps
from rflib import maps
from rflib.kernels import (
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Matern,
    Polynomial,
    SphericalPolynomial,
)
from rflib.measures.domain import Domain
from rflib.measures.minimum_variance import minimum_variance
from rflib.measures.reference import reference

from .laws import ALIKE, MEMORY, MIXTURE, QUICK, MapLaws, cases
from .rows import sphere

# For rows of unit norm with 6 columns, for general rows with 5, and for rows with 4.
NARROW, WIDE, EACH = Gaussian(0.8), Gaussian(1.3), Gaussian((1.0, 2.0, 1.5, 0.7, 1.0))
DELTA, POLYNOMIAL, CUBIC = DeltaGaussian(sigmas=(0.7, 5)), SphericalPolynomial(4, 3), Polynomial(3, 0.5, 1.0)
SIGNED = DeltaGaussian((1, -0.5), (1.3, 4))
WIDTHS, UNIT = Gaussian((1.0, 2.0, 3.0, 2.0)), Gaussian(1.0)
# Those of the measures that are at hand; for other kernels the measure is constructed, as for slow maps.
CLOSED = ["DeltaGaussian", "Laplacian", "Matern", "default", "rough Matern"]
ON_SPHERE = Domain.of(sphere(50, 6))
FINITE, INFINITE = minimum_variance(POLYNOMIAL, ON_SPHERE, deltas=(0.01,)), reference(POLYNOMIAL, ON_SPHERE)


class TestRFF(MapLaws):
    make = maps.RFF
    unbiased = (
        *cases(NARROW, Laplacian(0.5), Cauchy(0.9), Matern(1.5, 1.0)),
        *cases(NARROW, layout="phase"),
        *cases(NARROW, n_components=25),
        *cases(NARROW, radii="stratified"),
    )
    general = (
        *cases(WIDE, Laplacian(0.4), Cauchy(0.4), Gaussian("scale"), Gaussian("median"), EACH),
        *cases(WIDE, layout="phase"),
    )
    gradients = (*cases(UNIT, n_components=31), *cases(WIDTHS, layout="phase"))


class TestORF(MapLaws):
    make = maps.ORF
    unbiased = (
        *cases(NARROW, Matern(0.5, 2.0)),
        *cases(NARROW, radii="stratified"),
        *cases(NARROW, radii="paired"),
    )
    general = cases(WIDE)
    streamed = cases(Gaussian((1.0, 2, 3, 4, 5, 6)))
    gradients = cases(Matern(1.5, 2.0))


class TestQMC(MapLaws):
    make = maps.QMC
    unbiased = cases(NARROW, Matern(1.5, 1.0), Laplacian(0.5))
    general = cases(WIDE)
    gradients = cases(UNIT)


class TestFourierFeatures(MapLaws):
    make = maps.FourierFeatures
    unbiased = (
        *cases(Matern(1.5, 1.0), measure="exact", directions="distance", radii="stratified"),
        *cases(NARROW, measure="exact", directions="sobol", radii="joint"),
    )
    general = cases(WIDE)
    streamed = (
        *cases(DeltaGaussian()),
        *cases(POLYNOMIAL, measure=QUICK | {"type": "auto"}),
        *cases(POLYNOMIAL, Gaussian(), measure=FINITE),
        *cases(SphericalPolynomial(), measure=INFINITE),
    )
    kernels = CLOSED


class TestGRFF(MapLaws):
    make = maps.GRFF
    unbiased = cases(DELTA)
    biased = cases(POLYNOMIAL, measure="reference")
    general = cases(SIGNED)
    streamed = (*cases(DeltaGaussian()), *cases(POLYNOMIAL, measure="truncated_fourier"))
    kernels = CLOSED


class TestGORF(MapLaws):
    make = maps.GORF
    unbiased = (*cases(DELTA), *cases(DELTA, radii="halton"))
    biased = (*cases(POLYNOMIAL), *cases(POLYNOMIAL, measure="minimum_variance", radii="stratified"))
    general = cases(SIGNED)
    gradients = cases(DeltaGaussian(sigmas=(1.0, 5.0)), n_components=31)
    kernels = CLOSED


class TestGORFWithFrames(MapLaws):
    """A frame for 20,000 input columns takes minutes."""

    make = partial(maps.GORF, directions="frame")
    unbiased = cases(DELTA)
    general = cases(SIGNED)
    variants = ()
    lacks = (MEMORY,)


class TestGORFOfAtoms(MapLaws):
    """The atoms represent the kernel in a ball, and on the whole sphere."""

    make = partial(maps.GORF, measure=QUICK, radii="stratified")
    general = cases(WIDE)
    streamed = cases(Gaussian())
    gradients = cases(Gaussian(2.0), n_components=32)
    notices, caps, variants = ({},), (), ()
    lacks, slow = (ALIKE,), True


class TestMVORF(MapLaws):
    make = maps.MVORF
    biased = (*cases(DELTA, ArcCosine(1)), *cases(Gaussian(0.3), n_components=60))  # the last one has waves
    general = cases(WIDE, axes="input")
    gradients = cases(Gaussian(0.3), n_components=60)
    notices, ties = ({},), True
    nightly = (ALIKE,)


class TestSRF(MapLaws):
    make = maps.SRF
    biased = (*cases(POLYNOMIAL), *cases(POLYNOMIAL, measure={"type": "srf", "method": "optimum"}))
    general = cases(WIDE)
    streamed = cases(Gaussian())
    gradients = cases(UNIT)
    slow = True


class TestDIGMM(MapLaws):
    make = maps.DIGMM
    biased = cases(Gaussian(), measure=MIXTURE)
    general = cases(WIDE, measure=MIXTURE)
    variants = ({"measure": MIXTURE},)
    slow = True
    nightly = (ALIKE,)


class TestSORF(MapLaws):
    make = maps.SORF
    biased = cases(NARROW)
    general = cases(WIDE)
    gradients = cases(UNIT, n_components=31)


class TestMomentMatching(MapLaws):
    make = maps.MomentMatching
    biased = cases(NARROW)
    general = cases(WIDE)
    gradients = cases(UNIT)


class TestQuadratureRFF(MapLaws):
    make = maps.QuadratureRFF
    unbiased = (*cases(NARROW), *cases(NARROW, n_components=25))
    general = cases(WIDE)
    gradients = cases(UNIT, n_components=31)


class TestQuadratureFeatures(MapLaws):
    make = maps.QuadratureFeatures
    biased = cases(NARROW, n_components=25)
    general = cases(WIDE)
    notices, caps = ({},), ()


class TestSphericalRadialRFF(MapLaws):
    make = maps.SphericalRadialRFF
    biased = cases(NARROW)
    general = cases(WIDE)


class TestLeverageRFF(MapLaws):
    make = maps.LeverageRFF
    unbiased = (*cases(NARROW, pool=48), *cases(NARROW, pool=48, directions="orthogonal"))
    biased = cases(Gaussian(), variant="reference")
    general = cases(WIDE)
    gradients = (*cases(UNIT), *cases(UNIT, variant="reference"))
    lacks = (ALIKE,)


class TestSurrogateLeverageRFF(MapLaws):
    make = maps.SurrogateLeverageRFF
    unbiased = cases(NARROW, pool=48)
    general = cases(WIDE)
    lacks = (ALIKE,)


class TestRandomMaclaurin(MapLaws):
    make = maps.RandomMaclaurin
    unbiased = cases(POLYNOMIAL, Polynomial(3, 0.5, 1.0))
    general = cases(CUBIC)
    alike = Polynomial(2, 1 / 24)


class TestTensorSketch(MapLaws):
    make = maps.TensorSketch
    unbiased = (*cases(POLYNOMIAL), *cases(POLYNOMIAL, n_components=25))
    general = cases(CUBIC)
    alike = Polynomial(2, 1 / 24)


class TestPolySketch(MapLaws):
    make = maps.PolySketch
    unbiased = (*cases(POLYNOMIAL), *cases(Polynomial(4, 0.5, 1.0), n_components=25))
    general = cases(CUBIC)
    alike = Polynomial(2, 1 / 24)


class TestCRAFT(MapLaws):
    @staticmethod
    def make(kernel, base=maps.TensorSketch, n_components_up=96, **options):
        return maps.CRAFT(base(kernel), n_components_up=n_components_up, **options)

    unbiased = (*cases(POLYNOMIAL), *cases(POLYNOMIAL, base=maps.RandomMaclaurin))
    general = cases(CUBIC)
    streamed = cases(Gaussian(), base=maps.SRF)
    alike = Polynomial(2, 1 / 24)


class TestGegenbauerFeatures(MapLaws):
    make = maps.GegenbauerFeatures
    unbiased = (
        *cases(POLYNOMIAL, degree=3),
        *cases(Polynomial(3, 0.5, 1.0), n_components=25, degree=3, n_radial=2),
    )
    biased = cases(ArcCosine(1))
    general = cases(WIDE, CUBIC)
    notices = ({},)


class TestOptimizedMaclaurin(MapLaws):
    make = maps.OptimizedMaclaurin
    biased = (
        *cases(POLYNOMIAL, NARROW),
        *cases(Polynomial(4, 0.5, 1.0, 2.0), projection="rademacher", exact_degrees=0),
        *cases(POLYNOMIAL, complex_to_real=False, centre=False),
    )
    general = (
        *cases(CUBIC, WIDE),
        *cases(CUBIC, exact_degrees=0),
        *cases(CUBIC, exact_degrees=0, complex_to_real=False, centre=False),
    )
    notices = ({},)


class TestTaylorFeatures(MapLaws):
    """Monomials represent the kernel at antipodes too."""

    make = maps.TaylorFeatures
    biased = cases(NARROW)
    general = cases(WIDE)
    notices, caps = ({},), (1,)
    seeded = False


class TestHilbertSpaceFeatures(MapLaws):
    make = maps.HilbertSpaceFeatures
    biased = cases(Matern(1.5, 1.0))
    general = cases(Matern(1.5, 3.0))
    notices = ({},)
    seeded = takes_sparse = False
    lacks = (MEMORY,)


class TestMercerFeatures(MapLaws):
    make = maps.MercerFeatures
    biased = cases(NARROW, DELTA)
    general = cases(WIDE, Laplacian(0.4), axes="input")
    gradients = (
        *cases(Gaussian("median"), n_components=40, axes="principal"),
        *cases(Gaussian(2.0), n_components=40, axes="input"),
        *cases(
            *(WIDTHS, Cauchy(2.0), Laplacian(0.5), Polynomial(3), Matern(1.5, 2.0)),  # combined products
            n_components=40,
        ),
    )
    notices, ties = ({},), True
    nightly = (ALIKE,)


class TestNystroem(MapLaws):
    make = maps.Nystroem
    biased = (*cases(DELTA), *cases(DELTA, landmarks="rpcholesky"), *cases(POLYNOMIAL, landmarks="kmeans"))
    general = (*cases(WIDE), *cases(WIDE, landmarks="rpcholesky"))
    gradients = cases(UNIT, Matern(1.5, (1.0, 2.0, 3.0, 2.0)), lambda z: 1 / (1 + z**2))
    variants = notices = ({}, {"landmarks": "kmeans"}, {"landmarks": "rpcholesky"})
    lacks, ties = (ALIKE,), True


class TestAutoMap(MapLaws):
    make = maps.AutoMap
    biased = cases(NARROW, candidates=["ORF", "OptimizedMaclaurin", "Nystroem"])
    # Without MercerFeatures, which has principal axes of dense rows only.
    general = cases(WIDE, candidates=["MVORF", "ORF", "OptimizedMaclaurin", "Nystroem"])
    gradients = cases(UNIT, candidates=["RFF", "ORF"])
    variants = ()
    notices = ({"candidates": ["OptimizedMaclaurin", "Nystroem"]},)
    lacks, slow = (ALIKE,), True
    nightly = ("test_rows_of_the_same_law_are_not_noticed",)


def test_every_map_has_its_laws():
    tested = {cls.make for cls in MapLaws.__subclasses__()}
    every = {getattr(rflib.maps, name) for name in rflib.maps.MODULES} - {maps.RandomFeatureMap, maps.CRAFT}
    assert every <= tested
