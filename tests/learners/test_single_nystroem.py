"""SingleNystroem beside Nystroem, which computes sensitive columns in double precision."""

import numpy as np
import pytest

from rflib.kernels import Gaussian, Matern
from rflib.learners.single_nystroem import SingleNystroem
from rflib.maps import Nystroem


@pytest.mark.parametrize("kernel", [Matern(1.5, 3.0), Gaussian(0.7), Gaussian(sigma=(0.5, 0.7, 1.0, 1.4))])
def test_columns_of_single_precision_are_nearly_those_of_nystroem(kernel):
    X = (np.random.default_rng(0).standard_normal((700, 4)) + 3).astype(np.float32)
    one, other = (cls(kernel, 300, random_state=0).fit(X) for cls in (SingleNystroem, Nystroem))
    assert 25 < (one.normalization_**2).sum(axis=0).max() < 1e6  # Nystroem has double precision for some
    found, exact = one.transform(X), other.transform(X.astype(np.float64))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, exact, atol=1e-3)
    np.testing.assert_allclose(found @ found.T, exact @ exact.T, atol=1e-3)


def test_rows_of_double_precision_and_columns_that_rounding_would_swamp_are_as_nystroem_has_them():
    X = np.random.default_rng(0).standard_normal((200, 2))
    for kernel, rows in ((Matern(1.5, 1.0), X), (Gaussian(8.0), X.astype(np.float32))):
        one, other = (cls(kernel, 60, random_state=0).fit(rows) for cls in (SingleNystroem, Nystroem))
        np.testing.assert_array_equal(one.transform(rows), other.transform(rows))
