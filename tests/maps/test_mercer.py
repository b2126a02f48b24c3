"""MercerFeatures: eigenfunctions of the line, the largest products, and columns that are fitted to rows."""

from functools import reduce
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, hstack, random_array
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
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
    RationalQuadratic,
    Similarity,
    SphericalPolynomial,
)
from rflib.maps import ORF, MercerFeatures, Nystroem
from rflib.maps.axis_functions import AxisFunctions, ProductFactor, Tables
from rflib.maps.held_out import RowSamples
from rflib.maps.mercer_columns import EigenProducts
from rflib.maps.product_tree import largest_products
from rflib.maps.seeds import as_generator

DATA = {"diabetes": load_diabetes, "breast cancer": load_breast_cancer}


def scaled(name):
    X = DATA[name](return_X_y=True)[0]
    return StandardScaler().fit_transform(X[:, X.std(axis=0) > 0])


def halves(X, seed=0):
    order = np.random.default_rng(seed).permutation(len(X))
    return X[order[: len(X) // 2]], X[order[len(X) // 2 :]]


def error(feature_map, X):
    exact = feature_map.kernel_(X)
    return np.linalg.norm(feature_map.kernel_matrix(X) - exact) / np.linalg.norm(exact)


def functions_of(coordinates, kernel, width):
    u = np.asarray(coordinates, dtype=float)
    return AxisFunctions.of(u.T, u.std(axis=0), ProductFactor(kernel, width), n=1000)


def test_eigenvalues_for_normal_coordinates_are_those_of_hermite_functions():
    """lambda_n of Fasshauer and McCourt 2012; the coordinates are quantiles of the normal distribution."""
    from scipy.special import ndtri

    spread, sigma = 1.3, 1.7
    u = spread * ndtri((np.arange(2000) + 0.5) / 2000)[:, None]
    a2, e2 = 1 / (2 * spread**2), 1 / (2 * sigma**2)
    d2 = a2 / 2 * (np.sqrt(1 + 4 * e2 / a2) - 1)
    n = np.arange(6)
    expected = np.sqrt(a2 / (a2 + d2 + e2)) * (e2 / (a2 + d2 + e2)) ** n
    np.testing.assert_allclose(functions_of(u, Gaussian(sigma), sigma).values[0, :6], expected, rtol=5e-3)


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Laplacian(1.3), Cauchy(0.8)])
def test_the_functions_of_a_column_with_few_values_are_exact(kernel):
    values = np.array([-1.0, 0.0, 0.5, 3.0])
    u = np.random.default_rng(0).choice(values, (200, 1))
    functions = functions_of(u, kernel, 0.7)
    n = int((functions.values[0] > 0).sum())
    tables = Tables.of(functions, np.zeros(n - 1, dtype=int), np.arange(1, n))
    root, ratios = tables.at(values[None, :])
    columns = np.vstack([root, ratios * root])
    np.testing.assert_allclose(columns.T @ columns, kernel(values[:, None]), atol=1e-12)


@pytest.mark.parametrize("width", [0.2, 1.0, 20.0])
def test_series_equal_nystroems_formula_inside_and_outside_of_the_training_rows(width):
    """Far outside, where the series ends, functions decay as the kernel does."""
    u = np.random.default_rng(1).standard_normal((500, 2))
    functions = functions_of(u, Gaussian(width), width)
    axes, powers = np.array([0, 0, 1]), np.array([1, 2, 1])
    tables = Tables.of(functions, axes, powers)
    v = np.linspace(-4, 4, 301)
    root, ratios = tables.at(np.stack([v, v]))
    at_nodes = [np.exp(-((v[:, None] - q[~np.isnan(q)]) ** 2) / (2 * width**2)) for q in functions.nodes]
    found = [at @ c[: at.shape[1]] for at, c in zip(at_nodes, functions.coefficients, strict=True)]
    np.testing.assert_allclose(root, found[0][:, 0] * found[1][:, 0], atol=2e-5)
    for row, (axis, power) in enumerate(zip(axes, powers, strict=True)):
        expected = found[axis][:, power] * found[1 - axis][:, 0]
        np.testing.assert_allclose(ratios[row] * root, expected, atol=2e-5)
    far, _ = tables.at(np.full((2, 1), 1e3 * width))
    assert abs(far[0]) < 1e-12


