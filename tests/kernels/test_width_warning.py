"""A kernel that is nearly the identity or nearly constant on the training rows warns, and no useful one does."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import datasets
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize

from rflib.kernels import (
    Cauchy,
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Matern,
    Polynomial,
    RadialFunction,
    WidthWarning,
)
from rflib.kernels.width_warning import warn_of_width
from rflib.learners import ExactKernelSVC, ExactKRR, KRRClassifier, SpectrumRepair
from rflib.maps import CRAFT, MVORF, ORF, RFF, SRF, AutoMap, Nystroem, RandomMaclaurin

DIGITS, LABELS = datasets.load_digits(return_X_y=True)
ROWS = {
    "digits": DIGITS,
    "breast_cancer": datasets.load_breast_cancer().data,
    "wine": datasets.load_wine().data,
    "iris": datasets.load_iris().data,
    "diabetes": datasets.load_diabetes().data,
    "moons": datasets.make_moons(400, noise=0.1, random_state=0)[0],
    "friedman1": datasets.make_friedman1(400, random_state=0)[0],
    "blobs": datasets.make_blobs(400, random_state=0)[0],
    "black and white": (DIGITS > 8).astype(float),
    "one of ten": np.eye(10)[np.arange(300) % 10],
    "normal": np.random.default_rng(0).standard_normal((60, 100)),
}


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (
            Gaussian(),
            r"identity .*median distance of the rows is 49\.2: try sigma='median', which is 49\.2 here",
        ),
        (Laplacian(), "identity .* gamma='median', which is 0.00398 here, instead of 1"),
        (Cauchy(), "identity .* gamma='median'"),
        (Matern(0.5), "identity .* length_scale='median'"),
        (DeltaGaussian((1, -0.5), (1, 2)), "identity .* width='median'"),
        (RadialFunction(lambda z: np.exp(-z)), "identity .* width='median'"),
        (Gaussian((1.0,) * 64), "identity .* is 49.2 in units of sigma, and should be about 1"),
        (Gaussian(1e6), "constant .* sigma='median', which is 49.2 here"),
        (Polynomial(3, gamma=1e-12, coef0=1.0), "constant .* Scale the rows, or change the parameters"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_a_useless_width_is_named_with_one_that_serves(kernel, words, sparse):
    if sparse and not kernel.takes_sparse:
        pytest.skip("takes dense rows only")
    with pytest.warns(WidthWarning, match=words):
        warn_of_width(kernel, csr_array(DIGITS) if sparse else DIGITS)


@pytest.mark.parametrize(
    "estimator",
    [
        *(MVORF(Gaussian(), 16), RFF(Gaussian(), 16), SRF(Gaussian(), 16), Nystroem(Gaussian(), 16)),
        *(
            RandomMaclaurin(Polynomial(2, 1e-12, 1.0), 16),
            CRAFT(RandomMaclaurin(Polynomial(2, 1e-12, 1.0)), 16, n_components_up=32),
        ),
        *(
            AutoMap(Gaussian(), 16, candidates=["RFF", "ORF"]),
            KRRClassifier(feature_map=ORF(Gaussian(), 16), alphas=1.0),
        ),
        *(ExactKRR(Gaussian()), ExactKernelSVC(Gaussian()), SpectrumRepair(Gaussian())),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_estimator_with_a_kernel_warns_once_into_the_users_code(estimator):
    with pytest.warns(WidthWarning) as issued:
        estimator.fit(DIGITS[:300], LABELS[:300])
    assert [warning.category for warning in issued] == [WidthWarning]
    assert issued[0].filename == __file__


def test_a_search_warns_once_and_the_class_silences_it():
    search = GridSearchCV(
        make_pipeline(ORF(Gaussian(), 16, random_state=0), RidgeClassifier()),
        {"orf__kernel__sigma": [1.0, 0.5]},
        cv=3,
    )
    with pytest.warns(WidthWarning) as issued:
        search.fit(DIGITS[:300], LABELS[:300])
    assert len(issued) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WidthWarning)
        search.fit(DIGITS[:300], LABELS[:300])


def test_matrices_are_judged_by_their_values():
    labels = np.arange(40) % 2
    with pytest.warns(WidthWarning, match="nearly the identity"):
        ExactKernelSVC("precomputed").fit(np.eye(40), labels)
    with pytest.warns(WidthWarning, match="nearly constant"):
        ExactKRR(lambda X, Y: np.ones((len(X), len(Y))), alphas=1.0).fit(np.arange(40.0)[:, None], labels)


@pytest.mark.parametrize("name", ROWS)
def test_useful_widths_do_not_warn(name):
    """Every kernel by its rules, and Gaussians of sqrt(d) / 2 to 4 sqrt(d) on standardised rows."""
    X = ROWS[name]
    standard = StandardScaler().fit_transform(X)
    for factor in (0.5, 1, 4):
        warn_of_width(Gaussian(factor * X.shape[1] ** 0.5), standard)
    for rows in (X, standard, normalize(X), X[:20]):
        for rule in ("scale", "median"):
            for kernel in (
                Gaussian(rule),
                Laplacian(rule),
                Cauchy(rule),
                Matern(0.5, rule),
                DeltaGaussian(width=rule),
            ):
                warn_of_width(kernel.for_rows(rows), rows)


def test_narrow_kernels_with_near_neighbours_and_wide_ones_do_not_warn():
    rng = np.random.default_rng(0)
    line = rng.random((20_000, 1))
    warn_of_width(Gaussian(1e-4), line)
    warn_of_width(Gaussian(0.1), ROWS["moons"])
    warn_of_width(
        Gaussian(0.1), rng.integers(8, size=(500, 1)).astype(float)
    )  # each of eight values has a mean
    warn_of_width(Gaussian(300.0), StandardScaler().fit_transform(ROWS["wine"]))
    warn_of_width(Gaussian(), np.ones((50, 3)))
    warn_of_width(Gaussian(), 100 * rng.random((2, 3)))
    warn_of_width(DeltaGaussian(), 1000 * rng.random((50, 3)))  # k(x, x) = 0


def test_repeated_rows_do_not_hide_a_useless_width():
    with pytest.warns(WidthWarning, match="identity"):
        warn_of_width(Gaussian(), np.repeat(DIGITS[:500], 2, axis=0))
