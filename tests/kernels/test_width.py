"""Widths by rules and by columns: kernels, maps, measures and learners that agree on them."""

import numpy as np
import pytest
from mpmath import mp
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.svm import SVC

from rflib.kernels import (
    Cauchy,
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Matern,
    RadialFunction,
    RationalQuadratic,
)
from rflib.learners import DoublyStochasticRegressor, ExactKernelSVC, ExactKRR
from rflib.maps import (
    CRAFT,
    DIGMM,
    GORF,
    GRFF,
    MVORF,
    ORF,
    QMC,
    RFF,
    SORF,
    SRF,
    GegenbauerFeatures,
    HilbertSpaceFeatures,
    LeverageRFF,
    MercerFeatures,
    MomentMatching,
    Nystroem,
    OptimizedMaclaurin,
    QuadratureFeatures,
    QuadratureRFF,
    SphericalRadialRFF,
    SurrogateLeverageRFF,
    TaylorFeatures,
)
from rflib.measures.exact_measures import exact_measure

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 3)) * (0.3, 1, 4) + 2
Y = rng.standard_normal((9, 3)) * (0.3, 1, 4) + 2
labels = (X[:, 0] > 2).astype(int)
WIDTHS = (0.5, 2.0, 4.0)  # powers of two: columns that are divided or multiplied are equal to the bit
RATES = tuple(1 / w for w in WIDTHS)


def profile(z):
    return np.exp(-z) * np.cos(z)


# The parameter of the width, a kernel with a width for each column, and the one of width 1.
KINDS = {
    "Gaussian": ("sigma", Gaussian(WIDTHS), Gaussian()),
    "Matern": ("length_scale", Matern(2.5, WIDTHS), Matern(2.5)),
    "RationalQuadratic": ("length_scale", RationalQuadratic(0.7, WIDTHS), RationalQuadratic(0.7)),
    "DeltaGaussian": ("width", DeltaGaussian(width=WIDTHS), DeltaGaussian()),
    "RadialFunction": ("width", RadialFunction(profile, width=WIDTHS), RadialFunction(profile)),
    "Laplacian": ("gamma", Laplacian(RATES), Laplacian()),
    "Cauchy": ("gamma", Cauchy(RATES), Cauchy()),
}


def of_all_kinds(test):
    return pytest.mark.parametrize(("name", "by_column", "plain"), KINDS.values(), ids=KINDS)(test)


@of_all_kinds
def test_one_width_for_each_column_divides_the_columns(name, by_column, plain):
    for A, B in ((X, None), (X, Y), (X.astype(np.float32), Y.astype(np.float32))):
        found = by_column(A, B)
        scaled = plain(A / np.array(WIDTHS), None if B is None else B / np.array(WIDTHS))
        assert found.dtype == A.dtype
        np.testing.assert_allclose(found, scaled, atol=1e-12 if A.dtype == np.float64 else 2e-6)
    equal = clone(by_column).set_params(**{name: (2.0, 2.0, 2.0)})
    np.testing.assert_allclose(equal(X, Y), clone(plain).set_params(**{name: 2.0})(X, Y), atol=1e-12)
    arrays = clone(by_column).set_params(**{name: np.array(by_column.get_params()[name])})
    assert arrays == by_column
    assert hash(arrays) == hash(by_column)


def test_against_scikit_learn():
    np.testing.assert_allclose(Gaussian(WIDTHS)(X, Y), rbf_kernel(X / WIDTHS, Y / WIDTHS, gamma=0.5))
    np.testing.assert_allclose(Laplacian(RATES)(X, Y), laplacian_kernel(X / WIDTHS, Y / WIDTHS, gamma=1))
    sampler = RBFSampler(gamma="scale", n_components=4).fit(X)
    map_ = RFF(Gaussian("scale"), 2000, random_state=0).fit(X)
    assert map_.kernel_.sigma == pytest.approx(1 / np.sqrt(2 * sampler._gamma), rel=1e-14)
    assert np.abs(map_.kernel_matrix(X) - rbf_kernel(X, gamma=sampler._gamma)).max() < 0.15
    ours, theirs = ExactKernelSVC(Gaussian("scale")).fit(X, labels), SVC(gamma="scale").fit(X, labels)
    np.testing.assert_allclose(ours.decision_function(Y), theirs.decision_function(Y), atol=1e-6)


