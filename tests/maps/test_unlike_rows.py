"""Rows unlike the training rows are noticed by every map, and rows of the same law are not.

The rule has a false-alarm rate of less than one in 1,000 transforms, whatever the law of the rows is.
"""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import betabinom
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize, scale

from rflib.kernels import Cauchy, DeltaGaussian, Gaussian, Laplacian, Matern, Polynomial
from rflib.learners import KRR
from rflib.maps import (
    CRAFT,
    GORF,
    MVORF,
    ORF,
    RFF,
    SRF,
    AutoMap,
    GegenbauerFeatures,
    HilbertSpaceFeatures,
    MercerFeatures,
    Nystroem,
    OptimizedMaclaurin,
    QuadratureFeatures,
    TaylorFeatures,
    TensorSketch,
)
from rflib.maps.unlike_rows import UsualLosses, _chance
from rflib.measures import RangeWarning

QUICK = {"type": "minimum_variance", "deltas": (1e-2,)}
MAPS = {
    "MVORF": MVORF(n_components=60, random_state=0),
    "GORF atoms": GORF(n_components=60, measure=QUICK, radii="stratified", random_state=0),
    "OptimizedMaclaurin": OptimizedMaclaurin(n_components=60, random_state=0),
    "MercerFeatures": MercerFeatures(n_components=60, random_state=0),
    "TaylorFeatures": TaylorFeatures(n_components=60, random_state=0),
    "HilbertSpaceFeatures": HilbertSpaceFeatures(n_components=60, random_state=0),
    "GegenbauerFeatures": GegenbauerFeatures(n_components=60, random_state=0),
    "QuadratureFeatures": QuadratureFeatures(n_components=60, random_state=0),
    "Nystroem": Nystroem(n_components=60, random_state=0),
    "Nystroem kmeans": Nystroem(n_components=60, landmarks="kmeans", random_state=0),
    "Nystroem rpcholesky": Nystroem(n_components=60, landmarks="rpcholesky", random_state=0),
    "AutoMap": AutoMap(n_components=60, candidates=["OptimizedMaclaurin", "Nystroem"], random_state=0),
}
LAWS = {
    "normal": lambda rng: rng.standard_normal((400, 5)),
    "heavy tails": lambda rng: rng.standard_t(2, (400, 5)),
    "few rows": lambda rng: rng.standard_normal((60, 5)),
    "more columns than rows": lambda rng: rng.standard_normal((100, 150)),
    "a cap": lambda rng: normalize(0.2 * rng.standard_normal((400, 6)) + np.eye(6)[0]),
    "single precision": lambda rng: rng.standard_normal((400, 5)).astype(np.float32),
    "rare categories": lambda rng: np.eye(60)[np.minimum(rng.zipf(1.5, 600), 60) - 1],
    "iris": lambda rng: rng.permutation(load_iris().data),
    "wine": lambda rng: rng.permutation(scale(load_wine().data)),
    "breast cancer": lambda rng: rng.permutation(scale(load_breast_cancer().data)),
    "digits": lambda rng: rng.permutation(scale(load_digits().data))[:600],
}