def test_the_largest_products_are_those_of_brute_force():
    rng = np.random.default_rng(2)
    values = np.sort(rng.random((5, 4)), axis=1)[:, ::-1].copy()
    values[2, 2:] = 0
    values[4, 1:] = 0
    every = sorted((np.prod(each) for each in product(*values)), reverse=True)
    tree, found = largest_products(values, 60)
    np.testing.assert_allclose(found, every[:60])
    for number in range(len(tree)):
        powers = dict(tree.indices(number))
        value = np.prod([values[axis, powers.get(axis, 0)] for axis in range(5)])
        assert value == pytest.approx(found[number])
    assert len({tuple(tree.indices(number)) for number in range(60)}) == 60


def test_products_end_where_no_more_are_above_zero():
    tree, found = largest_products(np.array([[1.0, 0.5], [1.0, 0.0]]), 10)
    assert len(tree) == len(found) == 2


def test_many_axes_and_many_products():
    values = np.stack([np.ones(5000), np.geomspace(0.5, 1e-5, 5000)], axis=1)
    tree, found = largest_products(values, 20_000)
    assert len(tree) == 20_000 and (np.diff(found) <= 0).all()


def test_products_are_products():
    rng = np.random.default_rng(3)
    u = rng.standard_normal((300, 3)) * [1, 0.5, 0.2]
    functions = functions_of(u, Gaussian(0.8), 0.8)
    found, _ = EigenProducts.largest(functions, 40)
    columns = found.at(u.T)
    singles = []
    for axis in range(3):
        q = functions.nodes[axis][~np.isnan(functions.nodes[axis])]
        singles.append(Gaussian(0.8)(u[:, [axis]], q[:, None]) @ functions.coefficients[axis, : len(q)])
    for number in range(40):
        powers = dict(found.tree.indices(number))
        expected = reduce(np.multiply, (singles[axis][:, powers.get(axis, 0)] for axis in range(3)))
        np.testing.assert_allclose(columns[:, number], expected, atol=1e-7)


def test_independent_coordinates_keep_their_law_and_the_prediction_holds():
    """The error on new rows is the predicted one within a tenth."""
    X = np.random.default_rng(4).standard_normal((4000, 40))
    train, test = X[:2000], X[2000:]
    found = MercerFeatures(Gaussian(np.sqrt(80)), 300, random_state=0).fit(train)
    assert not found.is_fitted_to_rows_ and (found.signature_ == 1).all()
    names = found.get_feature_names_out()
    assert names[0] == "1" and len(set(names)) == 300
    assert error(found, test) == pytest.approx(found.predicted_error_, rel=0.1)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("kernel", [Gaussian("median"), Matern(1.5, "median")])
def test_the_error_on_new_rows_is_below_that_of_orf_and_of_uniform_nystroem(name, kernel):
    train, test = halves(scaled(name))
    n_columns = 2 * train.shape[1]
    found = MercerFeatures(kernel, n_columns, random_state=0).fit(train)
    assert (found.signature_ == 1).all()
    for other in (ORF, Nystroem):
        rival = error(other(kernel, min(n_columns, len(train)), random_state=0).fit(train), test)
        assert error(found, test) < rival


