"""scikit-learn's own checks on every map."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import rflib.maps
from rflib.maps.base import RandomFeatureMap
from rflib.maps.craft import CRAFT


def every_map() -> list[RandomFeatureMap]:
    names = [name for name in rflib.maps.MODULES if name != "RandomFeatureMap"]
    small = {CRAFT: {"n_components_up": 64}}
    classes = [getattr(rflib.maps, name) for name in names]
    return [cls(n_components=10, **small.get(cls, {})) for cls in classes]


@parametrize_with_checks(every_map())
def test_estimator_check(estimator, check):
    check(estimator)
