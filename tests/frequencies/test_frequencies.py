"""Directions, norms and weighting: exact properties, and laws with a stated false-alarm rate."""

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import ks_2samp, qmc

from rflib.frequencies.directions import DIRECTIONS, frame, normalised, orthogonal, points
from rflib.frequencies.draw import sample_frequencies, uniforms
from rflib.kernels import DeltaGaussian, Gaussian, Laplacian, Matern
from rflib.maps import QMC
from rflib.maps.seeds import as_generator
from rflib.measures import exact_measure

RATE = 1e-6


def generator(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", DIRECTIONS)
@pytest.mark.parametrize(("n", "d"), [(1, 3), (5, 3), (12, 4), (3, 1), (40, 8)])
def test_directions_are_unit_vectors(name, n, d):
    u = DIRECTIONS[name](n, d, generator())
    assert u.shape == (n, d)
    assert np.allclose(np.linalg.norm(u, axis=1), 1)


def test_orthogonal_blocks():
    u = orthogonal(11, 4, generator())
    for block in (u[:4], u[4:8], u[8:]):
        assert np.allclose(block @ block.T, np.eye(len(block)), atol=1e-12)


@pytest.mark.parametrize("name", DIRECTIONS)
def test_each_direction_is_uniform(name):
    """First coordinate of the last direction against the uniform sphere's, by Kolmogorov and Smirnov."""
    d, n = 4, 10
    found = np.array([DIRECTIONS[name](n, d, generator(seed))[-1, 0] for seed in range(3000)])
    normal = generator(9).standard_normal((30_000, d))
    expected = normal[:, 0] / np.linalg.norm(normal, axis=1)
    assert ks_2samp(found, expected).pvalue > RATE


@pytest.mark.parametrize(("s", "d"), [(3, 4), (10, 4)])
def test_frame_has_the_law_of_the_full_orthogonal_matrix(s, d):
    """Cosines between two columns: the thin factor against the first d rows of a Haar matrix of order 2m."""
    order = 2 * max(s, d)
    thin, full = [], []
    for seed in range(3000):
        u = frame(2 * s, d, generator(seed))
        thin.append(u[0] @ u[-1])
        q, r = np.linalg.qr(generator(10_000 + seed).standard_normal((order, order)))
        columns = (q * np.sign(np.diag(r)))[:d, : 2 * s]
        columns /= np.linalg.norm(columns, axis=0)
        full.append(columns[:, 0] @ columns[:, -1])
    assert ks_2samp(thin, full).pvalue > RATE


def test_halton_features_are_scipys():
    map_ = QMC(Gaussian(2.0), 20, random_state=7).fit(np.zeros((3, 5)) + np.arange(5))
    u = qmc.Halton(5, scramble=True, rng=as_generator(7)).random(10)
    assert np.allclose(map_.frequencies_, ndtri(u) / 2)


@pytest.mark.parametrize("sequence", ["halton", "sobol"])
@pytest.mark.parametrize(("d", "ratio"), [(1, 0.5), (2, 0.8)])
@pytest.mark.parametrize("kernel", [Matern(1.5), DeltaGaussian((1, 1), (1, 3))], ids=repr)
def test_norms_of_the_point_set_lower_the_error(kernel, d, ratio, sequence):
    """Against independent norms with the same kind of directions, paired by seed.

    The mean difference of the squared errors is 4.75 standard errors from zero: a method that were no better
    would pass once in 10^6.
    """
    measure, seeds, z = exact_measure(kernel, d), range(150), np.linspace(0.2, 3, 12)
    toward = generator(1).standard_normal((12, d))
    toward *= (z / np.linalg.norm(toward, axis=1))[:, None]

    def squared_errors(radii):
        draws = (
            sample_frequencies(measure, 50, directions=sequence, radii=radii, rng=generator(seed))
            for seed in seeds
        )
        estimates = np.array([f.weights @ np.cos(f.vectors @ toward.T) for f in draws])
        return np.mean((estimates - kernel.at_distance(z)) ** 2, axis=1)

    iid, joint = squared_errors("iid"), squared_errors("joint")
    gain = iid - joint
    assert gain.mean() > 4.75 * gain.std(ddof=1) / np.sqrt(len(gain))
    assert np.sqrt(joint.mean()) < ratio * np.sqrt(iid.mean())


def test_qmc_takes_the_norms_from_its_point_set():
    map_ = QMC(Matern(1.5), 20, random_state=7).fit(np.zeros((3, 5)) + np.arange(5))
    u = qmc.Halton(6, scramble=True, rng=as_generator(7)).random(10)
    norms = exact_measure(Matern(1.5), 5).positive.quantile(u[:, 0])
    assert np.allclose(np.linalg.norm(map_.frequencies_, axis=1), norms)
    assert np.allclose(map_.frequencies_ / norms[:, None], normalised(ndtri(u[:, 1:])))


@pytest.mark.parametrize("sequence", ["iid", "halton", "sobol"])
def test_points_are_in_the_open_cube(sequence):
    u = points(sequence, 13, 3, generator())
    assert u.shape == (13, 3)
    assert u.min() > 0
    assert u.max() < 1


def test_stratified_uniforms_have_one_in_each_stratum():
    u = uniforms(50, "stratified", generator())
    assert sorted(np.floor(u * 50).astype(int)) == list(range(50))
    assert not np.array_equal(u, np.sort(u))


@pytest.mark.parametrize("n", [1, 6, 7])
def test_paired_uniforms_are_pairs(n):
    u = uniforms(n, "paired", generator())
    assert u.shape == (n,)
    assert np.allclose(u[: n // 2 * 2 : 2] + u[1::2], 1)


def test_weights_sum_to_the_kernel_at_zero():
    for kernel, at_zero in ((Gaussian(), 1.0), (DeltaGaussian(), 0.0)):
        found = sample_frequencies(
            exact_measure(kernel, 3), 9, directions="orthogonal", radii="iid", rng=generator()
        )
        assert found.weights.sum() == pytest.approx(at_zero)
        assert np.all(np.diff(np.sign(found.weights)) <= 0)


def test_product_measures_have_no_orthogonal_directions():
    with pytest.raises(ValueError, match="Use RFF or QMC"):
        sample_frequencies(
            exact_measure(Laplacian(), 3), 4, directions="orthogonal", radii="iid", rng=generator()
        )


@pytest.mark.parametrize(
    ("directions", "radii"), [("orthogonl", "iid"), ("iid", "stratfied"), ("frame", "joint")]
)
def test_unknown_rules_are_named(directions, radii):
    with pytest.raises(ValueError, match=r"(directions|radii) must be one of"):
        sample_frequencies(
            exact_measure(Gaussian(), 3), 4, directions=directions, radii=radii, rng=generator()
        )
