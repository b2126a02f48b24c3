"""AutoMap takes the best candidate, says so, and finds the number of columns that an error needs."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from rflib.kernels import (
    ArcCosine,
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Matern,
    Polynomial,
    SphericalPolynomial,
)
from rflib.kernels.width_warning import WidthWarning
from rflib.maps import (
    CRAFT,
    MVORF,
    ORF,
    QMC,
    AutoMap,
    LeverageRFF,
    Nystroem,
    RandomFeatureMap,
    RandomMaclaurin,
)
from rflib.metrics import relative_frobenius_error

from .conftest import sphere

ROWS = sphere(900, 6)
KERNELS = [
    Gaussian(0.5),
    Matern(1.5, 1.0),
    SphericalPolynomial(4, 10),
    DeltaGaussian(sigmas=(0.7, 5)),
    pytest.param(ArcCosine(1), marks=pytest.mark.nightly),
    Laplacian(),
    Polynomial(3, 0.5, 1.0),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_the_best_is_near_the_best_on_fresh_rows(kernel):
    """Mean errors over five draws, on unseen rows, of all but MVORF: within 1.1 of the least."""
    train, fresh = ROWS[:600], ROWS[600:]
    first, *others = AutoMap().candidates_for(kernel)
    assert type(first) is MVORF
    chosen = AutoMap(kernel, 48, candidates=others, random_state=0).fit(train)
    assert [s["error"] for s in chosen.scores_] == sorted(s["error"] for s in chosen.scores_)
    exact = kernel(fresh)
    errors = {}
    for candidate in chosen.candidates_for(chosen.kernel_):
        made = [
            clone(candidate).set_params(kernel=kernel, n_components=48, random_state=seed)
            for seed in range(5)
        ]
        errors[type(candidate)] = np.mean(
            [relative_frobenius_error(exact, m.fit(train).kernel_matrix(fresh)) for m in made]
        )
    assert errors[type(chosen.best_)] < 1.1 * min(errors.values())


@pytest.mark.parametrize(
    "candidate", ["ORF", "OptimizedMaclaurin", Nystroem(landmarks="rpcholesky")], ids=str
)
def test_the_best_map_can_be_fitted_again(candidate):
    for seed in (0, np.random.default_rng(0)):
        fitted = AutoMap(Gaussian(), 20, candidates=[candidate], random_state=seed).fit(ROWS)
        again = clone(fitted.best_).fit(ROWS)
        assert np.array_equal(again.transform(ROWS), fitted.transform(ROWS))


def fits_of(monkeypatch):
    """Return a list of the fits of all maps: what the map is, and the numbers of rows and columns."""
    fits, fit = [], RandomFeatureMap.fit

    def counted(self, X, y=None):
        fits.append((type(self), len(X), self.n_components))
        return fit(self, X, y)

    monkeypatch.setattr(RandomFeatureMap, "fit", counted)
    return fits


@pytest.mark.parametrize("oblivious", [True, False])
def test_mvorf_is_fitted_once_and_predicts_its_error(oblivious, monkeypatch):
    """On rows with axes of their own, where they have the least error; all other fits are to fewer rows."""
    rows = np.random.default_rng(0).standard_normal((1000, 5)) * [2, 1, 1, 0.5, 0.3]
    train, fresh = rows[:700], rows[700:]
    fits = fits_of(monkeypatch)
    kernel = Gaussian(2.0)
    fitted = AutoMap(kernel, 130, oblivious=oblivious, random_state=0).fit(train)
    assert type(fitted.best_) is MVORF
    assert fitted.scores_[0]["error"] == fitted.best_.predicted_error_
    sampled = [ORF, QMC] if oblivious else [ORF, QMC, Nystroem]
    assert fits[1:] == [(MVORF, 700, 130), *((cls, 467, 130) for cls in sampled)]
    error = relative_frobenius_error(kernel(fresh), fitted.kernel_matrix(fresh))
    assert fitted.scores_[0]["error"] == pytest.approx(error, rel=0.5)
    assert error < 0.5 * min(score["error"] for score in fitted.scores_[1:])
    again = clone(fitted.best_).fit(train)
    assert np.array_equal(again.transform(fresh), fitted.transform(fresh))
    restored = clone(fitted).restore(fitted.state())
    assert np.array_equal(restored.transform(fresh), fitted.transform(fresh))


def test_a_width_that_does_not_serve_is_told_once():
    for candidate in ("MVORF", "ORF"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            AutoMap(Gaussian(1e-3), 10, candidates=[candidate], random_state=0).fit(ROWS[:300])
        assert [w.category for w in caught] == [WidthWarning]


def test_maps_of_dense_rows_are_passed_over_where_rows_are_sparse():
    class Dense(ORF):
        _takes_sparse = False

    fitted = AutoMap(Gaussian(), 10, candidates=[Dense(), "ORF"], random_state=0).fit(csr_array(ROWS))
    assert type(fitted.best_) is ORF
    assert fitted.scores_[-1]["failure"] == "Dense takes dense rows only."


def test_scores_say_what_was_tried():
    fitted = AutoMap(
        Gaussian(), 20, candidates=["ORF", Nystroem(landmarks="kmeans"), "RandomMaclaurin"], random_state=0
    )
    fitted.fit(ROWS)
    assert {s["name"] for s in fitted.scores_} == {"ORF()", "Nystroem(landmarks='kmeans')"}
    assert all(set(s) == {"name", "error", "seconds", "columns", "failure"} for s in fitted.scores_)
    assert all(0 < s["error"] < 1 and s["seconds"] > 0 and s["columns"] == 20 for s in fitted.scores_)
    assert type(fitted.best_) is Nystroem
    assert np.array_equal(fitted.transform(ROWS), fitted.best_.transform(ROWS))


def test_oblivious_leaves_nystroem_out():
    types = [type(each) for each in AutoMap(oblivious=True).candidates_for(Matern())]
    assert types == [MVORF, ORF, QMC]
    assert Nystroem in [type(each) for each in AutoMap().candidates_for(Matern())]


@pytest.mark.parametrize(("criterion", "reached"), [("kernel", 0.15), ("spectral", 3.0)])
def test_a_tolerance_is_reached_with_few_columns(criterion, reached):
    def made(columns, tolerance=None):
        return AutoMap(
            Gaussian(0.7),
            columns,
            candidates=["ORF"],
            criterion=criterion,
            tolerance=tolerance,
            random_state=0,
        )

    fitted = made(4096, tolerance=reached).fit(ROWS)
    columns = fitted.n_components_
    assert fitted.scores_[0]["error"] <= reached
    assert made(int(columns / 1.3)).fit(ROWS).scores_[0]["error"] > reached
    with pytest.raises(ValueError, match=rf"tolerance={reached} is not reached with n_components=8"):
        made(8, tolerance=reached).fit(ROWS)


@pytest.mark.parametrize("labels", [True, False])
def test_the_score_of_a_learner(labels):
    """Random Maclaurin features of a narrow Gaussian have all but drowned in their variance."""
    target = np.sin(4 * ROWS[:, 0])
    y = np.sign(target) if labels else target
    options = {"candidates": [RandomMaclaurin(), Nystroem(), ORF()], "criterion": "score", "random_state": 0}
    fitted = AutoMap(SphericalPolynomial(4, 10), 100, **options).fit(ROWS, y)
    assert type(fitted.best_) is Nystroem
    assert 0 < fitted.scores_[0]["error"] < 0.2
    with pytest.raises(ValueError, match="needs y"):
        AutoMap(criterion="score").fit(ROWS)


@pytest.mark.parametrize("length", [50, 899, 901])
@pytest.mark.parametrize("criterion", ["kernel", "score"])
def test_targets_of_another_length_are_refused(criterion, length):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        AutoMap(Gaussian(), 20, criterion=criterion).fit(ROWS, np.arange(length) % 2)


@pytest.mark.parametrize("dtype", [float, object])
def test_missing_targets_have_no_score(dtype):
    y = ROWS[:, 0].astype(dtype)
    y[7] = np.nan
    with pytest.raises(ValueError, match="AutoMap: criterion='score' needs y without NaN"):
        AutoMap(Gaussian(), 20, criterion="score").fit(ROWS, y)


@pytest.mark.parametrize(
    "rows", [ROWS[:1], np.ones((20, 3)), np.zeros((20, 3))], ids=["one", "ones", "zeros"]
)
@pytest.mark.parametrize("criterion", ["kernel", "spectral"])
def test_where_the_kernel_matrix_is_zero_the_error_is_absolute(criterion, rows):
    kernel = DeltaGaussian((1, -1), (1, 10))
    fitted = AutoMap(kernel, 8, criterion=criterion, random_state=0).fit(rows)
    assert not any(score["failure"] for score in fitted.scores_)
    assert fitted.scores_[0]["error"] < 1e-10
    assert np.abs(fitted.kernel_matrix(rows)).max() < 1e-10


def test_a_candidate_that_fails_is_told_and_passed_over():
    few = LeverageRFF(pool=3)
    fitted = AutoMap(Gaussian(), 10, candidates=[few, "ORF"], random_state=0).fit(ROWS)
    assert type(fitted.best_) is ORF
    assert "pool must be" in fitted.scores_[-1]["failure"]
    with pytest.raises(
        ValueError, match=r"no candidate could be fitted. LeverageRFF\(pool=3\): .*pool must be"
    ):
        AutoMap(Gaussian(), 10, candidates=[few]).fit(ROWS)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_rows(n):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert AutoMap(Gaussian(), 6, random_state=0).fit_transform(ROWS[:n]).shape[0] == n


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "accuracy"}, "criterion must be"),
        ({"tolerance": 0}, "tolerance must be"),
        ({"candidates": ["Nystrom"]}, "candidates must be .*'Nystrom'"),
        ({"candidates": [CRAFT()]}, "candidates must be"),
        ({"candidates": [3]}, "candidates must be"),
        ({"candidates": []}, r"candidates must be None, or at least one .*, got \[\]"),
        ({"candidates": ["Nystroem"], "oblivious": True}, "oblivious"),
        ({"candidates": ["TensorSketch"]}, "no candidate can take the kernel Gaussian"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        AutoMap(Gaussian(), 20, **options).fit(ROWS)


@pytest.mark.parametrize("n", [3, 60, 1500])
def test_the_error_is_that_of_as_many_new_rows(n):
    """Rows so far apart that Nystroem has its largest errors on the diagonal, which weighs 1 / n in n rows."""
    kernel, rows = Gaussian(0.5), sphere(2 * n, 40)
    train, fresh = rows[:n], rows[n:]
    errors = []
    for seed in range(5):
        fitted = AutoMap(kernel, min(n // 3, 300), candidates=["Nystroem"], random_state=seed).fit(train)
        errors.append(fitted.scores_[0]["error"])
    expected = relative_frobenius_error(kernel(fresh), fitted.kernel_matrix(fresh))
    assert np.mean(errors) == pytest.approx(expected, rel=0.05)


@pytest.mark.filterwarnings("ignore:Nystroem")
def test_few_rows_are_held_out_where_nystroem_needs_them_as_landmarks():
    """With more columns than rows, the last fit has all rows as landmarks."""
    kernel, rows = SphericalPolynomial(a=3, p=10), sphere(900, 13) * np.arange(1, 14) ** -0.5
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    train, fresh, errors = rows[:450], rows[450:], []
    for seed in range(5):
        fitted = AutoMap(kernel, 1024, candidates=["Nystroem"], random_state=seed).fit(train)
        errors.append(fitted.scores_[0]["error"])
    expected = relative_frobenius_error(kernel(fresh), fitted.kernel_matrix(fresh))
    assert np.mean(errors) == pytest.approx(expected, rel=0.25)