@pytest.mark.parametrize(
    ("kernel", "on_sphere"),
    [
        (Laplacian("median"), False),
        (Cauchy("median"), False),
        (Polynomial(2, 0.1, 1.0), False),
        (DeltaGaussian((1, -0.5), (0.5, 3), "median"), False),
        (lambda z: np.exp(-z / 4) * np.cos(z / 3), False),
        (SphericalPolynomial(4, 10), True),
        (ArcCosine(1), True),
        (Gaussian(tuple(np.linspace(1, 5, 10))), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_kind_of_kernel(kernel, on_sphere):
    """Better than Nystroem with as many columns; the sign -1 occurs where the kernel is not definite."""
    X = scaled("diabetes")
    X = X / np.linalg.norm(X, axis=1, keepdims=True) if on_sphere else X
    train, test = halves(X)
    found = MercerFeatures(kernel, 60, random_state=0).fit(train)
    assert error(found, test) < error(Nystroem(kernel, 60, random_state=0).fit(train), test)
    indefinite = np.linalg.eigvalsh(found.kernel_(train))[0] < -1e-3
    assert (found.signature_ < 0).any() == indefinite
    np.testing.assert_allclose(found.transform(test.astype(np.float32)), found.transform(test), atol=1e-5)


def test_a_polynomial_kernel_is_exact_with_enough_columns():
    X = np.random.default_rng(5).standard_normal((400, 3))
    found = MercerFeatures(Polynomial(2, 0.5, 1.0), 60, random_state=0).fit(X[:200])
    assert error(found, X[200:]) < 1e-6


def test_a_polynomial_kernel_of_few_rows_that_are_mostly_zero():
    """The squares of tiny functions underflowed, and their weights were infinite."""
    X = np.zeros((14, 5))
    X[5, 0], X[6, 1], X[6, 4], X[7, 1], X[8, 0], X[8, 1], X[9, 2] = (
        -1.30,
        1.31,
        -1.12,
        0.72,
        -0.16,
        0.86,
        -0.01,
    )
    found = MercerFeatures(Polynomial(3, 0.5, 1.0), 23, axes="input", random_state=3).fit(X)
    assert error(found, X) < 0.1


def test_indicators_of_categories_keep_their_axes():
    rng = np.random.default_rng(6)
    X = np.hstack([np.eye(6)[rng.integers(6, size=800)], rng.standard_normal((800, 4)) @ rng.random((4, 4))])
    found = MercerFeatures(Gaussian(1.5), 40, random_state=0).fit(X)
    np.testing.assert_allclose(found.axes_ @ found.axes_.T, np.eye(10), atol=1e-12)
    inputs = MercerFeatures(Gaussian(1.5), 40, axes="input", random_state=0).fit(X)
    np.testing.assert_array_equal(inputs.axes_, np.eye(10))
    principal = MercerFeatures(Gaussian(1.5), 40, axes="principal", random_state=0).fit(X)
    covariance = principal.axes_ @ np.cov(X.T) @ principal.axes_.T
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=0.02 * covariance.max())
    assert found.predicted_error_ <= min(inputs.predicted_error_, principal.predicted_error_) * 1.5


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (5, 1), (8, 40)])
def test_few_rows(shape):
    X = np.random.default_rng(7).standard_normal(shape)
    found = MercerFeatures(Gaussian(2.0), 12, random_state=0).fit(X)
    assert np.isfinite(found.transform(X)).all()
    assert error(found, X) < 0.2


@pytest.mark.parametrize("column", [np.full(200, 3.0), np.append(np.zeros(190), np.arange(10.0))])
def test_constant_columns_and_columns_that_are_mostly_zero(column):
    X = np.column_stack([np.random.default_rng(8).standard_normal((200, 3)), column])
    for axes in ("input", "principal"):
        assert error(MercerFeatures(Gaussian(2.0), 80, axes=axes, random_state=0).fit(X), X) < 0.15


def test_axes_that_are_not_known():
    with pytest.raises(ValueError, match="MercerFeatures: axes must be one of 'auto', 'principal', 'input'"):
        MercerFeatures(axes="pca").fit(np.eye(5))


@pytest.mark.parametrize("seed", range(4))
def test_fitted_coefficients_do_no_harm_at_outliers(seed):
    """With smaller ridges, coefficients that fit the held-out rows had twice the error for one seed of four."""
    X = scaled("breast cancer")
    order = np.random.default_rng(0).permutation(len(X))
    train, test = X[order[:400]], X[order[400:]]
    assert error(MercerFeatures(Gaussian("median"), 120, random_state=seed).fit(train), test) < 0.02


def test_rows_that_are_held_out_have_no_part_in_the_axes():
    """With axes of all 100 rows, .086 was predicted where new rows had .150."""
    X = np.random.default_rng(9).standard_normal((600, 150))
    found = MercerFeatures(Gaussian(12.0), 60, axes="principal", random_state=0).fit(X[:100])
    assert error(found, X[100:200]) == pytest.approx(found.predicted_error_, rel=0.15)


