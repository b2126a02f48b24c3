"""Distant points: known optima, harmonics that they integrate, and the sliced kernels of Hertrich et al.

Every inequality holds with a wide margin for fixed seeds, so that none fails by chance.
"""

import numpy as np
import pytest
from scipy.special import hyp1f1

from rflib.frequencies.directions import DIRECTIONS, distance, distant_points, orthogonal
from rflib.maps.gegenbauer import polynomials


def test_six_points_are_the_axes_of_an_icosahedron():
    cosines = np.abs(distant_points(6, 3) @ distant_points(6, 3).T)
    assert np.allclose(cosines[~np.eye(6, dtype=bool)], 5**-0.5, atol=1e-6)


@pytest.mark.parametrize("n", [3, 8])
def test_points_of_the_plane_have_equal_angles(n):
    x, y = distant_points(n, 2).T
    angles = np.sort(np.arctan2(y, x) % np.pi)
    assert np.allclose(np.diff(angles), np.pi / n)


@pytest.mark.parametrize(("n", "d"), [(5, 6), (6, 6), (7, 1), (150, 101)])
def test_few_directions_and_those_of_high_dimensions_are_orthogonal_in_blocks(n, d):
    found = distance(n, d, np.random.default_rng(0))
    assert np.array_equal(found, orthogonal(n, d, np.random.default_rng(0)))


@pytest.mark.parametrize(("n", "d", "share"), [(72, 3, 1e-4), (64, 8, 0.03), (128, 16, 0.5), (200, 100, 1.0)])
def test_harmonics_of_even_degree_are_nearly_integrated(n, d, share):
    """The sums of Legendre polynomials over all pairs, as a share of what orthogonal bases leave of degree 4."""

    def left(points):
        return np.array([values.mean() for values in list(polynomials(d, 4, points @ points.T))[2::2]])

    second, fourth = left(distant_points(n, d))
    expected = left(orthogonal(n, d, np.random.default_rng(0)))[1]
    assert second < 1e-4
    assert 0 <= fourth < share * expected


def test_slices_of_a_kernel_beat_independent_and_orthogonal_ones():
    """The claim of the authors, for the Gaussian kernel and directions as many as they use, by their formula."""
    d, sigma, rng = 10, 1.0, np.random.default_rng(0)
    z = rng.standard_normal((40, d)) / 2
    exact = np.exp(-(z**2).sum(axis=1) / (2 * sigma**2))

    def error(rule):
        errors = []
        for seed in range(20):
            t = DIRECTIONS[rule](320, d, np.random.default_rng(seed)) @ z.T
            errors.append(hyp1f1(d / 2, 1 / 2, -(t**2) / (2 * sigma**2)).mean(axis=0) - exact)
        return np.sqrt(np.mean(np.square(errors)))

    distant, in_blocks, free = map(error, ("distance", "orthogonal", "iid"))
    assert distant < in_blocks / 3 < free / 4
