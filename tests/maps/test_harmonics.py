"""MVORF: waves less their exact harmonics are unbiased, and all errors are as predicted.

Means are tested by z-tests at 1e-6 each, of which there are less than a thousand: a family-wise false-alarm rate
below 1e-3 for the fixed seeds. Predictions must hold within 10 % plus five standard errors of what is measured.
"""

from functools import partial

import numpy as np
import pytest
from scipy.stats import norm

from rflib.frequencies.directions import orthogonal
from rflib.kernels import ArcCosine, DeltaGaussian, Gaussian, Matern, NeuralTangent, SphericalPolynomial
from rflib.maps import MVORF
from rflib.maps.cosines_and_sines import CosinesAndSines
from rflib.measures.base import Sampling
from rflib.measures.construct import construct
from rflib.measures.control_variates import control_variate
from rflib.measures.domain import Domain
from rflib.measures.plane_waves import KINDS

from .conftest import sphere

LIMIT = norm.isf(1e-6 / 2)
RANKS = [(0, 0, 0, 0), (9, 0, 0, 0), (1, 1, 0, 0), (2, 2, 1, 0), (1, 0, 1, 1), (4, 1, 1, 1)]
KERNELS = {
    "Gaussian": Gaussian(0.8),
    "Matern": Matern(1.5, 1.0),
    "polynomial": SphericalPolynomial(4, 10),
    "delta-Gaussian": DeltaGaussian(sigmas=(0.7, 5)),
    "arc-cosine": ArcCosine(1),
}
QUICK = ("Gaussian", "polynomial")
EACH = [name if name in QUICK else pytest.param(name, marks=pytest.mark.nightly) for name in KERNELS]


