"""partial_fit of maps that need only the number of columns, and of eigenfunctions: the values of fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.preprocessing import normalize

from rflib.kernels import DeltaGaussian, Gaussian, SphericalPolynomial
from rflib.maps import (
    CRAFT,
    DIGMM,
    GORF,
    GRFF,
    ORF,
    RFF,
    SORF,
    SRF,
    FourierFeatures,
    Nystroem,
)
from rflib.measures.domain import Domain
from rflib.measures.minimum_variance import minimum_variance
from rflib.measures.reference import reference
from tests.maps.conftest import EVERY, POLYNOMIAL, sphere

DIM = 6
QUICK = {"type": "minimum_variance", "deltas": (0.01,)}
ON_SPHERE = Domain.of(sphere(50, DIM))
OF_A_MEASURE = {
    "infinite": reference(SphericalPolynomial(), ON_SPHERE),
    "finite": minimum_variance(POLYNOMIAL, ON_SPHERE, deltas=(0.01,)),
}
MAPS = EVERY | {
    "GORF atoms": lambda D, seed: GORF(Gaussian(), D, measure=QUICK, radii="stratified", random_state=seed),
    "widths": lambda D, seed: ORF(Gaussian((1.0, 2, 3, 4, 5, 6)), D, random_state=seed),
    "DIGMM": lambda D, seed: DIGMM(
        DeltaGaussian(), D, measure={"type": "digmm", "n_draws": 50}, random_state=seed
    ),
    "SRF Gaussian": lambda D, seed: SRF(Gaussian(), D, random_state=seed),
    "CRAFT SRF": lambda D, seed: CRAFT(SRF(Gaussian()), D, n_components_up=2 * D, random_state=seed),
    "reference": lambda D, seed: GRFF(DeltaGaussian(), D, measure="reference", random_state=seed),
    "truncated": lambda D, seed: GRFF(POLYNOMIAL, D, measure="truncated_fourier", random_state=seed),
    "auto": lambda D, seed: FourierFeatures(DeltaGaussian(), D, random_state=seed),
    "auto polynomial": lambda D, seed: FourierFeatures(
        POLYNOMIAL, D, measure=QUICK | {"type": "auto"}, random_state=seed
    ),
    **{
        f"{name} measure": lambda D, seed, measure=measure: FourierFeatures(
            POLYNOMIAL, D, measure=measure, random_state=seed
        )
        for name, measure in OF_A_MEASURE.items()
    },
    "finite measure, any rows": lambda D, seed: FourierFeatures(
        Gaussian(), D, measure=OF_A_MEASURE["finite"], random_state=seed
    ),
}


def data(n, kernel, seed=0):
    """Rows that the kernel takes."""
    X = sphere(n, DIM, seed)
    return X if kernel.unit_norm else 5 * X + 1


def same(first, second):
    return first.keys() == second.keys() and all(map(np.array_equal, first.values(), second.values()))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", MAPS)
def test_maps_have_it_exactly_if_they_do_not_depend_on_the_rows(name):
    X = data(60, MAPS[name](48, 0)._resolved_kernel())
    near = normalize(X[:25] + 9) * np.linalg.norm(X[:25], axis=1, keepdims=True)
    states = [MAPS[name](48, 0).fit(rows, rows[:, 0] > rows[:, 0].mean()).state() for rows in (X, near)]
    samples = name.startswith(("MercerFeatures", "MVORF"))
    assert hasattr(MAPS[name](48, 0), "partial_fit") == (same(*states) or samples)


STREAMED = [name for name in MAPS if hasattr(MAPS[name](48, 0), "partial_fit")]


@settings(max_examples=60)
@given(
    name=st.sampled_from(STREAMED),
    cuts=st.lists(st.integers(1, 39), min_size=1, max_size=4, unique=True).map(sorted),
    dtype=st.sampled_from([np.float64, np.float32]),
    container=st.sampled_from([np.asarray, csr_array]),
    seed=st.integers(0, 3),
)
def test_any_blocks_give_the_values_of_fit_on_all_rows(name, cuts, dtype, container, seed):
    streamed, whole = MAPS[name](12, seed), MAPS[name](12, seed)
    X = data(40, whole._resolved_kernel(), seed).astype(dtype)
    for block in np.split(X, cuts):
        assert streamed.partial_fit(container(block)) is streamed
    whole.fit(
        container(X) if name.startswith(("MercerFeatures", "MVORF")) else X
    )  # sparse rows have no principal axes
    assert same(streamed.state(), whole.state())
    np.testing.assert_array_equal(streamed.transform(X), whole.transform(X))


def test_later_blocks_are_checked_and_a_fitted_map_stays():
    X = sphere(20, DIM)
    feature_map = RFF(Gaussian(), 16).fit(X)
    drawn = feature_map.frequencies_
    assert feature_map.partial_fit(X[:1]).frequencies_ is drawn
    with pytest.raises(ValueError, match="X has 5 features, but RFF is expecting 6 features as input"):
        feature_map.partial_fit(X[:, :5])
    with pytest.raises(ValueError, match="Input X contains NaN"):
        feature_map.partial_fit(np.nan * X)
    with pytest.raises(ValueError, match="needs rows of unit norm"):
        GORF(SphericalPolynomial(), 16).partial_fit(X).partial_fit(2 * X)


@pytest.mark.parametrize("width", ["scale", "median"])
@pytest.mark.parametrize(
    "feature_map", [RFF(n_components=8), ORF(n_components=8), GORF(n_components=8), SORF(n_components=8)]
)
def test_a_width_that_rows_decide_is_refused(width, feature_map):
    X = sphere(20, DIM)
    feature_map = clone(feature_map).set_params(kernel=Gaussian(width))
    name = type(feature_map).__name__
    with pytest.raises(
        ValueError, match=f"^{name}: partial_fit cannot find the width .* a number, or call `fit`"
    ):
        feature_map.partial_fit(X)
    kernel = feature_map.fit(X).kernel_
    assert feature_map.partial_fit(9 * X).kernel_ is kernel


def test_why_a_map_lacks_it():
    with pytest.raises(AttributeError, match="'Nystroem' has no attribute 'partial_fit'") as error:
        Nystroem().partial_fit(sphere(20, DIM))
    assert "Nystroem: there is no partial_fit with these parameters" in str(error.value.__cause__)
