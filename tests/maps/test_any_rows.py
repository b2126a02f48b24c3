"""Every map, on rows of any type, order, container and size: equal rows, equal values, or a clear error.

The examples are drawn once and for all, so that a test that passes once passes always.
"""

import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import normalize

from rflib.kernels import (
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Matern,
    NeuralTangent,
    Polynomial,
    RadialFunction,
    SphericalPolynomial,
)
from rflib.maps import (
    CRAFT,
    DIGMM,
    GORF,
    GRFF,
    MVORF,
    ORF,
    QMC,
    RFF,
    SORF,
    SRF,
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

N, D = 12, 4
# Each kernel for rows whose size is about the unit.
KERNELS = {
    "Gaussian": lambda unit: Gaussian(2 * unit),
    "Laplacian": lambda unit: Laplacian(0.3 / unit),
    "Cauchy": lambda unit: Cauchy(0.3 / unit),
    "Matern": lambda unit: Matern(1.5, 2 * unit),
    "rough Matern": lambda unit: Matern(0.01, unit),
    "smooth Matern": lambda unit: Matern(200, unit),
    "DeltaGaussian": lambda unit: DeltaGaussian((1, -0.5), (2 * unit, 5 * unit)),
    "Polynomial": lambda unit: Polynomial(3, 1.0, 1.0),
    "SphericalPolynomial": lambda unit: SphericalPolynomial(4, 3),
    "ArcCosine": lambda unit: ArcCosine(1),
    "NeuralTangent": lambda unit: NeuralTangent(2),
    "profile": lambda unit: RadialFunction(np.cos),
    "default": lambda unit: None,
}
MAPS = {
    "RFF": RFF,
    "ORF": ORF,
    "QMC": QMC,
    "GRFF": GRFF,
    "GORF": GORF,
    "FourierFeatures": FourierFeatures,
    "SORF": SORF,
    "MomentMatching": MomentMatching,
    "QuadratureRFF": QuadratureRFF,
    "QuadratureFeatures": QuadratureFeatures,
    "TaylorFeatures": TaylorFeatures,
    "HilbertSpaceFeatures": HilbertSpaceFeatures,
    "GegenbauerFeatures": GegenbauerFeatures,
    "SphericalRadialRFF": SphericalRadialRFF,
    "LeverageRFF": LeverageRFF,
    "SurrogateLeverageRFF": SurrogateLeverageRFF,
    "OptimizedMaclaurin": OptimizedMaclaurin,
    "RandomMaclaurin": RandomMaclaurin,
    "TensorSketch": TensorSketch,
    "PolySketch": PolySketch,
    "CRAFT": lambda kernel, n, **seed: CRAFT(TensorSketch(kernel), n, n_components_up=32, **seed),
    "MercerFeatures": MercerFeatures,
    "MVORF": MVORF,
    "Nystroem": Nystroem,
    "Nystroem kmeans": partial(Nystroem, landmarks="kmeans"),
    "Nystroem rpcholesky": partial(Nystroem, landmarks="rpcholesky"),
}
# These solve programs for each new kernel and range: few kernels, and few examples.
MIXTURE = {"type": "digmm", "n_components": 2, "n_draws": 200}
SLOW = {"SRF": SRF, "DIGMM": partial(DIGMM, measure=MIXTURE)}
CAUSES = re.compile(
    r"Use .* instead|needs rows of unit norm, but row \d+ has norm|frequency for each of its 2 parts"
    r"|computed NaN or infinity in float(32|64) from numbers as large as"
)
CONTAINERS = {
    "array": lambda X: X,
    "list": lambda X: X.tolist(),
    "DataFrame": pd.DataFrame,
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda X: X[::-1].copy()[::-1],
    "read-only": lambda X: np.frombuffer(X.tobytes(), dtype=X.dtype).reshape(X.shape),
}
DTYPES = ["float16", "float32", "float64", "uint8", "int64", "bool"]
NORMAL = np.random.default_rng(0).standard_normal((N, D))
WHOLE = np.random.default_rng(1).integers(0, 4, (N, D))
Y = np.arange(N) % 2
QUICK = settings(suppress_health_check=list(HealthCheck))


def rows_of(dtype, exponent, on_sphere):
    if np.dtype(dtype).kind != "f":
        return (np.eye(D)[WHOLE[:, 0]] if on_sphere else WHOLE).astype(dtype)
    if on_sphere:
        return (NORMAL / np.linalg.norm(NORMAL, axis=1, keepdims=True)).astype(dtype)
    return (NORMAL * 10.0 ** (exponent / 5 if dtype == "float16" else exponent)).astype(dtype)


def outcome(make, X):
    """Features, kernel matrix and None, or the words of the error, which is a ValueError and names its cause."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Nystroem: there are only")
        try:
            m = make().fit(X, Y)
            return m.transform(X), m.kernel_matrix(X), None
        except ValueError as error:
            assert CAUSES.search(str(error)), error
            return None, None, str(error)


def check(make, X, container):
    """The rows in a container give what their numbers give as a plain array of floats."""
    held = CONTAINERS[container](X)
    single = X.dtype == np.float32 and container != "list"
    Z, K, error = outcome(make, X.astype(np.float32 if single else np.float64))
    found, matrix, message = outcome(make, held)
    assert error == message
    if error and "computed NaN or infinity" in error:
        assert isinstance(make()._resolved_kernel(), Polynomial)  # the only one that grows with the rows
    if error is None:
        assert found.dtype == matrix.dtype == (np.float32 if single else np.float64)
        assert found.shape[0] == N
        assert np.isfinite(found).all()
        assert np.isfinite(matrix).all()
        np.testing.assert_array_equal(found, Z)
        np.testing.assert_array_equal(matrix, K)


@pytest.mark.parametrize("name", MAPS)
@given(
    kernel=st.sampled_from(sorted(KERNELS)),
    dtype=st.sampled_from(DTYPES),
    container=st.sampled_from(sorted(CONTAINERS)),
    n_components=st.sampled_from([1, 2, 3, 7, 8, 13]),
    exponent=st.integers(-20, 20),
    fitting=st.booleans(),
    on_sphere=st.booleans(),
)
@settings(QUICK, max_examples=50)
def test_equal_rows_have_equal_features(
    name, kernel, dtype, container, n_components, exponent, fitting, on_sphere
):
    if name in ("FourierFeatures", "GRFF", "GORF"):  # for other kernels their measure is that of a slow map
        kernel = kernel if kernel in ("Laplacian", "Matern", "rough Matern", "DeltaGaussian") else "default"
    X = rows_of(dtype, exponent, on_sphere)
    unit = float(np.abs(X.astype(float)).max()) if fitting else 1.0
    check(lambda: MAPS[name](KERNELS[kernel](unit), n_components, random_state=3), X, container)


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize(
    ("dtype", "container", "exponent"),
    [("float32", "Fortran", 20), ("float64", "read-only", -20), ("uint8", "DataFrame", 0)],
)
def test_slow_maps_too(name, dtype, container, exponent):
    X = rows_of(dtype, exponent, on_sphere=False)
    unit = float(np.abs(X.astype(float)).max())
    check(lambda: SLOW[name](Gaussian(unit), 13, random_state=3), X, container)


OUTPUTS = ["default", "pandas", "polars"]


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("name", [*MAPS, *SLOW])
def test_output_containers_hold_the_same_features(name, output):
    if output == "polars":
        pytest.importorskip("polars")
    make = (MAPS | SLOW)[name]
    m = make(None, 7, random_state=0).fit(NORMAL, Y)
    Z, K = m.transform(NORMAL), m.kernel_matrix(NORMAL, NORMAL[:3])
    with config_context(transform_output=output):
        frames = [m.transform(NORMAL), m.set_output(transform=output).transform(NORMAL)]
        matrices = [m.kernel_matrix(NORMAL, NORMAL[:3])]
    for frame in frames:
        np.testing.assert_array_equal(np.asarray(frame), Z)
        if output != "default":
            assert type(frame).__module__.startswith(output)
            assert list(frame.columns) == list(m.get_feature_names_out())
    for matrix in [*matrices, m.kernel_matrix(NORMAL, NORMAL[:3])]:
        assert type(matrix) is np.ndarray
        np.testing.assert_array_equal(matrix, K)


ATOMS = partial(GORF, measure="minimum_variance", radii="stratified")


@pytest.mark.parametrize("make", [MVORF, ATOMS])
def test_an_outlier_among_few_rows_does_not_spoil_the_others(make):
    """The error is .08 to .11, and that of random Fourier features .14; a range of all rows alone gives .53."""
    X = np.random.default_rng(0).standard_normal((60, 5))
    X[0] = 1e4
    kernel = Gaussian(2.0)
    exact = kernel(X)
    fitted = make(kernel, 100, random_state=0).fit(X)
    assert np.linalg.norm(fitted.kernel_matrix(X) - exact) < 0.2 * np.linalg.norm(exact)


def test_equal_rows_count_in_the_predicted_error():
    """Half of all pairs of different rows are equal rows, whose kernel is 1, and the others are opposite."""
    X = np.repeat([[0.6, 0.8], [-0.6, -0.8]], 40, axis=0)
    kernel = SphericalPolynomial(3, 4)
    fitted = MVORF(kernel, 5, random_state=0).fit(X)
    error = np.sqrt(np.mean((fitted.kernel_matrix(X) - kernel(X)) ** 2))
    assert error == pytest.approx(fitted.predicted_error_, rel=0.05, abs=1e-9)


@pytest.mark.parametrize("make", [MVORF, ATOMS])
def test_a_profile_that_has_no_hash(make):
    profile = np.polynomial.Polynomial([1, 0, -0.1])
    X = normalize(NORMAL)
    fitted = make(profile, 64, random_state=0).fit(X)
    assert np.abs(fitted.kernel_matrix(X) - profile(euclidean_distances(X))).max() < 0.05


OPPOSITE = np.array([[1.0, 0.0], [-1.0, 0.0]] * 5)


@pytest.mark.parametrize(
    ("kernel", "X", "advises"),
    [
        (SphericalPolynomial(2, 4), OPPOSITE, False),
        (ArcCosine(0), OPPOSITE, False),
        (Gaussian(0.01), np.eye(3), True),
    ],
)
@pytest.mark.parametrize("make", [ATOMS, partial(GORF, measure="minimum_variance")])
def test_a_kernel_that_is_zero_between_different_rows(make, kernel, X, advises):
    with pytest.warns(UserWarning, match="is zero at the distances between the training rows") as warned:
        fitted = make(kernel, 200, random_state=0).fit(X)
    assert ("Choose a width" in str(warned[0].message)) == advises
    exact = kernel(X)
    assert np.linalg.norm(fitted.kernel_matrix(X) - exact) < 0.2 * np.linalg.norm(exact)
