"""KRR's standard deviations, draws and marginal likelihood: exact against a Gaussian process, and calibrated."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel
from sklearn.kernel_approximation import RBFSampler
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from rflib.kernels import DeltaGaussian, Gaussian
from rflib.learners import KRR, KRRClassifier
from rflib.maps import CRAFT, MVORF, ORF, RFF, MercerFeatures, Nystroem, OptimizedMaclaurin

FINE = tuple(np.logspace(-5, 0, 11))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(80) + 5
    return X[:60], y[:60], X[60:]


def gaussian_process(kernel, krr, n):
    """The Gaussian process of a fitted KRR whose features have this kernel, hyperparameters fixed."""
    scale = krr.noise_variance_ / (krr.alpha_ * n)
    return GaussianProcessRegressor(
        ConstantKernel(scale) * kernel + WhiteKernel(krr.noise_variance_), optimizer=None
    )


@pytest.mark.parametrize("block_size", [7, 4096])
def test_with_a_linear_kernel_it_is_the_gaussian_process(data, block_size):
    X, y, new = data
    krr = KRR(alphas=1e-2, block_size=block_size).fit(X, y)
    gp = gaussian_process(DotProduct(sigma_0=0, sigma_0_bounds="fixed"), krr, len(X)).fit(X, y - y.mean())
    mean, std = gp.predict(new, return_std=True)
    found = krr.predict(new, return_std=True)
    np.testing.assert_allclose(found[0], mean + y.mean(), rtol=1e-10)
    np.testing.assert_allclose(found[1], std, rtol=1e-8)
    np.testing.assert_array_equal(found[0], krr.predict(new))
    mean_again, covariance = krr.predict(new, return_cov=True)
    np.testing.assert_array_equal(mean_again, found[0])
    np.testing.assert_allclose(covariance, gp.predict(new, return_cov=True)[1], rtol=1e-8, atol=1e-12)
    with pytest.raises(ValueError, match="KRR: give return_std or return_cov, not both"):
        krr.predict(new, return_std=True, return_cov=True)
    assert krr.log_marginal_likelihood_ == pytest.approx(gp.log_marginal_likelihood_value_, rel=1e-10)


def test_with_more_features_it_comes_as_near_to_the_gaussian_process_as_the_kernel_does(data):
    """The error of the kernel falls with the root of D, four times from 100 to 1,600.

    That of the mean does so too. That of std has a part of the order 1/D, which falls 16 times.
    """
    X, y, new = data
    errors = {}
    for D in (100, 1600):
        found = []
        for seed in range(4):
            krr = KRR(feature_map=ORF(Gaussian(1.0), D, random_state=seed), alphas=1e-2).fit(X, y)
            gp = gaussian_process(RBF(1.0), krr, len(X)).fit(X, y - y.mean())
            mean, std = gp.predict(new, return_std=True)
            ours = krr.predict(new, return_std=True)
            found.append([ours[0] - mean - y.mean(), ours[1] - std])
        errors[D] = np.sqrt(np.mean(np.square(found), axis=(0, 2)))
    assert np.all(errors[1600] < [0.06, 0.005])
    falls = errors[100] / errors[1600]
    assert np.all((falls > 2) & (falls < [8, 32]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_intervals_cover_new_targets_as_often_as_they_say(dtype):
    """4,000 functions drawn from the model, a new row each, so that the hits of an interval are binomial.

    Four standard deviations for each of three levels: false alarms in 2 of 10,000 runs; 1 of 10,000 for the ranks.
    """
    rng = np.random.default_rng(0)
    n, D, functions, noise, c = 400, 30, 4000, 0.3, 4.0
    Z, new = rng.standard_normal((n, D)), rng.standard_normal((functions, D))
    weights = noise / np.sqrt(c) * rng.standard_normal((D, functions))
    Y = Z @ weights + noise * rng.standard_normal((n, functions))
    y_new = np.einsum("td,dt->t", new, weights) + noise * rng.standard_normal(functions)
    krr = KRR(alphas=(0.1, 1, c, 40, 400), ridge="lambda", criterion="marginal_likelihood")
    krr.fit(Z.astype(dtype), Y)
    assert krr.alpha_ == c
    np.testing.assert_allclose(krr.noise_variance_.mean(), noise**2, rtol=0.03)
    mean, std = krr.predict(new.astype(dtype), return_std=True)
    scores = (y_new - np.diagonal(mean)) / np.diagonal(std)
    for level in (0.5, 0.9, 0.95):
        hits = np.sum(np.abs(scores) < stats.norm.ppf((1 + level) / 2))
        assert abs(hits - level * functions) < 4 * np.sqrt(functions * level * (1 - level))
    assert stats.kstest(scores, "norm").pvalue > 1e-4


def test_intervals_cover_where_ridge_and_noise_come_from_one_function():
    """300 functions with a Gaussian kernel by another map, everything estimated: four standard deviations."""
    hits, drawn = 0, 300
    for seed in range(drawn):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-2, 2, (151, 2))
        true = RFF(Gaussian(1.0), 1000, random_state=seed).fit(X).transform(X)
        y = 3 + true @ rng.standard_normal(1000) + 0.2 * rng.standard_normal(151)
        krr = KRR(
            feature_map=ORF(Gaussian(1.0), 100, random_state=1), alphas=FINE, criterion="marginal_likelihood"
        )
        mean, std = krr.fit(X[1:], y[1:]).predict(X[:1], return_std=True)
        hits += abs(y[0] - mean[0]) < 1.96 * std[0]
    assert abs(hits - 0.95 * drawn) < 4 * np.sqrt(drawn * 0.95 * 0.05)


def test_marginal_likelihoods_are_densities_and_choose_the_ridge(data):
    X, y, _ = data
    Y = np.column_stack([y, X[:, 2] + 0.1 * y])
    krr = KRR(
        feature_map=RFF(Gaussian(1.0), 40, random_state=0), alphas=FINE, criterion="marginal_likelihood"
    )
    krr.fit(X, Y)
    Z = krr.feature_map_.transform(X)
    expected = np.zeros(len(FINE))
    for i, alpha in enumerate(FINE):
        shape = np.eye(len(X)) + Z @ Z.T / (alpha * len(X))
        for target in (Y - Y.mean(axis=0)).T:
            noise = target @ np.linalg.solve(shape, target) / len(X)
            expected[i] += stats.multivariate_normal(cov=noise * shape, allow_singular=True).logpdf(target)
    np.testing.assert_allclose(krr.log_marginal_likelihoods_, expected, rtol=1e-8)
    assert krr.alpha_ == FINE[np.argmax(expected)]
    assert krr.log_marginal_likelihood_ == pytest.approx(expected.max())
    assert krr.noise_variance_.shape == (2,)
    assert not hasattr(krr, "cv_errors_")
    labels = KRRClassifier(alphas=FINE, criterion="marginal_likelihood").fit(X, y > 5)
    assert labels.alpha_ == FINE[np.argmax(labels.log_marginal_likelihoods_)]


def test_the_width_by_marginal_likelihood_is_the_gaussian_process_s():
    """As the guide has it: a grid search with one fold, all rows, and the marginal likelihood as the score."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-2, 2, (150, 2))
    y = np.sin(3 * X[:, 0]) + np.cos(2 * X[:, 1]) + 0.1 * rng.standard_normal(150)
    widths = [0.1, 0.25, 0.5, 1.0, 2.0, 5.0]
    search = GridSearchCV(
        KRR(
            feature_map=RBFSampler(n_components=500, random_state=0),
            alphas=FINE,
            criterion="marginal_likelihood",
        ),
        {"feature_map__gamma": [1 / (2 * width**2) for width in widths]},
        scoring=lambda learner, X, y: learner.log_marginal_likelihood_,
        cv=[(np.arange(150), np.arange(150))],
    ).fit(X, y)
    exact = []
    for width in widths:
        fit = clone(search.best_estimator_).set_params(feature_map__gamma=1 / (2 * width**2)).fit(X, y)
        gp = gaussian_process(RBF(width), fit, len(X)).fit(X, y - y.mean())
        exact.append(gp.log_marginal_likelihood_value_)
    assert search.best_index_ == np.argmax(exact)
    assert 0 < search.best_index_ < len(widths) - 1


