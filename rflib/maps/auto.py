"""AutoMap: the feature map that has the least error on held-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil
from time import perf_counter
from typing import Literal, get_args

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.utils import assert_all_finite, check_consistent_length
from sklearn.utils.multiclass import type_of_target

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array
from rflib.kernels.sparse_rows import Rows
from rflib.kernels.width_warning import WidthWarning
from rflib.maps.base import RandomFeatureMap
from rflib.maps.gorf import GORF
from rflib.maps.held_out import held_out_error
from rflib.maps.leverage import LeverageRFF, SurrogateLeverageRFF
from rflib.maps.mercer import MercerFeatures
from rflib.maps.mvorf import MVORF
from rflib.maps.nystroem import Nystroem
from rflib.maps.optimized_maclaurin import OptimizedMaclaurin
from rflib.maps.orf import ORF
from rflib.maps.parameters import with_parameters
from rflib.maps.qmc import QMC
from rflib.maps.seeds import Seed
from rflib.maps.tensor_sketch import TensorSketch
from rflib.measures.exact_measures import has_exact_measure, has_positive_measure
from rflib.metrics import regularised_spectral_error
from rflib.validation import check_choice, check_flag, check_number, refuse

Criterion = Literal["kernel", "spectral", "score"]
_DATA_DEPENDENT = (Nystroem, LeverageRFF, SurrogateLeverageRFF)
# Rows that are held out: at most so many, and at most a third of all. Where they would leave Nystroem fewer
# landmarks than columns, they are fewer, but at least a tenth.
_HELD_OUT = 400
_LARGEST_SHARE, _SMALLEST_SHARE = 3, 10
_ROWS, _ROWS_PER_COLUMN, _DRAWS = 1000, 2, 3
# With more columns, the error of one draw is near enough to its mean.
_MOST_REDRAWN = 128
# A candidate is drawn again only if its error so far is at most this multiple of the least one.
_CONTENDER = 1.25
_RIDGE, _ALPHAS = 1e-3, 10.0 ** np.arange(-5, 3)
# The memory and the time of QMC grow with the square of the number of input columns.
_MOST_INPUTS_OF_QMC = 1000
_FEWEST, _STEP = 8, 1.1


@with_parameters
class AutoMap(RandomFeatureMap):
    """Choose the feature map that has the least error on held-out rows, among those that suit the kernel.

    The candidates are fitted on a sample of max(1000, 2 n_components) training rows and compared on at most 400
    others. With at most 128 columns, candidates whose errors are close to the least one are compared in up to
    three draws. The best one is then fitted on all rows. MVORF and MercerFeatures, which measure their error
    themselves, are fitted on all rows from the start if the criterion is "kernel". No clock decides.

    Parameters
    ----------
    kernel, n_components, random_state
        As for `RandomFeatureMap`; with ``tolerance``, n_components is the largest number that may be used.
    candidates : sequence of RandomFeatureMap or str, optional
        Unfitted maps, or names of maps. Their kernel, n_components and random_state are replaced. By default they
        are MVORF, TensorSketch and Nystroem with landmarks by randomly pivoted Cholesky; also ORF and QMC (with at
        most 1,000 input columns) for kernels with a positive spectral measure, otherwise OptimizedMaclaurin and
        GORF. Those that cannot take the kernel are left out.
    criterion : {"kernel", "spectral", "score"}, default="kernel"
        The error that is minimised:

        - "kernel": the relative Frobenius error of the kernel matrix of as many new rows as there are training
          rows. Where the exact matrix is zero, it is the absolute root mean square error;
        - "spectral": the regularised spectral error (`rflib.metrics.regularised_spectral_error`) with the ridge
          0.001, on which the accuracy of kernel ridge regression depends;
        - "score": one minus the accuracy or R^2 of ridge regression on the features; ``fit`` then needs y.
    tolerance : float, optional
        Largest value of the criterion that is acceptable. If it is given, the least number of columns is used with
        which a candidate reaches it, found within 10 %.
    oblivious : bool, default=False
        Leave out maps with stored training rows or weights of rows, such as Nystroem, but not MVORF and
        OptimizedMaclaurin, which only use the distribution of coordinates or norms.

    Attributes
    ----------
    best_ : RandomFeatureMap
        The best candidate, fitted on all rows. Its random_state is an integer, so that it can be fitted again.
    scores_ : list of dict
        The candidates, the best one first: ``name``; ``error``, the mean of the criterion over the draws;
        ``seconds`` to fit and to transform the held-out rows; ``columns``; and ``failure``, the reason or "".
    choice_ : ndarray of shape (2,)
        Index of the best candidate, and its number of columns.

    See Also
    --------
    MVORF : What it mostly finds.
    rflib.learners.KernelRegressor : Chooses the kernel too.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import AutoMap
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> chosen = AutoMap(Gaussian("median"), 32, random_state=0).fit(X)
    >>> type(chosen.best_).__name__
    'MVORF'
    """

    _takes_sparse = None

    candidates: Sequence[RandomFeatureMap | str] | None = None
    criterion: Criterion = "kernel"
    tolerance: float | None = None
    oblivious: bool = False

    def _unfitted(self, name: str) -> RandomFeatureMap:
        index, columns = map(int, self.choice_)
        kernel, _ = self._isotropic(np.zeros((1, self.n_features_in_)))
        candidate = self.candidates_for(self.kernel_, self.n_features_in_)[index]
        return _made(candidate, kernel, columns, None)

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        check_choice(self, "criterion", get_args(Criterion))
        check_flag(self, "oblivious")
        check_number(self, "tolerance", above=0, or_none=True)
        check_consistent_length(X, y)
        trial = _Trial(self, kernel, X, y, rng)
        columns = trial.least_columns(self.tolerance) if self.tolerance else self.n_components
        best, *others = trial.scores(columns)
        if best.failure:
            raise ValueError(f"AutoMap: no candidate could be fitted. {best.name}: {best.failure}")
        told = ("name", "error", "seconds", "columns", "failure")
        self.scores_ = [{key: getattr(score, key) for key in told} for score in (best, *others)]
        self.choice_ = np.array([trial.candidates.index(best.candidate), columns])
        self.best_ = best.fitted or _made(best.candidate, kernel, columns, int(rng.integers(2**31)))
        if best.fitted is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", WidthWarning)  # AutoMap issues it itself
                self.best_.fit(X, y)
        self.signature_ = self.best_.signature_

    def _columns(self, X: Rows) -> Array:
        return self.best_._columns(X)

    def _gradients(self, X: Rows, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.best_._gradients(X, weights)

    @property
    def _lacks(self) -> bool:
        return self.best_._lacks

    def _reach(self, X: Rows) -> Array | None:
        return self.best_._reach(X)

    def _note_usual_losses(self, kernel: Kernel, X: Rows, rng: Generator) -> bool:
        self._usual_losses_, self._usual_reach_ = self.best_._usual_losses_, self.best_._usual_reach_
        return False  # the best candidate has told it

    def _surely_finite(self, X: Rows) -> bool:
        return self.best_._surely_finite(X)

    def candidates_for(self, kernel: Kernel, n_features: int = 1) -> list[RandomFeatureMap]:
        """Return the unfitted candidates that can take a kernel on rows with this number of input columns.

        Raises
        ------
        ValueError
            If ``candidates`` is not a sequence of maps and names of maps, or none of them can take the kernel.
        """
        if self.candidates is None:
            found = list(_default_candidates(kernel, n_features))
        else:
            found = [_from_name(self, each) if isinstance(each, str) else each for each in self.candidates]
            for each in found:
                if not isinstance(each, RandomFeatureMap) or "kernel" not in each.get_params(deep=False):
                    refuse(self, "candidates", "None, or feature maps with a kernel, or names of such maps")
            if not found:
                refuse(self, "candidates", "None, or at least one feature map or name of a map")
        reasons = [each.unsupported(kernel) for each in found]
        suitable = [each for each, reason in zip(found, reasons, strict=True) if not reason]
        if self.oblivious:
            suitable = [each for each in suitable if not isinstance(each, _DATA_DEPENDENT)]
        if not suitable:
            why = "; ".join(filter(None, reasons)) or "All depend on the training rows, but oblivious=True."
            raise ValueError(f"AutoMap: no candidate can take the kernel {kernel!r}: {why}")
        return suitable


@dataclass
class _Score:
    """The errors and the time of one candidate, and its fit if that was to all rows."""

    candidate: RandomFeatureMap
    columns: int
    seconds: float = np.inf
    failure: str = ""
    errors: list[float] = field(default_factory=list)
    fitted: RandomFeatureMap | None = None

    @property
    def name(self) -> str:
        """The candidate with its parameters."""
        return " ".join(repr(self.candidate).split())

    @property
    def error(self) -> float:
        """The mean error over the draws; infinite if there are none, or if the candidate failed."""
        return float(np.mean(self.errors)) if self.errors and not self.failure else np.inf


class _Trial:
    """The candidates of an AutoMap, the rows that they are fitted on, and others on which they are compared."""

    def __init__(self, owner: AutoMap, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        if owner.criterion == "score":
            if y is None:
                raise ValueError("AutoMap: criterion='score' needs y. Call fit(X, y).")
            try:
                assert_all_finite(y)
            except ValueError as error:
                message = "needs y without NaN or infinity. Remove the rows without a target."
                raise ValueError(f"AutoMap: criterion='score' {message}") from error
        self.owner, self.kernel, self.X, self.y = owner, kernel, X, None if y is None else np.asarray(y)
        self.candidates = owner.candidates_for(kernel, X.shape[1])
        n = X.shape[0]
        # The landmarks of Nystroem are rows that are left, of which there should be one for each column.
        n_held = min(_HELD_OUT, n // _LARGEST_SHARE, max(ceil(n / _SMALLEST_SHARE), n - owner.n_components))
        order = rng.permutation(n)
        # Of one or two rows none are held out: the comparison uses the rows of the fit.
        self.held, self.others = order[:n_held] if n_held else order, order[n_held:]
        # A draw has the same seed for all candidates and all numbers of columns.
        self.seeds = rng.integers(2**31, size=_DRAWS).tolist()
        self.exact = np.asarray(kernel(X[self.held].astype(np.float64)), dtype=np.float64)
        self.decomposition = eigh(self.exact) if owner.criterion == "spectral" else None

    def scores(self, columns: int) -> list[_Score]:
        """Return the scores of the candidates with so many columns, the best one first."""
        scores = [_Score(candidate, columns) for candidate in self.candidates]
        for draw, seed in enumerate(self.seeds if columns <= _MOST_REDRAWN else self.seeds[:1]):
            limit = _CONTENDER * min(score.error for score in scores)
            contenders = [score for score in scores if not score.failure and score.error <= limit]
            if draw and len(contenders) < 2:
                break
            for score in contenders:
                if draw and isinstance(score.candidate, MercerFeatures):
                    continue
                made = _made(score.candidate, self.kernel, columns, seed)
                start = perf_counter()
                try:
                    score.errors.append(self._error(made))
                except ValueError as failure:
                    score.failure = str(failure)
                    continue
                score.seconds = min(score.seconds, perf_counter() - start)
                if isinstance(made, MercerFeatures) and self.owner.criterion == "kernel":
                    score.fitted = made
        return sorted(scores, key=lambda score: score.error)

    def least_columns(self, tolerance: float) -> int:
        """Return the least number of columns, within 10 %, with which a candidate has at most this error."""
        most = self.owner.n_components
        low, high = 0, min(_FEWEST, most)
        while (least := self.scores(high)[0].error) > tolerance:
            if high == most:
                raise ValueError(
                    f"AutoMap: tolerance={tolerance} is not reached with n_components={high} columns; the "
                    f"least error is {least:.3g}. Raise n_components or tolerance."
                )
            low, high = high, min(2 * high, most)
        while low and high > _STEP * low + 1:
            middle = int(np.sqrt(low * high))
            low, high = (low, middle) if self.scores(middle)[0].error <= tolerance else (middle, high)
        return high

    def _error(self, candidate: RandomFeatureMap) -> float:
        """Fit a candidate and return its error, which it predicts itself or which held-out rows tell."""
        if issparse(self.X) and not candidate._accepted_sparse:
            raise ValueError(f"{type(candidate).__name__} takes dense rows only.")
        some = np.sort(self.others[: max(_ROWS, _ROWS_PER_COLUMN * candidate.n_components)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(candidate, MercerFeatures) and self.owner.criterion == "kernel":
                return candidate.fit(self.X, self.y).predicted_error_
            candidate.fit(self.X[some], None if self.y is None else self.y[some])
            if self.owner.criterion == "score":
                return self._one_less_score(candidate, some[:_ROWS])
            found, signs = candidate._features(self.X[self.held].astype(np.float64)), candidate.signature_
        if self.owner.criterion == "kernel":
            return held_out_error(found, signs, self.exact, self.X.shape[0])
        return regularised_spectral_error(self.exact, found * signs @ found.T, _RIDGE, self.decomposition)

    def _one_less_score(self, fitted: RandomFeatureMap, some: NDArray) -> float:
        assert self.y is not None
        labels = type_of_target(self.y) in ("binary", "multiclass")
        ridge = RidgeClassifierCV(alphas=_ALPHAS) if labels else RidgeCV(alphas=_ALPHAS)
        train, held = (fitted._features(self.X[rows]) for rows in (some, self.held))
        return 1 - float(ridge.fit(train, self.y[some]).score(held, self.y[self.held]))


def _made(candidate: RandomFeatureMap, kernel: Kernel, columns: int, seed: Seed) -> RandomFeatureMap:
    made: RandomFeatureMap = clone(candidate)
    return made.set_params(kernel=kernel, n_components=columns, random_state=seed)


def _default_candidates(kernel: Kernel, n_features: int) -> Iterator[RandomFeatureMap]:
    yield MVORF()
    if has_positive_measure(kernel):
        yield ORF()
        if n_features <= _MOST_INPUTS_OF_QMC:
            yield QMC()
    else:
        yield OptimizedMaclaurin()
        if has_exact_measure(kernel):
            yield GORF(measure="exact")
    yield from (TensorSketch(), Nystroem(landmarks="rpcholesky"))


def _from_name(owner: AutoMap, name: str) -> RandomFeatureMap:
    import rflib.maps

    if name not in dir(rflib.maps) or name in ("AutoMap", "RandomFeatureMap"):
        refuse(owner, "candidates", f"maps or names of maps, such as 'MVORF', but {name!r} is not a map")
    made: RandomFeatureMap = getattr(rflib.maps, name)()
    return made
