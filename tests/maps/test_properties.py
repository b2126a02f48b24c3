"""Single maps by brute force, what maps say to bad input, and state beyond the laws of all maps."""

import pickle
import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem as SklearnNystroem

from rflib import maps
from rflib.kernels import (
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Matern,
    NeuralTangent,
    Polynomial,
    SphericalPolynomial,
)
from rflib.maps import (
    CRAFT,
    GORF,
    MVORF,
    ORF,
    QMC,
    RFF,
    SRF,
    LeverageRFF,
    Nystroem,
    OptimizedMaclaurin,
    RandomMaclaurin,
    SurrogateLeverageRFF,
    TensorSketch,
)
from rflib.maps.base import RandomFeatureMap
from rflib.maps.seeds import as_generator

from .laws import assert_same_learned
from .rows import sphere


@pytest.mark.parametrize("columns", [40, 300])
def test_what_fit_has_learned_of_a_dataframe_is_restored(columns):
    rows = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 4)), columns=list("abcd"))
    fitted = MVORF(Gaussian((1.0, 2, 3, 4)), columns, random_state=0).fit(rows)
    restored = clone(fitted).restore(fitted.state())
    assert_same_learned(restored, fitted)
    np.testing.assert_array_equal(restored.transform(rows), fitted.transform(rows))


@pytest.mark.parametrize("cls", [SRF, Nystroem])
def test_a_fitted_map_with_a_nameless_kernel_is_pickled(cls, X):
    m = cls(lambda z: np.exp(-(z**2)), n_components=8, random_state=0).fit(X)
    for again in (pickle.loads(pickle.dumps(m)), deepcopy(m), pickle.loads(cloudpickle.dumps(m))):
        assert np.array_equal(again.transform(X), m.transform(X))
        assert np.array_equal(again.kernel_(X), m.kernel_(X))


@dataclass
class Faulty(RandomFeatureMap):
    """A map of a user's, whose columns are made by a function."""

    make: Callable
    kernel: Any = None
    n_components: int = 10
    random_state: Any = None

    def _draw(self, kernel, X, y, rng):
        self.signature_ = np.ones(self.n_components)

    def _columns(self, X):
        return self.make(X)


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda X: np.zeros((len(X), 9)), r"shape \(60, 9\) and type float64"),
        (lambda X: np.zeros((1, 10)), r"shape \(1, 10\)"),
        (lambda X: np.zeros((len(X), 10), dtype=np.float32), "shape .* and type float32"),
        (lambda X: None, r"shape \(\) and type NoneType"),
    ],
)
def test_columns_of_a_wrong_shape_or_type_are_an_error(make, found, X):
    expected = (
        r"Faulty._columns must return an array of shape \(60, 10\) and type float64, .*n_components=10.*"
    )
    with pytest.raises(ValueError, match=expected + found):
        Faulty(make).fit(X).transform(X)


@pytest.mark.parametrize("cls", [RFF, ORF, QMC, GORF, SRF])
def test_translation_leaves_the_kernel_matrix(cls, X):
    m = cls(Gaussian(), 20, random_state=0).fit(X)
    small = 0.1 * X
    assert np.allclose(m.kernel_matrix(small + 0.3), m.kernel_matrix(small), atol=1e-10)


def test_spectrum_is_the_measure_that_fit_constructs(X):
    for m in (GORF(SphericalPolynomial(), 20, random_state=0), SRF(Gaussian(), 20, random_state=0)):
        shared = clone(m).set_params(measure=m.spectrum(X)).fit(X)
        assert np.array_equal(shared.transform(X), m.fit(X).transform(X))


def test_polynomial_of_degree_one_is_found_exactly():
    """At p = 1 the kernel is linear."""
    X = sphere(200, 16)
    kernel = SphericalPolynomial(3, 1)
    m = MVORF(kernel, 64, random_state=0).fit(X)
    assert np.abs(m.kernel_matrix(X) - kernel(X)).max() < 1e-6


def test_nystroem_is_scikit_learns(X):
    kernel = Gaussian(0.7)
    ours = Nystroem(kernel, 15, random_state=0).fit(X)
    theirs = SklearnNystroem(kernel="rbf", gamma=1 / (2 * 0.7**2), n_components=15).fit(ours.landmarks_)
    Z = theirs.transform(X)
    assert np.allclose(ours.kernel_matrix(X), Z @ Z.T, atol=1e-8)


def test_nystroem_with_all_rows_is_exact_for_an_indefinite_kernel(X):
    kernel = DeltaGaussian(sigmas=(0.5, 2))
    m = Nystroem(kernel, len(X), random_state=0).fit(X)
    assert (m.signature_ < 0).any()
    assert np.allclose(m.kernel_matrix(X), kernel(X), atol=1e-6)


