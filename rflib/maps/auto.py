"""AutoMap: the feature map that does best on held-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.utils.multiclass import type_of_target

from rflib.kernels.base import Kernel
from rflib.kernels.radial_function import KernelLike
from rflib.kernels.sparse_rows import Rows
from rflib.maps.base import RandomFeatureMap, Seed, inner_state
from rflib.maps.gorf import GORF
from rflib.maps.leverage import LeverageRFF, SurrogateLeverageRFF
from rflib.maps.mvorf import MVORF
from rflib.maps.nystroem import Nystroem
from rflib.maps.optimized_maclaurin import OptimizedMaclaurin
from rflib.maps.orf import ORF
from rflib.maps.qmc import QMC
from rflib.maps.tensor_sketch import TensorSketch
from rflib.measures.exact_measures import has_exact_measure, has_positive_measure
from rflib.metrics import regularised_spectral_error, relative_frobenius_error
from rflib.validation import check_choice, check_flag, check_number, refuse

CRITERIA = ("kernel", "spectral", "score")
_DATA_DEPENDENT = (Nystroem, LeverageRFF, SurrogateLeverageRFF)
_HELD_OUT = 400
_ROWS = 1000
_ROWS_PER_COLUMN = 2
_DRAWS = 3
# A candidate whose first draw is worse than the best one by more than this is not drawn again.
_CONTENDER = 1.25
_RIDGE = 1e-3
_ALPHAS = 10.0 ** np.arange(-5, 3)
_FEWEST = 8
_STEP = 1.1


class AutoMap(RandomFeatureMap):
    """The feature map with the least error on held-out rows among the candidates that suit the kernel.

    The candidates are fitted on a sample of the training rows, at most max(1000, 2 n_components), and compared on
    at most 400 other ones, those near the best in three draws. The best one is then fitted on all rows. MVORF,
    whose fit depends on the distribution of distances only, is fitted on all rows from the start, so that its
    columns are chosen once.

    Parameters
    ----------
    kernel : Kernel, callable or None
        Kernel to approximate; None is Gaussian(sigma=1).
    n_components : int
        Number of columns D; with ``tolerance`` the largest number that may be used.
    candidates : sequence of RandomFeatureMap or str, optional
        Unfitted maps, or their names, whose kernel, n_components and random_state are replaced. By default MVORF
        (of either objective, unless the criterion is "kernel"), ORF or GORF, QMC, OptimizedMaclaurin, TensorSketch
        and Nystroem with landmarks of randomly pivoted Cholesky, as far as they take the kernel.
    criterion : {"kernel", "spectral", "score"}
        What is least: the relative Frobenius error of the kernel matrix; the regularised spectral error
        |(K + n lambda I)^(-1/2) (K_hat - K) (K + n lambda I)^(-1/2)|_2 with lambda = 0.001
        (`rflib.metrics.regularised_spectral_error`), on which kernel ridge regression depends; or one less the
        score, accuracy or R^2, of ridge regression on the features, for which ``fit`` needs y.
    tolerance : float, optional
        Take the least number of columns, up to a tenth, with which a candidate has at most this value of the
        criterion.
    oblivious : bool
        Leave out the maps whose features are made of the training rows or weighted by them, such as Nystroem.
        (MVORF and OptimizedMaclaurin use the distribution of distances and norms, and count as oblivious.)
    random_state : int, Generator, SeedSequence, RandomState or None
        Seed.

    Attributes
    ----------
    best_ : RandomFeatureMap
        The best candidate, fitted on all rows.
    scores_ : list of dict
        For each candidate its ``name``, ``error`` (the criterion, mean over the draws), ``seconds`` (of a fit on
        the sample and of the features of the held-out rows), ``columns``, and ``failure``, why it could not be
        fitted, if so; the best first. It makes a table as ``pandas.DataFrame(scores_)``. (After `fit`, not after
        `restore`.)
    choice_ : ndarray of shape (2,)
        Which candidate is the best, and its number of columns.
    """

    _state: ClassVar[tuple[str, ...]] = ("choice_",)

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 100,
        *,
        candidates: Sequence[RandomFeatureMap | str] | None = None,
        criterion: str = "kernel",
        tolerance: float | None = None,
        oblivious: bool = False,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.candidates = candidates
        self.criterion = criterion
        self.tolerance = tolerance
        self.oblivious = oblivious
        self.random_state = random_state

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        try:
            return self._resolved_kernel().takes_sparse
        except ValueError:  # which `fit` raises
            return False

    def state(self) -> dict[str, NDArray]:
        """Return the arrays that define the fitted map, for `restore`; the best map's under ``best.``."""
        return super().state() | {f"best.{name}": array for name, array in self.best_.state().items()}

    def restore(self, state: Mapping[str, NDArray]) -> Self:
        """Become the fitted map that `state` was taken from; the parameters must be the same."""
        super().restore(state)
        index, columns = map(int, self.choice_)
        best = self._made(self._candidates()[index], columns, None)
        self.best_ = best.restore(inner_state(state, "best."))
        return self

    def _draw(self, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        check_choice(self, "criterion", CRITERIA)
        check_flag(self, "oblivious")
        check_number(self, "tolerance", above=0, or_none=True)
        candidates = self._candidates()
        trial = _Trial(self.kernel_, self.criterion, X, y, rng)
        columns = self._least_columns(candidates, trial) if self.tolerance else self.n_components
        self.scores_ = self._compared(candidates, columns, trial)
        best = self.scores_[0]
        if best["failure"]:
            raise ValueError(f"AutoMap: no candidate could be fitted. {best['name']}: {best['failure']}")
        index = [_name(candidate) for candidate in candidates].index(best["name"])
        self.choice_ = np.array([index, columns])
        self.best_ = self._made(candidates[index], columns, rng).fit(X, y)
        self.signature_ = self.best_.signature_

    def _columns(self, X: Rows) -> NDArray[np.floating]:
        return self.best_._columns(X)

    def _surely_finite(self, X: Rows) -> bool:
        return self.best_._surely_finite(X)

    def _candidates(self) -> list[RandomFeatureMap]:
        """The candidates that take the kernel."""
        if self.candidates is None:
            found = list(_default_candidates(self.kernel_, self.criterion))
        else:
            found = [_from_name(self, each) if isinstance(each, str) else each for each in self.candidates]
            for each in found:
                if not isinstance(each, RandomFeatureMap) or "kernel" not in each.get_params(deep=False):
                    refuse(self, "candidates", "None, or feature maps with a kernel or their names")
        reasons = [each.unsupported(self.kernel_) for each in found]
        suitable = [
            each
            for each, reason in zip(found, reasons, strict=True)
            if not reason and not (self.oblivious and isinstance(each, _DATA_DEPENDENT))
        ]
        if not suitable:
            why = "; ".join(filter(None, reasons)) or "All are data-dependent, and oblivious=True."
            raise ValueError(f"AutoMap: no candidate takes the kernel {self.kernel_!r}: {why}")
        return suitable

    def _made(self, candidate: RandomFeatureMap, columns: int, seed: Seed) -> RandomFeatureMap:
        made: RandomFeatureMap = clone(candidate)
        return made.set_params(kernel=self.kernel_, n_components=columns, random_state=seed)

    def _compared(
        self, candidates: Sequence[RandomFeatureMap], columns: int, trial: _Trial
    ) -> list[dict[str, Any]]:
        """The scores of the candidates, the best first."""
        scores = [_Score(_name(each), columns) for each in candidates]
        for draw in range(_DRAWS):
            limit = _CONTENDER * min(score.error for score in scores)
            contenders = [
                (candidate, score)
                for candidate, score in zip(candidates, scores, strict=True)
                if not score.failure and score.error <= limit
            ]
            if draw and len(contenders) < 2:
                break
            for candidate, score in contenders:
                made = self._made(candidate, columns, trial.seed(draw))
                start = perf_counter()
                try:
                    score.errors.append(trial.error(made))
                    score.seconds = min(score.seconds, perf_counter() - start)
                except ValueError as failure:
                    score.failure = str(failure)
        return [score.as_dict() for score in sorted(scores, key=lambda score: score.error)]

    def _least_columns(self, candidates: Sequence[RandomFeatureMap], trial: _Trial) -> int:
        def error(columns: int) -> float:
            least: float = self._compared(candidates, columns, trial)[0]["error"]
            return least

        assert self.tolerance is not None
        low, high = 0, min(_FEWEST, self.n_components)
        while (least := error(high)) > self.tolerance:
            if high == self.n_components:
                raise ValueError(
                    f"AutoMap: tolerance={self.tolerance} is not reached with n_components={high} columns: the "
                    f"least error is {least:.3g}. Allow more columns, or a larger error."
                )
            low, high = high, min(2 * high, self.n_components)
        while low and high > _STEP * low + 1:
            middle = int(np.sqrt(low * high))
            low, high = (low, middle) if error(middle) <= self.tolerance else (middle, high)
        return high


@dataclass
class _Score:
    """How a candidate does."""

    name: str
    columns: int
    seconds: float = np.inf
    failure: str = ""
    errors: list[float] = field(default_factory=list)

    @property
    def error(self) -> float:
        """Mean over the draws; infinite without any, and for a candidate that failed."""
        return float(np.mean(self.errors)) if self.errors and not self.failure else np.inf

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("name", "error", "seconds", "columns", "failure")}