@pytest.mark.parametrize(
    "kernel",
    [
        *(
            Matern(1.5, 3.0),
            RationalQuadratic(0.5, 3.0),
            Polynomial(3, 0.1, 1.0),
            Cauchy(0.2),
            Laplacian(0.1),
        ),
        *(SphericalPolynomial(2, 10), ArcCosine(0), ArcCosine(1), NeuralTangent(2)),
    ],
)
@pytest.mark.parametrize("n_columns", [5, 200])
def test_columns_of_a_definite_kernel_have_the_sign_1(kernel, n_columns):
    X = scaled("diabetes")[:200]
    X = X / np.linalg.norm(X, axis=1, keepdims=True) if kernel.unit_norm else X
    assert (MercerFeatures(kernel, n_columns, random_state=0).fit(X).signature_ == 1).all()


def test_functions_that_are_not_fitted_have_weights_of_the_closest_gaussians():
    """There are more columns than fitted functions. With weights of single functions, the error was .24."""
    kernel = Matern(1.5, 1.2)
    X = load_digits().data / 16
    order = np.random.default_rng(0).permutation(len(X))
    train, test = X[order[:900]], X[order[900:]]
    found = MercerFeatures(kernel, 600, random_state=0).fit(train)
    assert error(found, test) < 0.2


def test_functions_that_are_large_at_single_rows_are_not_preferred():
    """Where levels are rare, the error of functions with the largest mean squares was .081."""
    rng = np.random.default_rng(1)
    shares = 0.75 ** np.arange(24)
    levels = rng.choice(24, size=(4, 3000), p=shares / shares.sum())
    X = np.hstack([*(np.eye(24)[each] for each in levels), rng.standard_normal((3000, 2))])
    X = X[:, X.std(axis=0) > 0] / X.std(axis=0)[X.std(axis=0) > 0]
    found = MercerFeatures(Gaussian(5.4), 500, axes="input", random_state=0).fit(X[:2000])
    assert error(found, X[2000:]) < 0.065


def test_the_error_is_measured_on_rows_that_had_no_part_in_choices():
    rng = np.random.default_rng(13)
    X = np.abs(rng.standard_normal((5500, 3)) @ rng.standard_normal((3, 8)))
    found = MercerFeatures(Gaussian(2.0), 40, random_state=0).fit(X)
    sample = RowSamples.of(X, Gaussian(2.0), as_generator(0))
    parts = [{row.tobytes() for row in part} for part in (sample.rows, sample.held, sample.fresh)]
    assert [len(part) for part in parts] == [4000, 500, 1000] and len(set.union(*parts)) == 5500
    assert found.is_fitted_to_rows_
    exact = Gaussian(2.0)(sample.fresh)
    parts = found.kernel_matrix(sample.fresh) - exact, exact
    # among 5,500 rows, pairs of a row with itself are fewer than among the 1,000
    weights = np.where(np.eye(1000) > 0, 1 / 1000, 5499 / (1000 * 999))
    squares = [np.sum(weights * each**2) for each in parts]
    assert np.sqrt(squares[0] / squares[1]) == pytest.approx(found.predicted_error_, rel=1e-6)


@pytest.mark.parametrize(
    ("unit", "dtype"), [*((unit, "f8") for unit in (1e-140, 1e-15, 1e15, 1e140)), (1e-25, "f4"), (1e19, "f4")]
)
def test_the_unit_of_the_rows_does_not_matter(unit, dtype):
    rng = np.random.default_rng(10)
    X = rng.standard_normal((100, 4)) @ rng.standard_normal((4, 4))
    expected = MercerFeatures(Gaussian(2.0), 20, random_state=0).fit(X).transform(X)
    scaled = (unit * X).astype(dtype)
    found = MercerFeatures(Gaussian(2.0 * unit), 20, random_state=0).fit(scaled).transform(scaled)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-6 if dtype == "f8" else 1e-3)


@pytest.mark.parametrize("width", [1e-3, 1e-5])
def test_a_kernel_that_is_narrow_beside_the_gaps_of_the_rows(width):
    X = np.random.default_rng(11).standard_normal((200, 4))
    assert np.isfinite(MercerFeatures(Gaussian(width), 50, random_state=0).fit(X).transform(X)).all()


