"""Kernels have scikit-learn's get_params, set_params and clone, alone and inside maps, learners and searches."""

import pickle

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rflib.kernels import (
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Matern,
    NeuralTangent,
    Polynomial,
    RadialFunction,
    RationalQuadratic,
    SphericalPolynomial,
)
from rflib.learners import KRR, ExactKernelSVC, ExactKRR
from rflib.maps import CRAFT, RFF, Nystroem, RandomMaclaurin

CHANGES = {
    ArcCosine(): {"order": 0},
    Cauchy(): {"gamma": "scale"},
    DeltaGaussian(): {"coefficients": (1.0, 2.0, 3.0), "sigmas": (1.0, 2.0, 3.0), "width": 2.0},
    Gaussian(): {"sigma": (1.0, 2.0)},
    Laplacian(0.3): {"gamma": 2.0},
    Matern(): {"nu": 0.5, "length_scale": "median"},
    NeuralTangent(): {"depth": 3},
    Polynomial(): {"degree": 3, "coef0": 1.0},
    RationalQuadratic(): {"alpha": 2.0, "length_scale": "scale"},
    RadialFunction(np.sinc): {"profile": np.cos, "width": 3.0},
    SphericalPolynomial(): {"p": 3},
}

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 3))
y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(60)


@pytest.mark.parametrize("kernel", CHANGES, ids=lambda kernel: type(kernel).__name__)
def test_parameters_are_read_changed_and_cloned(kernel):
    changes = CHANGES[kernel]
    copy = clone(kernel)
    assert copy is not kernel
    assert copy == kernel
    assert type(kernel)(**kernel.get_params()) == kernel
    assert copy.set_params(**changes) is copy
    expected = type(kernel)(**kernel.get_params() | changes)
    assert copy == expected != kernel
    assert hash(copy) == hash(expected)
    assert copy.get_params() == kernel.get_params() | changes
    assert clone(copy) == pickle.loads(pickle.dumps(copy)) == copy


def test_a_change_that_is_refused_changes_nothing():
    kernel = Matern(2.5, 3.0)
    with pytest.raises(ValueError, match=r"^Matern: length_scale must be a number above 0, got -1"):
        kernel.set_params(nu=0.5, length_scale=-1)
    with pytest.raises(ValueError, match=r"no parameter 'lenght_scale'\. Did you mean 'length_scale'\?"):
        kernel.set_params(lenght_scale=1)
    assert kernel == Matern(2.5, 3.0)
    with pytest.raises(ValueError, match="coefficients must be as many numbers as sigmas"):
        RFF(DeltaGaussian()).set_params(kernel__sigmas=(1, 2, 3))
    with pytest.raises(ValueError, match="sigma must be a number above 0, got 0"):
        GridSearchCV(make_pipeline(RFF(Gaussian()), Ridge()), {"rff__kernel__sigma": [0]}).fit(X, y)


@pytest.mark.parametrize(
    "estimator", [RFF(), ExactKRR(), Nystroem(lambda z: np.exp(-z)), ExactKernelSVC(kernel=None)]
)
def test_parameters_of_no_kernel_are_refused(estimator):
    message = rf"{type(estimator).__name__}: kernel__sigma cannot be set.*such as kernel=Gaussian\(\)"
    with pytest.raises(ValueError, match=message):
        estimator.set_params(kernel__sigma=2)
    assert estimator.set_params(kernel=Gaussian(), kernel__sigma=2).kernel == Gaussian(2)


def test_a_fitted_estimator_keeps_its_kernel_when_the_parameter_changes():
    for estimator in (Nystroem(Gaussian(), 10, random_state=0), ExactKRR(Gaussian(), alphas=0.1)):
        apply = (
            estimator.fit(X, y).transform if hasattr(estimator, "transform") else estimator.fit(X, y).predict
        )
        before = apply(X)
        estimator.set_params(kernel__sigma=5)
        assert estimator.kernel_ == Gaussian()
        np.testing.assert_array_equal(apply(X), before)


def test_a_grid_of_widths_agrees_with_scikit_learn_s_kernel_ridge():
    sigmas = np.array([0.3, 1, 3, 10])
    ours = GridSearchCV(ExactKRR(Gaussian(), alphas=0.1, ridge="lambda"), {"kernel__sigma": sigmas}, cv=3)
    centred = TransformedTargetRegressor(
        KernelRidge(alpha=0.1, kernel="rbf"), transformer=StandardScaler(with_std=False)
    )
    theirs = GridSearchCV(centred, {"regressor__gamma": 1 / (2 * sigmas**2)}, cv=3).fit(X, y)
    found = ours.fit(X, y).cv_results_["mean_test_score"]
    np.testing.assert_allclose(found, theirs.cv_results_["mean_test_score"], rtol=1e-8)
    assert ours.best_estimator_.kernel_.sigma == ours.best_params_["kernel__sigma"]


@pytest.mark.filterwarnings("ignore::rflib.kernels.WidthWarning")
def test_searches_try_what_they_say():
    """Every kind of width and every place where a map stands."""
    widths = [0.5, "scale", "median", (1.0, 2.0, 3.0), np.array([3.0, 2.0, 1.0])]
    steps = make_pipeline(Nystroem(Gaussian(), 30, random_state=0), Ridge(0.1))
    search = GridSearchCV(steps, {"nystroem__kernel__sigma": widths}, cv=3).fit(X, y)
    for width, score in zip(widths, search.cv_results_["mean_test_score"], strict=True):
        named = make_pipeline(Nystroem(Gaussian(width), 30, random_state=0), Ridge(0.1))
        assert score == cross_val_score(named, X, y, cv=3).mean()
    assert steps[0].kernel == Gaussian()
    streaming = GridSearchCV(
        KRR(feature_map=RFF(Matern(), 64, random_state=0), alphas=0.1),
        {
            "feature_map__kernel__length_scale": [0.5, "scale"],
            "feature_map__kernel": [Matern(0.5), Matern(1.5)],
        },
        cv=3,
    ).fit(X, y)
    assert len({*streaming.cv_results_["mean_test_score"]}) == 4
    over = CRAFT(RandomMaclaurin(Polynomial()), 8, n_components_up=32, random_state=0)
    craft = GridSearchCV(make_pipeline(over, Ridge()), {"craft__base__kernel__coef0": [0.0, 1.0]}, cv=3)
    assert craft.fit(X, y).best_params_["craft__base__kernel__coef0"] in (0.0, 1.0)


def test_a_randomized_search_draws_widths():
    steps = make_pipeline(RFF(Gaussian(), 64, random_state=0), Ridge(0.1))
    space = {"rff__kernel__sigma": loguniform(0.1, 10)}
    search = RandomizedSearchCV(steps, space, n_iter=5, cv=3, random_state=0).fit(X, y)
    assert search.best_estimator_[0].kernel_.sigma == search.best_params_["rff__kernel__sigma"]
    assert search.best_score_ > 0.5