@of_all_kinds
def test_rules_find_the_width_of_the_rows(name, by_column, plain):
    norm = "cityblock" if isinstance(plain, Laplacian) else "euclidean"
    scale = np.sqrt(3 * X.var() / 2) * (np.sqrt(3) if norm == "cityblock" else 1)
    for rule, width in (("scale", scale), ("median", np.median(pdist(X, norm)))):
        kernel = clone(plain).set_params(**{name: rule})
        found = kernel.for_rows(X).get_params()[name]
        assert found == pytest.approx(1 / width if name == "gamma" else width, rel=1e-12)
        # the unit of the rows does not matter, nor where they are
        np.testing.assert_allclose(
            kernel.for_rows(1e3 * X + 5)(1e3 * X + 5), kernel.for_rows(X)(X), atol=1e-9
        )
        assert kernel.for_rows(csr_array(X)).get_params()[name] == pytest.approx(found, rel=1e-9)
        assert kernel.get_params()[name] == rule


def test_the_median_of_many_equal_or_few_rows():
    many = rng.standard_normal((3000, 2))
    found = Gaussian("median").for_rows(many).sigma
    assert found == Gaussian("median").for_rows(many).sigma
    assert found == pytest.approx(np.median(pdist(many)), rel=0.05)
    twice = np.repeat([[0.0, 1.0], [3.0, 5.0]], [50, 1], axis=0)
    assert Gaussian("median").for_rows(twice).sigma == pytest.approx(5)
    constant = np.full((4, 2), 7.0)
    assert Gaussian("median").for_rows(constant).sigma == Gaussian("median").for_rows(constant[:1]).sigma == 1
    assert Gaussian("scale").for_rows(constant).sigma == np.sqrt(0.5)


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1e8 + 0.1])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_the_scale_of_equal_entries(value, form):
    """Their computed variance is a rounding error, or zero."""
    for shape in ((5, 3), (7, 2), (1000, 1)):
        constant = form(np.full(shape, value))
        assert Gaussian("scale").for_rows(constant).sigma == np.sqrt(0.5)
    assert Gaussian("scale").for_rows(form([[1.0, 2.0], [1.0, 2.0]])).sigma == pytest.approx(0.5)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize(
    "rows",
    [
        X[:30] + 1e12,
        X[:30] + np.repeat([0.0, 2.0**30, 2.0**31], [11, 10, 9])[:, None],
        np.concatenate([X[:30], [[1e9, 0, 0]]]),
        np.column_stack([X[:30], np.full(30, 1e10)]),
        X[:30] * 1e-200,
        X[:30] * 1e250,
    ],
    ids=["offset", "groups", "outlier", "constant column", "tiny", "huge"],
)
def test_rules_keep_their_digits(rows, form):
    with mp.workdps(60):
        numbers = [[mp.mpf(float(value)) for value in row] for row in rows]
        entries = [value for row in numbers for value in row]
        mean = sum(entries) / len(entries)
        variance = sum((value - mean) ** 2 for value in entries) / len(entries)
        pairs = [zip(x, y, strict=True) for i, x in enumerate(numbers) for y in numbers[:i]]
        middle = np.median([float(mp.sqrt(sum((a - b) ** 2 for a, b in pair))) for pair in pairs])
        scale = float(mp.sqrt(rows.shape[1] * variance / 2))
    assert Gaussian("scale").for_rows(form(rows)).sigma == pytest.approx(scale, rel=1e-9)
    assert Gaussian("median").for_rows(form(rows)).sigma == pytest.approx(middle, rel=1e-9)


@pytest.mark.parametrize(
    ("kernel", "rows"),
    [
        (Gaussian("scale"), [[0.0], [5e-324]]),
        (Gaussian("median"), [[1.7e308], [-1.7e308]]),
        (Laplacian("median"), [[1e-310], [3e-310]]),
        (Laplacian("scale"), [[5e-324], [0.0]]),
    ],
)
def test_a_rule_whose_width_is_no_number_above_zero_says_so(kernel, rows):
    with pytest.raises(ValueError, match=r"finds (sigma|gamma) = (0|inf) from rows .* Scale the rows"):
        kernel.for_rows(rows)