def count(feature_map, X):
    """Return how many warnings a transform issues."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RangeWarning)
        feature_map.transform(X)
    return len(caught)


def fitted(name, X, kernel=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # fewer rows than landmarks
        return clone(MAPS[name]).set_params(kernel=kernel or Gaussian("scale")).fit(X)


@pytest.mark.parametrize(
    "law",
    [pytest.param(n, marks=pytest.mark.nightly) if n in ("digits", "single precision") else n for n in LAWS],
)
@pytest.mark.parametrize("name", sorted(set(MAPS) - {"AutoMap"}))
def test_rows_of_the_same_law_are_not_noticed(name, law):
    train, test = np.array_split(LAWS[law](np.random.default_rng(7)), 2)
    feature_map = fitted(name, train)
    for rows in (train, test, test[::2], test[:9], *np.split(test[:5], 5)):
        assert not count(feature_map, rows)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("law", ["normal", "few rows", "single precision", "wine"])
def test_rows_of_another_law_are_noticed_once(name, law):
    train, test = np.array_split(LAWS[law](np.random.default_rng(8)), 2)
    feature_map, test = fitted(name, train), test[:100]
    deviation = train.std(axis=0)
    for rows in (test + 10 * deviation, 4 * test, (test + 10 * deviation)[:7]):
        assert count(feature_map, rows) == 1
    restored = clone(feature_map).restore(feature_map.state())
    assert count(restored, test + 10 * deviation) == 1
    assert not count(restored, test)


@pytest.mark.parametrize("name", sorted(set(MAPS) - {"GORF atoms", "QuadratureFeatures", "TaylorFeatures"}))
@pytest.mark.parametrize("axis", [0, 1])
def test_another_cap_of_the_sphere_is_noticed(name, axis):
    """Atoms and quadrature have the whole sphere as their range; monomials have antipodes."""
    rng = np.random.default_rng(3)
    around = normalize(0.2 * rng.standard_normal((200, 6)) + np.eye(6)[0])
    other = normalize(0.2 * rng.standard_normal((100, 6)) + (np.eye(6)[1] if axis else -np.eye(6)[0]))
    assert count(fitted(name, around, Gaussian(0.5)), other) == 1


@pytest.mark.parametrize("name", MAPS)
def test_a_cluster_that_was_not_seen_is_noticed(name):
    """MVORF and quadrature have a ball around the two that were seen as their range."""
    rng = np.random.default_rng(4)
    clusters = [centre + rng.standard_normal((150, 4)) for centre in np.diag([12, 12, 12, 36])]
    feature_map = fitted(name, np.concatenate(clusters[:2]), Gaussian(2.0))
    assert count(feature_map, clusters[3]) == 1
    if not isinstance(feature_map, MVORF | GORF | QuadratureFeatures):
        assert count(feature_map, clusters[2]) == 1


@pytest.mark.parametrize("name", ["Nystroem", "Nystroem rpcholesky"])
def test_categories_that_were_not_seen_are_noticed(name):
    """Most landmarks are equal to others, and lose nothing if one of these is left out."""
    categories = np.random.default_rng(0).integers(0, 20, 600)
    assert count(fitted(name, np.eye(30)[categories]), np.eye(30)[categories // 2 + 20]) == 1


@pytest.mark.parametrize("name", MAPS)
def test_one_strange_row_in_twenty_is_noticed_and_one_alone_is_not(name):
    """More than about one in a hundred, of training rows of this number."""
    rows = np.random.default_rng(5).standard_normal((1200, 5))
    feature_map, rows[1190:] = fitted(name, rows[:1000]), 30.0
    assert count(feature_map, rows[1000:]) == 1
    assert not count(feature_map, rows[990:1191])


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
    assert not count(feature_map, rows[300:])
    assert count(feature_map, rows[300:] + 10) == 1


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Polynomial(2, coef0=1.0)])
def test_maps_that_represent_the_kernel_everywhere_say_nothing(kernel):
    X = np.random.default_rng(0).standard_normal((200, 5))
    makes = [TensorSketch, OptimizedMaclaurin] if isinstance(kernel, Polynomial) else [RFF, ORF]
    for make in makes:
        assert not count(make(kernel, 60, random_state=0).fit(X), X + 30)


def test_craft_says_what_its_base_does():
    X = np.random.default_rng(0).standard_normal((200, 5))
    feature_map = CRAFT(SRF(Gaussian(3.0), measure=QUICK), 20, n_components_up=40, random_state=0).fit(X)
    assert not count(feature_map, X)
    assert count(feature_map, X + 30) == 1


def test_precomputed_similarities():
    rows = np.random.default_rng(0).standard_normal((300, 3))
    similarities = Gaussian(2.0)(rows[:200])
    feature_map = Nystroem("precomputed", 40, random_state=0).fit(similarities)
    assert not count(feature_map, Gaussian(2.0)(rows[200:], rows[:200]))
    assert count(feature_map, Gaussian(2.0)(rows[200:] + 10, rows[:200])) == 1


@pytest.mark.parametrize("container", [csr_array, lambda X: X.astype(np.float32)])
def test_sparse_rows_and_single_precision(container):
    X = np.random.default_rng(0).standard_normal((300, 6)) * (np.arange(6) < 3)
    for name in ("OptimizedMaclaurin", "Nystroem", "MVORF", "GORF atoms"):
        feature_map = fitted(name, container(X[:200]), Gaussian(2.0))
        assert not count(feature_map, container(X[200:]))
        assert count(feature_map, container(20 * X[200:])) == 1


@pytest.mark.parametrize("beyond", [0, 2, 9])
def test_the_law_of_the_number_of_rows(beyond):
    """That of a binomial number whose probability is a beta variable."""
    for n, m in ((1, 20), (7, 300), (200, 100), (1000, 250)):
        law = betabinom(n, beyond + 1, m - beyond)
        for number in {1, min(2, n), n // 20 + 1, n}:
            assert _chance(number, n, beyond, m) == pytest.approx(law.sf(number - 1), rel=1e-6, abs=1e-9)


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


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_fewer_than_twenty_rows_say_nothing():
    X = np.random.default_rng(0).standard_normal((15, 3))
    for name in MAPS:
        assert not count(fitted(name, X), X + 50)


@pytest.mark.parametrize("kernel", [Gaussian(0.8), DeltaGaussian((1, -1), (1.0, 10.0))])
@pytest.mark.parametrize("name", ["MercerFeatures", "Nystroem", "Nystroem kmeans"])
def test_few_training_rows_are_not_unlike_themselves(name, kernel):
    for n in (20, 40, 100):
        for seed in range(4):
            X = 5 * normalize(np.random.default_rng(seed).standard_normal((n, 6))) + 1
            feature_map = clone(MAPS[name]).set_params(kernel=kernel, n_components=12, random_state=seed)
            assert not count(feature_map.fit(X), X), (n, seed)


@pytest.mark.parametrize("of", [TaylorFeatures, GegenbauerFeatures, HilbertSpaceFeatures, OptimizedMaclaurin])
def test_features_that_keep_nothing_of_the_training_rows_are_told(of):
    """Groups of rows too far apart for one series: all features are zero, and so all kernel values were."""
    X = np.random.default_rng(0).standard_normal((100, 3))
    X[:60] += 1000
    with pytest.warns(RangeWarning, match=f"{of.__name__}: of most training rows the features keep") as found:
        of(Gaussian(2.0), 20).fit(X)
    assert found[0].filename == __file__
