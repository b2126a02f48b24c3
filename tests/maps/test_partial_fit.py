"""What partial_fit refuses; `laws.py` has which maps have it, and that it gives the values of fit."""

import numpy as np
import pytest
from sklearn.base import clone

from rflib.kernels import Gaussian, SphericalPolynomial
from rflib.maps import GORF, ORF, RFF, SORF, Nystroem

from .rows import sphere


def test_later_blocks_are_checked_and_a_fitted_map_stays():
    X = sphere(20, 6)
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
    X = sphere(20, 6)
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
        Nystroem().partial_fit(sphere(20, 6))
    assert "Nystroem: there is no partial_fit with these parameters" in str(error.value.__cause__)
