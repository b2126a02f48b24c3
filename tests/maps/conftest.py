"""Rows of unit norm, and all maps with a kernel that suits them."""

import numpy as np
import pytest

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
from rflib.maps import (
    CRAFT,
    GORF,
    GRFF,
    MVORF,
    ORF,
    QMC,
    RFF,
    SORF,
    SRF,
    AutoMap,
    FourierFeatures,
    GegenbauerFeatures,
    HilbertSpaceFeatures,
    LeverageRFF,
    MercerFeatures,
    MomentMatching,
    Nystroem,
    OptimizedMaclaurin,
    PolySketch,
    QuadratureFeatures,
    QuadratureRFF,
    RandomMaclaurin,
    SphericalRadialRFF,
    SurrogateLeverageRFF,
    TaylorFeatures,
    TensorSketch,
)

DELTA = DeltaGaussian(sigmas=(0.7, 5))
POLYNOMIAL = SphericalPolynomial(a=4, p=3)

# Unbiased maps, or maps whose bias is bounded far below the Monte Carlo error of the tests.
UNBIASED = {
    "RFF": lambda D, seed: RFF(Gaussian(0.8), D, random_state=seed),
    "RFF phase": lambda D, seed: RFF(Gaussian(0.8), D, layout="phase", random_state=seed),
    "RFF odd": lambda D, seed: RFF(Gaussian(0.8), D + 1, random_state=seed),
    "RFF stratified": lambda D, seed: RFF(Gaussian(0.8), D, radii="stratified", random_state=seed),
    "RFF Laplacian": lambda D, seed: RFF(Laplacian(0.5), D, random_state=seed),
    "RFF Cauchy": lambda D, seed: RFF(Cauchy(0.9), D, random_state=seed),
    "RFF Matern": lambda D, seed: RFF(Matern(1.5, 1.0), D, random_state=seed),
    "ORF": lambda D, seed: ORF(Gaussian(0.8), D, random_state=seed),
    "ORF stratified": lambda D, seed: ORF(Gaussian(0.8), D, radii="stratified", random_state=seed),
    "ORF paired": lambda D, seed: ORF(Gaussian(0.8), D, radii="paired", random_state=seed),
    "ORF Matern": lambda D, seed: ORF(Matern(0.5, 2.0), D, random_state=seed),
    "QMC slicing": lambda D, seed: FourierFeatures(
        Matern(1.5, 1.0), D, measure="exact", directions="distance", radii="stratified", random_state=seed
    ),
    "QMC": lambda D, seed: QMC(Gaussian(0.8), D, random_state=seed),
    "QMC sobol": lambda D, seed: QMC(Gaussian(0.8), D, sequence="sobol", random_state=seed),
    "QMC Matern": lambda D, seed: QMC(Matern(1.5, 1.0), D, random_state=seed),
    "QMC Laplacian": lambda D, seed: QMC(Laplacian(0.5), D, random_state=seed),
    "quadrature": lambda D, seed: QuadratureRFF(Gaussian(0.8), D, random_state=seed),
    "quadrature odd": lambda D, seed: QuadratureRFF(Gaussian(0.8), D + 1, random_state=seed),
    "leverage": lambda D, seed: LeverageRFF(Gaussian(0.8), D, pool=2 * D, random_state=seed),
    "leverage ORF": lambda D, seed: LeverageRFF(
        Gaussian(0.8), D, pool=2 * D, directions="orthogonal", random_state=seed
    ),
    "surrogate": lambda D, seed: SurrogateLeverageRFF(Gaussian(0.8), D, pool=2 * D, random_state=seed),
    "GRFF": lambda D, seed: GRFF(DELTA, D, random_state=seed),
    "GORF": lambda D, seed: GORF(DELTA, D, random_state=seed),
    "GORF frame": lambda D, seed: GORF(DELTA, D, directions="frame", random_state=seed),
    "GORF halton": lambda D, seed: GORF(DELTA, D, radii="halton", random_state=seed),
    "RM": lambda D, seed: RandomMaclaurin(POLYNOMIAL, D, random_state=seed),
    "RM polynomial": lambda D, seed: RandomMaclaurin(Polynomial(3, 0.5, 1.0), D, random_state=seed),
    "TS": lambda D, seed: TensorSketch(POLYNOMIAL, D, random_state=seed),
    "TS odd": lambda D, seed: TensorSketch(POLYNOMIAL, D + 1, random_state=seed),
    "PolySketch": lambda D, seed: PolySketch(POLYNOMIAL, D, random_state=seed),
    "PolySketch degree 4": lambda D, seed: PolySketch(Polynomial(4, 0.5, 1.0), D + 1, random_state=seed),
    "Gegenbauer": lambda D, seed: GegenbauerFeatures(POLYNOMIAL, D, degree=3, random_state=seed),
    "Gegenbauer polynomial": lambda D, seed: GegenbauerFeatures(
        Polynomial(3, 0.5, 1.0), D + 1, degree=3, n_radial=2, random_state=seed
    ),
    "CRAFT RM": lambda D, seed: CRAFT(
        RandomMaclaurin(POLYNOMIAL), D, n_components_up=4 * D, random_state=seed
    ),
    "CRAFT TS": lambda D, seed: CRAFT(TensorSketch(POLYNOMIAL), D, n_components_up=4 * D, random_state=seed),
}