@pytest.mark.parametrize("columns", [31, 32])
def test_tensor_sketch_equals_the_convolution_of_count_sketches(columns, X):
    """Brute force: circular convolutions of explicit count sketches; inner products agree by Parseval."""
    kernel = Polynomial(3, 0.5, 1.5, 2.0)
    m = TensorSketch(kernel, columns, random_state=0).fit(X)
    extended = np.hstack([np.sqrt(0.5) * X, np.full((len(X), 1), np.sqrt(1.5))])
    product = None
    for hashes, signs in zip(m.hashes_, m.signs_, strict=True):
        sketch = np.zeros((len(X), columns))
        for j, (bucket, sign) in enumerate(zip(hashes, signs, strict=True)):
            sketch[:, bucket] += sign * extended[:, j]
        shifted = [np.roll(sketch, i, axis=1) for i in range(columns)]
        product = sketch if product is None else sum(product[:, [i]] * shifted[i] for i in range(columns))
    assert np.allclose(m.kernel_matrix(X), 2.0 * product @ product.T)


def test_random_maclaurin_by_brute_force(X):
    kernel = SphericalPolynomial(4, 3)
    m = RandomMaclaurin(kernel, 12, random_state=0).fit(X)
    coefficients = kernel.maclaurin()
    P = 0.5 ** np.arange(1, 5) / sum(0.5 ** np.arange(1, 5))
    for sketch in m.sketches_:
        degree, signs = sketch.degree, 1 - sketch.turns
        columns = np.flatnonzero(m.degrees_ == degree)
        for i, column in enumerate(columns):
            value = np.prod([X @ signs[k, i] for k in range(degree)], axis=0)
            scale = np.sqrt(coefficients[degree] / P[degree] / 12)
            assert np.allclose(m.transform(X)[:, column], scale * value)


def test_reference_leverage_by_brute_force(X):
    m = LeverageRFF(Gaussian(), 6, variant="reference", ridge=0.1, random_state=4).fit(X)
    W = as_generator(4)
    from rflib.frequencies.draw import sample_frequencies
    from rflib.measures import exact_measure

    vectors = sample_frequencies(
        exact_measure(Gaussian(), X.shape[1]), 3, directions="iid", radii="iid", rng=W
    ).vectors
    Z = np.hstack([np.cos(X @ vectors.T), np.sin(X @ vectors.T)]) / np.sqrt(3)
    scores = np.diag(Z.T @ Z @ np.linalg.inv(Z.T @ Z + len(X) * 0.1 * np.eye(6)))
    weight = np.sqrt(scores.sum() / scores)
    order = np.argsort(weight)
    both = np.vstack([vectors, vectors])[order]
    expected = np.hstack([np.cos(X @ both[:3].T), np.sin(X @ both[3:].T)]) * weight[order] / np.sqrt(3)
    assert np.allclose(m.transform(X), expected)


@pytest.mark.parametrize("value", [0, -1, 1.5, "8", True, None])
def test_n_components_must_be_a_positive_integer(value, X):
    with pytest.raises(ValueError, match="RFF: n_components must be an integer of at least 1"):
        RFF(n_components=value).fit(X)


def test_too_few_columns_for_a_signed_measure(X):
    with pytest.raises(ValueError, match="frequency for each of its 2 parts"):
        GORF(DeltaGaussian(), 2).fit(X)
    assert GORF(DeltaGaussian(), 3, random_state=0).fit(X).transform(X).shape[1] == 3


@pytest.mark.parametrize(
    "cls", [MVORF, GORF, SRF, RandomMaclaurin, OptimizedMaclaurin, TensorSketch, Nystroem]
)
def test_rows_off_the_sphere_are_named(cls, X):
    m = cls(SphericalPolynomial(4, 3), 16).fit(X)
    wrong = X.copy()
    wrong[4] *= 1.01
    with pytest.raises(ValueError, match=r"row 4 has norm 1\.01"):
        m.transform(wrong)
    with pytest.raises(ValueError, match=r"row 4 has norm 1\.01"):
        clone(m).fit(wrong)


@pytest.mark.parametrize("cls", [RFF, ORF, QMC, LeverageRFF])
@pytest.mark.parametrize(
    ("kernel", "instead"), [(DeltaGaussian(), "GRFF, GORF or MVORF"), (SphericalPolynomial(), "MVORF or SRF")]
)
def test_kernels_without_a_positive_measure(cls, kernel, instead, X):
    """Said at once, not after the rows have been scaled to the unit norm in vain."""
    for rows in (X, 2 * X):
        with pytest.raises(
            ValueError, match=f"no positive spectral measure. Use {instead}, or Nystroem, instead"
        ):
            cls(kernel).fit(rows)


