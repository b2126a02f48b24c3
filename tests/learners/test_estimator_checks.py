"""Every learner passes scikit-learn's own checks of an estimator."""

import pytest
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from rflib.kernels.gaussian import Gaussian
from rflib.learners import KRR, KRRClassifier
from rflib.learners.doubly_stochastic import DoublyStochasticClassifier, DoublyStochasticRegressor
from rflib.learners.exact_head import ExactHead
from rflib.learners.exact_ridge import ExactKRR, ExactKRRClassifier
from rflib.learners.exact_svm import ExactKernelSVC, ExactKernelSVR
from rflib.learners.hard_margin import HardMarginSVM
from rflib.learners.learned_metric import LearnedMetric
from rflib.learners.spectrum_repair import SpectrumRepair
from rflib.learners.svm import LinearSVM, LinearSVR
from rflib.learners.table_learners import KernelClassifier, KernelRegressor
from rflib.maps.orf import ORF
from rflib.maps.rff import RFF

LEARNERS = [
    # the checks' data are not separable as they are, and the hard-margin SVM says so
    make_pipeline(RBFSampler(gamma=10, n_components=1000, random_state=0), HardMarginSVM()),
    DoublyStochasticClassifier(RFF(n_components=128), n_blocks=5, batch_size=64, step_size=4),
    DoublyStochasticRegressor(
        RFF(Gaussian(sigma=3), n_components=128), n_blocks=5, batch_size=64, step_size=4
    ),
    ExactKRR(alphas=(1e-3, 1e-2)),
    ExactKRRClassifier(),
    ExactHead(Gaussian(sigma=3), 1e-3),
    ExactKernelSVC(),
    ExactKernelSVC(tol=1e-12),
    ExactKernelSVR(),
    ExactKernelSVR(tol=1e-12),
    ExactKRR("precomputed", alphas=(1e-3, 1e-2)),
    ExactKRRClassifier("precomputed", alphas=0.1, repair="square"),
    ExactKernelSVC("precomputed", repair="flip"),
    ExactKernelSVR(repair="clip"),
    SpectrumRepair(),
    SpectrumRepair("precomputed", repair="flip"),
    KRR(),
    KRR(alphas=0.5, block_size=7),
    KRR(
        feature_map=RFF(Gaussian(sigma=3), n_components=96, random_state=0),
        alphas=(1e-5, 1e-4),
        criterion="marginal_likelihood",
    ),
    KRRClassifier(),
    KRRClassifier(criterion="error_rate"),
    LearnedMetric(n_rounds=1, random_state=0),
    KernelRegressor(),
    KernelClassifier(),
    LearnedMetric(ORF(n_components=16), n_rounds=1, random_state=0),
    LinearSVM(),
    LinearSVM(tol=1e-12),
    LinearSVM(loss="hinge", fit_intercept=True),
    LinearSVM(solver="newton"),
    LinearSVM(feature_map=RFF(Gaussian(sigma=3), n_components=96, random_state=0), C=100),
    LinearSVR(solver="newton"),
    LinearSVR(),
    LinearSVR(tol=1e-12),
]


ORIGIN = "the classes meet at the origin, since there is no intercept, so that few rows change sides"


def expected_failures(estimator):
    if isinstance(estimator, DoublyStochasticClassifier | DoublyStochasticRegressor):
        drawn = "rows are drawn at random, as often as their weights say: the same law, not the same draws"
        return {
            "check_sample_weight_equivalence_on_dense_data": drawn,
            "check_class_weight_classifiers": ORIGIN,
        }
    if isinstance(estimator, KernelClassifier | KernelRegressor):
        drawn = "choices depend on numbers of rows, and encoders and landmarks count rows, not their weights"
        return {f"check_sample_weight_equivalence_on_{kind}_data": drawn for kind in ("dense", "sparse")}
    if isinstance(estimator, ExactHead):
        before = "which rows predict a row depends on the order, and repeated rows on each other"
        failures = {f"check_sample_weight_equivalence_on_{kind}_data": before for kind in ("dense", "sparse")}
        return failures | {"check_methods_subset_invariance": "values are of single precision"}
    if isinstance(estimator, LinearSVM) and not estimator.fit_intercept:
        return {"check_class_weight_classifiers": ORIGIN}
    if isinstance(estimator, ExactKernelSVC | ExactKernelSVR) and estimator.tol > 1e-12:
        within = (
            "libsvm stops within tol, and where depends on the order of rows; scikit-learn excepts SVC too"
        )
        return {f"check_sample_weight_equivalence_on_{kind}_data": within for kind in ("dense", "sparse")}
    if not isinstance(estimator, Pipeline):
        return {}
    own = "a pipeline keeps its steps by reference"
    sparse = "RBFSampler takes sparse data, so that the error comes from the separation"
    return {
        "check_estimators_overwrite_params": own,
        "check_dont_overwrite_parameters": own,
        "check_estimator_sparse_tag": sparse,
        "check_estimator_sparse_array": sparse,
        "check_estimator_sparse_matrix": sparse,
    }


# the hinge on the checks' random data does not converge; the warning says so, as it should
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::rflib.kernels.WidthWarning")  # "precomputed": of arbitrary matrices
@pytest.mark.filterwarnings("ignore:The least populated class")  # of the data of checks in scikit-learn 1.6
@parametrize_with_checks(LEARNERS, expected_failed_checks=expected_failures)
def test_sklearn_check(estimator, check):
    check(estimator)