def test_names_differ_where_products_of_two_kernels_are_columns():
    X = np.random.default_rng(12).standard_normal((200, 6))
    names = MercerFeatures(Matern(0.5, 1.0), 400, random_state=0).fit(X).get_feature_names_out()
    assert len(set(names)) == 400 > len({name.removesuffix(" wide") for name in names})


def test_a_stream_is_sampled_whatever_its_blocks(monkeypatch):
    """The map is that of fit on 300 of 1,000 rows, with an error near to that of a fit on all of them."""
    monkeypatch.setattr(MercerFeatures, "_sample_size", 300)
    X = np.random.default_rng(13).standard_normal((1500, 6)) * [3, 2, 1, 1, 1, 0.5]
    train, test = X[:1000], X[1000:]
    streams = []
    for cuts in ([200, 900], [1, 7, 500, 501]):
        streamed = MercerFeatures(Gaussian("median"), 60, random_state=0)
        for block in np.split(train, cuts):
            streamed.partial_fit(block)
        streams.append(streamed)
    np.testing.assert_array_equal(*(streamed.transform(test) for streamed in streams))
    sampled = streams[0]._stream_.rows()[0]
    assert len(np.unique(sampled, axis=0)) == 300
    same = MercerFeatures(Gaussian("median"), 60, random_state=0).fit(sampled)
    np.testing.assert_array_equal(same.transform(test), streams[0].transform(test))
    whole = MercerFeatures(streams[0].kernel_, 60, random_state=0).fit(train)
    assert error(streams[0], test) < 1.3 * error(whole, test)
    restored = MercerFeatures(Gaussian("median"), 60, random_state=0).restore(streams[0].state())
    np.testing.assert_array_equal(restored.transform(test), streams[0].transform(test))
    known = restored.columns_
    assert restored.partial_fit(9 * X).columns_ is known


def test_a_stream_goes_on_after_it_was_used_and_a_block_that_fails_changes_nothing():
    X = np.random.default_rng(14).standard_normal((300, 3))
    streamed = MercerFeatures(Gaussian(2.0), 20, random_state=0).partial_fit(X[:100])
    early = streamed.transform(X)
    with pytest.raises(ValueError, match="X has 2 features, but MercerFeatures is expecting 3 features"):
        streamed.partial_fit(X[:, :2])
    np.testing.assert_array_equal(streamed.transform(X), early)
    streamed.partial_fit(csr_array(X[100:]).toarray())
    whole = MercerFeatures(Gaussian(2.0), 20, random_state=0).fit(X)
    np.testing.assert_array_equal(streamed.transform(X), whole.transform(X))
    with pytest.raises(ValueError, match="needs rows of unit norm, but row 0"):
        MercerFeatures(SphericalPolynomial(), 20).partial_fit(X)
    with pytest.raises(ValueError, match="MercerFeatures: axes must be one of"):
        MercerFeatures(axes="pca").partial_fit(X)


def test_sparse_rows_have_no_principal_axes():
    X = csr_array(np.eye(30))
    with pytest.raises(ValueError, match=r"axes='principal' would make sparse rows dense.*Use axes='auto'"):
        MercerFeatures(Gaussian(1.0), 5, axes="principal").fit(X)
    found = MercerFeatures(Gaussian(1.0), 5, random_state=0).fit(X)
    np.testing.assert_array_equal(found.axes_, np.eye(30))


@pytest.mark.parametrize("kernel", [Gaussian(3.0), Laplacian(0.1), Matern(1.5, 3.0), Polynomial(3, 0.1, 1.0)])
def test_sparse_rows_have_the_columns_of_dense_ones(kernel):
    """Also rows of entries far from all training rows, where functions have decayed or series have ended."""
    rng = np.random.default_rng(15)
    few = random_array((300, 27), density=0.2, rng=rng, data_sampler=rng.standard_normal)
    X = csr_array(hstack([rng.standard_normal((300, 3)) + 4, few]))
    far = X[:20] if isinstance(kernel, Polynomial) else 30 * X[:20]
    from_sparse = MercerFeatures(kernel, 60, random_state=0).fit(X)
    from_dense = MercerFeatures(kernel, 60, axes="input", random_state=0).fit(X.toarray())
    np.testing.assert_allclose(from_sparse.transform(X), from_dense.transform(X.toarray()), atol=1e-7)
    for found in (from_sparse, from_dense):
        for rows in (X, far, 0 * X[:1]):
            np.testing.assert_allclose(columns(found, rows), columns(from_dense, rows.toarray()), atol=1e-9)
            single = columns(found, rows.astype(np.float32))
            assert single.dtype == np.float32
            np.testing.assert_allclose(single, columns(from_dense, rows.toarray()), rtol=1e-5, atol=1e-5)
    principal = MercerFeatures(kernel, 60, axes="principal", random_state=0).fit(X.toarray())
    np.testing.assert_allclose(columns(principal, X), columns(principal, X.toarray()), atol=1e-9)


