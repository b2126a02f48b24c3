"""scikit-learn's own checks on every map."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import rflib.maps
from rflib.maps.auto import AutoMap
from rflib.maps.base import RandomFeatureMap
from rflib.maps.craft import CRAFT
from rflib.maps.digmm import DIGMM
from rflib.maps.nystroem import Nystroem


def every_map() -> list[RandomFeatureMap]:
    names = [name for name in rflib.maps.MODULES if name != "RandomFeatureMap"]
    small = {
        CRAFT: {"n_components_up": 64},
        DIGMM: {"measure": {"type": "digmm", "n_components": 2, "n_draws": 100}},
        AutoMap: {"candidates": ["ORF", "Nystroem"]},
    }
    classes = [getattr(rflib.maps, name) for name in names]
    of_rows = [cls(n_components=10, **small.get(cls, {})) for cls in classes]
    return [*of_rows, Nystroem("precomputed", n_components=10)]


# The checks' rows are far from the origin, about which Taylor's series is.
@pytest.mark.filterwarnings("ignore:TaylorFeatures. of most training rows:rflib.measures.RangeWarning")
@parametrize_with_checks(every_map())
def test_estimator_check(estimator, check):
    check(estimator)