@pytest.mark.parametrize("targets", [1, 2])
def test_draws_have_the_mean_and_covariance_of_the_posterior(data, targets):
    X, y, new = data
    Y = y if targets == 1 else np.column_stack([y, X[:, 2]])
    krr = KRR(alphas=1e-2, feature_map=RFF(Gaussian(1.0), 40, random_state=0), block_size=3).fit(X, Y)
    mean, std = (a.reshape(len(new), -1) for a in krr.predict(new, return_std=True))
    Z = krr.feature_map_.transform(X), krr.feature_map_.transform(new)
    noise = np.atleast_1d(krr.noise_variance_)
    unit = Z[1] @ np.linalg.solve(Z[0].T @ Z[0] + 0.01 * len(X) * np.eye(40), Z[1].T)
    draws = 20_000
    functions = krr.sample_y(new, draws, random_state=0, noise=False)
    assert functions.shape == ((len(new), draws) if targets == 1 else (len(new), targets, draws))
    functions = functions.reshape(len(new), targets, draws)
    for t in range(targets):
        covariance = noise[t] * unit
        spread = np.sqrt((np.outer(np.diag(covariance), np.diag(covariance)) + covariance**2) / draws)
        assert np.all(np.abs(np.cov(functions[:, t]) - covariance) < 6 * spread)
        assert np.all(
            np.abs(functions[:, t].mean(axis=1) - mean[:, t]) < 6 * np.sqrt(np.diag(covariance) / draws)
        )
        np.testing.assert_allclose(np.sqrt(np.diag(covariance) + noise[t]), std[:, t], rtol=1e-7)
        ours = krr.predict(new, return_cov=True)[1].reshape(len(new), len(new), targets)[..., t]
        np.testing.assert_allclose(ours, covariance + noise[t] * np.eye(len(new)), rtol=1e-7, atol=1e-12)
    noisy = krr.sample_y(new, draws, random_state=0).reshape(len(new), targets, draws)
    np.testing.assert_allclose(noisy.std(axis=2), std, rtol=6 / np.sqrt(2 * draws))
    np.testing.assert_array_equal(krr.sample_y(new, 2, random_state=1), krr.sample_y(new, 2, random_state=1))


