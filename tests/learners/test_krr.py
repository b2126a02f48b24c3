"""KRR: equal to scikit-learn's ridge regressions, whatever the blocks, from one pass that is flat in n."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from rflib.learners import KRR, KRRClassifier

ALPHAS = (0.05, 0.1, 0.5, 1.0)


class Cosines(TransformerMixin, BaseEstimator):
    """A feature map as small as can be, with two columns in three of sign -1 if ``signed``."""

    def __init__(self, n_components=30, signed=False):
        self.n_components = n_components
        self.signed = signed

    def fit(self, X, y=None):
        rng = np.random.default_rng(7)
        self.weights_ = rng.standard_normal((X.shape[1], self.n_components)).astype(X.dtype)
        self.signature_ = np.where(self.signed & (np.arange(self.n_components) % 3 > 0), -1.0, 1.0)
        return self

    def transform(self, X):
        return np.cos(X @ self.weights_) / np.sqrt(self.n_components).astype(X.dtype)


@pytest.fixture
def regression():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 6))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(200) + 5


@pytest.mark.parametrize("ridge", ["n_lambda", "lambda"])
def test_single_alpha_is_sklearn_ridge_on_centred_targets(regression, ridge):
    X, y = regression
    Z = Cosines().fit(X).transform(X)
    penalty = 0.1 * (len(y) if ridge == "n_lambda" else 1)
    theirs = Ridge(alpha=penalty, fit_intercept=False, solver="cholesky").fit(Z, y - y.mean())
    ours = KRR(alphas=0.1, ridge=ridge).fit(Z, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.predict(Z), theirs.predict(Z) + y.mean(), rtol=1e-10)
    dual = KernelRidge(alpha=penalty, kernel="linear").fit(Z, y - y.mean())
    np.testing.assert_allclose(ours.predict(Z), dual.predict(Z) + y.mean(), rtol=1e-9)


@pytest.mark.parametrize("ridge", ["n_lambda", "lambda"])
@pytest.mark.parametrize("alphas", [ALPHAS, tuple(np.logspace(-6, 2, 17))], ids=["cholesky", "eigh"])
def test_cross_validation_errors_are_those_of_explicit_fits(regression, ridge, alphas):
    X, y = regression
    X, y = X[:198], y[:198]  # unequal folds
    ours = KRR(alphas=alphas, ridge=ridge, cv=5, feature_map=Cosines(), block_size=37).fit(X, y)
    Z = Cosines().fit(X).transform(X)
    expected = np.empty((len(alphas), 5))
    for fold, (train, test) in enumerate(KFold(5, shuffle=True, random_state=0).split(Z)):
        for i, alpha in enumerate(alphas):
            penalty = alpha * (len(train) if ridge == "n_lambda" else 1)
            model = Ridge(alpha=penalty, fit_intercept=False).fit(Z[train], y[train] - y[train].mean())
            expected[i, fold] = np.mean((model.predict(Z[test]) + y[train].mean() - y[test]) ** 2)
    np.testing.assert_allclose(ours.cv_errors_, expected, rtol=1e-8)
    assert ours.alpha_ == alphas[np.argmin(expected.mean(axis=1))]


def test_choice_errors_and_fit_equal_grid_search(regression):
    X, y = regression
    Z = Cosines().fit(X).transform(X)
    alphas = np.logspace(-4, 2, 7)
    folds = KFold(4)
    centred_ridge = TransformedTargetRegressor(
        Ridge(fit_intercept=False), transformer=StandardScaler(with_std=False)
    )
    search = GridSearchCV(
        centred_ridge, {"regressor__alpha": alphas}, cv=folds, scoring="neg_mean_squared_error"
    ).fit(Z, y)
    ours = KRR(alphas=alphas, ridge="lambda", cv=folds).fit(Z, y)
    assert ours.alpha_ == search.best_params_["regressor__alpha"]
    theirs = [-search.cv_results_[f"split{fold}_test_score"] for fold in range(4)]
    np.testing.assert_allclose(ours.cv_errors_, np.transpose(theirs), rtol=1e-8)
    np.testing.assert_allclose(ours.predict(Z), search.predict(Z), rtol=1e-9)


@pytest.mark.parametrize("block_size", [1, 13, 200, 10_000])
def test_blocks_and_streaming_change_nothing(regression, block_size):
    X, y = regression
    Z = Cosines().fit(X).transform(X)
    whole = KRR().fit(Z, y)
    streamed = KRR(feature_map=Cosines(), block_size=block_size).fit(X, y)
    np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-10)
    np.testing.assert_allclose(streamed.cv_errors_, whole.cv_errors_, rtol=1e-10)
    np.testing.assert_allclose(streamed.predict(X), whole.predict(Z), rtol=1e-12)


def test_several_targets_share_an_alpha(regression):
    X, y = regression
    Y = np.column_stack([y, X[:, 2]])
    both = KRR(feature_map=Cosines(), alphas=0.1).fit(X, Y)
    one = KRR(feature_map=Cosines(), alphas=0.1).fit(X, y)
    assert both.coef_.shape == (2, 30)
    np.testing.assert_allclose(both.predict(X)[:, 0], one.predict(X), rtol=1e-10)


def test_float32_stays_and_is_close_to_float64(regression):
    X, y = regression
    double = KRR(feature_map=Cosines()).fit(X, y)
    single = KRR(feature_map=Cosines()).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32
    np.testing.assert_allclose(single.predict(X.astype(np.float32)), double.predict(X), rtol=1e-4)
    np.testing.assert_allclose(single.cv_errors_, double.cv_errors_, rtol=1e-4)


def test_float32_gram_warns_of_a_ridge_below_its_rounding(regression):
    X, y = regression
    X = X.astype(np.float32)
    with pytest.warns(RuntimeWarning, match="gram_dtype='float64'"):
        KRR(feature_map=Cosines(4), alphas=1e-9).fit(X, y)
    KRR(feature_map=Cosines(4), alphas=1e-9, gram_dtype="float64").fit(X, y)


def test_integer_memmap_is_read_as_it_is(tmp_path, regression):
    X, y = regression
    counts = np.round(10 * X).astype(np.int16)
    mapped = np.memmap(tmp_path / "x", dtype=np.int16, mode="w+", shape=X.shape)
    mapped[:] = counts
    in_memory = KRR().fit(counts.astype(float), y)
    np.testing.assert_allclose(KRR().fit(mapped, y).predict(mapped), in_memory.predict(counts), rtol=1e-12)


@pytest.mark.parametrize(("cv", "D", "passes"), [(5, 30, 1), (None, 30, 2), (None, 50, 1)])
def test_passes_over_the_rows(regression, cv, D, passes):
    """One for folds. Leave-one-out needs the features twice, and keeps those of at most 4 D rows."""
    X, y = regression
    seen = []

    class Counting(Cosines):
        def transform(self, X):
            seen.append(len(X))
            return super().transform(X)

    KRR(feature_map=Counting(D), block_size=64, cv=cv).fit(X, y)
    assert sum(seen) == passes * len(X)


def signed_case(regression):
    X, y = regression
    signed = Cosines(signed=True).fit(X)
    return X, y, signed.transform(X), signed.signature_


def test_krein_is_the_representer_solution_of_the_indefinite_kernel(regression):
    X, y, Z, signs = signed_case(regression)
    K = Z * signs @ Z.T
    f = K @ np.linalg.solve(K + 0.05 * len(y) * np.eye(len(y)), y - y.mean()) + y.mean()
    ours = KRR(feature_map=Cosines(signed=True), alphas=0.05, signed="krein").fit(X, y)
    np.testing.assert_allclose(ours.predict(X), f, rtol=1e-8)
    np.testing.assert_allclose(
        KRR(signature=signs, alphas=0.05, signed="krein").fit(Z, y).coef_, ours.coef_, rtol=1e-9
    )


def test_krein_with_a_positive_signature_is_ridge(regression):
    _, y, Z, _ = signed_case(regression)
    krein = KRR(signed="krein", signature=np.ones(Z.shape[1]))
    np.testing.assert_allclose(krein.fit(Z, y).coef_, KRR(cv=5).fit(Z, y).coef_, rtol=1e-8)


def test_krein_at_an_eigenvalue_is_singular():
    Z = np.eye(4)[:, :2]
    y = np.array([1.0, -1.0, 2.0, -2.0])
    # K_hat has the eigenvalue -1, so K_hat + c I is singular at c = 1
    with pytest.raises(ValueError, match="singular"):
        KRR(alphas=1.0, ridge="lambda", signature=[1, -1], signed="krein").fit(Z, y)
    assert np.isfinite(
        KRR(alphas=2.0, ridge="lambda", signature=[1, -1], signed="krein").fit(Z, y).coef_
    ).all()


def test_positive_drops_columns_and_associated_keeps_them(regression):
    _, y, Z, signs = signed_case(regression)
    positive = KRR(signature=signs, signed="positive").fit(Z, y)
    alone = KRR().fit(Z[:, signs > 0], y)
    np.testing.assert_allclose(positive.coef_[signs > 0], alone.coef_, rtol=1e-10)
    assert not positive.coef_[signs < 0].any()
    np.testing.assert_allclose(KRR(signature=signs).fit(Z, y).coef_, KRR().fit(Z, y).coef_)


@pytest.mark.parametrize("criterion", ["squared_error", "error_rate"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifier_cross_validation_equals_explicit_fits(regression, criterion, n_classes):
    X, score = regression
    names = np.array(["ant", "bee", "cow"])
    y = names[np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))]
    learner = KRRClassifier(alphas=ALPHAS, cv=5, criterion=criterion, block_size=33, feature_map=Cosines())
    ours = learner.fit(X, y)
    Z = Cosines().fit(X).transform(X)
    targets = np.where(y[:, None] == (names[1:2] if n_classes == 2 else names), 1.0, -1.0)
    expected = np.empty((4, 5))
    for fold, (train, test) in enumerate(StratifiedKFold(5, shuffle=True, random_state=0).split(Z, y)):
        mean = targets[train].mean(axis=0)
        for i, alpha in enumerate(ALPHAS):
            model = Ridge(alpha=alpha * len(train), fit_intercept=False).fit(Z[train], targets[train] - mean)
            values = model.predict(Z[test]).reshape(len(test), -1) + mean
            if criterion == "squared_error":
                expected[i, fold] = np.mean((values - targets[test]) ** 2)
            else:
                codes = (values[:, 0] > 0).astype(int) if n_classes == 2 else values.argmax(axis=1)
                expected[i, fold] = np.mean(names[codes] != y[test])
    np.testing.assert_allclose(ours.cv_errors_, expected, rtol=1e-9)
    assert ours.score(X, y) > 1.25 / n_classes
    assert ours.decision_function(X).shape == ((200,) if n_classes == 2 else (200, 3))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"signature": [1, -1]}, "one entry for each of the 6"),
        ({"signature": [1, -1, 0, 1, 1, 1]}, r"\+1 and -1 only"),
        ({"signature": [-1] * 6, "signed": "positive"}, "leaves no column"),
        ({"signature": [1] * 6, "feature_map": Cosines()}, "signature is for features"),
        ({"cv": [([0, 1], [2, 3])]}, "exactly once"),
    ],
)
def test_bad_parameters(regression, parameters, message):
    with pytest.raises(ValueError, match=message):
        KRR(**parameters).fit(*regression)


def test_memory_is_flat_in_n():
    """Six times the rows, from a file, raise the peak by less than a quarter of their features' size."""
    code = """
import sys, resource, tempfile, numpy as np
sys.path.insert(0, sys.argv[1])
from test_krr import Cosines
from rflib.learners import KRR

def peak(n):
    with tempfile.TemporaryFile() as file:
        X = np.memmap(file, dtype=np.float32, mode="w+", shape=(n, 4))
        X[:] = np.random.default_rng(0).standard_normal((n, 4), dtype=np.float32)
        KRR(feature_map=Cosines(256), block_size=2000).fit(X, np.zeros(n))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

print(-peak(10_000) + peak(60_000))
"""
    folder = __file__.rsplit("/", 1)[0]
    result = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, check=True)
    assert int(result.stdout) < 50_000 * 256 * 4 / 4
