"""Default ridges are as good as those that scikit-learn finds, and a choice at the edge of a grid warns once."""

import warnings

import numpy as np
import pytest
from sklearn import datasets
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rflib.kernels import Gaussian
from rflib.learners import KRR, ExactKRR, ExactKRRClassifier, GridEdgeWarning, KRRClassifier, LinearSVR
from rflib.maps import ORF

# Loader, whether of labels, and how far the score may be below RidgeCV's: three held-out rows, or .01 of R^2.
SETS = {
    "digits": (datasets.load_digits, True, 3 / 450),
    "breast_cancer": (datasets.load_breast_cancer, True, 3 / 143),
    "wine": (datasets.load_wine, True, 3 / 45),
    "moons": (lambda return_X_y: datasets.make_moons(600, noise=0.2, random_state=0), True, 3 / 150),
    "diabetes": (datasets.load_diabetes, False, 0.01),
    "friedman1": (lambda return_X_y: datasets.make_friedman1(1500, noise=0.5, random_state=0), False, 0.01),
}
LIU = (0.05, 0.1, 0.5, 1.0)


def features(name, dtype=np.float64):
    """Return 300 features of the training and test rows, and their targets."""
    load, is_of_labels, tolerance = SETS[name]
    X, y = load(return_X_y=True)
    X, new, y, target = train_test_split(X.astype(dtype), y, random_state=0)
    mapped = make_pipeline(StandardScaler(), ORF(Gaussian("scale"), 300, random_state=0)).fit(X)
    return (mapped.transform(X), y), (mapped.transform(new), target), is_of_labels, tolerance


@pytest.mark.parametrize("name", SETS)
def test_the_default_ridges_serve(name):
    (Z, y), new, is_of_labels, tolerance = features(name)
    peer = (RidgeClassifierCV if is_of_labels else RidgeCV)(alphas=len(Z) * np.logspace(-8, 1)).fit(Z, y)
    found = (KRRClassifier if is_of_labels else KRR)().fit(Z, y)
    assert found.score(*new) >= peer.score(*new) - tolerance


def test_the_default_ridges_serve_exact_learners():
    X, y = datasets.make_friedman1(300, noise=0.5, random_state=0)
    X, new = X[:200], X[200:]
    assert ExactKRR(Gaussian("scale")).fit(X, y[:200]).score(new, y[200:]) > 0.85
    above = y > np.median(y)
    assert ExactKRRClassifier(Gaussian("scale")).fit(X, above[:200]).score(new, above[200:]) > 0.85


@pytest.mark.parametrize("criterion", ["squared_error", "marginal_likelihood"])
def test_single_precision_takes_no_ridge_below_its_rounding(criterion):
    """Of targets without noise the smallest ridge would be best, and its float32 solution would be rounding."""
    (Z, _), (new, _), *_ = features("friedman1", np.float32)
    rng = np.random.default_rng(0)
    weights = rng.standard_normal(Z.shape[1])
    y, target = Z @ weights, new @ weights
    found = KRR(criterion=criterion).fit(Z, y)
    assert found.alpha_ * len(Z) >= np.finfo(np.float32).eps * np.sum(np.square(Z, dtype=np.float64))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert found.score(new, target) > KRR(alphas=LIU, criterion=criterion).fit(Z, y).score(new, target)


@pytest.mark.parametrize(
    "learner",
    [KRR(), KRR(criterion="marginal_likelihood"), ExactKRR(Gaussian("scale"))],
    ids=["KRR", "likelihood", "ExactKRR"],
)
@pytest.mark.parametrize("kind", ["no noise", "only noise", "constant", "few rows"])
def test_whoever_sets_nothing_sees_no_warning(learner, kind):
    (Z, y), *_ = features("diabetes")
    rng = np.random.default_rng(0)
    y = {"no noise": Z @ rng.standard_normal(300), "only noise": rng.standard_normal(len(Z))}.get(kind, y)
    y = np.full(len(Z), 0.1) if kind == "constant" else y
    n = 12 if kind == "few rows" else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.fit(Z[:n], y[:n])


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (
            KRR(alphas=LIU),
            r"^KRR: the best of alphas is the smallest one, 0\.05, .* smaller .* such as 5e-05",
        ),
        (
            KRR(alphas=[1, 1e-9, 1e-10], ridge="lambda"),
            "is the largest one, 1, .* larger .* such as 10, 100, 1000",
        ),
        (KRR(alphas=LIU, criterion="marginal_likelihood"), "smallest one, 0.05"),
        (ExactKRR(Gaussian("scale"), alphas=LIU), "^ExactKRR: the best of alphas is the smallest"),
    ],
    ids=["smallest", "largest", "likelihood", "exact"],
)
def test_the_edge_of_a_grid_is_named(learner, words):
    (Z, y), *_ = features("diabetes" if "largest" in words else "friedman1")
    with pytest.warns(GridEdgeWarning, match=words) as issued:
        learner.fit(Z[:300], y[:300])
    assert len(issued) == 1
    assert issued[0].filename == __file__


def test_costs_at_the_edge_of_their_grid_are_named():
    (Z, y), *_ = features("friedman1")
    with pytest.warns(GridEdgeWarning, match=r"^LinearSVR: the best of Cs is the largest one, 0\.001,"):
        LinearSVR(C="cv", Cs=[1e-5, 1e-4, 1e-3]).fit(Z, y)


def test_a_search_warns_once_and_a_single_ridge_never():
    (Z, y), *_ = features("friedman1")
    search = GridSearchCV(KRR(alphas=LIU), {"ridge": ["n_lambda"], "gram_dtype": ["float64", None]}, cv=3)
    with pytest.warns(GridEdgeWarning) as issued:
        search.fit(Z[:300], y[:300])
    assert len(issued) == 1
    KRR(alphas=0.05).fit(Z, y)
    KRR(alphas=[0.05, 0.05]).fit(Z, y)


def test_features_on_another_scale_need_larger_ridges_than_the_default_ones():
    rng = np.random.default_rng(0)
    Z = 1e4 * rng.standard_normal((60, 80))
    y = Z[:, 0] * 1e-4 + rng.standard_normal(60)
    with pytest.warns(
        GridEdgeWarning, match=r"largest one, 10, .* Scale the features .* or give larger alphas"
    ):
        KRR(cv=5).fit(Z @ np.diag(1 / (1 + np.arange(80))), y)