class _Trial:
    """Rows on which candidates are fitted, and others on which they are compared."""

    def __init__(self, kernel: Kernel, criterion: str, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        if criterion == "score" and y is None:
            raise ValueError("AutoMap: criterion='score' needs y.")
        self.criterion = criterion
        n = X.shape[0]
        order, n_held = rng.permutation(n), min(_HELD_OUT, n // 3)
        # One or two rows are compared with themselves.
        self.held: NDArray[np.intp] = order[:n_held] if n_held else order
        self.rest: NDArray[np.intp] = order[n_held:]
        self.X, self.y = X, None if y is None else np.asarray(y)
        self.seeds = rng.integers(2**31, size=_DRAWS)
        self.exact = np.asarray(kernel(X[self.held].astype(np.float64)), dtype=np.float64)
        self.decomposition: tuple[NDArray, NDArray] | None = None
        if criterion == "spectral":
            eigenvalues, vectors = eigh(self.exact)
            self.decomposition = eigenvalues, vectors

    def seed(self, draw: int) -> int:
        """The seed of a draw, the same for all candidates and numbers of columns."""
        return int(self.seeds[draw])

    def error(self, candidate: RandomFeatureMap) -> float:
        """The criterion for a candidate."""
        some = np.sort(self.rest[: max(_ROWS, _ROWS_PER_COLUMN * candidate.n_components)])
        rows = slice(None) if isinstance(candidate, MVORF) else some
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            candidate.fit(self.X[rows], None if self.y is None else self.y[rows])
            if self.criterion == "score":
                return self._one_less_score(candidate, some[:_ROWS])
            estimate = candidate.kernel_matrix(self.X[self.held].astype(np.float64))
        if self.criterion == "kernel":
            return relative_frobenius_error(self.exact, estimate)
        return regularised_spectral_error(self.exact, estimate, _RIDGE, self.decomposition)

    def _one_less_score(self, fitted: RandomFeatureMap, some: NDArray) -> float:
        assert self.y is not None
        labels = type_of_target(self.y) in ("binary", "multiclass")
        ridge = RidgeClassifierCV(alphas=_ALPHAS) if labels else RidgeCV(alphas=_ALPHAS)
        train, held = (fitted._features(self.X[rows]) for rows in (some, self.held))
        return 1 - float(ridge.fit(train, self.y[some]).score(held, self.y[self.held]))


def _default_candidates(kernel: Kernel, criterion: str) -> Iterator[RandomFeatureMap]:
    yield MVORF()
    if criterion != "kernel":
        yield MVORF(objective="learner")
    if has_positive_measure(kernel):
        yield from (ORF(), QMC())
    elif has_exact_measure(kernel):
        yield GORF(measure="exact")
    yield from (OptimizedMaclaurin(), TensorSketch(), Nystroem(landmarks="rpcholesky"))


def _from_name(owner: AutoMap, name: str) -> RandomFeatureMap:
    import rflib.maps

    if name not in dir(rflib.maps) or name in ("AutoMap", "RandomFeatureMap"):
        refuse(owner, "candidates", f"maps or names of maps, such as 'MVORF', and {name!r} is none")
    made: RandomFeatureMap = getattr(rflib.maps, name)()
    return made


def _name(candidate: RandomFeatureMap) -> str:
    return " ".join(repr(candidate).split())
