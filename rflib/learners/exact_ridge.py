"""Kernel ridge regression with an exact kernel: the reference that random features approximate."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rflib.drafts import all_or_nothing
from rflib.kernels.radial_function import KernelLike
from rflib.kernels.sparse_rows import Rows
from rflib.kernels.width_warning import warn_of_width
from rflib.learners.class_weight import ClassWeight, check_class_weight, class_weights
from rflib.learners.exact_kernel import ExactKernelEstimator
from rflib.learners.folds import check_folds, check_groups, fold_numbers
from rflib.learners.gradient_fits import GradientFits
from rflib.learners.grid_edge import ALPHAS, about_alpha, chosen, unless_rounding
from rflib.learners.kernel_systems import KernelSystems
from rflib.learners.leave_one_out import check_several_rows
from rflib.learners.matrix_ridge import MatrixRidge
from rflib.learners.memory import machine_memory
from rflib.learners.one_vs_rest import (
    OneVsRestClassifier,
    codes_to_targets,
    encode_labels,
)
from rflib.learners.parameter_checks import check_positive_numbers, check_seed
from rflib.learners.repair import Repair, RepairName
from rflib.learners.ridge_system import RIDGES, Ridge
from rflib.learners.values import check_weights
from rflib.maps.row_blocks import row_blocks
from rflib.sklearn_bases import MultiOutputMixin, RegressorMixin
from rflib.validation import check_choice, check_flag

# Above this share of the machine's memory, solver="auto" makes no kernel matrix.
_MATRIX_SHARE = 1 / 8
# Numbers in the kernel matrix between training rows and a block of others.
_PREDICTED = 1 << 22


@dataclass(eq=False, repr=False)
class _Parameters:
    kernel: KernelLike = None
    _: KW_ONLY
    alphas: ArrayLike = ALPHAS
    ridge: Ridge = "n_lambda"
    cv: Any = None
    solver: Literal["auto", "direct", "cg"] = "auto"
    verbose: bool = False
    random_state: Any = 0
    repair: RepairName = "none"


@dataclass(eq=False, repr=False)
class _ClassifierParameters(_Parameters):
    _: KW_ONLY
    criterion: Literal["squared_error", "error_rate"] = "squared_error"
    class_weight: ClassWeight = None


class _ExactRidge(_Parameters, ExactKernelEstimator):
    """Kernel ridge regression of targets, which the regressor and the classifier share."""

    criterion: Literal["squared_error", "error_rate"] = "squared_error"

    @classmethod
    def _called_here(cls, name: str, value: object) -> str | None:
        return about_alpha(cls, name, value)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive_numbers(self, "alphas")
        check_choice(self, "ridge", RIDGES)
        check_folds(self)
        check_choice(self, "solver", ("auto", "direct", "cg"))
        check_flag(self, "verbose")
        check_seed(self)
        if self.solver == "cg" and self.repair != "none":
            raise ValueError(
                f"{type(self).__name__}: a repair needs the whole kernel matrix. Use solver='direct', or "
                "repair='none' with solver='cg'."
            )

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit to rows X (n_samples, n_features) and y: targets (n_samples,) or (n_samples, n_targets), or labels.

        ``sample_weight`` (n_samples,) counts a row as often as it says, as in `KRR.fit`, also in a repair. The
        rule "scale" for the kernel's width counts rows so too, and "median" those with weight once each.
        ``groups`` are those of `KRR.fit`.

        Raises
        ------
        ValueError
            If X or y is not finite or of the wrong shape, the kernel does not take the rows, a parameter is out of
            its range, weights are negative or those of a fold all zero, or the system is singular.
        """
        self._check_parameters()
        rows, known = self._checked(X, y, reset=True)
        self._fit_ridge(rows, *self._begin(known, sample_weight), groups)
        return self

    def _begin(self, y: NDArray, sample_weight: Any) -> tuple[NDArray, NDArray, NDArray | None]:
        """Return what decides the folds, the targets (n_samples, n_targets) and the weights."""
        raise NotImplementedError

    def _shaped(self, values: NDArray) -> NDArray:
        """Return values (n, n_targets) in the shape that predictions have."""
        raise NotImplementedError

    def _fit_ridge(
        self,
        X: Rows,
        y: NDArray,
        targets: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
        groups: Any,
    ) -> None:
        """Fit targets (n_samples, n_targets) with weights (n_samples,) or none; y decides the folds."""
        for name in ("cv_errors_", "loo_predictions_", "best_score_"):
            self.__dict__.pop(name, None)
        alphas = check_positive_numbers(self, "alphas")
        several, given = len(alphas) > 1, None if weights is None else weights[weights > 0]
        n = len(targets) if given is None else len(given)
        by_gradients = self._goes_by_gradients(n)
        leaves_one_out = several and self.cv is None and self.repair == "none" and not by_gradients
        folds = None
        if leaves_one_out:
            check_groups(self, groups)
            check_several_rows(self, n)
        elif several:
            folds = fold_numbers(self, y, weights, groups)
        kernel, rows = self._keep_rows(X, weights)
        counted, name, targets = self._counted, type(self).__name__, targets[self._counted]
        folds = None if folds is None else folds[counted]
        choose = partial(self._best, alphas, targets=targets, given=given)
        left_out = None
        if by_gradients:
            warn_of_width(self.kernel_, getattr(kernel, "similarities", rows))
            seed = check_random_state(self.random_state).randint(2**31 - 1)
            systems = KernelSystems(kernel, rows, np.random.default_rng(seed))
            fits = GradientFits(systems, targets, given, self.ridge, name=name, verbose=self.verbose)
            found = fits.fit(alphas, folds, self.criterion, choose)
            self.repair_ = Repair.of(np.empty((0, 0)), self.repair)
        else:
            K = self._matrix_of(kernel, rows)
            machine = MatrixRidge(K, targets, given, self.ridge, self.repair, self.criterion, name)
            found, self.repair_, left_out = machine.fit(alphas, folds, choose)
        self.alpha_, self.target_means_, self.dual_coef_ = found.alpha, found.intercept, found.coef
        if found.errors is not None:
            self.cv_errors_ = found.errors
        if left_out is not None:
            values = np.full((len(y), targets.shape[1]), np.nan)
            values[counted] = left_out
            self.loo_predictions_ = self._shaped(values)

    def _goes_by_gradients(self, n: int) -> bool:
        if self.solver == "auto":
            is_large = 8 * n**2 > _MATRIX_SHARE * machine_memory()
            return is_large and self.repair == "none" and not self._resolved_kernel().is_precomputed
        return self.solver == "cg"

    def _best(self, alphas: NDArray, losses: NDArray, targets: NDArray, given: NDArray | None) -> int:
        """Return the number of the best alpha, and keep what it scores."""
        best = chosen(self, "alphas", alphas, losses, self._error_of_mean(targets, given))
        self.best_score_ = -float(losses[best])
        return best

    def _values(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        rows = self._rows(X)
        height = max(1, _PREDICTED // len(self.dual_coef_))
        parts = [self._kernel_of(rows[part]) @ self.dual_coef_ for part in row_blocks(rows.shape[0], height)]
        values: NDArray[np.float64] = np.concatenate(parts) + self.target_means_
        return values

    def _error_of_mean(self, targets: NDArray, weights: NDArray | None) -> float | None:
        """Return the loss of predicting the mean, where that is the variance of the targets."""
        means = np.average(targets, axis=0, weights=weights)
        error = np.average((targets - means) ** 2, axis=0, weights=weights).mean()
        return unless_rounding(float(error), means)


class ExactKRR(MultiOutputMixin, RegressorMixin, _ExactRidge):
    """Fit kernel ridge regression with an exact kernel, definite or not.

    The prediction is f(x) = mean(y) + k(x)^T (K + c I)^-1 (y - mean(y)). It is the limit of `KRR` as the number of
    features grows. For an indefinite kernel it is the stationary point that ``KRR(signed="krein")`` approximates.

    Parameters
    ----------
    kernel : Kernel, callable, "precomputed" or None
        None is Gaussian("scale"). As in the maps, a function of one array is a kernel's profile k(z), a function
        of the distance, and a function of two matrices of rows is a symmetric similarity k(X, Y), definite or
        not. With "precomputed", `fit` takes the matrix (n, n) of the similarities of the training rows in place
        of X, and `predict` those (m, n) of other rows with them.
    alphas, ridge, random_state
        As for `KRR`.
    cv : int, splitter or iterable, optional
        As for `KRR`, with the same folds. None means leave-one-out, and 5 folds with a repair or by conjugate
        gradients.
    solver : {"auto", "direct", "cg"}, default="auto"
        "direct" makes the kernel matrix. "cg" goes by conjugate gradients, preconditioned by a randomly pivoted
        Cholesky decomposition (Diaz, Epperly, Frangella, Tropp, Webber, Robust, randomized preconditioning for
        kernel ridge regression, 2023), for all folds, alphas and targets at once. It makes the matrix in tiles,
        again in each step, of single precision; residuals are of double precision. Predictions are within 1e-6 of
        the direct ones; a `ConvergenceWarning` says where they may not be. Held-out errors are within about 1e-3,
        and infinite where 200 steps are too few. The kernel must be positive semidefinite. Memory: 6 n^1.5 numbers
        for n rows. "auto" is "direct" if n^2 numbers of double precision take at most an eighth of the machine's
        memory, with a repair, and for "precomputed".
    verbose : bool, default=False
        Print steps, the residual and the seconds of conjugate gradients every ten seconds.
    repair : {"none", "clip", "flip", "shift", "square"}, default="none"
        What is done to an indefinite kernel, for the training rows and other rows alike; see
        `rflib.learners.spectrum_repair.SpectrumRepair`. With "none" an indefinite kernel gives the
        stationary point above. In cross-validation each fold's training rows have their own repair.

    Attributes
    ----------
    alpha_ : float
        The alpha used.
    cv_errors_ : ndarray of shape (n_alphas, n_folds)
        Held-out mean squared errors, or (n_alphas, 1) those of left-out rows; absent for a single alpha.
    best_score_, loo_predictions_
        As for `KRR`.
    dual_coef_ : ndarray of shape (n_samples, n_targets)
        Coefficients of the training rows with weight.
    target_means_ : ndarray of shape (n_targets,)
        Means of the targets.
    kernel_ : Kernel
        The kernel; its width is a number, or one for each column.
    X_fit_ : ndarray or CSR array of shape (n_samples, n_features)
        Training rows with weight, sparse if they were in `fit`; absent with "precomputed".
    repair_ : Repair
        The repair.
    n_features_in_ : int
        Number of columns of X.

    See Also
    --------
    KRR : On features, in time that is linear in the rows.
    ExactKRRClassifier : The same for labels.
    sklearn.kernel_ridge.KernelRidge : Without a choice of the ridge.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rflib.kernels import Gaussian
    >>> from rflib.learners import ExactKRR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ExactKRR(Gaussian("scale")).fit(X, y)
    >>> model.predict(X[:3]).shape
    (3,)
    """

    _several_targets = True

    def _begin(self, y: NDArray, sample_weight: Any) -> tuple[NDArray, NDArray, NDArray | None]:
        targets = np.asarray(y, dtype=np.float64)
        self._one_target = targets.ndim == 1
        return targets, targets.reshape(len(targets), -1), check_weights(self, sample_weight, len(targets))

    def predict(self, X: ArrayLike, return_std: bool = False) -> NDArray[np.float64]:
        """Return the predicted targets of the rows X (n_samples, n_features), in the shape that y had in `fit`.

        Raises
        ------
        TypeError
            If standard deviations are asked for, which `KRR` has.
        """
        if return_std:
            raise TypeError(
                f"{type(self).__name__} has no standard deviations. KRR(feature_map=MercerFeatures("
                f"{self.kernel!r}, 1000)) has them: predict(X, return_std=True)."
            )
        return self._shaped(self._values(X))

    def _shaped(self, values: NDArray) -> NDArray:
        return values[:, 0] if self._one_target else values


class ExactKRRClassifier(OneVsRestClassifier, _ClassifierParameters, _ExactRidge):
    """Classify by kernel ridge regression of +1 and -1 with an exact kernel, definite or not.

    Several classes are fitted one against the rest.

    Parameters
    ----------
    kernel, cv, solver, verbose, repair
        As for `ExactKRR`.
    alphas, ridge, criterion, class_weight, random_state
        As for `KRRClassifier`; so are the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    loo_predictions_
        As for `KRRClassifier`.
    alpha_, best_score_, cv_errors_, dual_coef_, target_means_, kernel_, X_fit_, repair_, n_features_in_
        As for `ExactKRR`; the errors are those of the criterion.

    See Also
    --------
    ExactKRR : The same for numbers.
    KRRClassifier : On features, in time that is linear in the rows.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from rflib.learners import ExactKRRClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> print(f"{ExactKRRClassifier().fit(scale(X), y).score(scale(X), y):.2f}")
    1.00
    """

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "criterion", ("squared_error", "error_rate"))
        check_class_weight(self)

    def _begin(self, y: NDArray, sample_weight: Any) -> tuple[NDArray, NDArray, NDArray | None]:
        weights = class_weights(self, y, sample_weight)
        self.classes_, codes = encode_labels(self, y, weights)
        return codes, codes_to_targets(codes, len(self.classes_)), weights

    def _shaped(self, values: NDArray) -> NDArray:
        return values[:, 0] if values.shape[1] == 1 else values

    def _error_of_mean(self, targets: NDArray, weights: NDArray | None) -> float | None:
        return None if self.criterion == "error_rate" else super()._error_of_mean(targets, weights)
