"""Support vector machines with an exact kernel: the reference that random features approximate."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.svm import SVC, SVR

from rflib.drafts import all_or_nothing
from rflib.kernels.radial_function import KernelLike
from rflib.kernels.sparse_rows import Rows
from rflib.learners.class_weight import ClassWeight, check_class_weight, class_weights
from rflib.learners.exact_kernel import ExactKernelEstimator
from rflib.learners.one_vs_rest import encode_labels
from rflib.learners.repair import RepairName
from rflib.learners.values import check_weights
from rflib.sklearn_bases import ClassifierMixin, RegressorMixin
from rflib.validation import check_number


@dataclass(eq=False, repr=False)
class _Parameters:
    kernel: KernelLike = None
    _: KW_ONLY
    C: float = 1.0
    tol: float = 1e-3
    cache_size: float = 200
    repair: RepairName = "none"


@dataclass(eq=False, repr=False)
class _ClassifierParameters(_Parameters):
    _: KW_ONLY
    class_weight: ClassWeight = None


@dataclass(eq=False, repr=False)
class _RegressorParameters(_Parameters):
    _: KW_ONLY
    epsilon: float = 0.1


class _ExactSVM(_Parameters, ExactKernelEstimator):
    """What the two support vector machines share."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("C", "tol", "cache_size"):
            check_number(self, name, above=0)

    def _fit_machine(
        self, machine: SVC | SVR, X: Rows, y: NDArray, weights: NDArray[np.float64] | None
    ) -> None:
        K = self._fit_kernel(X, weights)
        given = None if weights is None else weights[self._counted]
        self.machine_ = machine.fit(self._repaired(K, given), y[self._counted], sample_weight=given)

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predictions for the rows X (n_samples, n_features), shape (n_samples,)."""
        kernel_rows = self._kernel_to_training_rows(X)
        return self.machine_.predict(kernel_rows)


class ExactKernelSVC(ClassifierMixin, _ClassifierParameters, _ExactSVM):
    """Fit a soft-margin support vector machine with an exact kernel, definite or not.

    libsvm solves the problem from the kernel matrix; several classes are fitted one against one.

    Indefinite kernels. libsvm accepts any symmetric matrix. Where two rows have K_ii + K_jj - 2 K_ij <= 0 it takes
    1e-12 in its place, so that its steps still descend; they end at a stationary point of the dual, which is not
    convex then: not always its minimum, and the solution may depend on the order of the rows (Lin and Lin, A study
    on sigmoid kernels for SVM, 2003).

    Parameters
    ----------
    kernel : Kernel, callable, "precomputed" or None
        As for `ExactKRR`.
    C : float, default=1.0
        Cost.
    class_weight : dict or "balanced", optional
        Factors of the weights of the rows, by their labels, as for `KRRClassifier`.
    tol : float, default=1e-3
        libsvm's tolerance.
    cache_size : float, default=200
        libsvm's cache in MB.
    repair : {"none", "clip", "flip", "shift", "square"}, default="none"
        What is done to an indefinite kernel, for the training rows and other rows alike; see
        `rflib.learners.spectrum_repair.SpectrumRepair`. "flip" is the Krein SVM of Loosli, Canu &
        Ong 2016 (Learning SVM in Krein spaces).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    machine_ : sklearn.svm.SVC
        The fitted machine, on the precomputed kernel. It has an intercept, unlike `LinearSVM` by default.
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
    LinearSVM : On features, in time that is linear in the rows.
    ExactKernelSVR : The same for numbers.
    SpectrumRepair : Its repairs as a transformer.
    sklearn.svm.SVC : For definite kernels.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from rflib.kernels import DeltaGaussian
    >>> from rflib.learners import ExactKernelSVC
    >>> X, y = load_wine(return_X_y=True)
    >>> model = ExactKernelSVC(DeltaGaussian((1, -1), (1, 10), "median"), repair="flip")
    >>> print(f"{model.fit(scale(X), y).score(scale(X), y):.2f}")
    0.99
    """

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X (n_samples, n_features) and labels y (n_samples,), which needs an (n, n) matrix in memory.

        ``sample_weight`` (n_samples,) multiplies the costs of the rows: each counts as often as it says, also in a
        repair, within libsvm's tolerance. The rule "scale" for the
        kernel's width counts rows so too, and "median" those with weight once each.

        Raises
        ------
        ValueError
            If X is not a finite matrix, the kernel does not take its rows, there are fewer than two classes (with
            weight), or a weight is negative.
        """
        self._check_parameters()
        rows, labels = self._checked(X, y, reset=True)
        check_class_weight(self)
        weights = class_weights(self, labels, sample_weight)
        self.classes_, _ = encode_labels(self, labels, weights)
        machine = SVC(C=self.C, kernel="precomputed", tol=self.tol, cache_size=self.cache_size)
        self._fit_machine(machine, rows, labels, weights)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the values on which the predictions are based.

        For two classes the shape is (n_samples,), and a value above 0 means the second class. For more classes the
        values are one-against-one votes, shape (n_samples, n_classes).
        """
        kernel_rows = self._kernel_to_training_rows(X)
        return self.machine_.decision_function(kernel_rows)


class ExactKernelSVR(RegressorMixin, _RegressorParameters, _ExactSVM):
    """Fit support vector regression with an exact kernel, definite or not.

    libsvm solves the problem from the kernel matrix. `ExactKernelSVC` says what this means for indefinite kernels.

    Parameters
    ----------
    kernel, C, tol, cache_size, repair
        As for `ExactKernelSVC`.
    epsilon : float, default=0.1
        Half the width of the tube without loss, in the units of y. The loss is |error| - epsilon; `LinearSVR`
        squares it by default.

    Attributes
    ----------
    machine_ : sklearn.svm.SVR
        The fitted machine.
    kernel_, X_fit_, repair_, n_features_in_
        As for `ExactKernelSVC`.

    See Also
    --------
    LinearSVR : On features, in time that is linear in the rows.
    ExactKernelSVC : The same for labels.
    sklearn.svm.SVR : For definite kernels.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rflib.learners import ExactKernelSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ExactKernelSVR(C=100).fit(X, y).predict(X[:3]).shape
    (3,)
    """

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X (n_samples, n_features) and targets y (n_samples,).

        Weights and exceptions are those of `ExactKernelSVC.fit`.
        """
        self._check_parameters()
        check_number(self, "epsilon", at_least=0)
        rows, targets = self._checked(X, y, reset=True)
        weights = check_weights(self, sample_weight, len(targets))
        machine = SVR(
            C=self.C, epsilon=self.epsilon, kernel="precomputed", tol=self.tol, cache_size=self.cache_size
        )
        self._fit_machine(machine, rows, targets, weights)
        return self
