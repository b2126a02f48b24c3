"""Rows unlike the training rows beyond the laws of all maps: kernels, containers, learners, and the rule."""

import warnings
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from rflib.kernels import Cauchy, DeltaGaussian, Gaussian, Laplacian, Matern, Polynomial
from rflib.learners import KRR
from rflib.maps import (
    CRAFT,
    GORF,
    MVORF,
    ORF,
    RFF,
    SRF,
    GegenbauerFeatures,
    HilbertSpaceFeatures,
    MercerFeatures,
    Nystroem,
    OptimizedMaclaurin,
    TaylorFeatures,
    TensorSketch,
)
from rflib.maps.unlike_rows import UsualLosses
from rflib.measures import RangeWarning

from .laws import QUICK, warned


@pytest.mark.parametrize("landmarks", ["uniform", "rpcholesky"])
def test_categories_that_were_not_seen_are_noticed(landmarks):
    """Most landmarks are equal to others, and lose nothing if one of these is left out."""
    categories = np.random.default_rng(0).integers(0, 20, 600)
    feature_map = Nystroem(Gaussian("scale"), 60, landmarks=landmarks, random_state=0)
    feature_map.fit(np.eye(30)[categories])
    assert warned(feature_map, np.eye(30)[categories // 2 + 20]) == 1


@pytest.mark.parametrize(
    ("kernel", "make"),
    [
        (DeltaGaussian(sigmas=(2, 5)), Nystroem),
        (DeltaGaussian(coefficients=(1, -0.5), sigmas=(2, 5)), MVORF),
        (DeltaGaussian(sigmas=(2, 5)), MVORF),
        (Matern(1.5, 3.0), Nystroem),
        (Laplacian(0.2), Nystroem),
        (Cauchy(0.3), Nystroem),
        (lambda A, B: np.exp(-abs(A[:, None] - B).max(axis=2)), Nystroem),
        (Gaussian((2.0, 3, 4, 5, 6)), MVORF),
        (Polynomial(5, coef0=1.0), OptimizedMaclaurin),
    ],
)
def test_kernels_of_all_kinds(kernel, make):
    """Definite and not, with a diagonal of one, of zero, unknown or not bounded."""
    rows = np.random.default_rng(6).standard_normal((500, 5))
    feature_map = make(kernel, 40, random_state=0).fit(rows[:300])
    assert not warned(feature_map, rows[300:])
    assert warned(feature_map, rows[300:] + 10) == 1


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Polynomial(2, coef0=1.0)])
def test_maps_that_represent_the_kernel_everywhere_say_nothing(kernel):
    X = np.random.default_rng(0).standard_normal((200, 5))
    makes = [TensorSketch, OptimizedMaclaurin] if isinstance(kernel, Polynomial) else [RFF, ORF]
    for make in makes:
        assert not warned(make(kernel, 60, random_state=0).fit(X), X + 30)


def test_craft_says_what_its_base_does():
    X = np.random.default_rng(0).standard_normal((200, 5))
    feature_map = CRAFT(SRF(Gaussian(3.0), measure=QUICK), 20, n_components_up=40, random_state=0).fit(X)
    assert not warned(feature_map, X)
    assert warned(feature_map, X + 30) == 1


def test_precomputed_similarities():
    rows = np.random.default_rng(0).standard_normal((300, 3))
    similarities = Gaussian(2.0)(rows[:200])
    feature_map = Nystroem("precomputed", 40, random_state=0).fit(similarities)
    assert not warned(feature_map, Gaussian(2.0)(rows[200:], rows[:200]))
    assert warned(feature_map, Gaussian(2.0)(rows[200:] + 10, rows[:200])) == 1


@pytest.mark.parametrize("container", [csr_array, lambda X: X.astype(np.float32)])
def test_sparse_rows_and_single_precision(container):
    X = np.random.default_rng(0).standard_normal((300, 6)) * (np.arange(6) < 3)
    atoms = {"measure": QUICK, "radii": "stratified"}
    for make in (OptimizedMaclaurin, Nystroem, MVORF, partial(GORF, **atoms)):
        feature_map = make(Gaussian(2.0), 60, random_state=0).fit(container(X[:200]))
        assert not warned(feature_map, container(X[200:]))
        assert warned(feature_map, container(20 * X[200:])) == 1


def test_rare_alarms_whatever_the_law_is():
    """At most one in 1,000 of 20,000 fits that transform once; 8 more are 2 standard deviations."""
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(20_000):
        losses = rng.pareto(0.5, 130)
        usual = UsualLosses.of(losses[:30], 0.0)
        alarms += bool(usual.unlike(losses[30:]))
    assert alarms < 28


def test_a_search_warns_once_and_points_here():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    X[80:] += 30
    search = GridSearchCV(
        make_pipeline(Nystroem(Gaussian(2.0), 20, random_state=0), Ridge()), {"ridge__alpha": [1, 2, 3]}, cv=3
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RangeWarning)
        search.fit(X, X[:, 0])
    assert [(warning.category, warning.filename) for warning in caught] == [(RangeWarning, __file__)]


def test_a_learner_with_blocks_and_dask_rows_warn_once():
    da = pytest.importorskip("dask.array")
    X = np.random.default_rng(0).standard_normal((300, 4))
    feature_map = Nystroem(Gaussian(2.0), 20, random_state=0).fit(X)
    learner = KRR(feature_map=FrozenEstimator(feature_map), block_size=50).fit(X, X[:, 0])
    blocks = da.from_array(X + 30, chunks=(50, 4))
    for call in (lambda: learner.predict(X + 30), feature_map.transform(blocks).compute):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RangeWarning)
            call()
        assert len(caught) == 1


@pytest.mark.parametrize("kernel", [Gaussian(0.8), DeltaGaussian((1, -1), (1.0, 10.0))])
@pytest.mark.parametrize(
    "feature_map", [MercerFeatures(), Nystroem(), Nystroem(landmarks="kmeans")], ids=repr
)
def test_few_training_rows_are_not_unlike_themselves(feature_map, kernel):
    for n in (20, 40, 100):
        for seed in range(2):
            X = 5 * normalize(np.random.default_rng(seed).standard_normal((n, 6))) + 1
            feature_map = clone(feature_map).set_params(kernel=kernel, n_components=12, random_state=seed)
            assert not warned(feature_map.fit(X), X), (n, seed)


@pytest.mark.parametrize("of", [TaylorFeatures, GegenbauerFeatures, HilbertSpaceFeatures, OptimizedMaclaurin])
def test_features_that_keep_nothing_of_the_training_rows_are_told(of):
    """Groups of rows too far apart for one series: all features are zero, and so all kernel values were."""
    X = np.random.default_rng(0).standard_normal((100, 3))
    X[:60] += 1000
    with pytest.warns(RangeWarning, match=f"{of.__name__}: of most training rows the features keep") as found:
        of(Gaussian(2.0), 20).fit(X)
    assert found[0].filename == __file__