@of_all_kinds
def test_a_rule_without_rows_names_the_remedy(name, by_column, plain):
    for rule in ("scale", "median"):
        kernel = clone(plain).set_params(**{name: rule})
        uses = [lambda k: k(X, Y), lambda k: k.isotropic(X), lambda k: k.single_width]
        if not isinstance(kernel, RadialFunction):
            uses.append(lambda k: exact_measure(k, 3))
        for use in uses:
            with pytest.raises(ValueError, match=rf"no number for {name} before .*kernel_.*for_rows\(X\)"):
                use(kernel)
        assert kernel.for_rows(X)(X, Y).shape == (60, 9)


@pytest.mark.parametrize("kernel", [Gaussian(WIDTHS), Matern(0.5, WIDTHS), DeltaGaussian(width=WIDTHS)])
def test_a_width_for_each_column_is_no_function_of_the_distance(kernel):
    with pytest.raises(ValueError, match=r"width for each column.*isotropic\(X\)"):
        kernel.at_distance(1.0)
    with pytest.raises(ValueError, match=r"width for each column.*isotropic\(X\)"):
        exact_measure(kernel, 3)
    with pytest.raises(ValueError, match=r"has 3 widths, one for each column, but the rows have 2 columns"):
        kernel(X[:, :2])


@pytest.mark.parametrize(
    "width",
    ["scales", (1.0,), (), (1.0, -1.0), (1.0, "a"), (1.0, np.inf), [[1.0, 2.0]], [[1], [1, 2]], True, None],
)
def test_widths_out_of_range(width):
    with pytest.raises(ValueError, match=r"^Matern: length_scale must be a number above 0, got .*'median'"):
        Matern(1.5, width)
    with pytest.raises(ValueError, match=r"^Gaussian: sigma must be a number above 0"):
        RFF(Gaussian()).set_params(kernel__sigma=width)


def test_rows_of_unit_norm_have_one_width():
    with pytest.raises(ValueError, match="RadialFunction: width must be one number"):
        RadialFunction(profile, unit_norm=True, width=WIDTHS)


@of_all_kinds
def test_rows_of_a_sparse_matrix_are_divided_too(name, by_column, plain):
    kernel, rows = by_column.isotropic(csr_array(X))
    assert kernel == plain
    np.testing.assert_allclose(rows.toarray(), X / np.array(WIDTHS))


