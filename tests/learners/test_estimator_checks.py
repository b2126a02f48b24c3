"""Every learner passes scikit-learn's own checks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rflib.learners.svm import LinearSVM, LinearSVR

LEARNERS = [
    LinearSVM(),
    LinearSVM(loss="hinge", fit_intercept=True),
    LinearSVR(),
]


# the hinge on the checks' random data does not converge; the warning says so, as it should
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(LEARNERS)
def test_sklearn_check(estimator, check):
    check(estimator)
