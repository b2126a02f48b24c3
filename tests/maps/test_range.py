"""Where a map represents its kernel, and the warning beyond."""

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from rflib.kernels import DeltaGaussian, Gaussian, Matern, SphericalPolynomial
from rflib.maps import DIGMM, GORF, GRFF, ORF, QMC, RFF, SRF, FourierFeatures, LeverageRFF
from rflib.measures import RangeWarning

from .conftest import sphere

RNG = np.random.default_rng(0)
CLUSTER = 0.25 * RNG.standard_normal((200, 5))
FAR = RNG.standard_normal((60, 5))

FEW = {"type": "minimum_variance", "deltas": (1e-2,)}

RANGED = {
    "GORF": GORF(Gaussian(), 40, measure=FEW, random_state=0),
    "SRF": SRF(DeltaGaussian(), 40, random_state=0),
    "DIGMM of a profile": DIGMM(lambda z: np.cos(z) * np.exp(-z), 40, random_state=0),
    "GORF of a profile": GORF(lambda z: np.exp(-z), 40, measure=FEW, random_state=0),
}
EVERYWHERE = {
    "RFF": RFF(Gaussian(), 40, random_state=0),
    "ORF": ORF(Matern(), 40, random_state=0),
    "QMC": QMC(Matern(), 40, random_state=0),
    "GRFF": GRFF(DeltaGaussian(), 40, random_state=0),
    "DIGMM": DIGMM(DeltaGaussian(), 40, random_state=0),
    "leverage": LeverageRFF(Gaussian(), 40, random_state=0),
}


@pytest.fixture(params=RANGED, scope="module")
def ranged(request):
    return clone(RANGED[request.param]).fit(CLUSTER)


def test_rows_beyond_the_range_are_counted_once(ranged):
    distances = np.linalg.norm(FAR - ranged.centre_, axis=1)
    beyond = np.sum(distances > ranged.radius_)
    assert 0 < beyond < len(FAR)
    with pytest.warns(RangeWarning, match=r"\d+ of 60 rows are outside .*Fit the map") as caught:
        ranged.transform(FAR)
    assert len(caught) == 1
    assert int(str(caught[0].message).split()[1]) >= beyond
    ranged.transform(CLUSTER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RangeWarning)
        ranged.kernel_matrix(FAR)


def test_the_measure_covers_all_pairs_within_the_range(ranged):
    assert ranged.measure_.zmax == 2 * ranged.radius_
    assert np.linalg.norm(CLUSTER - ranged.centre_, axis=1).max() < ranged.radius_


@pytest.mark.parametrize("name", EVERYWHERE)
def test_exact_measures_have_no_range(name):
    m = clone(EVERYWHERE[name]).fit(CLUSTER)
    assert m.radius_ == np.inf
    m.transform(1e6 * FAR)


def test_a_shared_measure_is_used_around_the_rows_at_hand():
    shared = GORF(Gaussian(), 40, measure=FEW).fit(CLUSTER).measure_
    m = GORF(Gaussian(), 40, measure=shared, random_state=0).fit(CLUSTER + 7)
    m.transform(CLUSTER + 7)
    with pytest.warns(RangeWarning, match="200 of 200 rows"):
        m.transform(CLUSTER)


@pytest.mark.parametrize("kernel", [Gaussian(0.5), DeltaGaussian(), SphericalPolynomial(4, 3)], ids=repr)
def test_rows_of_unit_norm_mean_the_whole_sphere(kernel):
    """The measure is fitted on a cluster, and right within its bound on the far side too: distances up to 2."""
    cluster = sphere(200, 6) * [0.1, 0.1, 0.1, 0.1, 0.1, 0] + [0, 0, 0, 0, 0, 1]
    cluster /= np.linalg.norm(cluster, axis=1, keepdims=True)
    opposite = np.concatenate([cluster, -cluster])
    m = GORF(kernel, 60, measure=FEW, random_state=0).fit(cluster)
    assert m.radius_ == 1
    assert not m.centre_.any()
    z = np.linalg.norm(opposite[:, None] - opposite, axis=2)
    profile = m.measure_.profile(z.ravel()).reshape(z.shape)
    assert np.abs(profile - kernel(opposite)).max() <= 1.01 * m.measure_.bias_estimate


def test_new_rows_of_the_same_law_are_within_the_bound():
    """Some lie farther out than all the training rows, as in the official split of ijcnn1."""
    train, test = np.split(np.random.default_rng(2).standard_t(5, (1500, 8)), [150])
    kernel = Gaussian(2.0)
    m = GORF(kernel, 400, measure=FEW, random_state=0).fit(train)
    inside = test[np.linalg.norm(test - m.centre_, axis=1) <= m.radius_]
    beyond_training = (
        np.linalg.norm(inside - m.centre_, axis=1) > np.linalg.norm(train - m.centre_, axis=1).max()
    )
    assert beyond_training.any()
    z = np.linalg.norm(inside[:, None] - inside[beyond_training], axis=2).ravel()
    assert np.abs(m.measure_.profile(z) - kernel.at_distance(z)).max() <= 1.01 * m.measure_.bias_estimate


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-20, 1e20])
@pytest.mark.parametrize("cls", [partial(GORF, measure=FEW), SRF, GORF])
def test_the_unit_of_the_rows_does_not_matter(cls, scale, dtype):
    unit, scaled = (
        cls(Gaussian(s), 30, random_state=0).fit_transform((s * CLUSTER).astype(dtype)) for s in (1.0, scale)
    )
    np.testing.assert_allclose(scaled, unit, atol=2e-3)


@pytest.mark.parametrize("m", [GORF(measure=FEW), SRF(), RFF(), FourierFeatures(measure="auto")], ids=repr)
def test_spectrum_leaves_a_map_unfitted(m):
    unfitted = clone(m)
    unfitted.spectrum(CLUSTER)
    assert vars(unfitted) == vars(clone(m))
    with pytest.raises(NotFittedError):
        check_is_fitted(unfitted)
    with pytest.raises(ValueError, match=r"NaN"):
        unfitted.spectrum(CLUSTER * np.nan)