def scattered(n: int, d: int, seed: int) -> np.ndarray:
    """Rows of norms that differ, away from the origin."""
    rng = np.random.default_rng(seed)
    return 0.4 * rng.standard_normal((n, d)) + 0.3


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("kernel", EACH)
def test_waves_less_exact_harmonics_are_unbiased_for_their_measure(kernel, ranks):
    """The mean of 100 draws of 9 frequencies of each kind and atom, seen from a pole that is not the origin."""
    X, rng = sphere(60, 6), np.random.default_rng(0)
    pairs = Domain.of(X).all_pairs
    measure = max(MVORF(KERNELS[kernel]).spectrum(X).candidates, key=lambda candidate: len(candidate.radii))
    controls = [
        control_variate(6, degree, measure.radii, measure.weights, pairs.anchors, rank)
        for degree, rank in enumerate(ranks)
    ]
    weights = np.repeat(measure.weights / 9, 9)
    rows, values = X[:6], []
    for _ in range(100):
        vectors = [
            np.concatenate([radius * orthogonal(9, 6, rng) for radius in measure.radii]) for _ in KINDS
        ]
        block = CosinesAndSines.of(
            np.concatenate(vectors), np.tile(weights, 2), len(weights), pairs.centre, controls
        )
        Z = np.empty((6, len(block.signs)))
        block.fill(rows, Z)
        values.append(((Z * block.signs) @ Z.T)[np.triu_indices(3, 0, 6)])
    i, j = np.triu_indices(3, 0, 6)
    expected = measure.profile(np.linalg.norm(rows[i] - rows[j], axis=1))
    error = np.std(values, axis=0, ddof=1) / 10
    assert np.all(np.abs(np.mean(values, axis=0) - expected) < LIMIT * error + 1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("columns", [60, 300])
@pytest.mark.parametrize(
    ("rows", "kernel"),
    [
        *(
            (sphere, "polynomial"),
            (scattered, "Gaussian"),
        ),
        *(
            pytest.param(sphere, name, marks=pytest.mark.nightly)
            for name in ("Gaussian", "Matern", "delta-Gaussian", "arc-cosine")
        ),
        *(pytest.param(scattered, name, marks=pytest.mark.nightly) for name in ("Matern", "delta-Gaussian")),
    ],
)
def test_predicted_error(kernel, rows, columns):
    """Root mean square over held-out rows of the same law, the diagonal included, in the mean over samples.

    The four maps have the same rows and share the linear programs.
    """
    found, predicted = [], []
    everything = rows(1600, 6, 0)
    train, test = everything[:1000], everything[1000:]
    for seed in range(4):
        fitted = MVORF(KERNELS[kernel], columns, random_state=seed).fit(train)
        off = (fitted.kernel_matrix(test) - KERNELS[kernel](test)) ** 2
        n = len(test)
        # The diagonal counts as it does among as many rows as there were to train on.
        found.append((np.trace(off) / n + (off.sum() - np.trace(off)) / n / (n - 1) * 999) / 1000)
        predicted.append(fitted.predicted_error_**2)
    error = 4 * np.std(np.array(found) - predicted, ddof=1) / np.sqrt(len(found))
    assert np.mean(found) < np.mean(predicted) * 1.1**2 + error
    assert np.mean(found) > np.mean(predicted) / 1.1**2 - error


@pytest.mark.parametrize("kernel", [name for name in EACH if name != "polynomial"][:3])
def test_a_few_rows_far_from_all_others_do_not_spoil_the_fit(kernel):
    """The kernel is a hundred times narrower than the range; nearly all pairs are within its width."""
    near, k = scattered(1500, 6, 0), KERNELS[kernel]
    far = near.copy()
    far[::400] *= 100
    rows = near[1:400]

    def error(X):
        fitted = MVORF(k, 360, random_state=0).fit(X)
        z = np.linspace(0, 2 * fitted.radius_, 3001)
        assert np.abs(fitted.measure_.profile(z) - k.at_distance(z)).max() <= fitted.bias_estimate_ * 1.01
        return np.linalg.norm(fitted.kernel_matrix(rows) - k(rows)) / np.linalg.norm(k(rows))

    assert error(far) < 1.3 * error(near)


@pytest.mark.parametrize("kernel", EACH)
def test_it_is_never_predicted_to_be_worse_than_atoms_alone(kernel):
    X = sphere(200, 6)
    best = MVORF(KERNELS[kernel], 48, random_state=0).fit(X).predicted_error_
    atoms = construct("minimum_variance", KERNELS[kernel], Domain.of(X))
    sampling = Sampling(24, "orthogonal", "stratified")
    assert best < atoms.for_sampling(sampling).predicted_error(sampling) * 1.05


@pytest.mark.parametrize("kernel", ["Gaussian", "Matern"])
def test_definite_kernels_have_no_negative_signs(kernel):
    for columns in (1, 48, 1000):
        assert np.all(MVORF(KERNELS[kernel], columns, random_state=0).fit(sphere(200, 6)).signature_ == 1)


@pytest.mark.parametrize(
    ("kernel", "d"),
    [
        (SphericalPolynomial(4, 3), 3),
        pytest.param(SphericalPolynomial(2, 7), 8, marks=pytest.mark.nightly),
        (ArcCosine(0), 2),
        pytest.param(ArcCosine(1), 8, marks=pytest.mark.nightly),
        pytest.param(NeuralTangent(2), 3, marks=pytest.mark.nightly),
    ],
    ids=repr,
)
def test_kernels_that_are_definite_on_the_sphere_have_no_negative_signs(kernel, d):
    """Their associated kernel, which learners see, is then the kernel itself, and its error falls with D."""
    X = sphere(200, d)
    K, errors = kernel(X), []
    for columns in (2 * d, 8 * d, 32 * d):
        fitted = MVORF(kernel, columns, random_state=0).fit(X)
        assert np.all(fitted.signature_ == 1)
        assert fitted.bias_estimate_ < 3 * K.max()
        Z = fitted.transform(X)
        errors.append(np.linalg.norm(Z @ Z.T - K))
    assert errors[2] < 0.8 * errors[0]


@pytest.mark.parametrize("kernel", EACH)
@pytest.mark.parametrize("columns", [24, 100, 400])
def test_single_precision(kernel, columns):
    X = sphere(200, 6)
    fitted = MVORF(KERNELS[kernel], columns, random_state=0).fit(X)
    single, double = fitted.transform(X.astype(np.float32)), fitted.transform(X)
    assert single.dtype == np.float32
    assert np.abs(single - double).max() < 1e-5 * np.abs(double).max()
    K = fitted.kernel_matrix(X)
    assert np.abs(fitted.kernel_matrix(X.astype(np.float32)) - K).max() < 1e-5 * np.abs(K).max()


def test_the_linear_kernel_is_nearly_exact():
    """It has degree 0 and 1 only, but no atom has."""
    X = sphere(100, 7)
    kernel = SphericalPolynomial(a=3, p=1)
    fitted = MVORF(kernel, 100, random_state=0).fit(X)
    assert np.abs(fitted.kernel_matrix(X) - kernel(X)).max() < 1e-3


@pytest.mark.parametrize("d", [1, 2, 3, 1500])
def test_dimensions(d):
    X = np.random.default_rng(0).standard_normal((80, d)) / np.sqrt(d)
    fitted = MVORF(Gaussian(1.0), 64, random_state=0).fit(X)
    error = np.sqrt(np.mean((fitted.kernel_matrix(X) - Gaussian(1.0)(X)) ** 2))
    assert error < 1.5 * fitted.predicted_error_ + 1e-12
    assert fitted.transform(X).shape == (80, 64)


def test_the_error_falls_to_zero_where_the_diagonal_is_all():
    """Of a narrow Gaussian less half a wide one, which had an error of .15 whatever D."""
    X = scattered(400, 8, 2) / 1.5
    kernel = DeltaGaussian((1, -0.5), (0.3, 3))
    K = kernel(X)
    errors = [
        np.linalg.norm(MVORF(kernel, D, random_state=0).fit(X).kernel_matrix(X) - K) / np.linalg.norm(K)
        for D in (64, 512, 4096)
    ]
    assert np.all(np.diff(errors) < 0)
    assert errors[-1] < 0.5 * errors[0]


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("objective", "use MercerFeatures"),
        ("radii", "GORF"),
    ],
)
def test_parameters_of_former_versions_are_refused_with_the_remedy(name, remedy):
    with pytest.raises(TypeError, match=f"MVORF has no parameter '{name}'.*{remedy}"):
        MVORF(Gaussian(), **{name: "auto"})


@pytest.mark.parametrize("columns", [20, 120])
def test_a_stored_map_is_the_same(columns):
    X = sphere(50, 6)
    make = partial(MVORF, SphericalPolynomial(4, 10), random_state=0)
    fitted = make(n_components=columns).fit(X)
    stored = {name: np.array(array) for name, array in fitted.state().items()}
    again = make(n_components=columns).restore(stored)
    assert np.array_equal(again.transform(X), fitted.transform(X))


@pytest.mark.parametrize("kernel", EACH)
def test_the_mean_is_within_the_bound_of_the_bias(kernel):
    """Over 100 draws, up to five standard errors, where parts may be left out."""
    X = sphere(100, 6)
    rows = np.concatenate([X[:3], -X[:2]])
    measure = MVORF(KERNELS[kernel]).spectrum(X)
    fitted = [MVORF(KERNELS[kernel], 8, measure=measure, random_state=s).fit(X) for s in range(100)]
    values = np.array([m.kernel_matrix(rows) for m in fitted])
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    bias = np.abs(values.mean(axis=0) - KERNELS[kernel](rows))
    assert np.all(bias < 1.01 * fitted[0].bias_estimate_ + 5 * error + 1e-9)