def test_positive_columns_have_a_posterior_and_krein_has_none(data):
    X, y, new = data
    signs = np.array([1, -1, 1])
    positive = KRR(alphas=1e-2, signature=signs, signed="positive").fit(X, y).predict(new, return_std=True)
    alone = KRR(alphas=1e-2).fit(X[:, signs > 0], y).predict(new[:, signs > 0], return_std=True)
    np.testing.assert_allclose(positive, alone, rtol=1e-10)
    krein = KRR(alphas=2.0, signature=signs, signed="krein").fit(X, y)
    assert not hasattr(krein, "noise_variance_")
    for ask in (lambda: krein.predict(new, return_std=True), lambda: krein.sample_y(new)):
        with pytest.raises(ValueError, match="signed='krein' is no covariance"):
            ask()
    with pytest.raises(ValueError, match="has no marginal likelihood"):
        krein.set_params(criterion="marginal_likelihood").fit(X, y)


def test_a_stream_has_the_same_posterior(data):
    X, y, new = data
    krr = KRR(alphas=FINE, criterion="marginal_likelihood")
    whole = clone(krr).fit(X, y)
    krr.partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    np.testing.assert_allclose(
        krr.predict(new, return_std=True), whole.predict(new, return_std=True), rtol=1e-8
    )
    assert krr.log_marginal_likelihood_ == pytest.approx(whole.log_marginal_likelihood_, rel=1e-9)
    before = krr.predict(new, return_std=True)[1]
    assert np.all(krr.partial_fit(X, y).predict(new, return_std=True)[1] != before)


