"""Feature maps of arrays of other libraries: the features of numpy, and no rows or features on the host."""

import numpy as np
import pytest
from sklearn import config_context

import tests.maps.test_laws  # noqa: F401, whose classes declare the maps
from rflib.kernels import DeltaGaussian, Gaussian, Polynomial, SphericalPolynomial
from rflib.kernels.namespaces import to_numpy
from rflib.maps import (
    GRFF,
    MVORF,
    RFF,
    SORF,
    SRF,
    GegenbauerFeatures,
    MercerFeatures,
    Nystroem,
    OptimizedMaclaurin,
    PolySketch,
    RandomMaclaurin,
    TensorSketch,
)
from tests.maps.laws import MapLaws

CUBIC, SPHERICAL, DELTA = Polynomial(3, 0.2, 1.0), SphericalPolynomial(4.0, 6), DeltaGaussian(width=2.0)
WIDE, EACH = Gaussian(2.0), Gaussian((1.0, 2.0, 3.0, 1.0, 2.0))
MAPS = [
    *(laws().of(case, 41) for laws in MapLaws.__subclasses__() for case in laws.general),
    MVORF(Gaussian(0.3), 200),  # eigenfunctions and waves
    *(make(SPHERICAL, 40) for make in (GRFF, MVORF, SRF, TensorSketch, GegenbauerFeatures)),
    PolySketch(Polynomial(1), 4),
    MercerFeatures(EACH, 40),
    MercerFeatures(SPHERICAL, 40, axes="input"),
    *(make(DELTA, 30) for make in (MercerFeatures, Nystroem)),
    Nystroem("precomputed", 30),
    OptimizedMaclaurin(EACH, 77, complex_to_real=False, exact_degrees=0),
]
ONLY_COLUMNS = [
    m for m in MAPS if not m._needs_rows and m.kernel not in (Gaussian("median"), Gaussian("scale"))
]
ROUNDING = {"float64": 1e-9, "float32": 1e-4}
N_ROWS = 60


def rows_for(feature_map) -> np.ndarray:
    X = np.random.default_rng(0).standard_normal((N_ROWS, 5)) + 0.5
    if feature_map.kernel == SPHERICAL:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    if isinstance(feature_map.kernel, str):
        X = WIDE(X)
    return X


def fitted(feature_map, X):
    return feature_map.set_params(random_state=0).fit(X, np.arange(N_ROWS) % 2)


def short(feature_map) -> str:
    return " ".join(repr(feature_map).split())


@pytest.mark.parametrize("feature_map", MAPS, ids=short)
def test_features_equal_those_of_numpy(feature_map, home, stays_there):
    X = rows_for(feature_map)
    fitted(feature_map, X)
    for dtype in home.dtypes:
        X_there = home.array(X, dtype)
        with stays_there():
            Z = feature_map.transform(X_there)
            K = feature_map.kernel_matrix(X_there, X_there)
        for found, known in ((Z, feature_map.transform(X)), (K, feature_map.kernel_matrix(X))):
            assert home.holds(found) and found.dtype == X_there.dtype
            np.testing.assert_allclose(to_numpy(found), known, atol=ROUNDING[dtype] * np.abs(known).max())


@pytest.mark.parametrize("feature_map", MAPS, ids=short)
def test_maps_draw_what_they_draw_from_rows_of_numpy(feature_map, home, stays_there):
    """Those that need only the number of columns copy no rows."""
    X = rows_for(feature_map).astype(np.float32)
    known = fitted(feature_map, X).state()
    with stays_there(1 if feature_map in ONLY_COLUMNS else X.size):
        found = fitted(feature_map, home.array(X)).state()
    for name, array in known.items():
        assert isinstance(found[name], np.ndarray)
        if not name.endswith(".seconds"):
            np.testing.assert_array_equal(found[name], array, err_msg=name)


def test_of_many_rows_a_sample_is_copied(home, stays_there):
    X = np.random.default_rng(0).standard_normal((20_000, 2)).astype(np.float32)
    with stays_there(2 * 10_000):
        found = Nystroem(n_components=5, random_state=0).fit(home.array(X))
    places = {row.tobytes() for row in X}
    assert all(row.astype(np.float32).tobytes() in places for row in found.landmarks_)


def test_wide_rows(home):
    X = np.random.default_rng(0).standard_normal((20, 2100)) / 45
    for feature_map in (SORF(n_components=501), TensorSketch(CUBIC, 500), OptimizedMaclaurin(CUBIC, 30)):
        known = feature_map.set_params(random_state=0).fit(X).transform(X)
        found = feature_map.transform(home.array(X, "float32"))
        np.testing.assert_allclose(to_numpy(found), known, atol=1e-4 * np.abs(known).max())


def test_many_rows_in_blocks(home, monkeypatch):
    monkeypatch.setattr("rflib.maps.row_blocks._ON_A_DEVICE", 1)
    monkeypatch.setattr("rflib.maps.cosine_features._BLOCK", 100)
    for feature_map in (RFF(WIDE, 40), MVORF(Gaussian(0.8), 200)):
        X = rows_for(feature_map)
        known = fitted(feature_map, X).transform(X)
        np.testing.assert_allclose(
            to_numpy(feature_map.transform(home.array(X, "float32"))), known, atol=1e-4
        )


def test_features_that_overflow_are_refused(home):
    feature_map = fitted(RandomMaclaurin(CUBIC, 40), np.eye(N_ROWS, 5))
    with pytest.raises(ValueError, match="NaN or infinity"):
        feature_map.transform(home.array(np.full((3, 5), 1e30), "float32"))


def test_partial_fit_and_other_numbers_of_columns(home):
    feature_map = RFF(WIDE, 40, random_state=0).partial_fit(home.array(np.eye(5), "float32"))
    feature_map.partial_fit(home.array(np.eye(5), "float32"))
    with pytest.raises(ValueError, match="expecting 5 features"):
        feature_map.transform(home.array(np.eye(4), "float32"))


def test_without_dispatch_tensors_become_arrays_of_numpy():
    torch = pytest.importorskip("torch")
    with config_context(array_api_dispatch=False):
        assert isinstance(RFF().fit(np.eye(3)).transform(torch.eye(3)), np.ndarray)