MIXTURE = {"type": "digmm", "n_components": 2, "n_draws": 200}
MAPS = {
    "RFF": lambda k: RFF(k, 30, random_state=1),
    "RFF phase": lambda k: RFF(k, 30, layout="phase", random_state=1),
    "ORF": lambda k: ORF(k, 30, random_state=1),
    "QMC": lambda k: QMC(k, 30, random_state=1),
    "GRFF": lambda k: GRFF(k, 30, random_state=1),
    "GORF": lambda k: GORF(k, 30, random_state=1),
    "MVORF": lambda k: MVORF(k, 30, random_state=1),
    "SRF": lambda k: SRF(k, 30, random_state=1),
    "DIGMM": lambda k: DIGMM(k, 30, measure=MIXTURE, random_state=1),
    "LeverageRFF": lambda k: LeverageRFF(k, 30, pool=60, random_state=1),
    "SurrogateLeverageRFF": lambda k: SurrogateLeverageRFF(k, 30, pool=60, random_state=1),
    "SORF": lambda k: SORF(k, 30, random_state=1),
    "MomentMatching": lambda k: MomentMatching(k, 30, random_state=1),
    "QuadratureRFF": lambda k: QuadratureRFF(k, 30, random_state=1),
    "QuadratureFeatures": lambda k: QuadratureFeatures(k, 30, random_state=1),
    "TaylorFeatures": lambda k: TaylorFeatures(k, 30, random_state=1),
    "HilbertSpaceFeatures": lambda k: HilbertSpaceFeatures(k, 30, random_state=1),
    "GegenbauerFeatures": lambda k: GegenbauerFeatures(k, 30, random_state=1),
    "SphericalRadialRFF": lambda k: SphericalRadialRFF(k, 30, random_state=1),
    "OptimizedMaclaurin": lambda k: OptimizedMaclaurin(k, 30, random_state=1),
    "MercerFeatures": lambda k: MercerFeatures(k, 30, random_state=1),
    "Nystroem": lambda k: Nystroem(k, 30, random_state=1),
    "Nystroem kmeans": lambda k: Nystroem(k, 30, landmarks="kmeans", random_state=1),
    "Nystroem rpcholesky": lambda k: Nystroem(k, 30, landmarks="rpcholesky", random_state=1),
    "CRAFT": lambda k: CRAFT(RFF(k), 30, n_components_up=64, random_state=1),
    "CRAFT of CRAFT": lambda k: CRAFT(
        CRAFT(OptimizedMaclaurin(k), n_components_up=80), 30, n_components_up=64, random_state=1
    ),
}
OTHERS = {
    "GORF": "DeltaGaussian",
    "QMC": "Laplacian",
    "RFF": "Cauchy",
    "ORF": "Matern",
}
CASES = [(name, "Gaussian") for name in MAPS] + [*OTHERS.items(), ("Nystroem rpcholesky", "DeltaGaussian")]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_maps_take_a_width_for_each_column(name, kind):
    """As the map of the kernel of width 1 on the divided columns, through fit, spectrum and restore."""
    _, by_column, plain = KINDS[kind]
    Z, W = X / np.array(WIDTHS), Y / np.array(WIDTHS)
    found, expected = MAPS[name](by_column).fit(X, labels), MAPS[name](plain).fit(Z, labels)
    assert found.kernel_ == by_column
    np.testing.assert_allclose(found.kernel_matrix(Y, X), expected.kernel_matrix(W, Z), atol=1e-7)
    np.testing.assert_array_equal(found.signature_, expected.signature_)
    again = MAPS[name](by_column).restore(found.state())
    np.testing.assert_array_equal(again.transform(Y), found.transform(Y))
    assert again.kernel_ == by_column
    if (measure := found.spectrum(X)) is not None and "measure" in found.get_params():
        shared = clone(found).set_params(measure=measure).fit(X, labels)
        np.testing.assert_array_equal(shared.transform(Y), found.transform(Y))


@pytest.mark.parametrize(("name", "kind"), [*CASES, ("GORF", "RadialFunction")])
@pytest.mark.parametrize("rule", ["scale", "median"])
def test_maps_take_a_rule_for_the_width(name, kind, rule):
    """As the map of the number; a restored map has the number, without the rows."""
    parameter, _, plain = KINDS[kind]
    kernel = clone(plain).set_params(**{parameter: rule})
    found, expected = MAPS[name](kernel).fit(X, labels), MAPS[name](kernel.for_rows(X)).fit(X, labels)
    assert found.kernel_ == expected.kernel_ == kernel.for_rows(X)
    np.testing.assert_array_equal(found.transform(Y), expected.transform(Y))
    again = MAPS[name](kernel).restore(found.state())
    np.testing.assert_array_equal(again.transform(Y), found.transform(Y))
    assert again.kernel_ == found.kernel_


def test_fast_transforms_of_many_columns():
    d = 2048
    widths = tuple(rng.uniform(20, 60, d))
    rows = rng.standard_normal((40, d))
    found = SORF(Gaussian(widths), 512, random_state=0).fit(rows).kernel_matrix(rows)
    expected = SORF(Gaussian(), 512, random_state=0).fit(rows / widths).kernel_matrix(rows / widths)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_learners_show_the_kernel_that_they_used():
    y = X[:, 0] + X[:, 2]
    exact = ExactKRR(Gaussian("median"), alphas=0.1).fit(X, y)
    named = ExactKRR(Gaussian(float(np.median(pdist(X)))), alphas=0.1).fit(X, y)
    assert exact.kernel_.sigma == pytest.approx(np.median(pdist(X)))
    np.testing.assert_allclose(exact.predict(Y), named.predict(Y), rtol=1e-9)
    by_column = ExactKRR(Gaussian(WIDTHS), alphas=0.1).fit(X, y).predict(Y)
    np.testing.assert_allclose(
        by_column, ExactKRR(Gaussian(), alphas=0.1).fit(X / WIDTHS, y).predict(Y / WIDTHS)
    )
    steps = DoublyStochasticRegressor(MVORF(Gaussian("scale"), 32), n_blocks=3).fit(X, y)
    assert np.isfinite(steps.predict(Y)).all()