# Maps with a documented bias.
BIASED = {
    "MVORF": lambda D, seed: MVORF(Gaussian(0.3), D, random_state=seed),  # eigenfunctions and waves
    "MVORF arc-cosine": lambda D, seed: MVORF(ArcCosine(1), D, random_state=seed),
    "GORF atoms": lambda D, seed: GORF(
        POLYNOMIAL, D, measure="minimum_variance", radii="stratified", random_state=seed
    ),
    "GORF polynomial": lambda D, seed: GORF(POLYNOMIAL, D, random_state=seed),
    "GRFF reference": lambda D, seed: GRFF(POLYNOMIAL, D, measure="reference", random_state=seed),
    "SRF": lambda D, seed: SRF(POLYNOMIAL, D, random_state=seed),
    "SRF optimum": lambda D, seed: SRF(
        POLYNOMIAL, D, measure={"type": "srf", "method": "optimum"}, random_state=seed
    ),
    "SORF": lambda D, seed: SORF(Gaussian(0.8), D, random_state=seed),
    "moment matching": lambda D, seed: MomentMatching(Gaussian(0.8), D, random_state=seed),
    "spherical-radial": lambda D, seed: SphericalRadialRFF(Gaussian(0.8), D, random_state=seed),
    "OM": lambda D, seed: OptimizedMaclaurin(POLYNOMIAL, D, random_state=seed),
    "OM Gaussian": lambda D, seed: OptimizedMaclaurin(Gaussian(0.8), D, random_state=seed),
    "OM odd": lambda D, seed: OptimizedMaclaurin(
        Polynomial(4, 0.5, 1.0, 2.0), D, projection="rademacher", exact_degrees=0, random_state=seed
    ),
    "OM real": lambda D, seed: OptimizedMaclaurin(
        POLYNOMIAL, D, complex_to_real=False, centre=False, random_state=seed
    ),
    "Nystroem": lambda D, seed: Nystroem(DELTA, D, random_state=seed),
    "Nystroem kmeans": lambda D, seed: Nystroem(POLYNOMIAL, D, landmarks="kmeans", random_state=seed),
    "MercerFeatures": lambda D, seed: MercerFeatures(Gaussian(0.8), D, random_state=seed),
    "MercerFeatures delta-Gaussian": lambda D, seed: MercerFeatures(DELTA, D, random_state=seed),
    "Taylor": lambda D, seed: TaylorFeatures(Gaussian(0.8), D, random_state=seed),
    "Hilbert space": lambda D, seed: HilbertSpaceFeatures(Matern(1.5, 1.0), D, random_state=seed),
    "quadrature grid": lambda D, seed: QuadratureFeatures(Gaussian(0.8), D + 1, random_state=seed),
    "Gegenbauer arc-cosine": lambda D, seed: GegenbauerFeatures(ArcCosine(1), D, random_state=seed),
    "AutoMap": lambda D, seed: AutoMap(
        Gaussian(0.8), D, candidates=["ORF", "OptimizedMaclaurin", "Nystroem"], random_state=seed
    ),
    "Nystroem rpcholesky": lambda D, seed: Nystroem(DELTA, D, landmarks="rpcholesky", random_state=seed),
}

EVERY = UNBIASED | BIASED


def sphere(n: int, d: int, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.fixture(scope="session")
def X():
    return sphere(60, 6)


@pytest.fixture(scope="session")
def y(X):
    return (X[:, 0] + X[:, 1] ** 2 > 0.1).astype(int)
