"""Exact harmonics, parity and coupled bases: unbiased in every combination, with the error that is predicted.

Means are tested by z-tests at 1e-6 each, of which there are less than a thousand: a family-wise false-alarm rate
below 1e-3 for the fixed seeds. Predictions must hold within 10 % plus five standard errors of what is measured.
"""

from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from rflib.kernels import ArcCosine, DeltaGaussian, Gaussian, Matern, NeuralTangent, SphericalPolynomial
from rflib.learners import KRR
from rflib.maps import GORF, MVORF, ORF, SRF

from .conftest import sphere

pytestmark = pytest.mark.usefixtures("shared_by_draws")
LIMIT = norm.isf(1e-6 / 2)
RANKS = [(0, 0, 0), (9, 0, 0), (1, 1, 0), (2, 2, 1), (1, 0, 1, 1), 2, 3]
PLAIN = {"harmonics": None, "parity": False, "coupled": False}
BEST = {"harmonics": "auto", "parity": "auto", "coupled": "auto"}
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


def assert_unbiased(make, X, draws):
    fitted = [make(seed).fit(X) for seed in range(draws)]
    values = np.array([m.kernel_matrix(X[:6])[np.triu_indices(3, 0, 6)] for m in fitted])
    i, j = np.triu_indices(3, 0, 6)
    expected = fitted[0].measure_.profile(np.linalg.norm(X[i] - X[j], axis=1))
    error = values.std(axis=0, ddof=1) / np.sqrt(draws)
    scale = np.abs(expected).max()
    assert np.all(np.abs(values.mean(axis=0) - expected) < LIMIT * error + 1e-9 * scale)


@pytest.mark.parametrize(
    ("kernel", "harmonics", "parity", "coupled"),
    [
        *product(["polynomial"], RANKS[2:6], [True], [True]),
        *(pytest.param("polynomial", r, True, True, marks=pytest.mark.nightly) for r in (*RANKS[:2], 3)),
        *product(KERNELS, [(2, 2, 1)], [True], [True]),
        ("Gaussian", 1, False, False),
        *(
            pytest.param(name, 1, False, False, marks=pytest.mark.nightly)
            for name in KERNELS
            if name != "Gaussian"
        ),
    ],
)
def test_mvorf_is_unbiased_for_its_measure(kernel, harmonics, parity, coupled):
    X = sphere(60, 6)
    options = {"harmonics": harmonics, "parity": parity, "coupled": coupled}
    measure = MVORF(KERNELS[kernel], **BEST).spectrum(X)
    assert_unbiased(
        lambda seed: MVORF(KERNELS[kernel], 150, measure=measure, random_state=seed, **options), X, draws=100
    )


CONTINUOUS = {
    "ORF": (scattered, lambda **o: ORF(Gaussian(0.8), 90, **o)),
    "ORF stratified": (scattered, lambda **o: ORF(Gaussian(0.8), 91, radii="stratified", **o)),
    "GORF": (scattered, lambda **o: GORF(DeltaGaussian(sigmas=(0.7, 5)), 90, **o)),
    "SRF": (sphere, lambda **o: SRF(KERNELS["polynomial"], 90, directions="orthogonal", **o)),
}


@pytest.mark.parametrize(
    "options",
    [{"harmonics": 0, "parity": True}, {"harmonics": 1}, {"harmonics": 3, "parity": True, "coupled": True}],
    ids=str,
)
@pytest.mark.parametrize(
    "method",
    ["ORF", "GORF", *(pytest.param(m, marks=pytest.mark.nightly) for m in ("ORF stratified", "SRF"))],
)
def test_methods_with_continuous_measures_are_unbiased(method, options):
    rows, make = CONTINUOUS[method]
    X = rows(60, 5, 1)
    shared = {} if method.startswith("ORF") else {"measure": make().fit(X).measure_}
    assert_unbiased(lambda seed: make(random_state=seed, **shared, **options), X, draws=100)


@pytest.mark.parametrize(("columns", "objective"), [(300, "kernel"), (60, "learner")])
@pytest.mark.parametrize(
    ("rows", "kernel"),
    [
        *(
            (sphere, "polynomial"),
            (scattered, "Gaussian"),
            (scattered, "delta-Gaussian"),
            (sphere, "arc-cosine"),
        ),
        *(
            pytest.param(sphere, name, marks=pytest.mark.nightly)
            for name in ("Gaussian", "Matern", "delta-Gaussian")
        ),
        pytest.param(scattered, "Matern", marks=pytest.mark.nightly),
    ],
)
def test_predicted_error(kernel, rows, columns, objective):
    """Root mean square over held-out rows of the same law, the diagonal included, in the mean over samples.

    The four maps have the same rows and share the linear programs.
    """
    found, predicted = [], []
    everything = rows(1600, 6, 0)
    train, test = everything[:1000], everything[1000:]
    for seed in range(4):
        fitted = MVORF(KERNELS[kernel], columns, objective=objective, random_state=seed).fit(train)
        off = (fitted.kernel_matrix(test) - KERNELS[kernel](test)) ** 2
        n = len(test)
        # The diagonal counts as it does among as many rows as there were to train on.
        found.append((np.trace(off) / n + (off.sum() - np.trace(off)) / n / (n - 1) * 999) / 1000)
        predicted.append(fitted.predicted_error_**2)
    error = 4 * np.std(np.array(found) - predicted, ddof=1) / np.sqrt(len(found))
    assert np.mean(found) < np.mean(predicted) * 1.1**2 + error
    assert np.mean(found) > np.mean(predicted) / 1.1**2 - error


