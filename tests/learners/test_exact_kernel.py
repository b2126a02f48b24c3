"""What the exact-kernel learners share: their kernels and its errors, and no code beyond that."""

import numpy as np
import pytest

from rflib.kernels.gaussian import Gaussian
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.learners.exact_ridge import ExactKRR, ExactKRRClassifier
from rflib.learners.exact_svm import ExactKernelSVC, ExactKernelSVR


@pytest.mark.parametrize("learner", [ExactKRR, ExactKernelSVR])
def test_a_callable_kernel_is_a_function_of_the_distance_as_in_the_maps(smooth_data, learner):
    named = learner(Gaussian(sigma=2)).fit(*smooth_data).predict(smooth_data[0])
    np.testing.assert_allclose(
        learner(lambda z: np.exp(-(z**2) / 8)).fit(*smooth_data).predict(smooth_data[0]), named
    )
    with pytest.raises(ValueError, match=f"{learner.__name__}: kernel must be .* k\\(X, Y\\), got"):
        learner(lambda X, Y, Z: X @ Y.T).fit(*smooth_data)
    with pytest.raises(ValueError, match="A function of one array must be the profile"):
        learner(lambda X: np.add.outer(X, X)).fit(*smooth_data)


@pytest.mark.parametrize("learner", [ExactKernelSVC, ExactKRRClassifier])
def test_the_kernel_s_own_errors_come_through(smooth_data, learner):
    X, y = smooth_data
    with pytest.raises(ValueError, match="unit norm"):
        learner(SphericalPolynomial(a=4, p=3)).fit(X, y > 3)
    with pytest.raises(ValueError, match="NaN or infinity"):
        learner(lambda z: np.full_like(z, np.nan)).fit(X, y > 3)
