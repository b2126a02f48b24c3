"""Signed features: where learners find the signs, and which columns they use."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from rflib.kernels import DeltaGaussian
from rflib.learners import (
    KRR,
    DoublyStochasticRegressor,
    HardMarginSVM,
    KRRClassifier,
    LinearSVM,
    LinearSVR,
)
from rflib.learners.signed_features import signed_columns
from rflib.maps import GORF, Nystroem

Z = np.arange(12.0).reshape(3, 4)
GORF_MAP = GORF(DeltaGaussian(), n_components=32, random_state=0)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    return X, np.sin(3 * X[:, 0]) + X[:, 1]


def test_columns():
    np.testing.assert_array_equal(signed_columns(Z, [1, -1, 1, -1], "positive"), Z[:, [0, 2]])
    assert signed_columns(Z, [1, -1, 1, -1], "associated") is Z
    assert signed_columns(Z, [1, 1, 1, 1], "positive") is Z


@pytest.mark.parametrize(
    ("signature", "how", "message"),
    [
        ([1, 1, 1], "positive", "one entry for each of the 4"),
        ([1, 1, 1, 2], "positive", r"\+1 and -1 only"),
        ([1, 1, 1, np.nan], "positive", r"\+1 and -1 only"),
        (["a"] * 4, "positive", r"\+1 and -1 only"),
        ([-1] * 4, "positive", "leaves no column"),
        ([1] * 4, "krein", "KRR only"),
        ([1] * 4, "negative", "must be one of"),
    ],
)
def test_bad_input(signature, how, message):
    with pytest.raises(ValueError, match=message):
        signed_columns(Z, signature, how)


@pytest.mark.parametrize("signed", ["associated", "positive", "krein"])
@pytest.mark.parametrize(
    "steps",
    [
        lambda: make_pipeline(Normalizer(), GORF_MAP),
        lambda: make_pipeline(Normalizer(), make_pipeline("passthrough", GORF_MAP), "passthrough"),
    ],
    ids=["pipeline", "nested"],
)
def test_a_pipeline_has_the_signs_of_its_last_step(rows, signed, steps):
    X, y = rows
    unit = Normalizer().fit_transform(X)
    by_hand = KRR(feature_map=GORF_MAP, alphas=1e-3, signed=signed).fit(unit, y)
    piped = KRR(feature_map=steps(), alphas=1e-3, signed=signed).fit(X, y)
    np.testing.assert_array_equal(piped.predict(X), by_hand.predict(unit))
    if signed != "associated":
        assert (piped.signature_ < 0).any()
        plain = KRR(feature_map=steps(), alphas=1e-3).fit(X, y)
        assert np.abs(piped.predict(X) - plain.predict(X)).max() > 0.01


@pytest.mark.parametrize("signed", ["positive", "krein"])
@pytest.mark.parametrize(
    "feature_map",
    [
        FeatureUnion([("map", GORF_MAP)]),
        ColumnTransformer([("map", GORF_MAP, [0, 1])]),
        make_pipeline(GORF_MAP, StandardScaler()),
        make_pipeline("passthrough"),
        RBFSampler(n_components=8, random_state=0),
    ],
    ids=["union", "columns", "scaled afterwards", "no step", "no signs"],
)
def test_maps_that_do_not_tell_their_signs_are_refused(rows, signed, feature_map):
    X, y = rows
    with pytest.raises(
        ValueError, match=r"^KRR: signed='\w+' needs the signs .* has no signature_ .* last step"
    ):
        KRR(feature_map=feature_map, signed=signed).fit(X, y)
    assert (KRR(feature_map=feature_map).fit(X, y).signature_ == 1).all()


LEARNERS_ON_FEATURES = [KRR(), KRRClassifier(), LinearSVM(), LinearSVR(), HardMarginSVM()]


@pytest.mark.parametrize("signed", ["positive", "krein"])
@pytest.mark.parametrize("learner", LEARNERS_ON_FEATURES, ids=repr)
def test_the_last_step_of_a_pipeline_does_not_guess_the_signs(rows, learner, signed):
    X, y = rows
    name = type(learner).__name__
    piped = make_pipeline(GORF_MAP, type(learner)(signed=signed))
    if signed == "krein" and not name.startswith("KRR"):
        message = f"^{name}: signed must be 'associated' or 'positive' .*not convex; only KRR has 'krein'"
    else:
        or_map = "" if name == "HardMarginSVM" else rf" or {name}\(feature_map=map\)"
        message = rf"^{name}: .*Use {name}\(signature=map.signature_\){or_map}, or signed='associated' if"
    with pytest.raises(ValueError, match=message):
        piped.fit(X, y > 0)


@pytest.mark.parametrize("learner", LEARNERS_ON_FEATURES, ids=repr)
def test_positive_means_the_same_for_all_learners(rows, learner):
    X, y = rows
    many = GORF(DeltaGaussian(sigmas=(0.3, 2)), n_components=256, random_state=0).fit(X)
    features, signs = many.transform(X), many.signature_
    y = y > 0 if "R" not in type(learner).__name__.replace("KRR", "") else y
    own = type(learner)(signed="positive", signature=signs).fit(features, y)
    alone = type(learner)().fit(features[:, signs > 0], y)
    np.testing.assert_allclose(own.predict(features), alone.predict(features[:, signs > 0]), atol=1e-9)
    np.testing.assert_allclose(np.atleast_2d(own.coef_)[:, signs > 0], np.atleast_2d(alone.coef_), atol=1e-9)
    assert not np.atleast_2d(own.coef_)[:, signs < 0].any()
    np.testing.assert_array_equal(own.signature_, signs)
    everything = type(learner)(signature=signs).fit(features, y)
    np.testing.assert_array_equal(everything.coef_, type(learner)().fit(features, y).coef_)
    with pytest.raises(ValueError, match=f"^{type(learner).__name__}: signature must have one entry"):
        type(learner)(signature=[1, -1]).fit(features, y)


def test_blocks_with_different_signs(rows):
    """The signs of Nystroem's columns follow from the landmarks, so that blocks differ in their +1 columns."""
    X, y = rows
    drawn = Nystroem(DeltaGaussian(sigmas=(0.3, 2)), n_components=12)
    counts = {(drawn.set_params(random_state=i).fit(X).signature_ > 0).sum() for i in range(5)}
    assert len(counts) > 1
    learner = DoublyStochasticRegressor(drawn, n_blocks=5, batch_size=20, step_size=0.1, signed="positive")
    assert np.isfinite(learner.fit(X, y).predict(X)).all()
    assert learner.coefs_.shape == (5, 12, 1)


def test_blocks_without_signs_are_refused(rows):
    learner = DoublyStochasticRegressor(RBFSampler(n_components=8), n_blocks=2, signed="positive")
    with pytest.raises(ValueError, match="needs the signs"):
        learner.fit(*rows)