@pytest.mark.parametrize(
    ("kernel", "columns"),
    [
        pytest.param(Matern(1.5), 128, marks=pytest.mark.nightly),
        (Gaussian(1.0), 128),
        pytest.param(DeltaGaussian((1, -0.7), (0.5, 4)), 64, marks=pytest.mark.nightly),
    ],
)
def test_columns_for_a_learner_in_the_plane_are_as_good_as_those_for_the_kernel(kernel, columns):
    """Its leading harmonics with cosines and sines had a lower score by .04 to .28."""

    def score(objective):
        maps = [MVORF(kernel, columns, objective=objective, random_state=seed) for seed in range(3)]
        learners = [KRR(feature_map=each, alphas=np.logspace(-8, 0, 17)).fit(X, y) for each in maps]
        return np.median([learner.score(T, target) for learner in learners])

    X, T = (np.random.default_rng(seed).uniform(-2, 2, (n, 2)) for seed, n in ((3, 150), (4, 400)))
    y, target = (np.sin(3 * rows[:, 0]) * np.cos(2 * rows[:, 1]) for rows in (X, T))
    assert score("learner") > score("kernel") - 0.01


@pytest.mark.nightly
def test_an_indefinite_kernel_of_one_input_has_a_small_error_for_a_learner():
    """Its 50 leading harmonics left 14 columns for the cosines and sines of 84 atoms, with an error of .13."""
    X, kernel = np.random.default_rng(1).standard_normal((80, 1)), DeltaGaussian((1, -0.7), (0.5, 4))
    K, fitted = kernel(X), MVORF(kernel, 64, objective="learner", random_state=0).fit(X)
    assert np.linalg.norm(fitted.kernel_matrix(X) - K) < 0.001 * np.linalg.norm(K)


@pytest.mark.parametrize("options", [{}, {"harmonics": 0, "parity": False, "coupled": False}], ids=str)
@pytest.mark.parametrize("kernel", EACH[:2] + EACH[3:4])
def test_a_few_rows_far_from_all_others_do_not_spoil_the_fit(kernel, options):
    """The kernel is a hundred times narrower than the range; nearly all pairs are within its width."""
    near, k = scattered(1500, 6, 0), KERNELS[kernel]
    far = near.copy()
    far[::400] *= 100
    rows = near[1:400]

    def error(X):
        fitted = MVORF(k, 360, random_state=0, **options).fit(X)
        z = np.linspace(0, 2 * fitted.radius_, 3001)
        assert np.abs(fitted.measure_.profile(z) - k.at_distance(z)).max() <= fitted.bias_estimate_ * 1.01
        return np.linalg.norm(fitted.kernel_matrix(rows) - k(rows)) / np.linalg.norm(k(rows))

    assert error(far) < 1.3 * error(near)


@pytest.mark.parametrize("kernel", EACH)
def test_it_is_never_predicted_to_be_worse_than_plain(kernel):
    X = sphere(200, 6)
    best = MVORF(KERNELS[kernel], 48, random_state=0, **BEST).fit(X).predicted_error_
    plain = MVORF(KERNELS[kernel], 48, random_state=0, **PLAIN).fit(X).predicted_error_
    assert best < plain * 1.05


@pytest.mark.parametrize("kernel", ["Gaussian", "Matern"])
def test_definite_kernels_have_no_negative_signs(kernel):
    for columns in (1, 48, 1000):
        assert np.all(
            MVORF(KERNELS[kernel], columns, random_state=0, **BEST).fit(sphere(200, 6)).signature_ == 1
        )


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
        for options in ({}, {"objective": "learner"}, {"harmonics": 1})[: 2 if columns < 8 else 3]:
            fitted = MVORF(kernel, columns, random_state=0, **options).fit(X)
            assert np.all(fitted.signature_ == 1)
            assert fitted.bias_estimate_ < 3 * K.max()
            if not options:
                Z = fitted.transform(X)
                errors.append(np.linalg.norm(Z @ Z.T - K))
    assert errors[2] < 0.8 * errors[0]


