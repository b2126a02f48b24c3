"""Every learner under all laws, and what a few of them say of rows and folds."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rflib.learners import (
    KRR,
    ArrayRows,
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    ExactKernelSVC,
    ExactKernelSVR,
    ExactKRR,
    ExactKRRClassifier,
    HardMarginSVM,
    KRRClassifier,
    LinearSVM,
    LinearSVR,
)
from rflib.maps import RFF

from .laws import BlockLaws, ClassifierLaws, ExactLaws, LearnerLaws
from .rows import FOURIER, N, targets

ALPHAS = (1e-3, 1e-1, 10.0)
STEPS = {"n_blocks": 3, "batch_size": 8}
FEW_STEPS = {"n_blocks": 2, "batch_size": 10}


class TestKRR(BlockLaws):
    own = KRR(feature_map=FOURIER, alphas=(0.01, 0.1), cv=2)
    mapped = (KRR(feature_map=RFF(n_components=8, random_state=0), alphas=0.1, block_size=7),)
    variants = (KRR(cv=2), *mapped)
    ordered = (KRR(alphas=0.1),)
    searching = (KRR(alphas=ALPHAS),)
    beginning = (KRR(alphas=(0.01, 0.1), cv=2),)


class TestKRRClassifier(ClassifierLaws, BlockLaws):
    own = KRRClassifier(feature_map=FOURIER, alphas=0.1)
    variants = (KRRClassifier(cv=2, criterion="error_rate"),)
    ordered = (KRRClassifier(alphas=0.1),)
    searching = (KRRClassifier(alphas=ALPHAS),)
    beginning = (KRRClassifier(alphas=(0.01, 0.1), cv=2, criterion="error_rate"),)


class TestLinearSVM(ClassifierLaws, BlockLaws):
    own = LinearSVM(feature_map=FOURIER, solver="newton")
    variants = (LinearSVM(), LinearSVM(solver="newton", C="cv", cv=2))
    ordered = (LinearSVM(tol=1e-10), LinearSVM(solver="newton", tol=1e-12))
    searching = (LinearSVM(C="cv", solver="newton"),)
    beginning = (LinearSVM(solver="newton", tol=1e-10), LinearSVM(C="cv", Cs=[0.1, 1.0], cv=2))


class TestLinearSVR(BlockLaws):
    own = LinearSVR(feature_map=FOURIER, solver="newton")
    variants = (LinearSVR(), LinearSVR(solver="newton"))
    ordered = (LinearSVR(tol=1e-10),)
    searching = (LinearSVR(C="cv", solver="newton"),)
    beginning = (LinearSVR(solver="newton", tol=1e-10),)


class TestDoublyStochasticRegressor(BlockLaws):
    """Its checkpoint holds steps, not rows."""

    own = DoublyStochasticRegressor(RFF(n_components=8), **STEPS)
    mapped = variants = (DoublyStochasticRegressor(RFF(n_components=8), **FEW_STEPS),)
    lacks = ("test_a_fit_is_not_resumed_with_other_names",)


class TestDoublyStochasticClassifier(ClassifierLaws, BlockLaws):
    own = DoublyStochasticClassifier(RFF(n_components=8), **STEPS)
    mapped = variants = (DoublyStochasticClassifier(RFF(n_components=8), **FEW_STEPS),)
    lacks = ("test_a_fit_is_not_resumed_with_other_names",)


class TestExactKRR(ExactLaws):
    own = ExactKRR(alphas=0.1)
    variants = (ExactKRR(cv=2),)
    ordered = (own,)
    searching = (ExactKRR(alphas=ALPHAS),)


class TestExactKRRClassifier(ClassifierLaws, ExactLaws):
    own = ExactKRRClassifier(alphas=0.1)
    variants = (ExactKRRClassifier(cv=2),)
    searching = (ExactKRRClassifier(alphas=ALPHAS),)


class TestExactKernelSVC(ClassifierLaws, ExactLaws):
    own = ExactKernelSVC()
    variants = (own,)


class TestExactKernelSVR(ExactLaws):
    own = ExactKernelSVR()
    variants = (own,)


class TestHardMarginSVM(LearnerLaws):
    own = HardMarginSVM()
    variants = ordered = (own,)
    lacks = ("test_a_memory_mapped_model_goes_on",)


def test_a_value_that_such_a_map_does_not_take_is_named_with_its_row(mixed):
    """Found by a pass over the rows if the map is fitted on a sample of them."""
    y, rows = targets(KRR(), mixed), mixed[["a", "b"]].copy()
    rows.iloc[7, 1] = np.nan
    for bad, row in ((rows, 7), (rows.iloc[::-1], N - 8)):
        scaled = KRR(feature_map=make_pipeline(StandardScaler(), clone(FOURIER)), alphas=0.1, block_size=5)
        fitted = FrozenEstimator(clone(scaled.feature_map).fit(mixed[["a", "b"]]))
        message = rf"in row {row}\b.*The feature_map does not take a value: Input X contains NaN"
        for learner in (scaled, clone(scaled).set_params(feature_map=fitted)):
            with pytest.raises(ValueError, match=message):
                learner.fit(bad, y)
            with pytest.raises(ValueError, match=message):
                learner.fit_blocks(ArrayRows(bad, y, block_size=22))
        with pytest.raises(ValueError, match=message):
            learner.fit(mixed[["a", "b"]], y).predict(bad)
    imputed = ColumnTransformer([("a", SimpleImputer(), ["a"])], remainder="passthrough")
    with pytest.raises(ValueError, match=r"in row 7\b.* contains NaN"):
        learner = KRR(feature_map=make_pipeline(imputed, clone(FOURIER)), alphas=0.1)
        learner.fit(mixed[["a", "b"]], y).predict(
            rows.assign(a=np.where(np.arange(N) == 3, np.nan, rows["a"]))
        )
    with pytest.raises(ValueError, match="contains NaN"):
        KRR(feature_map=StandardScaler(), alphas=0.1).fit(rows, y)


@pytest.mark.parametrize(
    ("learner", "y", "message"),
    [
        (KRR(cv=5), [1.0, 2, 4], r"cv=5 folds needs at least 5 rows, got n_samples=3. Set cv to at most 3"),
        (KRR(cv=5), [1.0], r"got n_samples=1. Give more rows, or give a single alpha"),
        (KRR(), [1.0], r"another one with a weight .* got n_samples=1. Give more rows, or give a single"),
        (ExactKRR(), [1.0], r"another one with a weight above 0, got n_samples=1. Give more rows"),
        (ExactKRR(repair="clip"), [1.0, 2, 4], r"ExactKRR: .* at least 5 rows, got n_samples=3"),
        (
            KRRClassifier(cv=3),
            [0, 0, 1, 1],
            r"at least 3 rows of one class, got n_samples=2. Set cv to at most 2",
        ),
        (LinearSVR(C="cv"), [1.0, 2, 4], r"LinearSVR: .*got n_samples=3. .* or set C to a number"),
        (LinearSVM(C="cv"), [0, 0, 1, 1], r"LinearSVM: .*of one class, got n_samples=2"),
    ],
)
def test_fewer_rows_than_folds(learner, y, message):
    X = np.arange(float(len(y)))[:, None]
    with pytest.raises(ValueError, match=message):
        learner.fit(X, y)
    remedy = {"C": 1.0} if "C" in learner.get_params() else {"alphas": 0.1}
    clone(learner).set_params(**remedy).fit(X, y)