def columns(feature_map, X):
    """The features, without warnings of rows far from the training rows."""
    return feature_map._columns(feature_map._isotropic(X)[1])


def test_many_sparse_columns():
    """The error on new rows, of 5,000 columns, is the predicted one, and below that of ORF and of Nystroem."""
    rng = np.random.default_rng(16)
    popular = np.arange(1, 5001) ** -1.0
    entries = rng.choice(5000, (2000, 40), p=popular / popular.sum())
    places = np.repeat(np.arange(2000), 40), entries.ravel()
    X = csr_array((rng.gamma(2.0, 0.5, 80_000), places), shape=(2000, 5000))
    train, test = X[:1000], X[1000:]
    found = MercerFeatures(Gaussian("median"), 200, random_state=0).fit(train)
    assert error(found, test) == pytest.approx(found.predicted_error_, rel=0.2)
    for other in (ORF, Nystroem):
        assert error(found, test) < error(other(Gaussian("median"), 200, random_state=0).fit(train), test)


def test_names_are_those_of_the_columns_of_a_dataframe():
    X = pd.DataFrame(np.random.default_rng(17).standard_normal((200, 2)) * [2, 1], columns=["age", "income"])
    found = MercerFeatures(Gaussian(2.0), 6, axes="input", random_state=0).fit(X)
    names = set(found.get_feature_names_out())
    assert {"1", "age", "income", "age^2", "age income"} <= names
    assert set(found.set_output(transform="pandas").transform(X).columns) == names
    principal = MercerFeatures(Gaussian(2.0), 6, axes="principal", random_state=0).fit(X)
    assert {"1", "pc1", "pc2", "pc1^2", "pc1 pc2"} <= set(principal.get_feature_names_out(["age", "income"]))


@pytest.mark.filterwarnings("ignore::rflib.measures.RangeWarning")
def test_polynomials_fade_where_a_column_is_larger_than_in_the_training_rows():
    """On the table adult, one new row with such a column had features of size 59, and made an error of 15."""
    X = np.random.default_rng(0).standard_normal((400, 30))
    X[:, -1] = -0.01  # the standardised indicator of a category that these rows lack
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    features = MercerFeatures(SphericalPolynomial(4, 10), 60, axes="input", random_state=0).fit(X)
    assert (features.signature_ == 1).all()
    sizes = (features.transform(np.concatenate([X[:50], np.eye(30)])) ** 2).sum(axis=1)
    assert (sizes[:50] > 0.5).all() and (sizes <= 2).all()


@pytest.mark.parametrize(
    "kernel, most", [(DeltaGaussian(), 1e-3), (Matern(1.5, 30.0), 1e-5), (RationalQuadratic(1.0, 30.0), 1e-5)]
)
def test_smooth_kernels_have_errors_below_single_precision_of_their_small_directions(kernel, most):
    """The products with the kernel matrix are in single precision, but not what divides by small eigenvalues."""
    rng = np.random.default_rng(0)
    rows, new = rng.normal(size=(600, 2)), rng.normal(size=(400, 2))
    found = MercerFeatures(kernel, 60, random_state=0).fit(rows)
    assert error(found, new) < most


@pytest.mark.parametrize("seed", [2, 4])
def test_an_outlier_among_the_held_out_rows_overflows_nothing(seed):
    rows = np.random.default_rng(4).normal(size=(400, 4))
    rows[11] = 1e12
    inner_product = Similarity(lambda X, Y: X @ Y.T)
    MercerFeatures(inner_product, 30, random_state=seed).fit(rows)  # warnings are errors here