@pytest.mark.filterwarnings("ignore::rflib.measures.RangeWarning")
@pytest.mark.parametrize("make", [MercerFeatures, Nystroem, OptimizedMaclaurin, MVORF])
def test_maps_that_fade_get_back_what_they_lack(make):
    """Far from all rows the standard deviation is that of the exact kernel's prior, and near them that of its
    Gaussian process: within 3 and 15 %, where without the missing part it is 95 % too small far out."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (400, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(400)
    near, far = rng.uniform(-2, 2, (50, 3)), X[:20] + 30
    krr = KRR(feature_map=make(Gaussian(1.0), 300, random_state=0), alphas=1e-3, block_size=30).fit(X, y)
    gp = gaussian_process(RBF(1.0), krr, len(X)).fit(X, y - y.mean())
    ours, exact = (
        [learner.predict(rows, return_std=True)[1] for rows in (near, far)] for learner in (krr, gp)
    )
    np.testing.assert_allclose(ours[0], exact[0], rtol=0.15)
    np.testing.assert_allclose(ours[1], exact[1], rtol=0.15 if make is MVORF else 1e-6)
    assert np.sqrt(np.mean((ours[0] / exact[0] - 1) ** 2)) < 0.04
    both = np.vstack([near, far])
    np.testing.assert_allclose(
        np.diagonal(krr.predict(both, return_cov=True)[1]), np.concatenate(ours) ** 2, rtol=1e-9
    )
    for noise in (True, False):
        draws = krr.sample_y(both, 4000, noise=noise)
        variances = np.concatenate(ours) ** 2 - (0 if noise else krr.noise_variance_)
        np.testing.assert_allclose(draws.std(axis=1), np.sqrt(variances), rtol=6 / np.sqrt(8000))


@pytest.mark.filterwarnings("ignore::rflib.measures.RangeWarning")
def test_what_is_missing_is_known_in_pipelines_for_restored_maps_and_in_single_precision():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 2))
    new = np.vstack([X[:5] + 0.3, X[:5] + 20])
    fitted = Nystroem(Gaussian(1.0), 40, random_state=0).fit(X)
    expected = KRR(feature_map=fitted, alphas=1e-3).fit(X, X[:, 0]).predict(new, return_std=True)[1]
    similar = Nystroem(lambda A, B: Gaussian(1.0)(A, B), 40, random_state=0).fit(X)
    restored = FrozenEstimator(Nystroem(Gaussian(1.0), 40).restore(fitted.state()))
    scaled = make_pipeline(FunctionTransformer(lambda rows: rows / 2), restored, "passthrough")
    for feature_map, unit in ((restored, 1), (similar, 1), (make_pipeline(restored), 1), (scaled, 2)):
        krr = KRR(feature_map=feature_map, alphas=1e-3).fit(unit * X, X[:, 0])
        np.testing.assert_allclose(krr.predict(unit * new, return_std=True)[1], expected, rtol=1e-7)
    single = KRR(feature_map=fitted, alphas=1e-3, gram_dtype="float64").fit(X.astype(np.float32), X[:, 0])
    found = single.predict(new.astype(np.float32), return_std=True)[1]
    np.testing.assert_allclose(found, expected, rtol=2e-2)


def test_what_a_projection_of_landmarks_misses_is_known_when_it_is_restored():
    X = np.random.default_rng(1).standard_normal((100, 2))
    feature_map = CRAFT(Nystroem(Gaussian(1.0)), 20, n_components_up=40, random_state=0)
    restored = clone(feature_map).restore(feature_map.fit(X).state())
    found, expected = (
        KRR(feature_map=FrozenEstimator(each), alphas=1e-3).fit(X, X[:, 0]).predict(X, return_std=True)[1]
        for each in (restored, feature_map)
    )
    np.testing.assert_array_equal(found, expected)


def test_nothing_is_added_where_features_have_both_signs(data):
    """The features are those of k_+ + k_-, whose diagonal is not known."""
    X, y, new = data
    feature_map = MercerFeatures(DeltaGaussian((1, -0.5), (1, 3)), 60, random_state=0)
    krr = KRR(feature_map=feature_map, alphas=1e-2).fit(X, y)
    assert (krr.signature_ < 0).any()
    alone = KRR(alphas=1e-2).fit(krr.feature_map_.transform(X), y)
    np.testing.assert_allclose(
        krr.predict(new, return_std=True)[1],
        alone.predict(krr.feature_map_.transform(new), return_std=True)[1],
    )
