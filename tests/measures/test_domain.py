"""Where a kernel is needed: a ball around the rows, and their distances."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from rflib.kernels import Gaussian
from rflib.maps.orf import ORF
from rflib.maps.srf import SRF
from rflib.measures import domain as module
from rflib.measures.domain import Domain, distances_from, enclosing_ball


@pytest.mark.parametrize("n", [50, 1500])
def test_order_of_the_rows_does_not_matter(n):
    X = np.random.default_rng(0).standard_normal((n, 3))
    X[: n // 2] = np.sign(X[: n // 2])  # Many rows are equally far out.
    one = Domain.of(X)
    other = Domain.of(np.random.default_rng(1).permutation(X))
    assert one.zmax == pytest.approx(other.zmax, rel=1e-12)
    np.testing.assert_allclose(one.distances, other.distances, rtol=1e-6)


def test_distances_are_those_of_the_rows():
    X = np.random.default_rng(0).uniform(size=(80, 5))
    domain = Domain.of(X)
    assert domain.dimension == 5
    np.testing.assert_allclose(domain.distances, np.sort(pdist(X)), rtol=1e-7)


@pytest.mark.parametrize("offset", [1e9, [0, 1e12, 0]])
def test_rows_far_from_the_origin(offset):
    near = np.random.default_rng(0).standard_normal((80, 3))
    X = offset + near
    np.testing.assert_allclose(Domain.of(X).distances, np.sort(pdist(X)), rtol=1e-7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        errors = [
            SRF(Gaussian(1.0), 300, random_state=0).fit(rows).kernel_matrix(rows) - Gaussian(1.0)(rows)
            for rows in (near, X)
        ]
    assert np.linalg.norm(errors[1]) < 1.1 * np.linalg.norm(errors[0])


def test_large_samples_are_thinned():
    X = np.random.default_rng(0).standard_normal((1500, 2))
    domain = Domain.of(X)
    assert len(domain.distances) == 1000 * 999 // 2
    assert domain.distances[-1] <= pdist(X).max() * (1 + 1e-12)


@pytest.mark.parametrize("shift", [0, 1e6, 1e9])
@pytest.mark.parametrize("d", [1, 2, 30])
def test_ball_holds_the_rows_and_half_as_much_again(d, shift):
    """By Jung's theorem the smallest ball has at least the radius D/2 and at most D sqrt(d / (2 d + 2))."""
    X = shift + np.random.default_rng(d).standard_t(3, (400, d))
    centre, radius = enclosing_ball(X)
    diameter = pdist(X).max()
    assert distances_from(centre, X).max() * 1.5 == pytest.approx(radius)
    assert diameter / 2 <= radius / 1.5 * (1 + 1e-9)
    assert radius / 1.5 <= 1.1 * diameter * np.sqrt(d / (2 * d + 2))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_of_unit_norm_have_the_unit_ball(dtype):
    """Rows of one orthant too: others may lie anywhere on the sphere."""
    X = np.abs(np.random.default_rng(0).standard_normal((30, 4)))
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype)
    centre, radius = enclosing_ball(X)
    assert radius == 1
    assert not centre.any()
    assert Domain.of(X).zmax == 2
    X[3] *= 0.999
    assert enclosing_ball(X)[0].any()


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((1, 3)),
        np.zeros((4, 3)),
        np.full((7, 3), 0.1),
        np.full((5, 2), 1e6),
        np.full((1, 1), 2.0),
        np.full((10**5, 1), 0.1),
    ],
    ids=["one row", "zeros", "equal rows", "large equal rows", "one number", "many equal rows"],
)
def test_rows_without_distances_still_have_a_domain(X):
    """The unit of length is then anyone's guess: 1."""
    domain = Domain.of(X)
    assert domain.zmax == 1
    assert domain.distances.size and domain.distances[0] > 0 and domain.distances[-1] <= 1


@pytest.mark.parametrize("scale", [1e-20, 1, 1e20])
def test_float32_rows(scale):
    X = (scale * np.random.default_rng(0).standard_normal((40, 3))).astype(np.float32)
    single, double = Domain.of(X), Domain.of(X.astype(np.float64))
    assert single.distances.dtype == np.float64
    assert single.zmax == pytest.approx(double.zmax, rel=1e-6)
    np.testing.assert_allclose(single.distances, double.distances, rtol=1e-6)


@pytest.mark.parametrize("load", [load_digits, load_wine, load_breast_cancer, load_diabetes])
def test_few_rows_of_a_test_set_are_beyond_the_range(load):
    """Of standardised real data, in 20 random halves: less than one row in 300."""
    X = load().data
    shares = []
    for seed in range(20):
        train, test = train_test_split(X, test_size=0.5, random_state=seed)
        scaler = StandardScaler().fit(train)
        centre, radius = enclosing_ball(scaler.transform(train))
        shares.append(np.mean(distances_from(centre, scaler.transform(test)) > radius))
    assert np.mean(shares) < 1 / 300


def test_a_fit_finds_the_ball_once_and_only_where_the_measure_has_a_range(monkeypatch):
    found = []
    monkeypatch.setattr(module, "enclosing_ball", lambda X: found.append(X) or enclosing_ball(X))
    X = np.random.default_rng(0).standard_normal((30, 3))
    SRF(n_components=20).fit(X)
    assert len(found) == 1
    ORF(n_components=20).fit(X)
    assert len(found) == 1
