"""SpectrumRepair: rows of any similarity, made positive semidefinite for learners with a precomputed kernel."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rflib.drafts import all_or_nothing
from rflib.kernels.radial_function import KernelLike
from rflib.learners.exact_kernel import ExactKernelEstimator
from rflib.learners.repair import RepairName
from rflib.sklearn_bases import ClassNamePrefixFeaturesOutMixin, TransformerMixin


class SpectrumRepair(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ExactKernelEstimator):
    """Transform rows to similarities to the training rows that are made positive semidefinite.

    With K = U diag(l) U^T for the training rows and s for the row of similarities of another object:

    - "clip": U diag(max(l, 0)) U^T, and s U diag(l >= 0) U^T;
    - "flip": U diag(|l|) U^T, and s U diag(sign l) U^T;
    - "shift": K - min(l, 0) I, and s as it is, because only similarities with oneself change;
    - "square": K K, and s K: rows of similarities are taken as features, and compared by their inner product;
    - "none": K and s.

    Each treats other rows consistently with the training matrix (Chen, Garcia, Gupta, Rahimi & Cazzanti 2009,
    Similarity-based classification, JMLR 10; "square" as in Munoz & Martin de Diego 2006): `transform` of the
    training rows is the repaired matrix, except for "shift", of which only `fit_transform` knows the diagonal. A
    definite matrix stays as it is, but for "square". The result suits learners with a precomputed kernel, such as
    ``SVC(kernel="precomputed")``; the exact learners have these repairs as their parameter ``repair``.

    Parameters
    ----------
    kernel : Kernel, callable, "precomputed" or None
        As for `rflib.learners.exact_ridge.ExactKRR`.
    repair : {"clip", "flip", "shift", "square", "none"}
        The repair.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel; its width is a number, or one for each column.
    repair_ : Repair
        What `transform` does.
    X_fit_ : ndarray or CSR array of shape (n_samples, n_features)
        Training rows; absent with "precomputed".
    n_features_in_ : int
        Number of columns of X.

    See Also
    --------
    ExactKernelSVC : A learner with these repairs.
    ExactKRR : Another one.

    Examples
    --------
    >>> import numpy as np
    >>> from rflib.learners import SpectrumRepair
    >>> similarities = np.array([[1.0, 2.0], [2.0, 1.0]])  # its eigenvalues are 3 and -1
    >>> SpectrumRepair("precomputed", repair="flip").fit_transform(similarities).round(4)
    array([[2., 1.],
           [1., 2.]])
    """

    def __init__(self, kernel: KernelLike = None, *, repair: RepairName = "clip") -> None:
        self.kernel = kernel
        self.repair = repair

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Find the repair for training rows X (n_samples, n_features), or for their similarities if precomputed.

        Raises
        ------
        ValueError
            If X is not a finite matrix, the kernel does not take its rows, or the similarities are not symmetric.
        """
        self._fit_repaired(X)
        return self

    @all_or_nothing
    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> NDArray[np.float64]:
        """Fit, and return the repaired matrix of the training rows, shape (n_samples, n_samples)."""
        return self._fit_repaired(X)

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the repaired similarities of the rows X to the training rows, shape (n_rows, n_samples)."""
        return self._kernel_to_training_rows(X)

    def _fit_repaired(self, X: ArrayLike) -> NDArray[np.float64]:
        self._check_parameters()
        return self._repaired(self._fit_kernel(self._rows(X, reset=True)))

    @property
    def _n_features_out(self) -> int:
        return len(self.repair_.vectors)
