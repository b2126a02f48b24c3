"""Harmonics for a learner whose rows vary in few directions: how many, and of what use."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import RidgeCV

from rflib.frequencies.radial_harmonics import RadialHarmonics
from rflib.frequencies.sampled_harmonics import choose, divide
from rflib.frequencies.spanning_harmonics import n_directions, spanning_harmonics
from rflib.kernels import Gaussian, SphericalPolynomial
from rflib.maps import MVORF
from rflib.measures.control_variates import polynomial_columns
from rflib.measures.domain import Domain

from .test_sampled_harmonics import by_hand, redrawn


def flat(n: int, d: int, r: int, seed: int = 0) -> np.ndarray:
    """Rows that vary in the first r of d directions alike, and hardly in the others."""
    scales = np.where(np.arange(d) < r, 1, 0.01) / np.sqrt(2 * r)
    return scales * np.random.default_rng(seed).standard_normal((n, d))


def unit(X: np.ndarray) -> np.ndarray:
    X = X + 0.2
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("r", [3, 30, 60])
def test_the_directions_are_three_for_each_in_which_the_rows_vary_but_at_least_64(r):
    assert n_directions(Domain.of(flat(3000, 400, r)).all_pairs) == pytest.approx(max(64, 3 * r), rel=0.1)


@pytest.mark.parametrize(("n", "d"), [(3000, 80), (3000, 10), (1, 5), (2, 200)])
def test_there_are_no_more_directions_than_input_columns(n, d):
    X = np.random.default_rng(0).standard_normal((n, d))
    assert 1 <= n_directions(Domain.of(X).all_pairs) <= d


def test_equal_rows():
    """They have no directions at all."""
    assert n_directions(Domain.of(np.ones((20, 200))).all_pairs) == 200


@pytest.mark.parametrize("n_columns", [70, 200, 1000])
def test_each_function_has_the_harmonics_of_its_directions(n_columns):
    X = flat(1000, 300, 20)
    directions = n_directions(Domain.of(X).all_pairs)
    found = MVORF(Gaussian(), n_columns, objective="learner", random_state=0).fit(X).composition_
    assert isinstance(found, RadialHarmonics)
    assert found.degrees[0] == 0
    sizes = [n * parts for n, parts in found.samples]
    assert sum(sizes) + len(found.degrees) - len(sizes) in (n_columns, n_columns - 1)
    for degree, size in zip(found.degrees[-len(sizes) :], sizes, strict=True):
        assert size <= polynomial_columns(directions, degree)


@pytest.mark.parametrize(
    ("kernel", "X", "n_columns"),
    [
        (Gaussian(), flat(500, 100, 90), 150),
        (Gaussian(), flat(500, 100, 10), 150),
        (Gaussian(), flat(500, 300, 20), 64),
        (SphericalPolynomial(a=3, p=1), unit(flat(500, 300, 20)), 150),
    ],
    ids=["all directions", "64 of 100 directions", "few columns", "a linear kernel"],
)
def test_where_the_leading_harmonics_stay(kernel, X, n_columns):
    """A linear kernel has no harmonics of higher degrees for the columns that would be left."""
    pairs, rungs = Domain.of(X).all_pairs, MVORF(kernel).spectrum(X).rungs
    assert spanning_harmonics(rungs, kernel.at_distance(pairs.distances), pairs, n_columns) is None
    found = MVORF(kernel, n_columns, objective="learner", random_state=0).fit(X)
    assert not isinstance(found.composition_, RadialHarmonics)


def test_a_learner_gets_more_than_linear_functions():
    """With as many columns as inputs, the linear harmonics in all directions would leave none for the product."""
    X = np.random.default_rng(0).standard_normal((3000, 256)) * np.arange(1, 257) ** -1.0
    y = X[:, 0] * X[:, 1]
    scores = []
    for n_columns in (256, 1024):
        Z = MVORF(Gaussian(3.0), n_columns, objective="learner", random_state=0).fit_transform(X)
        learner = RidgeCV(alphas=10.0 ** np.arange(-9, 1)).fit(Z[:2000], y[:2000])
        scores.append(learner.score(Z[2000:], y[2000:]))
    assert scores[0] > 0.3
    assert scores[1] > 0.8


@pytest.mark.parametrize(
    ("kernel", "n_columns"),
    [
        pytest.param(Gaussian(), 200, marks=pytest.mark.nightly),
        (SphericalPolynomial(4, 10), 80),
        pytest.param(SphericalPolynomial(4, 10), 900, marks=pytest.mark.nightly),
    ],
)
def test_the_error_is_the_predicted_one(kernel, n_columns):
    """On fresh rows of the same law: the root mean square of 30 draws is the prediction within 10 %."""
    X, T = (flat(n, 300, 25, seed) for n, seed in ((2000, 0), (1000, 1)))
    if kernel.unit_norm:
        X, T = unit(X), unit(T)
    fitted = MVORF(kernel, n_columns, objective="learner", random_state=0).fit(X)
    assert isinstance(fitted.composition_, RadialHarmonics)
    assert np.all(fitted.signature_ == 1)
    errors = ((redrawn(fitted, T, 30) - kernel(T)) ** 2).mean()
    assert np.sqrt(errors) == pytest.approx(fitted.predicted_error_, rel=0.1)


@pytest.mark.parametrize("n_columns", [99, 400])
def test_sparse_single_and_restored_rows_have_the_same_features(n_columns):
    X = flat(300, 300, 20)
    X[np.abs(X) < 0.1] = 0
    fitted = MVORF(Gaussian(), n_columns, objective="learner", random_state=0).fit(X)
    assert isinstance(fitted.composition_, RadialHarmonics)
    Z = fitted.transform(X)
    assert Z.shape[1] == n_columns == len(fitted.signature_)
    assert np.abs(fitted.transform(csr_array(X)) - Z).max() < 1e-12
    assert np.abs(fitted.transform(X.astype(np.float32)) - Z).max() < 1e-5 * np.abs(Z).max()
    again = MVORF(Gaussian(), n_columns, objective="learner").restore(fitted.state())
    assert np.array_equal(again.transform(X), Z)


def test_the_columns_of_the_choice_give_the_choice():
    """`divide` finds the samples, factors and error of `choose` from the numbers of columns alone."""
    exact, terms = by_hand(12, [0, 1, 2, 3], [1.0, 0.5, 0.25, 0.1])
    shares = np.full(len(exact), 1 / len(exact))
    best = choose(exact, terms, shares, 50)
    assert best.samples
    columns = [0] * 4
    for k in best.whole:
        columns[k] = polynomial_columns(12, terms.degrees[k])
    for k, (n, parts) in zip(best.sampled, best.samples, strict=True):
        columns[k] = n * parts
    again = divide(exact, terms, shares, columns)
    order = np.argsort(best.sampled)
    assert again.functions == [*best.whole, *sorted(best.sampled)]
    assert again.samples == tuple(best.samples[k] for k in order)
    assert again.factors == pytest.approx(best.factors[order])
    assert again.mean_squared_error == pytest.approx(best.mean_squared_error)
