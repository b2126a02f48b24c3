"""Every learner passes scikit-learn's own checks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rflib.learners.krr import KRR, KRRClassifier
from rflib.learners.svm import LinearSVM, LinearSVR

LEARNERS = [
    KRR(),
    KRR(alphas=0.5, block_size=7),
    KRRClassifier(),
    KRRClassifier(criterion="error_rate"),
    LinearSVM(),
    LinearSVM(loss="hinge", fit_intercept=True),
    LinearSVR(),
]


# the hinge on the checks' random data does not converge; the warning says so, as it should
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(LEARNERS)
def test_sklearn_check(estimator, check):
    check(estimator)
