"""What a random feature map is: a scikit-learn transformer with a signature and a state of plain arrays."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from rflib.kernels.base import Kernel
from rflib.kernels.gaussian import Gaussian
from rflib.kernels.radial_function import RadialFunction

Seed = int | Generator | SeedSequence | RandomState | None


def as_generator(random_state: Seed) -> Generator:
    """Return the numpy Generator that a ``random_state`` stands for; a Generator is used as it is."""
    if isinstance(random_state, RandomState):
        return np.random.default_rng(random_state.randint(np.iinfo(np.int32).max, size=4))
    return np.random.default_rng(random_state)


class RandomFeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all maps: Z (n, D) real and signature e in {+1, -1}^D, with K_hat = Z diag(e) Z^T.

    A subclass draws its features in `_draw`, makes them in `_columns`, and lists in `_state` the arrays that
    define a fitted map.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel that is approximated.
    signature_ : ndarray of shape (n_components_,)
        Signs of the columns; all ones for a positive definite estimate.
    n_components_ : int
        Number of columns, n_components (Nystroem has no more than there are training rows).
    n_features_in_ : int
        Number of input columns.
    """

    _state: ClassVar[tuple[str, ...]] = ()

    kernel: Kernel | Callable[[NDArray], NDArray] | None
    n_components: int
    random_state: Seed
    kernel_: Kernel
    signature_: NDArray[np.float64]

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Draw the features for data of the shape (and, for some methods, the distribution) of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, finite.
        y : array-like of shape (n_samples,), optional
            Targets, for methods that use them.

        Raises
        ------
        ValueError
            If X is not a finite matrix, a row is not of unit norm though the kernel needs it, the kernel does
            not suit the method, or n_components is too small for it.
        """
        X = self._checked(X, reset=True)
        if (
            isinstance(self.n_components, bool)
            or not isinstance(self.n_components, Integral)
            or self.n_components < 1
        ):
            raise ValueError(
                f"{type(self).__name__}: n_components must be a positive integer, got {self.n_components!r}."
            )
        self.kernel_ = self._resolved_kernel()
        self.kernel_.check_rows(X)
        if reason := self.unsupported(self.kernel_):
            raise ValueError(f"{type(self).__name__}: {reason}")
        self._draw(X, y, as_generator(self.random_state))
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.floating]:
        """Return the features of the rows X, shape (n_samples, n_components_); float32 stays float32.

        Raises
        ------
        ValueError
            If X has another number of columns than in fit, or is not finite, or a row is not of unit norm
            though the kernel needs it.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        self.kernel_.check_rows(X)
        return self._columns(X)

    def kernel_matrix(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[np.floating]:
        """Return Z(X) diag(signature_) Z(Y)^T, the approximate kernel matrix, shape (n, m); Y defaults to X."""
        left = self.transform(X)
        right = left if Y is None else self.transform(Y)
        return (left * self.signature_.astype(left.dtype)) @ right.T

    @property
    def columns_per_s(self) -> int:
        """Columns for one of the papers' features s: n_components = columns_per_s * s."""
        return 1

    @classmethod
    def unsupported(cls, kernel: Kernel) -> str | None:
        """Return why the method cannot take the kernel, and what to use instead; None if it can."""
        return None

    def spectrum(self, X: ArrayLike) -> Any:
        """Return what `fit` would compute from X that does not depend on the seed or n_components.

        It may be given as the parameter ``measure``, to share it between fits. None if there is nothing.
        """
        return None

    def state(self) -> dict[str, NDArray]:
        """Return the arrays that define the fitted map, for `restore`."""
        check_is_fitted(self)
        names = ("signature_", *self._state)
        return {"n_features_in_": np.array(self.n_features_in_)} | {
            n: np.asarray(getattr(self, n)) for n in names
        }

    def restore(self, state: Mapping[str, NDArray]) -> Self:
        """Become the fitted map that `state` was taken from; the parameters must be the same."""
        self.kernel_ = self._resolved_kernel()
        self.n_features_in_ = int(state["n_features_in_"])
        for name in ("signature_", *self._state):
            setattr(self, name, state[name])
        return self

    @abstractmethod
    def _draw(self, X: NDArray, y: ArrayLike | None, rng: Generator) -> None:
        """Set ``signature_`` and the arrays of ``_state``."""

    @abstractmethod
    def _columns(self, X: NDArray) -> NDArray[np.floating]:
        """Return the features of checked rows, in X's dtype."""

    def _checked(self, X: ArrayLike, *, reset: bool) -> NDArray[np.floating]:
        """X as a finite matrix of floats (float32 stays)."""
        checked: NDArray[np.floating] = validate_data(self, X, dtype=[np.float64, np.float32], reset=reset)
        return checked

    def _resolved_kernel(self) -> Kernel:
        if self.kernel is None:
            return self._default_kernel()
        if isinstance(self.kernel, Kernel):
            return self.kernel
        if callable(self.kernel):
            return RadialFunction(self.kernel)
        raise TypeError(
            f"{type(self).__name__}: kernel must be a kernel of rflib.kernels or a function of the distance, "
            f"got {self.kernel!r}."
        )

    def _default_kernel(self) -> Kernel:
        return Gaussian()

    @property
    def n_components_(self) -> int:
        """Number of columns."""
        return len(self.signature_)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self):  # type: ignore[no-untyped-def]
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
