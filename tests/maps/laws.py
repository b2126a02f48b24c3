"""All laws of a feature map. One class for each map (`test_laws.py`) declares the map, its kernels and its facts.

Seeds are fixed, and hypothesis draws its examples once and for all, so that a test that passes once passes always.
The false-alarm rate says how likely a right map would have failed when the seeds were chosen: every z-test is at
1e-6 (|z| < 4.9), and there are less than a thousand; the rank test is at 1e-6 too.
"""

import pickle
import tracemalloc
import warnings
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import mannwhitneyu, norm
from sklearn import config_context
from sklearn.base import clone
from sklearn.preprocessing import normalize

from rflib.kernels import Gaussian, Polynomial
from rflib.kernels.base import Kernel
from rflib.maps import RFF, MercerFeatures, row_blocks
from rflib.maps.base import RandomFeatureMap
from rflib.measures import RangeWarning
from rflib.metrics import relative_frobenius_error
from rflib.plain import flatten
from tests import interrupts

from .rows import (
    CAUSES,
    CONTAINERS,
    KERNELS,
    LAWS_OF_ROWS,
    NEW,
    NORMAL,
    OUTPUTS,
    SPARSE,
    TRAIN,
    X,
    Y,
    any_rows,
    differences,
    general_rows,
    sphere,
)

D, DRAWS = 24, 200
LIMIT = norm.isf(1e-6 / 2)
# A measure of atoms whose linear program takes no time, and a mixture.
QUICK = {"type": "minimum_variance", "deltas": (0.01,)}
MIXTURE = {"type": "digmm", "n_components": 2, "n_draws": 200}

MEMORY = "test_memory_of_few_columns_for_many_input_columns"
ALIKE = "test_rows_that_are_drawn_with_the_seed_of_the_map_have_no_larger_error"

# A kernel, and the parameters of the map beside it.
Case = tuple[Any, Mapping[str, Any]]


def cases(*kernels: Any, **options: Any) -> tuple[Case, ...]:
    """The same parameters with each kernel."""
    return tuple((kernel, options) for kernel in kernels)


