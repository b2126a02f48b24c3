"""MVORF against the field, for indefinite kernels, at the same number of columns on unit-norm digits."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from rflib.kernels import DeltaGaussian, SphericalPolynomial
from rflib.maps import GORF, GRFF, MVORF, SRF, RandomMaclaurin, TensorSketch
from rflib.metrics import relative_frobenius_error

SIGNED = [(GRFF, {}), (GORF, {}), (GORF, {"directions": "frame"}), (SRF, {})]
SERIES = [
    *((TensorSketch, {}), (RandomMaclaurin, {}), (GORF, {"measure": "reference"})),
    *((SRF, {}), (SRF, {"layout": "phase"}), (SRF, {"directions": "orthogonal"})),
]


@pytest.mark.parametrize(
    ("kernel", "columns", "rivals"),
    [
        (SphericalPolynomial(4, 3), 128, SERIES),
        (SphericalPolynomial(4, 20), 512, SERIES),
        (DeltaGaussian(sigmas=(0.5, 5)), 128, SIGNED),
    ],
)
def test_the_error_is_at_most_a_third_of_every_other_one(kernel, columns, rivals):
    X = load_digits().data
    X = X[np.random.default_rng(0).permutation(len(X))[:300]]
    X /= np.linalg.norm(X, axis=1, keepdims=True)

    def error(cls, **options):
        if cls in (GORF, GRFF, SRF):
            options["measure"] = cls(kernel, **options).spectrum(X)
        fitted = (cls(kernel, columns, random_state=seed, **options).fit(X) for seed in range(5))
        return np.mean([relative_frobenius_error(kernel(X), each.kernel_matrix(X)) for each in fitted])

    ours = error(MVORF)
    for cls, options in rivals:
        assert ours < error(cls, **options) / 3, (cls, options)