@pytest.mark.parametrize("kernel", EACH)
@pytest.mark.parametrize(("columns", "objective"), [(24, "kernel"), (400, "kernel"), (100, "learner")])
def test_single_precision(kernel, columns, objective):
    X = sphere(200, 6)
    fitted = MVORF(KERNELS[kernel], columns, objective=objective, random_state=0).fit(X)
    single, double = fitted.transform(X.astype(np.float32)), fitted.transform(X)
    assert single.dtype == np.float32
    assert np.abs(single - double).max() < 1e-5 * np.abs(double).max()
    K = fitted.kernel_matrix(X)
    assert np.abs(fitted.kernel_matrix(X.astype(np.float32)) - K).max() < 1e-5 * np.abs(K).max()


def test_the_linear_kernel_is_nearly_exact():
    """It has degree 0 and 1 only, but no atom has."""
    X = sphere(100, 7)
    kernel = SphericalPolynomial(a=3, p=1)
    fitted = MVORF(kernel, 100, random_state=0, **BEST).fit(X)
    assert np.abs(fitted.kernel_matrix(X) - kernel(X)).max() < 1e-3


@pytest.mark.parametrize("d", [1, 2, 3, 1500])
def test_dimensions(d):
    X = np.random.default_rng(0).standard_normal((80, d)) / np.sqrt(d)
    fitted = MVORF(Gaussian(1.0), 64, random_state=0, **BEST).fit(X)
    error = np.sqrt(np.mean((fitted.kernel_matrix(X) - Gaussian(1.0)(X)) ** 2))
    assert error < 1.5 * fitted.predicted_error_ + 1e-12
    assert fitted.transform(X).shape == (80, 64)


def test_the_error_falls_to_zero_where_the_diagonal_is_all():
    """Of a narrow Gaussian less half a wide one, which had an error of .15 whatever D."""
    X = scattered(400, 8, 2) / 1.5
    kernel = DeltaGaussian((1, -0.5), (0.3, 3))
    K = kernel(X)
    errors = [
        np.linalg.norm(MVORF(kernel, D, random_state=0, **BEST).fit(X).kernel_matrix(X) - K)
        / np.linalg.norm(K)
        for D in (64, 512, 4096)
    ]
    assert np.all(np.diff(errors) < 0)
    assert errors[-1] < 0.5 * errors[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"harmonics": 4}, "harmonics must be"),
        ({"objective": "score"}, "objective must be"),
        ({"objective": "learner", "harmonics": 1}, "Leave harmonics='auto'"),
        ({"harmonics": (1, -1, 0)}, "harmonics must be"),
        ({"parity": "yes"}, "parity must be"),
        ({"coupled": True, "directions": "frame"}, "coupled must be"),
        ({"harmonics": 1, "layout": "phase"}, "layout='cos_sin'"),
        ({"harmonics": 1, "radii": "iid"}, "radii='stratified'"),
        ({"harmonics": 2, "n_components": 10}, "too few"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        MVORF(Gaussian(), random_state=0, **BEST).set_params(**options).fit(sphere(50, 6))


@pytest.mark.parametrize("make", [ORF, GORF, SRF])
@pytest.mark.parametrize("others", [{}, {"parity": True}, {"coupled": "auto", "radii": "stratified"}])
def test_the_best_harmonics_are_an_error_where_they_cannot_be_chosen(make, others):
    with pytest.raises(ValueError, match="harmonics='auto' needs an atomic measure"):
        make(Gaussian(), 40, harmonics="auto", **others).fit(sphere(50, 6))


@pytest.mark.parametrize("radii", ["iid", "stratified"])
@pytest.mark.parametrize(
    ("asked", "done"),
    [
        ({"coupled": "auto"}, {"coupled": True}),
        ({"coupled": "auto", "layout": "phase"}, {"layout": "phase"}),
        ({"coupled": "auto", "directions": "frame"}, {"directions": "frame"}),
        ({"parity": "auto", "directions": "iid"}, {"directions": "iid"}),
        ({"parity": "auto", "coupled": "auto"}, {"coupled": True}),
        ({"parity": "auto", "harmonics": 1}, {"parity": True, "harmonics": 1}),
    ],
    ids=str,
)
def test_what_auto_does_where_columns_are_not_chosen(asked, done, radii):
    X = sphere(50, 6)
    found, known = (
        GORF(Gaussian(), 40, radii=radii, random_state=0, **each).fit(X) for each in (asked, done)
    )
    assert np.array_equal(found.transform(X), known.transform(X))


def test_a_map_that_is_fitted_again_forgets_its_exact_columns():
    X = sphere(50, 6)
    fitted = MVORF(Gaussian(), 60, random_state=0, **BEST).fit(X)
    fitted.set_params(**PLAIN).fit(X)
    fresh = MVORF(Gaussian(), 60, random_state=0, **PLAIN).fit(X)
    assert np.array_equal(fitted.transform(X), fresh.transform(X))


@pytest.mark.parametrize(("columns", "objective"), [(120, "kernel"), (20, "learner")])
def test_a_stored_map_is_the_same(columns, objective):
    X = sphere(50, 6)
    make = partial(MVORF, SphericalPolynomial(4, 10), random_state=0, objective=objective)
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