def warned(feature_map, X):
    """Return how many warnings a transform issues about rows that are out of range."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RangeWarning)
        feature_map.transform(X)
    return len(caught)


def assert_same_learned(first, second):
    """All that fit has learned is there and equal: arrays, numbers, and what is made of these."""
    attributes = [
        {name: value for name, value in vars(m).items() if name.endswith("_") and name[0] != "_"}
        for m in (first, second)
    ]
    assert attributes[0].keys() == attributes[1].keys()
    for ours, theirs in zip(*(map(attributes[i].get, sorted(attributes[0])) for i in (0, 1)), strict=True):
        if isinstance(theirs, RandomFeatureMap):
            assert_same_learned(ours, theirs)
        elif isinstance(theirs, Kernel):
            assert ours == theirs
        elif isinstance(theirs, np.ndarray):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)
        else:
            assert same(*(flatten({"value": value}) for value in (ours, theirs)))


def same(first, second):
    equal = (np.array_equal(a, second[name], equal_nan=a.dtype.kind == "f") for name, a in first.items())
    return first.keys() == second.keys() and all(equal)


@pytest.mark.filterwarnings("ignore:Nystroem. there are only")
class MapLaws:
    """The laws. What a class does not declare holds for most maps.

    Attributes
    ----------
    make : callable
        The map, of a kernel, ``n_components`` and ``random_state``.
    unbiased, biased : tuple of Case
        On rows of unit norm with 6 columns. Unbiased maps have a bias far below the Monte Carlo error of the test.
    general : tuple of Case
        On rows of 5 columns that are not of unit norm, dense and, where ``takes_sparse``, sparse.
    streamed : tuple of Case
        Whose ``partial_fit`` is tried beside that of the biased and unbiased ones.
    gradients : tuple of Case
        That have gradients, on rows of 4 columns.
    variants : tuple of mapping
        Parameters for rows of any type, for which the kernels are drawn.
    kernels : list of str
        Names of those kernels.
    notices : tuple of mapping
        Parameters with which it notices rows unlike the training rows, if any.
    caps : tuple of int
        The axes at whose pole it notices rows, if all training rows are about the first one; -1 is the antipode.
    takes_sparse, seeded, ties, slow : bool
        Whether it takes sparse rows, whether another seed gives other columns, whether columns of small or equal
        eigenvalues turn on rounding, and whether it solves programs for new rows.
    alike : kernel
        The kernel for rows that are drawn with the seed of the map.
    lacks, nightly : tuple of str
        Laws that do not hold, and laws that take seconds.
    """

    make: ClassVar[Any]
    unbiased: ClassVar[tuple[Case, ...]] = ()
    biased: ClassVar[tuple[Case, ...]] = ()
    general: ClassVar[tuple[Case, ...]] = ()
    streamed: ClassVar[tuple[Case, ...]] = ()
    gradients: ClassVar[tuple[Case, ...]] = ()
    variants: ClassVar[tuple[Mapping[str, Any], ...]] = ({},)
    kernels: ClassVar[list[str]] = sorted(KERNELS)
    notices: ClassVar[tuple[Mapping[str, Any], ...]] = ()
    caps: ClassVar[tuple[int, ...]] = (-1, 1)
    takes_sparse = seeded = True
    ties = slow = False
    alike = Gaussian(5.0)
    lacks: ClassVar[tuple[str, ...]] = ()
    nightly: ClassVar[tuple[str, ...]] = ()

    def of(self, case: Case, n_components: int = D, seed: int = 0) -> Any:
        kernel, options = case
        return type(self).make(kernel, **{"n_components": n_components, "random_state": seed, **options})

    # columns, signs and seeds

    def test_columns_signs_and_kernel_matrix(self, case):
        m = self.of(case).fit(X, Y)
        Z = m.transform(X)
        assert Z.shape == (len(X), m.n_components_) == (len(X), m.n_components)
        assert set(m.signature_) <= {1.0, -1.0}
        assert np.allclose(m.kernel_matrix(X), (Z * m.signature_) @ Z.T)
        assert np.allclose(m.kernel_matrix(X, X[:3]), m.kernel_matrix(X)[:, :3])
        single = m.transform(X.astype(np.float32))
        assert single.dtype == np.float32
        assert np.allclose((single * m.signature_) @ single.T, m.kernel_matrix(X), atol=2e-4)

    def test_the_same_seed_gives_the_same_features(self, case):
        first, again, other = (self.of(case, seed=seed).fit(X, Y).transform(X) for seed in (5, 5, 6))
        assert np.array_equal(first, again)
        assert np.allclose(first, other) != self.seeded

    def test_rows_are_mapped_one_by_one(self, case, monkeypatch):
        m = self.of(case).fit(X, Y)
        Z = m.transform(X)
        assert np.allclose(np.concatenate([m.transform(X[:7]), m.transform(X[7:])]), Z, atol=1e-12)
        assert np.allclose(m.transform(X[::-1])[::-1], Z, atol=1e-12)
        cut = row_blocks.row_blocks
        monkeypatch.setattr(row_blocks, "row_blocks", lambda n_rows, height: cut(n_rows, 7))
        assert np.allclose(m.transform(X), Z, atol=1e-12)

    # state

    def test_state_clone_pickle(self, case):
        m = self.of(case).fit(X, Y)
        Z = m.transform(X)
        restored = self.of(case).restore({name: np.array(a) for name, a in m.state().items()})
        again = (clone(m).restore(m.state()), clone(m).fit(X, Y), restored, pickle.loads(pickle.dumps(m)))
        for other in again:
            assert np.array_equal(other.transform(X), Z)
        assert_same_learned(restored, m)

    def test_parameters_that_are_changed_after_fit_change_nothing_before_the_next_fit(self, case):
        m = self.of(case).fit(X, Y)
        Z, K = m.transform(X), m.kernel_matrix(X)
        for name, value in m.get_params(deep=False).items():
            for changed in (RFF(), None) if name == "base" else (not value, "another"):
                m.set_params(**{name: changed})
                assert np.array_equal(m.transform(X), Z)
        assert np.array_equal(m.kernel_matrix(X), K)

    def test_an_interrupted_fit_leaves_a_map_as_it_was(self):
        fitted = self.of((self.gradients or self.general)[0], 16).fit(interrupts.X, interrupts.Y)
        interrupts.check_interrupts(
            fitted, lambda m: m.fit(interrupts.OTHER, interrupts.OTHER_Y), lambda m: m._features(interrupts.X)
        )

    def _rows_for(self, case, n, seed=0):
        rows = sphere(n, 6, seed)
        return rows if self.of(case)._resolved_kernel().unit_norm else 5 * rows + 1

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_there_is_partial_fit_exactly_if_rows_do_not_decide(self, streamed_case):
        """Any blocks then give the values of fit on all rows. MercerFeatures samples the rows."""
        rows = self._rows_for(streamed_case, 60)
        near = normalize(rows[:25] + 9) * np.linalg.norm(rows[:25], axis=1, keepdims=True)
        states = [self.of(streamed_case, 48).fit(z, z[:, 0] > z[:, 0].mean()).state() for z in (rows, near)]
        samples = isinstance(self.of(streamed_case, 48), MercerFeatures)
        assert hasattr(self.of(streamed_case, 48), "partial_fit") == (same(*states) or samples)
        for cuts in [[13], [1, 2, 39]] * (same(*states) or samples):
            dtype, container = (np.float32, np.asarray) if len(cuts) > 1 else (np.float64, sparse.csr_array)
            streamed, whole = self.of(streamed_case, 12), self.of(streamed_case, 12)
            rows = self._rows_for(streamed_case, 40, len(cuts)).astype(dtype)
            for block in np.split(rows, cuts):
                assert streamed.partial_fit(container(block)) is streamed
            whole.fit(container(rows) if samples else rows)  # sparse rows have no principal axes
            assert same(streamed.state(), whole.state())
            np.testing.assert_array_equal(streamed.transform(rows), whole.transform(rows))

    # law

    def test_unbiased(self, unbiased_case):
        first = self.of(unbiased_case).fit(X, Y)
        shared = {"measure": first.measure_} if "measure" in first.get_params() else {}
        fitted = (self.of(unbiased_case, seed=s).set_params(**shared).fit(X, Y) for s in range(DRAWS))
        values = np.array([m.kernel_matrix(X[:6])[0, 1:] for m in fitted])
        error = values.std(axis=0, ddof=1) / np.sqrt(DRAWS)
        assert np.all(np.abs(values.mean(axis=0) - first.kernel_(X[:1], X[1:6])[0]) < LIMIT * error + 1e-12)

    def test_rows_that_are_drawn_with_the_seed_of_the_map_have_no_larger_error(self):
        """There are as many frequencies as rows, so that the frequencies may be the rows."""
        d, seeds = 24, 16 if self.slow else 32
        errors: dict[bool, list[float]] = {True: [], False: []}
        for seed in range(seeds):
            rows = np.random.default_rng(seed).standard_normal((d, d))
            for alike in errors:
                fitted = self.of((self.alike, {}), 2 * d, seed if alike else seed + seeds).fit(rows)
                errors[alike].append(relative_frobenius_error(self.alike(rows), fitted.kernel_matrix(rows)))
        assert mannwhitneyu(errors[True], errors[False], alternative="greater").pvalue > 1e-6

    # rows of any type, order, container and size: equal rows, equal values, or a clear error

    def _outcome(self, case, n_components, rows):
        """Features, kernel matrix and None, or the words of the error, a ValueError that names its cause."""
        try:
            m = self.of(case, n_components, 3).fit(rows, np.arange(len(rows)) % 2)
            return m.transform(rows), m.kernel_matrix(rows), None
        except ValueError as error:
            assert CAUSES.search(str(error)), error
            return None, None, str(error)

    def _check(self, case, n_components, rows, container):
        """The rows in a container give what their numbers give as a plain array of floats."""
        held = CONTAINERS[container](rows)
        single = rows.dtype == np.float32 and container != "list"
        Z, K, error = self._outcome(case, n_components, rows.astype(np.float32 if single else np.float64))
        found, matrix, message = self._outcome(case, n_components, held)
        assert error == message
        if error and "computed NaN or infinity" in error:  # by the only kernel that grows with the rows
            assert isinstance(self.of(case)._resolved_kernel(), Polynomial)
        if error is None:
            assert found.dtype == matrix.dtype == (np.float32 if single else np.float64)
            assert found.shape[0] == len(rows)
            assert np.isfinite(found).all()
            assert np.isfinite(matrix).all()
            np.testing.assert_array_equal(found, Z)
            np.testing.assert_array_equal(matrix, K)

    @given(
        kernel=st.sampled_from(sorted(KERNELS)),
        dtype=st.sampled_from(["float16", "float32", "float64", "uint8", "int64", "bool"]),
        container=st.sampled_from(sorted(CONTAINERS)),
        n_components=st.sampled_from([1, 2, 3, 7, 8, 13]),
        exponent=st.integers(-20, 20),
        fitting=st.booleans(),
        on_sphere=st.booleans(),
    )
    @settings(max_examples=50, suppress_health_check=list(HealthCheck))
    def _search(self, variant, kernel, dtype, container, n_components, exponent, fitting, on_sphere):
        rows = any_rows(dtype, exponent, on_sphere)
        unit = float(np.abs(rows.astype(float)).max()) if fitting else 1.0
        kernel = kernel if kernel in self.kernels else "default"
        self._check((KERNELS[kernel](unit), variant), n_components, rows, container)

    def test_equal_rows_have_equal_features(self, variant):
        if not self.slow:
            self._search(variant)
            return
        for dtype, container, exponent in (
            ("float32", "Fortran", 20),
            ("float64", "read-only", -20),
            ("uint8", "DataFrame", 0),
        ):
            rows = any_rows(dtype, exponent, False)
            self._check((Gaussian(float(np.abs(rows.astype(float)).max())), variant), 13, rows, container)

    def test_output_containers_hold_the_same_features(self, variant):
        fitted = self.of((None, variant), 7).fit(NORMAL, np.arange(12) % 2)
        Z, K = fitted.transform(NORMAL), fitted.kernel_matrix(NORMAL, NORMAL[:3])
        for output in OUTPUTS:
            m = deepcopy(fitted)
            with config_context(transform_output=output):
                frames = [m.transform(NORMAL), m.set_output(transform=output).transform(NORMAL)]
                matrices = [m.kernel_matrix(NORMAL, NORMAL[:3])]
            for frame in frames:
                np.testing.assert_array_equal(np.asarray(frame), Z)
                if output != "default":
                    assert type(frame).__module__.startswith(output)
                    assert list(frame.columns) == list(m.get_feature_names_out())
            for matrix in [*matrices, m.kernel_matrix(NORMAL, NORMAL[:3])]:
                assert type(matrix) is np.ndarray
                np.testing.assert_array_equal(matrix, K)

    # sparse rows: the features of dense rows to rounding, in every form that they come in, and at their cost

    def test_sparse_rows_have_the_features_of_dense_ones(self, general_case):
        if not self.takes_sparse:
            m = self.of(general_case)
            assert not m.__sklearn_tags__().input_tags.sparse
            with pytest.raises(TypeError, match=r"Sparse data was passed .* Use '.toarray"):
                m.fit(sparse.csr_array(general_rows()))
            return
        for seed, (form, dtype, density) in enumerate(SPARSE[: 2 if self.slow else None]):
            rows = general_rows(dtype, density, seed)
            held = form(rows)
            before = held.copy()
            single = rows.dtype == np.float32
            plain = rows.astype(np.float32 if single else np.float64)
            y = np.arange(len(rows)) % 2
            dense, thin = (self.of(general_case, 23, 3).fit(z, y) for z in (plain, held))
            expected, found = dense.transform(plain), thin.transform(held)
            assert type(found) is np.ndarray
            assert found.dtype == expected.dtype == plain.dtype
            if self.ties:  # the kernel does not turn on rounding
                expected, found = dense.kernel_matrix(plain), thin.kernel_matrix(held)
            tolerance = (5e-4 if single else 1e-7) * max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
            np.testing.assert_array_equal(thin.signature_, dense.signature_)
            np.testing.assert_array_equal(held.toarray(), before.toarray())
            if held.format == "csr":
                np.testing.assert_array_equal(held.indices, before.indices)
                np.testing.assert_array_equal(held.data, before.data)
            again = self.of(general_case, 23, 3).restore(thin.state())
            np.testing.assert_allclose(again.kernel_matrix(held), thin.kernel_matrix(held), atol=tolerance)
            for mixed in () if self.ties else (dense.transform(held), thin.transform(plain)):
                np.testing.assert_allclose(mixed, expected, rtol=0, atol=tolerance)

    def test_memory_of_few_columns_for_many_input_columns(self):
        """At most 2,000 numbers for each input column; memory that grows with d^2 would take 20,000."""
        d = 20_000
        rows = sparse.random_array((60, d), density=1e-3, format="csr", rng=np.random.default_rng(0))
        made = self.of(self.general[0], 16)
        tracemalloc.start()
        try:
            if type(made).__name__ == "QMC":
                with pytest.raises(ValueError, match="at most 5,001 coordinates, but 20,000 are needed"):
                    made.fit(rows)
            else:
                made.fit(rows, np.arange(60) % 2).transform(rows)
            assert tracemalloc.get_traced_memory()[1] < 8 * 2000 * d
        finally:
            tracemalloc.stop()

    # gradients

    @pytest.mark.filterwarnings("ignore::rflib.measures.RangeWarning")
    def test_gradients_are_those_of_central_differences(self, gradient_case):
        features = self.of(gradient_case, 30).fit(TRAIN)
        weights = np.random.default_rng(1).standard_normal((features.n_components_, 2))
        expected = differences(features, NEW, weights)
        found = features.gradient_products(NEW, weights)
        assert found.shape == (len(NEW), 2, 4)
        np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())

    # rows unlike the training rows are noticed, and rows of the same law less than once in 1,000 transforms

    def _noticing(self, noticing, rows, kernel=None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # fewer rows than landmarks
            return self.of((kernel or Gaussian("scale"), noticing), 60).fit(rows)

    @pytest.mark.parametrize(
        "law",
        [
            pytest.param(n, marks=pytest.mark.nightly) if n in ("digits", "single precision") else n
            for n in LAWS_OF_ROWS
        ],
    )
    def test_rows_of_the_same_law_are_not_noticed(self, noticing, law):
        train, test = np.array_split(LAWS_OF_ROWS[law](np.random.default_rng(7)), 2)
        m = self._noticing(noticing, train)
        for rows in (train, test, test[::2], test[:9], *np.split(test[:5], 5)):
            assert not warned(m, rows)

    @pytest.mark.parametrize("law", ["normal", "few rows", "single precision", "wine"])
    def test_rows_of_another_law_are_noticed_once(self, noticing, law):
        train, test = np.array_split(LAWS_OF_ROWS[law](np.random.default_rng(8)), 2)
        m, test = self._noticing(noticing, train), test[:100]
        deviation = train.std(axis=0)
        for rows in (test + 10 * deviation, 4 * test, (test + 10 * deviation)[:7]):
            assert warned(m, rows) == 1
        restored = clone(m).restore(m.state())
        assert warned(restored, test + 10 * deviation) == 1
        assert not warned(restored, test)

    def test_another_cap_of_the_sphere_is_noticed(self, noticing):
        rng = np.random.default_rng(3)
        around = normalize(0.2 * rng.standard_normal((200, 6)) + np.eye(6)[0])
        m = self._noticing(noticing, around, Gaussian(0.5))
        for axis in self.caps:
            pole = np.eye(6)[axis] if axis > 0 else -np.eye(6)[0]
            assert warned(m, normalize(0.2 * rng.standard_normal((100, 6)) + pole)) == 1

    def test_a_cluster_that_was_not_seen_is_noticed(self, noticing):
        """Also between the two that were seen, unless the map represents the kernel in a ball around them."""
        rng = np.random.default_rng(4)
        clusters = [centre + rng.standard_normal((150, 4)) for centre in np.diag([12, 12, 12, 36])]
        m = self._noticing(noticing, np.concatenate(clusters[:2]), Gaussian(2.0))
        for cluster in clusters[3 if hasattr(m, "radius_") else 2 :]:
            assert warned(m, cluster) == 1

    def test_one_strange_row_in_twenty_is_noticed_and_one_alone_is_not(self, noticing):
        """More than about one in a hundred, of so many training rows. Of fewer than twenty, nothing is said."""
        rows = np.random.default_rng(5).standard_normal((1200, 5))
        m, rows[1190:] = self._noticing(noticing, rows[:1000]), 30.0
        assert warned(m, rows[1000:]) == 1
        assert not warned(m, rows[990:1191])
        assert not warned(self._noticing(noticing, rows[:15, :3]), rows[:15, :3] + 50)