MORE = (Laplacian(), Cauchy(), Matern(), Polynomial(), ArcCosine(), np.sinc)
EVERY_KIND = [Gaussian(), DeltaGaussian(), SphericalPolynomial(), NeuralTangent()]
EVERY_KIND += [pytest.param(kernel, marks=pytest.mark.nightly) for kernel in MORE]


@pytest.mark.parametrize("kernel", EVERY_KIND, ids=lambda kernel: getattr(kernel, "__name__", str(kernel)))
def test_who_follows_the_advice_of_an_error_can_fit(kernel, X):
    advised = set()
    for name in sorted(set(maps.__all__) - {"RandomFeatureMap", "FourierFeatures", "CRAFT", "AutoMap"}):
        try:
            getattr(maps, name)(kernel, 40, random_state=0).fit(X)
        except ValueError as error:
            advice = str(error).partition(" Use ")[2]
            advised |= {other for other in maps.__all__ if re.search(rf"\b{other}\b", advice)}
    assert "Nystroem" in advised
    for name in advised:
        getattr(maps, name)(kernel, 40, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("m", "message"),
    [
        (ORF(Laplacian()), "not a function of the Euclidean distance. Use RFF or QMC"),
        (SRF(Polynomial()), "not a function of the Euclidean distance"),
        (RandomMaclaurin(Gaussian()), "not a function of the inner product"),
        (OptimizedMaclaurin(NeuralTangent()), "neither Gaussian nor a function of the inner product"),
        (OptimizedMaclaurin(exact_degrees=1.0), "exact_degrees must be an integer of at least 0, got 1.0"),
        (OptimizedMaclaurin(exact_degrees=2, n_components=9), "exact_degrees=2 needs 28 columns"),
        (OptimizedMaclaurin(projection="gauss"), "must be one of 'srht', 'rademacher', got 'gauss'"),
        (TensorSketch(NeuralTangent()), "not a polynomial kernel"),
        (CRAFT(TensorSketch(Gaussian())), "not a polynomial kernel"),
        (CRAFT(GORF(DeltaGaussian())), "columns with the sign -1"),
        (CRAFT(n_components_up=50), "CRAFT: n_components_up must be an integer of at least 100, got 50"),
        (GORF(directions="orthogonl"), "GORF: directions must be one of .* got 'orthogonl'"),
        (GORF(radii=["iid"]), r"GORF: radii must be one of .* got \['iid'\]"),
        (GORF(measure="exakt"), "measure must be one of .* got 'exakt'"),
        (GORF(measure=3), "measure must be one of .* got 3"),
        (RFF(layout="cos"), "RFF: layout must be one of 'cos_sin', 'phase', got 'cos'"),
        (MVORF(axes="pca"), "MVORF: axes must be one of .auto., .principal., .input., got .pca."),
        (LeverageRFF(pool=3), "LeverageRFF: pool must be an integer of at least 50 or None, got 3"),
        (LeverageRFF(ridge=0), "ridge must be a number above 0"),
        (LeverageRFF(variant="printed"), "variant must be one of 'resampled', 'reference', got 'printed'"),
        (LeverageRFF(n_components=5, variant="reference"), "needs an even n_components"),
        (Nystroem(landmarks="kmeans++"), "one of 'uniform', 'kmeans', 'rpcholesky', got 'kmeans..'"),
        (SurrogateLeverageRFF(), "requires y to be passed"),
        (CRAFT("TensorSketch"), "CRAFT: base must be None or a random feature map, .* got 'TensorSketch'"),
        (RFF(random_state="7"), "RFF: random_state must be a non-negative integer, .* got '7'"),
        (RFF(random_state=-1), "RFF: random_state must be a non-negative integer, .* got -1"),
        (SurrogateLeverageRFF(task="ranking"), "task must be one of 'auto', 'classification', 'regression'"),
        (CRAFT(n_components_up=200.0), "CRAFT: n_components_up must be an integer"),
        (GORF(lambda z: np.full_like(z, np.nan)), "is not finite on the distances"),
        (GORF(np.zeros_like), "is zero at the distances"),
    ],
)
def test_bad_input(m, message, X):
    with pytest.raises(ValueError, match=message):
        m.fit(X)


def test_kernel_of_another_type(X):
    for kernel in ("rbf", Gaussian, lambda x, y: x):
        with pytest.raises(ValueError, match="RFF: kernel must be None, a kernel such as"):
            RFF(kernel).fit(X)


def test_measure_of_another_dimension(X):
    spectrum = SRF(Gaussian()).spectrum(sphere(10, 3))
    with pytest.raises(ValueError, match="measure is for 3 input columns, but the data have 6"):
        SRF(Gaussian(), measure=spectrum).fit(X)
